"""Reading what several commands are given: a game with its options, a look, who sits where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, Token

from ludens.core.errors import BadOption, UnknownName

if TYPE_CHECKING:
    from ludens.core.agent import Agent
    from ludens.core.game import Game
    from ludens.core.view import RenderOptions
    from ludens.models.chat import Model


def whole(kind: object, tokens: Sequence[Token]) -> int:
    """A whole number that fits into 64 bits, as episodes are stored; the parser's own would round 1.5."""
    [token] = tokens
    shown = token.value if len(token.value) <= 40 else token.value[:37] + "..."
    try:
        value = int(token.value)
    except ValueError:
        raise BadOption(f"{token.keyword} must be a whole number, not {shown!r}.") from None
    if not -(2**63) <= value < 2**63:
        raise BadOption(f"{token.keyword} must fit into 64 bits, and {shown} does not.")
    return value


Whole = Annotated[int, Parameter(converter=whole)]
GameName = Annotated[str, Parameter(help="Its name, as in 'breakthrough' or 'breakthrough?rows=6'.")]
Options = Annotated[
    tuple[str, ...],
    Parameter(
        name=["--option", "-o"],
        negative="",
        show_default=False,
        help="An option of the game, KEY=VALUE; may be repeated.",
    ),
]
Json = Annotated[
    bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON and nothing else.")
]
SuiteName = Annotated[
    str | None,
    Parameter(help="The run's suite, module:attribute, where it is not a registered one."),
]
Theme = Annotated[str, Parameter(help="Look of the pictures: classic, contrast, plain or random.")]
Size = Annotated[Whole, Parameter(help="Side of the pictures in pixels, 256 to 1024.")]

DEFAULT_AGENT = "bot/random"


def pairs(given: Sequence[str], flag: str, example: str) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping."""
    found: dict[str, str] = {}
    for word in given:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise BadOption(f"{flag} takes KEY=VALUE, as in {example}, not {word!r}.")
        if key in found:
            raise BadOption(f"{flag} names {key!r} twice.")
        found[key] = value
    return found


def game_of(name: str, options: Sequence[str] = ()) -> Game:
    """The game with its options, from its spec and from `--option`."""
    from ludens.core.registry import make

    return make(name, **pairs(options, "--option", "rows=6"))


def render_options(theme: str, size: int) -> RenderOptions:
    """The look, checked before anything is drawn."""
    from ludens.core.view import RenderOptions
    from ludens.draw import THEMES

    if theme not in THEMES:
        raise UnknownName("theme", theme, THEMES)
    if not 256 <= size <= 1024:
        near = min(max(size, 256), 1024)
        raise BadOption(f"--size must be 256 to 1024 pixels, not {size}; the nearest is {near}.")
    return RenderOptions(theme, size)


def seat_of(game: Game, seat: str) -> str:
    """The seat, which the game must have."""
    if seat not in game.seats:
        raise UnknownName(f"seat of {game.name}", seat, game.seats)
    return seat


def agents_of(game: Game, seats: Sequence[str]) -> dict[str, Agent]:
    """Who sits where, in playing order; a seat that is not named gets the default agent."""
    from ludens.agents import agent

    named = {
        seat_of(game, seat): spec for seat, spec in pairs(seats, "--seat", f"{game.seats[0]}=human").items()
    }
    models: dict[str, Model] = {}
    return {seat: agent(named.get(seat, DEFAULT_AGENT), game, models) for seat in game.seats}


def at_least(flag: str, value: int, low: int) -> int:
    """The value, which must not be smaller."""
    if value < low:
        raise BadOption(f"{flag} must be at least {low}, not {value}.")
    return value
