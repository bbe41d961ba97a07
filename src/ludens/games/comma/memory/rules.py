"""The panel with a display and four numbered buttons, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.games.comma.dialogue import Comma
from ludens.games.comma.memory.manual import BUTTONS, PUBLISHED, STAGES, MemoryManual, Pressed, draw_manual
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting

RELEASED_LABELS: tuple[int, ...] = (3, 1, 2, 4)


class MemoryPanel(Puzzle[MemoryManual]):
    """Five stages; a wrong press leads back to the first, with a new display and new labels."""

    asks = "press = <label of the button>"
    actions = tuple(f"press_{label}" for label in range(1, BUTTONS + 1))

    def __init__(self, manual: MemoryManual, setting: Setting) -> None:
        super().__init__(manual, setting)
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
        done = len(self.pressed)
        self.best = done if self.released else max(self.best, done)
        if done == STAGES:
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

    def tell(self, advice: Facts) -> Facts:
        labels = ", ".join(map(str, self.labels))
        return {"stage": str(self.stage), "display": str(self.display), "labels": labels}

    def follow(self, advice: Facts) -> Sequence[str]:
        action = f"press_{advice.get('press')}"
        return [action] if action in self.actions else []


@dataclass(frozen=True)
class Memory(Comma):
    """Press the right one of four buttons in five stages, remembering what was pressed before.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
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
    view_class = "ludens.games.comma.memory.view:MemoryView"
    skills = ("memory", "multi-step")
    published = PUBLISHED
    puzzle_class = MemoryPanel
    random_manual = staticmethod(draw_manual)
