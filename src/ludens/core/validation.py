"""What is wrong with data that does not fit a type."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

_MAX_LENGTH = 200


def first_error(error: ValidationError) -> str:
    """Where the first error is and what it is, as in `at moves.0.seat: Field required`.

    Field names and values come from the data, so the text is cut off where it gets long.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the start"
    return f"at {place}: {first['msg']}"[:_MAX_LENGTH]
