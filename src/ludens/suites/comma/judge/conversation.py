"""A conversation as a judge reads it, and the labels a judge gives: four errors, and normal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from ludens.core.episode import Episode
from ludens.core.errors import BadFile
from ludens.core.replay import replay
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.dialogue import Dialogue

Label = Literal["role confusion", "misinterpretation", "repetition loop", "miscommunication", "normal"]
LABELS: tuple[Label, ...] = get_args(Label)
NORMAL: Label = "normal"

MEANINGS: dict[Label, str] = {
    "role confusion": "One takes the other's part. The Expert speaks as if it saw the panel or acted on it; "
    "or the Solver speaks as if it had the manual, or asks its partner to describe a panel.",
    "misinterpretation": "The Solver takes the panel, or the panel's answer to an action, for something it "
    "is not: a wrong colour, count, letter or stage, a mistake taken for a success.",
    "repetition loop": "The conversation goes round in circles: an action that failed is done again though "
    "nothing has changed, or the same words are said again without anything new.",
    "miscommunication": "What one says does not reach the other. An instruction is not followed, a question "
    "is not answered, information already given is asked for again or answered as if it were different.",
    "normal": "None of these. Slips that are noticed and corrected, bad luck, or too few turns are normal.",
}
"""Rephrased from the definitions in section 5.2 of the paper."""


def label_of(name: str) -> Label | None:
    """The label with this name in any case, with spaces, hyphens or underscores; None if unknown."""
    plain = " ".join(name.lower().replace("_", " ").replace("-", " ").split())
    synonyms = {"roleplay": "role confusion", "role play": "role confusion", "repetition": "repetition loop"}
    plain = synonyms.get(plain, plain)
    return next((label for label in LABELS if label == plain), None)


Source = Literal["Shows", "Solver", "Expert", "Panel"]
SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True, slots=True)
class Line:
    """One entry; the text may have several lines."""

    source: Source
    text: str


@dataclass(frozen=True)
class Conversation:
    """The conversation of one episode."""

    puzzle: str
    lines: tuple[Line, ...]

    def written(self) -> str:
        return "\n".join(f"{line.source}: " + line.text.replace("\n", "\n  ") for line in self.lines)


def read_conversation(puzzle: str, text: Iterable[str]) -> Conversation:
    lines: list[Line] = []
    for row in text:
        source = next((source for source in SOURCES if row.startswith(f"{source}: ")), None)
        if source is not None:
            lines.append(Line(source, row[len(source) + 2 :]))
        elif lines and row.startswith("  "):
            lines[-1] = Line(lines[-1].source, f"{lines[-1].text}\n{row[2:]}")
        else:
            raise BadFile(f"unexpected line in a conversation: {row!r}.")
    return Conversation(puzzle, tuple(lines))


def conversation_of(episode: Episode) -> Conversation:
    return Conversation(episode.game.partition("/")[2], tuple(_lines(episode)))


def _lines(episode: Episode) -> Iterator[Line]:
    last_panel = ""
    for before, after in pairwise(step.state for step in replay(episode)):
        assert isinstance(before, Dialogue)
        assert isinstance(after, Dialogue)
        message = after.messages[-1]
        if message.seat == "expert":
            yield Line("Expert", message.text)
            continue
        panel = f"{before.puzzle.describe()}\nSerial number: {before.puzzle.serial}"
        if panel != last_panel:
            yield Line("Shows", panel)
        last_panel = panel
        yield Line("Solver", message.text)
        templates = view_of(after.game, RenderOptions(), 0).templates
        for event in message.events:
            yield Line("Panel", templates.fill(event.outcome, action=event.words))
