"""The panel with a display and six labelled buttons, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ludens.core.random import Stream
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting, button_actions
from ludens.games.comma.who.manual import NO_TEXT, PLACES, PUBLISHED, WhoManual, draw_manual


class WhoPanel(Puzzle[WhoManual]):
    """A word, or none, above six buttons. A wrong button is a mistake and has no effect."""

    asks = "press = <place of the button>"
    actions = button_actions(PLACES)

    def __init__(self, manual: WhoManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        self.display = setting.random.choice(manual.read)[0]
        self.labels = tuple(setting.random.sample([label for label, _ in manual.press], len(PLACES)))

    def act(self, action: str) -> Outcome:
        place = PLACES[self.actions.index(action)]
        return "solved" if place == self.manual.right(self.display, self.labels) else "mistake"

    def describe(self) -> str:
        shown = f"The display shows: {self.display or NO_TEXT}"
        return "\n".join([shown, *(f"{place}: {label}" for place, label in self._buttons())])

    def tell(self, advice: Facts) -> Facts:
        return {"display": self.display or NO_TEXT, **dict(self._buttons())}

    def follow(self, advice: Facts) -> Sequence[str]:
        place = advice.get("press")
        return [self.actions[PLACES.index(place)]] if place in PLACES else []

    def _buttons(self) -> zip[tuple[str, str]]:
        return zip(PLACES, self.labels, strict=True)


@dataclass(frozen=True)
class Who(Comma):
    """Press the right one of six buttons, by words that sound alike.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
    Observation: the Solver gets a picture of the display and the six labelled buttons, the serial number,
        the status light, mistakes and turns, and reads its actions, their results and the conversation;
        the Expert reads the manual (several pages) and the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `press_top_left_button`, `press_top_right_button`,
        `press_middle_left_button` ... `press_bottom_right_button` presses that button.
    Rewards: both seats get the partial score: 1 for the right button, else 0, since the puzzle has one step.
    Manuals: random ones have other words on displays and buttons, other places to read and other orders.
    """

    name = "comma/who"
    view_class = "ludens.games.comma.who.view:WhoView"
    skills = ("grounding",)
    published = PUBLISHED
    puzzle_class = WhoPanel
    random_manual = staticmethod(draw_manual)

    def imagined_manual(self, puzzle: Puzzle[Any], random: Stream) -> WhoManual:
        assert isinstance(puzzle, WhoPanel)
        return draw_manual(random, puzzle.display, puzzle.labels)
