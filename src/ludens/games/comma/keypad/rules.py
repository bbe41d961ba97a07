"""The keypad panel, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ludens.core.random import Stream
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.keypad.manual import KEYS, PUBLISHED, KeypadManual, draw_manual, imagine_manual
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting, button_actions

PLACES = ("top left", "bottom left", "top right", "bottom right")


class KeypadPanel(Puzzle[KeypadManual]):
    """Four symbols of one column in any order. A wrong key is a mistake and turns off every lamp."""

    asks = "order = <the four symbols in the order to press them, with commas>"
    actions = button_actions(PLACES)

    def __init__(self, manual: KeypadManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        self.symbols = tuple(setting.random.sample(setting.random.choice(manual.columns), KEYS))
        """In the order of `PLACES`."""
        self.pressed: tuple[str, ...] = ()
        """The symbols pressed correctly since the last mistake, in order."""
        self.most = self.latest = 0
        """How many keys were pressed correctly in a row: at best, and up to the latest correct one."""

    def act(self, action: str) -> Outcome:
        symbol = self.symbols[self.actions.index(action)]
        order = self.manual.order(self.symbols)
        if symbol != order[len(self.pressed)]:
            self.pressed = ()
            return "mistake"
        self.pressed = (*self.pressed, symbol)
        self.latest = len(self.pressed)
        self.most = max(self.most, self.latest)
        return "solved" if self.latest == KEYS else "done"

    @property
    def progress(self) -> float:
        return (self.latest if self.released else self.most) / KEYS

    def describe(self) -> str:
        lines = [
            f"{place}: {symbol}, lamp {'on' if symbol in self.pressed else 'off'}"
            for place, symbol in zip(PLACES, self.symbols, strict=True)
        ]
        return "\n".join(["Four keys with symbols:", *lines])

    def tell(self, advice: Facts) -> Facts:
        return {"symbols": ", ".join(self.symbols)}

    def follow(self, advice: Facts) -> Sequence[str]:
        named = [symbol.strip() for symbol in advice.get("order", "").split(",")]
        return [
            self.actions[self.symbols.index(symbol)]
            for symbol in named
            if symbol in self.symbols and symbol not in self.pressed
        ]


@dataclass(frozen=True)
class Keypad(Comma):
    """Press four symbols in the order of the one column that has them all.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
    Observation: the Solver gets a picture of four keys with symbols, a lamp beside each that is on once the
        key was pressed correctly, the serial number, the status light, mistakes and turns, and reads its
        actions, their results and the conversation; the Expert sees a picture of the manual's columns
        and reads the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `press_top_left_button`, `press_bottom_left_button`,
        `press_top_right_button` or `press_bottom_right_button` presses that key. A wrong key, pressed
        before or not, is a mistake, and the order begins anew.
    Rewards: both seats get the partial score: 1 when solved, else a quarter for each key of the longest
        right beginning so far. Released: the beginning that the latest right key belongs to.
    """

    name = "comma/keypad"
    view_class = "ludens.games.comma.keypad.view:KeypadView"
    skills = ("grounding", "multi-step")
    expert_sees = "image"
    published = PUBLISHED
    puzzle_class = KeypadPanel
    random_manual = staticmethod(draw_manual)

    def imagined_manual(self, puzzle: Puzzle[Any], random: Stream) -> KeypadManual:
        assert isinstance(puzzle, KeypadPanel)
        return imagine_manual(puzzle.symbols, puzzle.pressed, random)
