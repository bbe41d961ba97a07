"""The panel with lights and lettered buttons, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from ludens.core.random import Stream
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.led.manual import COLOURS, CORNERS, PUBLISHED, LedManual, draw_manual
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting, button_actions

FEWEST, MOST = 2, 5


class LedPanel(Puzzle[LedManual]):
    """Stages with a light each. A right press leads to the next stage; a wrong one is a mistake."""

    asks = "press = <corner of the button>"
    actions = button_actions(CORNERS)

    def __init__(self, manual: LedManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        random = setting.random
        self.lights = tuple(random.choice(COLOURS) for _ in range(random.between(FEWEST, MOST)))
        self.done = 0
        self.letters = self._draw_letters()

    @property
    def stage(self) -> int:
        """The current stage, counted from 0; the last one stays when all are done."""
        return min(self.done, len(self.lights) - 1)

    def _draw_letters(self) -> tuple[str, ...]:
        """A right button in a random corner and its product on its partner; the other letters are random.

        The released code lets letters repeat; the paper says there are four different ones.
        """
        random, colour = self.random, self.lights[self.done]
        while True:
            letters = [random.choice(ascii_uppercase) for _ in CORNERS]
            corner = random.below(len(CORNERS))
            letters[self.manual.partner_of(corner)] = self.manual.product(letters[corner], colour)
            if self.released or len(set(letters)) == len(letters):
                return tuple(letters)

    def act(self, action: str) -> Outcome:
        if self.actions.index(action) not in self.manual.right(self.letters, self.lights[self.stage]):
            return "mistake"
        self.done += 1
        if self.done == len(self.lights):
            return "solved"
        self.letters = self._draw_letters()
        return "done"

    @property
    def progress(self) -> float:
        return self.done / len(self.lights)

    def describe(self) -> str:
        when = ["done"] * self.done + ["now"] + ["to come"] * len(self.lights)
        lights = [f"Light {n + 1}: {colour}, {when[n]}" for n, colour in enumerate(self.lights)]
        buttons = [f"{corner}: {letter}" for corner, letter in zip(CORNERS, self.letters, strict=True)]
        return "\n".join([f"Stage {self.stage + 1} of {len(self.lights)}", *lights, "Buttons:", *buttons])

    def tell(self, advice: Facts) -> Facts:
        return {"light": self.lights[self.stage], **dict(zip(CORNERS, self.letters, strict=True))}

    def follow(self, advice: Facts) -> Sequence[str]:
        corner = advice.get("press")
        return [self.actions[CORNERS.index(corner)]] if corner in CORNERS else []


@dataclass(frozen=True)
class Led(Comma):
    """Press a right button in each of two to five stages, by a little arithmetic with letters.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
    Observation: the Solver gets a picture of the lights (one for each stage), the stage, the four lettered
        buttons, the serial number, the status light, mistakes and turns, and reads its actions, their
        results and the conversation; the Expert reads the manual and the conversation, without the
        results of the actions.
    Actions: messages. A line of the Solver's that is `press_top_left_button`, `press_top_right_button`,
        `press_bottom_right_button` or `press_bottom_left_button` presses that button.
    Rewards: both seats get the partial score: stages done / stages.
    Manuals: random ones have other multipliers, let another letter count 0, and may compare with the button
        beside, above or below instead of the diagonal one.
    Released: letters may repeat.
    """

    name = "comma/led"
    view_class = "ludens.games.comma.led.view:LedView"
    skills = ("memory", "multi-step")
    published = PUBLISHED
    puzzle_class = LedPanel
    random_manual = staticmethod(draw_manual)

    def imagined_manual(self, puzzle: Puzzle[Any], random: Stream) -> LedManual:
        assert isinstance(puzzle, LedPanel)
        while True:
            manual = draw_manual(random)
            if manual.right(puzzle.letters, puzzle.lights[puzzle.stage]):
                return manual
