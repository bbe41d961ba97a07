"""Who may set an option that names a file, a program, an address or a key.

    the person at the terminal     everything
    a file                         what it reads and what it pays for; the rest must be confirmed with --allow
    a visitor of the browser app   names of what is installed, never a path, an address or a program

A file is one that may come from somebody else: a run folder, an episode, a recipe, a study. Defaults are
anybody's. Options say with `option(..., touches=...)` what they name; nothing here knows one by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, dataclass
from enum import Enum
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import Touch, options_of
from ludens.core.registry import GAMES, make
from ludens.core.spec import Spec, parse_spec

MOST_NESTED = 4
"""Levels of specs inside of specs."""
_confirmed: set[str] = set()
"""What the person has typed or allowed in this process."""

F = TypeVar("F", bound=Callable[..., Any])


class Setter(Enum):
    """Who sets an option."""

    PERSON = "the person at the terminal"
    FILE = "a file"
    VISITOR = "a visitor"


@dataclass(frozen=True)
class Access:
    """Something outside of the game that a value of an option names."""

    owner: str
    """Whose option it is: `spy`, `bot/uci`, `openai/gpt-4.1`."""
    option: str
    """The option; empty for the name or address in a spec."""
    touch: Touch
    value: str
    installed: bool = False
    """Whether the value is the name of something that is installed."""
    sends_key: bool = False
    """Whether a key of the person is sent to the address: another local port may be another user's."""

    def is_free(self, setter: Setter) -> bool:
        if setter is Setter.PERSON or self.installed:
            return True
        if setter is Setter.VISITOR:
            return False
        local = self.touch is Touch.CONNECT and is_local(self.value) and not self.sends_key
        return local or self.touch in (Touch.READ, Touch.PAY)


def confirm(values: Iterable[str]) -> None:
    """Let files name these values from now on: the person has typed them, or allowed them."""
    _confirmed.update(values)


def permit(accesses: Iterable[Access], setter: Setter, allow: Iterable[str] = ()) -> None:
    """Raise `BadOption` for values that the setter may not name; files may name those in `allowed`."""
    confirm(allow)
    for access in accesses:
        if access.is_free(setter) or (setter is Setter.FILE and access.value in _confirmed):
            continue
        subject = f"option {access.option!r} of {access.owner}" if access.option else access.owner
        if setter is Setter.VISITOR:
            raise BadOption(
                f"{subject} takes names of what is installed here, and not {access.value[:60]!r}: only the "
                "organiser can name files, programs and addresses."
            )
        raise BadOption(
            f"{subject} {access.touch.value} {access.value}, which a file may not decide: if that is "
            f"intended, add --allow {access.value}"
        )


def option_accesses(
    declared: Mapping[str, Field[Any]], values: Mapping[str, Any], owner: str, nested: int = 0
) -> Iterator[Access]:
    """What the values of options name; those that are not declared are left to `configure`."""
    for name, value in values.items():
        if name not in declared or value == declared[name].default:
            continue
        touch, kind = declared[name].metadata["touches"], declared[name].metadata["kind"]
        if touch is Touch.GAME:
            yield from game_accesses(str(value), nested + 1)
        elif touch is Touch.GAMES:
            for spec in filter(None, map(str.strip, str(value).split(","))):
                yield from game_accesses(spec, nested + 1)
        elif touch is not None:
            text = str(value) if kind is str else name  # a switch has no value to confirm but its name
            yield Access(owner, name, touch, text, text in declared[name].metadata["installed"]())


def game_accesses(spec: str | Spec, nested: int = 0) -> Iterator[Access]:
    if nested > MOST_NESTED:
        raise BadOption(f"a spec contains more than {MOST_NESTED} others.")
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    yield from option_accesses(options_of(GAMES.get(parsed.name)), parsed.options, parsed.name, nested)


def make_by(setter: Setter, spec: str, /, **options: Any) -> Game:
    """`make`, if the setter may set these options."""
    parsed = parse_spec(spec)
    permit(game_accesses(Spec(parsed.name, None, {**parsed.options, **options})), setter)
    return make(spec, **options)


def declares(options: type, name: Touch) -> Callable[[F], F]:
    """Declare the class of the options of a function that makes models, and what a model's name touches."""

    def declared(maker: F) -> F:
        maker.__dict__.update(options=options, name_touches=name)
        return maker

    return declared


def is_local(address: str) -> bool:
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
