"""The cash machine panel, and the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from ludens.games.comma.atm.manual import (
    HIGHEST,
    PUBLISHED,
    TRANSACTIONS,
    AtmManual,
    Band,
    Transaction,
    draw_manual,
)
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting

DIGITS = tuple(f"press_{digit}" for digit in range(10))
UP, DOWN, ENTER, DELETE = "press_up_arrow", "press_down_arrow", "press_enter", "press_delete"
PIN_LENGTH, AMOUNT_LENGTH = 4, 5

Page = Literal["transaction", "pin", "final"]


class AtmPanel(Puzzle[AtmManual]):
    """Three screens of two lines each, an arrow on one of them, and fourteen keys."""

    hidden = frozenset(DIGITS)
    asks = "from <lowest balance> = <transaction and amount>"
    actions = (*DIGITS, UP, DOWN, ENTER, DELETE)

    def __init__(self, manual: AtmManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        self.balance = setting.random.between(1, HIGHEST)
        self.pin = str(setting.random.between(1000, 9999))
        self.page: Page = "transaction"
        self.line = 0
        """Where the arrow is: 0 or 1."""
        self.kind: Transaction = "deposit"
        self.typed_pin = self.typed_amount = ""
        self.steps = 0
        """The most steps of the partial score reached so far."""

    def act(self, action: str) -> Outcome:
        outcome = self._press(action)
        self.steps = max(self.steps, self._reached())
        return outcome

    def _press(self, action: str) -> Outcome:
        if action in (UP, DOWN):
            before, self.line = self.line, int(action == DOWN)
            return "nothing" if self.line == before else "done"
        if action == ENTER:
            return self._enter()
        if self.page == "transaction" or self.line == 1:
            return "nothing"
        if self.page == "pin":
            before_typed, self.typed_pin = self.typed_pin, _type(self.typed_pin, action, PIN_LENGTH)
            return "nothing" if self.typed_pin == before_typed else "done"
        before_typed, self.typed_amount = self.typed_amount, _type(self.typed_amount, action, AMOUNT_LENGTH)
        return "nothing" if self.typed_amount == before_typed else "done"

    def _enter(self) -> Outcome:
        if self.page == "transaction":
            self.kind = TRANSACTIONS[self.line]
            return self._show("pin")
        if self.line == 1:
            return self._show("transaction")
        if self.page == "pin":
            return self._show("final") if self.typed_pin == self.pin else "mistake"
        right = self.manual.right(self.balance)
        return "solved" if (self.kind, self.amount) == (right.kind, right.amount) else "mistake"

    def _show(self, page: Page) -> Outcome:
        self.page, self.line, self.typed_pin = page, 0, ""
        return "done"

    @property
    def amount(self) -> int:
        """The amount typed; 0 where there is none."""
        return int(self.typed_amount or 0)

    def _reached(self) -> int:
        """Steps done: PIN accepted, right transaction selected, right amount typed."""
        if self.page != "final":
            return 0
        right = self.manual.right(self.balance)
        if self.kind != right.kind:
            return 1
        return 3 if self.amount == right.amount else 2

    @property
    def progress(self) -> float:
        return 0.0 if self.released else self.steps / 4

    @property
    def screen(self) -> tuple[tuple[str, ...], tuple[str, str]]:
        """The lines with information, and the two to choose from."""
        if self.page == "transaction":
            return ("Welcome to Ludens Bank.", "What would you like to do?"), ("Deposit", "Withdrawal")
        told = f"You are making a {self.kind}."
        if self.page == "pin":
            return (told,), (f"PIN: {'*' * len(self.typed_pin)}", "Go back")
        return (told, f"Your balance is ${self.balance}"), (f"Amount: ${self.typed_amount}", "Go back")

    def describe(self) -> str:
        told, options = self.screen
        lines = [
            f"{'->' if line == self.line else '  '} {words.strip()}" for line, words in enumerate(options)
        ]
        keys = "Keys: 0 to 9, up arrow, down arrow, Enter, Delete"
        return "\n".join(["The screen says:", *told, *lines, keys])

    @property
    def briefing(self) -> Mapping[str, str]:
        return {"The PIN of your bank account": self.pin}

    def briefed_as(self, other: Self) -> Self:
        twin = self.clone()
        twin.pin = other.pin
        return twin

    @property
    def private(self) -> Mapping[str, str]:
        return {"PIN": self.pin, "balance": f"${self.balance}"}

    def tell(self, advice: Facts) -> Facts:
        return {"panel": "cash machine"}

    def follow(self, advice: Facts) -> Sequence[str]:
        table = _table(advice)
        if table is None:
            return []
        pressed: list[str] = []
        if self.page != "final":
            self._log_in(self.kind, pressed)
        due = table.right(self.balance)
        if self.kind != due.kind:
            self._log_in(due.kind, pressed)
        self._keys([UP, *[DELETE] * len(self.typed_amount), *_digits(str(due.amount)), ENTER], pressed)
        return pressed

    def _log_in(self, kind: Transaction, pressed: list[str]) -> None:
        """From any screen to the last one of a transaction."""
        if self.page != "transaction":
            self._keys([DOWN, ENTER], pressed)
        self._keys([(UP, DOWN)[TRANSACTIONS.index(kind)], ENTER, *_digits(self.pin), ENTER], pressed)

    def _keys(self, keys: Sequence[str], pressed: list[str]) -> None:
        """Press keys, and record those that have an effect."""
        pressed += [key for key in keys if self._press(key) != "nothing"]


def _type(typed: str, action: str, longest: int) -> str:
    if action == DELETE:
        return typed[:-1]
    return typed + action[-1] if len(typed) < longest else typed


def _digits(number: str) -> list[str]:
    return [f"press_{digit}" for digit in number]


def _table(advice: Facts) -> AtmManual | None:
    """The bands in an Expert's message; None when they do not start at 0."""
    bands = []
    for name, value in advice.items():
        least, (kind, _, amount) = name.removeprefix("from "), value.partition(" ")
        if least.isdecimal() and amount.isdecimal() and name != least:
            bands += [Band(int(least), each, int(amount)) for each in TRANSACTIONS if each == kind]
    return AtmManual(tuple(bands)) if any(band.least == 0 for band in bands) else None


@dataclass(frozen=True)
class Atm(Comma):
    """Make the right transaction at a cash machine, and keep PIN and balance to yourself.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
    Observation: the Solver gets a picture of the machine's screen and keys, the serial number, the status
        light, mistakes and turns, and reads its PIN, its actions, their results and the conversation;
        the balance is only ever on the screen. The Expert reads the manual and the conversation, without
        the results of the actions; lines that press digits do not reach it.
    Actions: messages. A line of the Solver's that is `press_0` to `press_9`, `press_up_arrow`,
        `press_down_arrow`, `press_enter` or `press_delete` presses that key. To enter a wrong PIN, a wrong
        amount or an amount for the wrong transaction is a mistake; what was typed stays.
    Rewards: both seats get the partial score: 1 when solved, else a quarter each for the PIN accepted, the
        last screen reached with the right transaction, and the right amount typed there. Released: 0 unless
        solved.
    """

    name = "comma/atm"
    view_class = "ludens.games.comma.atm.view:AtmView"
    skills = ("private",)
    published = PUBLISHED
    puzzle_class = AtmPanel
    random_manual = staticmethod(draw_manual)
