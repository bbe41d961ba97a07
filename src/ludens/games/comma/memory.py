"""Memory: five stages in which the right button depends on earlier presses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from ludens.core.random import Stream
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, read_blocks, table
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, read_tables
from ludens.games.comma.view import Box, CommaView

STAGES, BUTTONS = 5, 4
ORDINALS = ("first", "second", "third", "fourth")

StepKind = Literal["position", "label", "same position", "same label"]
STEP_KINDS: tuple[StepKind, ...] = get_args(StepKind)

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
class MemoryRule:
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

    table: tuple[tuple[MemoryRule, ...], ...]

    def right(
        self, stage: int, display: int, labels: Sequence[int], before: Mapping[int, Pressed]
    ) -> Pressed:
        return self.table[stage - 1][display - 1].right(labels, before)

    def blocks(self) -> tuple[Block, ...]:
        head = ("Stage", *(f"Display {number}" for number in range(1, BUTTONS + 1)))
        rows = [(str(n), *(rule.words() for rule in row)) for n, row in enumerate(self.table, 1)]
        return read_blocks(__file__, rules=table(head, *rows))

    def advise(self, messages: Sequence[Facts]) -> Facts:
        """Replays everything told: each stage is assumed to have been pressed as advised."""
        need(messages, _NEEDS)
        before: dict[int, Pressed] = {}
        press = Pressed(0, 0)
        for facts in messages:
            if not _NEEDS.keys() <= facts.keys():
                continue
            stage, display, *labels = _numbers(facts)
            before = {past: pressed for past, pressed in before.items() if past < stage}
            if len(before) < stage - 1:
                raise Unclear("Tell me of every stage, from the first on: I must know what was pressed.")
            press = before[stage] = self.right(stage, display, labels, before)
        return {"press": str(press.label)}


def _numbers(facts: Facts) -> list[int]:
    parts = [facts["stage"], facts["display"], *facts["labels"].split(",")]
    numbers = [int(part) if part.strip() in {"1", "2", "3", "4", "5"} else 0 for part in parts]
    if not (numbers[0] and numbers[1] in range(1, BUTTONS + 1)) or sorted(numbers[2:]) != [1, 2, 3, 4]:
        raise Unclear(
            f"Stages are 1 to {STAGES}, displays 1 to {BUTTONS}, and the labels 1, 2, 3 and 4 in some order."
        )
    return numbers


def _rule(words: str) -> MemoryRule:
    kind, _, number = words.rpartition(" ")
    return MemoryRule(cast(StepKind, kind), int(number))


PUBLISHED = MemoryManual(tuple(tuple(map(_rule, row)) for row in read_tables(__file__)["published"]))


def draw_manual(random: Stream) -> MemoryManual:
    """Random rules; from the second stage on at least two of four refer to earlier stages."""
    return MemoryManual(tuple(_draw_row(stage, random) for stage in range(1, STAGES + 1)))


def _draw_row(stage: int, random: Stream) -> tuple[MemoryRule, ...]:
    while True:
        kinds = [random.choice(STEP_KINDS if stage > 1 else STEP_KINDS[:2]) for _ in range(BUTTONS)]
        highest = {kind: BUTTONS if kind in STEP_KINDS[:2] else stage - 1 for kind in STEP_KINDS}
        row = tuple(MemoryRule(kind, random.between(1, highest[kind])) for kind in kinds)
        looking_back = sum(kind in STEP_KINDS[2:] for kind in kinds)
        if len(set(row)) > 1 and (stage == 1 or looking_back >= BUTTONS // 2):
            return row


RELEASED_LABELS: tuple[int, ...] = (3, 1, 2, 4)


class MemoryPanel(Puzzle[MemoryManual]):
    """Five stages; a wrong press leads back to the first, with a new display and new labels."""

    redraws = True
    asks = "press = <label of the button>"
    actions = tuple(f"press_{label}" for label in range(1, BUTTONS + 1))

    def set_up(self) -> None:
        self.pressed: tuple[Pressed, ...] = ()
        self.best = 0
        """The most stages completed without a mistake; in released runs those of the latest right press."""
        self._draw_stage()

    @property
    def stage(self) -> int:
        """The current stage, counted from 1; the last one stays when all are done."""
        return min(len(self.pressed) + 1, STAGES)

    def _draw_stage(self) -> None:
        self.display = self.random.between(1, BUTTONS)
        self.labels = RELEASED_LABELS
        if not self.released:
            self.labels = tuple(self.random.sample(range(1, BUTTONS + 1), BUTTONS))

    def act(self, action: str) -> Outcome:
        label = self.actions.index(action) + 1
        before = dict(enumerate(self.pressed, 1))
        right = self.manual.right(self.stage, self.display, self.labels, before)
        if label != right.label:
            self.pressed = ()
            self._draw_stage()
            return "mistake"
        self.pressed += (right,)
        stages = len(self.pressed)
        self.best = stages if self.released else max(self.best, stages)
        if stages == STAGES:
            return "solved"
        self._draw_stage()
        return "done"

    @property
    def progress(self) -> float:
        return self.best / STAGES

    def describe(self) -> str:
        labels = ", ".join(map(str, self.labels))
        return (
            f"Stage lights lit: {len(self.pressed)} of {STAGES}\nThe display shows: {self.display}\n"
            f"Labels of the buttons, from left to right: {labels}"
        )

    def tell(self) -> Facts:
        labels = ", ".join(map(str, self.labels))
        return {"stage": str(self.stage), "display": str(self.display), "labels": labels}

    def follow(self, advice: Facts) -> Sequence[str]:
        action = f"press_{advice.get('press')}"
        return [action] if action in self.actions else []


@dataclass(frozen=True)
class Memory(Comma):
    """Press the right one of four buttons in five stages, remembering what was pressed before.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
    Observation: the Solver gets a picture of the display, the four labelled buttons, a light for each stage
        done, the serial number, the status light, mistakes and turns, and reads its actions, their
        results and the conversation; the Expert reads the manual and the conversation, without the
        results of the actions.
    Actions: messages. A line of the Solver's that is `press_1` to `press_4` presses the button with that
        label, wherever it is. A wrong press leads back to stage 1.
    Rewards: both seats get the partial score: the most stages done without a mistake / 5.
    Manuals: random ones have other rules for every stage and display.
    Released: the labels are 3, 1, 2, 4 in every stage, so that position and label are the same thing, and
        the partial score is the number of the stage in which the latest right press was made / 5.
    """

    name = "comma/memory"
    view_class = "ludens.games.comma.memory:MemoryView"
    skills = ("memory", "multi-step")
    published = PUBLISHED
    puzzle_class = MemoryPanel
    random_manual = staticmethod(draw_manual)


DISPLAY = (44, 104, 340, 190)
BUTTON, BUTTONS_AT = (78, 130), ((84, 406), (171, 406), (258, 406), (345, 406))
LIGHT, LIGHTS_AT = 50, tuple((452, 446 - 76 * stage) for stage in range(STAGES))
"""The centres of the lights, from the bottom up."""


class MemoryView(CommaView):
    """A display above four buttons, and a column of lights that fills from the bottom."""

    inks = ("white", "black", "green", "gray")
    grounds = ("page", "panel", "white", "black", "wood")

    def boxes(self, box: Box, puzzle: MemoryPanel) -> Mapping[str, Box]:
        return self.buttons([f"press_{label}" for label in puzzle.labels], BUTTONS_AT, BUTTON)

    def draw(self, canvas: Canvas, box: Box, puzzle: MemoryPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        self.draw_display(canvas, DISPLAY, str(puzzle.display), 150)
        canvas.rounded(px(34), px(324), px(360), px(164), "panel")
        self.draw_buttons(canvas, map(str, puzzle.labels), self.boxes(box, puzzle), "panel")
        canvas.rounded(px(412), px(94), px(80), px(394), "panel")
        for stage, (across, down) in enumerate(LIGHTS_AT):
            lit = stage < len(puzzle.pressed)
            light = sheet.led("green" if lit else "gray", px(LIGHT), "panel", lit, str(stage + 1))
            canvas.centre(light, px(across), px(down))
