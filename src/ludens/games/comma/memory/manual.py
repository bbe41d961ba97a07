"""The Memory manual: for every stage and display a position, a label, or one that was pressed before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear

STAGES, BUTTONS = 5, 4
ORDINALS = ("first", "second", "third", "fourth")

StepKind = Literal["position", "label", "same position", "same label"]
STEP_KINDS: tuple[StepKind, ...] = ("position", "label", "same position", "same label")

_NEEDS = {
    "stage": "the number of the stage",
    "display": "the number on the display",
    "labels": "the labels of the buttons from left to right, with commas",
}


@dataclass(frozen=True)
class Pressed:
    """A press: its position counted from 1 at the left, and the button's label."""

    position: int
    label: int


@dataclass(frozen=True)
class Rule:
    """Press a position or a label (1 to 4), or the position or label that was pressed in an earlier stage."""

    kind: StepKind
    number: int

    def right(self, labels: Sequence[int], before: Mapping[int, Pressed]) -> Pressed:
        """The press required, given the labels from left to right and the presses by stage."""
        if self.kind == "position":
            position = self.number
        elif self.kind == "label":
            position = labels.index(self.number) + 1
        elif self.kind == "same position":
            position = before[self.number].position
        else:
            position = labels.index(before[self.number].label) + 1
        return Pressed(position, labels[position - 1])

    def words(self) -> str:
        if self.kind == "position":
            return f"{ORDINALS[self.number - 1]} button"
        if self.kind == "label":
            return f"label {self.number}"
        return f"{self.kind} as in stage {self.number}"


@dataclass(frozen=True)
class MemoryManual(Manual):
    """A row for every stage, with a rule for every display."""

    table: tuple[tuple[Rule, ...], ...]

    def right(
        self, stage: int, display: int, labels: Sequence[int], before: Mapping[int, Pressed]
    ) -> Pressed:
        """The press required; stages, displays and labels count from 1."""
        return self.table[stage - 1][display - 1].right(labels, before)

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            f"A panel has a display and, below it, {BUTTONS} buttons in a row, labelled 1 to {BUTTONS} in "
            f"any order. It is solved in {STAGES} stages. In every stage find the row of the stage and the "
            "column of the number on the display: it says which button to press. After a right press the "
            "next stage begins; after a wrong one all begins again at stage 1, with nothing pressed before."
        )
        meaning = (
            "Buttons are counted from the left. Same position: the button now at the place that was pressed "
            "in that stage, whatever its label. Same label: the button that now has the label that was "
            "pressed in that stage, wherever it is. So keep in mind both for every stage."
        )
        head = ("Stage", *(f"Display {number}" for number in range(1, BUTTONS + 1)))
        rows = [(str(n), *(rule.words() for rule in row)) for n, row in enumerate(self.table, 1)]
        return (Heading("Memory"), Paragraph(intro), Grid((head, *rows)), Paragraph(meaning))

    def advise(self, told: Sequence[Facts]) -> Facts:
        """Replays everything told: each stage is assumed to have been pressed as advised."""
        need(told[-1] if told else {}, _NEEDS)
        before: dict[int, Pressed] = {}
        press = Pressed(0, 0)
        for facts in told:
            if not _NEEDS.keys() <= facts.keys():
                continue
            stage, display, *labels = _numbers(facts)
            before = {past: pressed for past, pressed in before.items() if past < stage}
            if len(before) < stage - 1:
                raise Unclear("Tell me of every stage, from the first on: I must know what was pressed.")
            press = before[stage] = self.right(stage, display, labels, before)
        return {"press": str(press.label)}


def _numbers(facts: Facts) -> list[int]:
    """Stage, display and labels as numbers."""
    parts = [facts["stage"], facts["display"], *facts["labels"].split(",")]
    numbers = [int(part) if part.strip() in {"1", "2", "3", "4", "5"} else 0 for part in parts]
    if not (numbers[0] and numbers[1] in range(1, BUTTONS + 1)) or sorted(numbers[2:]) != [1, 2, 3, 4]:
        raise Unclear(
            f"Stages are 1 to {STAGES}, displays 1 to {BUTTONS}, and the labels 1, 2, 3 and 4 in some order."
        )
    return numbers


def _published() -> MemoryManual:
    def at(number: int) -> Rule:
        return Rule("position", number)

    def named(number: int) -> Rule:
        return Rule("label", number)

    def as_placed(stage: int) -> Rule:
        return Rule("same position", stage)

    def as_named(stage: int) -> Rule:
        return Rule("same label", stage)

    return MemoryManual(
        (
            (at(2), at(2), at(3), at(4)),
            (named(4), as_placed(1), at(1), as_placed(1)),
            (as_named(2), as_named(1), at(3), named(4)),
            (as_placed(1), at(1), as_placed(2), as_placed(2)),
            (as_named(1), as_named(2), as_named(4), as_named(3)),
        )
    )


PUBLISHED = _published()


def draw_manual(random: Stream) -> MemoryManual:
    """Random rules; from the second stage on at least two of four refer to earlier stages."""
    return MemoryManual(tuple(_draw_row(stage, random) for stage in range(1, STAGES + 1)))


def _draw_row(stage: int, random: Stream) -> tuple[Rule, ...]:
    while True:
        kinds = [random.choice(STEP_KINDS if stage > 1 else STEP_KINDS[:2]) for _ in range(BUTTONS)]
        row = tuple(
            Rule(kind, random.between(1, BUTTONS if kind in STEP_KINDS[:2] else stage - 1)) for kind in kinds
        )
        looking_back = sum(kind in STEP_KINDS[2:] for kind in kinds)
        if len(set(row)) > 1 and (stage == 1 or looking_back >= BUTTONS // 2):
            return row
