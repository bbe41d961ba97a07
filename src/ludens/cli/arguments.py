"""Arguments shared by several commands: game, options, seats, theme and size; how help is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, Token
from cyclopts.help import DefaultFormatter, HelpPanel, InlineText
from rich.text import Text

from ludens.core.agent import Agent
from ludens.core.config import check_seat
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.plain import shorten
from ludens.core.registry import make
from ludens.core.view import RenderOptions

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

    from ludens.models.chat import Model


class Help(DefaultFormatter):
    """Prints each description as one paragraph, however its docstring breaks it."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        for entry in panel.entries:
            if isinstance(entry.description, InlineText):
                text = " ".join(str(entry.description.primary_renderable).split())
                entry.description.primary_renderable = Text(text)
        super().__call__(console, options, panel)


def _integer(kind: object, tokens: Sequence[Token]) -> int:
    """Convert to a 64-bit integer, the range that episodes can store; cyclopts would round 1.5."""
    [token] = tokens
    text = shorten(token.value, 40)
    try:
        value = int(token.value)
    except ValueError:
        raise BadOption(f"{token.keyword} must be an integer, not {text!r}.") from None
    if not -(2**63) <= value < 2**63:
        raise BadOption(f"{token.keyword} must fit into 64 bits; {text} does not.")
    return value


Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Words = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Whole = Annotated[int, Parameter(converter=_integer)]
GameName = Annotated[str, Parameter(help="Game, for example 'breakthrough' or 'breakthrough?rows=6'.")]
Options = Annotated[Words, Parameter(name=["--option", "-o"], help="Game option KEY=VALUE; can be repeated.")]
Json = Annotated[Flag, Parameter(help="Print JSON and nothing else.")]
SuiteName = Annotated[
    str | None,
    Parameter(help="Suite of the run as module:attribute, if it is not a registered one."),
]
AgentNames = Annotated[
    Words,
    Parameter(
        name="--agent",
        help="Agent of the run as module:Class, if it is not a registered one; can be repeated.",
    ),
]
Allowed = Annotated[
    Words,
    Parameter(
        name="--allow",
        help="Address, key variable, program or file named in the file that may be used; can be repeated.",
    ),
]
Theme = Annotated[str, Parameter(help="Theme of the pictures: classic, contrast, plain or random.")]
Size = Annotated[Whole, Parameter(help="Picture size in pixels, 64 to 1024, as small as the game allows.")]

DEFAULT_AGENT = "bot/random"


def pairs(words: Sequence[str], flag: str, example: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise BadOption(f"{flag} expects KEY=VALUE, for example {example}, not {word!r}.")
        if key in values:
            raise BadOption(f"{flag} {key} given more than once.")
        values[key] = value
    return values


def game_of(name: str, options: Sequence[str] = ()) -> Game:
    return make(name, **pairs(options, "--option", "rows=6"))


def render_options(theme: str, size: int) -> RenderOptions:
    from ludens.draw import get_theme

    get_theme(theme)
    if not 64 <= size <= 1024:
        raise BadOption(f"--size must be 64 to 1024 pixels, not {size}.")
    return RenderOptions(theme, size)


def seat_specs(game: Game, words: Sequence[str], example: str) -> dict[str, str]:
    """Seat to spec from `--seat` words; what the specs name is imported."""
    from ludens.agents import import_agent

    specs = pairs(words, "--seat", example)
    for seat, spec in specs.items():
        check_seat(game, seat)
        import_agent(spec)
    return specs


def agents_of(game: Game, seats: Iterable[str], specs: Mapping[str, str]) -> dict[str, Agent]:
    """The agents of these seats; a seat without a spec gets the default agent."""
    from ludens.agents import agent

    models: dict[str, Model] = {}
    return {seat: agent(specs.get(seat, DEFAULT_AGENT), game, models) for seat in seats}


def at_least(flag: str, value: int, low: int) -> int:
    if value < low:
        raise BadOption(f"{flag} must be at least {low}, not {value}.")
    return value
