"""A conversation as a judge reads it: what the panel showed, what was said, how the panel responded.

    Shows: 3 wires, from top to bottom: ...
    Solver: Three wires, ...
    Panel: cut_wire_2: done.
    Expert: ...

Further lines of a message are indented. Episodes are replayed into this form, and the calibration set is
written in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ludens.core.episode import Episode
from ludens.core.errors import BadFile
from ludens.core.replay import replay
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.dialogue import Dialogue

Who = Literal["Shows", "Solver", "Expert", "Panel"]
WHO: tuple[Who, ...] = ("Shows", "Solver", "Expert", "Panel")


@dataclass(frozen=True, slots=True)
class Line:
    """One entry: speaker and text, which may have several lines."""

    who: Who
    words: str


@dataclass(frozen=True)
class Conversation:
    """The entries of one episode."""

    puzzle: str
    lines: tuple[Line, ...]

    def written(self) -> str:
        """The conversation as text."""
        return "\n".join(f"{line.who}: " + line.words.replace("\n", "\n  ") for line in self.lines)


def read_conversation(puzzle: str, text: Iterable[str]) -> Conversation:
    """Parse a conversation from its text."""
    lines: list[Line] = []
    for row in text:
        who = next((who for who in WHO if row.startswith(f"{who}: ")), None)
        if who is not None:
            lines.append(Line(who, row[len(who) + 2 :]))
        elif lines and row.startswith("  "):
            lines[-1] = Line(lines[-1].who, f"{lines[-1].words}\n{row[2:]}")
        else:
            raise BadFile(f"a conversation has no line such as {row[:60]!r}.")
    return Conversation(puzzle, tuple(lines))


def conversation_of(episode: Episode) -> Conversation:
    """The conversation of a COMMA episode, by replaying it without pictures."""
    return Conversation(episode.game.partition("/")[2], tuple(_lines(episode)))


def _lines(episode: Episode) -> Iterator[Line]:
    seen = ""
    states = [step.state for step in replay(episode)]
    for before, after in pairwise(states):
        assert isinstance(before, Dialogue)
        assert isinstance(after, Dialogue)
        said = after.said[-1]
        if said.seat == "expert":
            yield Line("Expert", said.text)
            continue
        shown = f"{before.puzzle.describe()}\nSerial number: {before.puzzle.serial}"
        if shown != seen:
            yield Line("Shows", shown)
        seen = shown
        yield Line("Solver", said.text)
        templates = view_of(after.game, RenderOptions(), 0).templates
        for event in said.events:
            yield Line("Panel", templates.fill(event.outcome, action=event.words))
