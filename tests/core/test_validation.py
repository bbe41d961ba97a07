"""What is said about data that does not fit a type."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ludens.core.validation import first_error


def said(data: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, list[int]]).validate_python(data)
    return first_error(caught.value)


def test_the_first_error_is_named_with_its_place() -> None:
    assert said({"a": [1, 2], "b": [3, "four"], "c": 5}).startswith("at b.1: Input should be a valid integer")


def test_an_error_of_the_whole_has_a_place_too() -> None:
    assert said([]).startswith("at the start: Input should be a valid dict")


def test_a_long_name_is_cut_off() -> None:
    assert said({"x" * 10_000: 1}) == "at " + "x" * 197
