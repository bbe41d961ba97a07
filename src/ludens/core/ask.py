"""What a seat is asked: one question as a value, built by one function.

The loop, replays, cost estimates and `ludens show` all call `build_ask`, so what a player was asked can
always be rebuilt from an episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from ludens.core.config import PlayConfig
from ludens.core.forms import Form
from ludens.core.reply import ReplyFormat
from ludens.core.spending import spending
from ludens.core.state import Legal, State
from ludens.core.tools import ToolFormat
from ludens.core.view import UNSEEN, Observation, Sees, View


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier observation of a seat and its last reply to it."""

    step: int
    observation: Observation
    """Its pictures are dropped when they are no longer needed (`History`)."""
    reply: str
    pictured: bool
    """Whether pictures were shown."""


@dataclass(slots=True)
class Ask:
    """One question to one seat. Nobody changes it; a frozen dataclass takes three times as long to make."""

    seat: str
    legal: Legal
    format: ReplyFormat
    observation: Observation = field(default_factory=Observation)
    rules: str = ""
    listed: bool = True
    """Whether the player is shown the legal actions; bots and readers know them in any case."""
    step: int = 0
    """Of the episode."""
    move: int = 0
    """Moves of this seat before this one."""
    role: str = ""
    stage: str = ""
    sample: int = 0
    """Distinguishes several episodes of one seed and seating."""
    history: Sequence[Exchange] = ()
    """Earlier exchanges of this seat, oldest first, as many as its agent wants (`Agent.history`)."""
    refused: Sequence[tuple[str, str]] = ()
    """Earlier replies to this question, each with the reason why it was refused."""
    state: State | None = None
    """Only for agents with `sees = "state"`. Read-only."""
    form: Form | None = field(default=None, compare=False)
    """Only for agents that fill in forms: how a person answers."""

    def again(self, reply: str, reason: str) -> Ask:
        """The same question after a refused reply."""
        return replace(self, refused=(*self.refused, (reply, reason)))


_UNCOUNTED = nullcontext()


def build_ask(
    view: View,
    state: State,
    seat: str,
    sees: Sees,
    config: PlayConfig,
    history: History | None = None,
    step: int = 0,
    sample: int = 0,
    tools: bool = False,
) -> Ask:
    """The question for a seat in a state, as an agent that looks at `sees` is asked it.

    With `tools` it is to be answered through a tool call.
    """
    format = view.format(state, seat)
    with _UNCOUNTED if sees in UNSEEN else spending("draw"):
        observation = view.observe(state, seat, sees)
    return Ask(
        seat=seat,
        legal=state.legal(seat),
        format=ToolFormat(format) if tools else format,
        observation=observation,
        rules="" if sees in UNSEEN else view.rules(seat),
        listed=config.listed,
        step=step,
        move=history.moves if history else 0,
        role=state.role(seat),
        stage=state.stage,
        sample=sample,
        history=history.exchanges if history else (),
        state=state if sees == "state" else None,
    )


class History:
    """The latest exchanges of one seat (None for all), for its later asks; the last ones with pictures."""

    def __init__(self, exchanges: int | None = 0, pictures: int = 0) -> None:
        self._exchanges, self._pictures = exchanges, pictures
        self.empty = exchanges == 0
        """Whether nothing is ever kept."""
        self.exchanges: tuple[Exchange, ...] = ()
        self.moves = 0

    def add(self, exchange: Exchange) -> None:
        """Append an exchange and drop what is no longer needed."""
        self.moves += 1
        if self._exchanges == 0:
            return
        exchanges = [*self.exchanges, exchange]
        if self._exchanges is not None:
            exchanges = exchanges[-self._exchanges :]
        if len(exchanges) > self._pictures:
            last = len(exchanges) - self._pictures - 1
            without = replace(exchanges[last].observation, images=())
            exchanges[last] = replace(exchanges[last], observation=without)
        self.exchanges = tuple(exchanges)
