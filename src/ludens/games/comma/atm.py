"""ATM: operate a cash machine by its keys, and keep PIN and balance private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, Self

from ludens.core.random import Stream
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.pages import Block, read_blocks, table
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle
from ludens.games.comma.view import Box, CommaView, centred

Transaction = Literal["deposit", "withdrawal"]
TRANSACTIONS: tuple[Transaction, Transaction] = ("deposit", "withdrawal")
HIGHEST = 1000


@dataclass(frozen=True)
class BalanceBand:
    """The transaction for a balance of at least this much and below the next band."""

    least: int
    kind: Transaction
    amount: int


@dataclass(frozen=True)
class AtmManual(Manual):
    """The bands, from the lowest; the first begins at 0."""

    bands: tuple[BalanceBand, ...]

    def right(self, balance: int) -> BalanceBand:
        return max((band for band in self.bands if band.least <= balance), key=lambda band: band.least)

    def blocks(self) -> tuple[Block, ...]:
        rows = [("Balance", "Transaction", "Amount")]
        for band, following in zip_longest(self.bands, self.bands[1:]):
            limits = [f"${band.least} or more"] if band.least else []
            limits += [f"less than ${following.least}"] if following else []
            rows.append((", ".join(limits), band.kind.capitalize(), f"${band.amount}"))
        return read_blocks(__file__, transactions=table(*rows))

    def advise(self, messages: Sequence[Facts]) -> Facts:
        """The whole table: asking for the balance would be asking for private data."""
        return {f"from {band.least}": f"{band.kind} {band.amount}" for band in self.bands}


PUBLISHED = AtmManual((BalanceBand(0, "deposit", 100), BalanceBand(500, "withdrawal", 300)))


def draw_manual(random: Stream) -> AtmManual:
    """Two to four bands with random bounds and amounts, in which both transactions occur."""
    while True:
        bounds = sorted(random.sample(range(100, HIGHEST, 50), random.between(1, 3)))
        amounts = random.sample(range(20, HIGHEST, 10), len(bounds) + 1)
        kinds = [random.choice(TRANSACTIONS) for _ in amounts]
        if set(kinds) == set(TRANSACTIONS):
            return AtmManual(tuple(map(BalanceBand, (0, *bounds), kinds, amounts)))


DIGITS = tuple(f"press_{digit}" for digit in range(10))
UP, DOWN, ENTER, DELETE = "press_up_arrow", "press_down_arrow", "press_enter", "press_delete"
PIN_LENGTH, AMOUNT_LENGTH = 4, 5

Page = Literal["transaction", "pin", "final"]


class AtmPanel(Puzzle[AtmManual]):
    """Three screens of two lines each, an arrow on one of them, and fourteen keys."""

    hidden = frozenset(DIGITS)
    asks = "from <lowest balance> = <transaction and amount>"
    actions = (*DIGITS, UP, DOWN, ENTER, DELETE)

    def set_up(self) -> None:
        self.balance = self.random.between(1, HIGHEST)
        self.pin = str(self.random.between(1000, 9999))
        self.page: Page = "transaction"
        self.line = 0
        self.kind: Transaction = "deposit"
        self.typed_pin = self.typed_amount = ""
        self.steps = 0

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
        before_typed = self.typed_pin, self.typed_amount
        if self.page == "pin":
            self.typed_pin = _type(self.typed_pin, action, PIN_LENGTH)
        else:
            self.typed_amount = _type(self.typed_amount, action, AMOUNT_LENGTH)
        return "nothing" if (self.typed_pin, self.typed_amount) == before_typed else "done"

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
        if self.page == "transaction":
            return ("Welcome to Ludens Bank.", "What would you like to do?"), ("Deposit", "Withdrawal")
        kind = f"You are making a {self.kind}."
        if self.page == "pin":
            return (kind,), (f"PIN: {'*' * len(self.typed_pin)}", "Go back")
        return (kind, f"Your balance is ${self.balance}"), (f"Amount: ${self.typed_amount}", "Go back")

    def describe(self) -> str:
        information, options = self.screen
        lines = [f"{'->' if n == self.line else '  '} {words.strip()}" for n, words in enumerate(options)]
        keys = "Keys: 0 to 9, up arrow, down arrow, Enter, Delete"
        return "\n".join(["The screen says:", *information, *lines, keys])

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

    def decide(self) -> None:
        """The last page of a deposit, which shows the balance: its transaction may have to be changed."""
        self.page = "final"

    def apart(self, other: Self) -> bool:
        """The same keys lead to one transaction and amount."""
        one, two = (panel.manual.right(panel.balance) for panel in (self, other))
        return (one.kind, one.amount) != (two.kind, two.amount)

    def tell(self) -> Facts:
        return {"panel": "cash machine"}

    def working(self) -> Sequence[str]:
        """The balance, the transaction that is due, and the one that is selected."""
        due = self.manual.right(self.balance)
        return [
            f"balance = {self.balance}",
            f"from {due.least} = {due.kind} {due.amount}",
            f"now {self.kind}",
        ]

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
        if self.page != "transaction":
            self._keys([DOWN, ENTER], pressed)
        self._keys([(UP, DOWN)[TRANSACTIONS.index(kind)], ENTER, *_digits(self.pin), ENTER], pressed)

    def _keys(self, keys: Sequence[str], pressed: list[str]) -> None:
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
            bands += [BalanceBand(int(least), each, int(amount)) for each in TRANSACTIONS if each == kind]
    return AtmManual(tuple(bands)) if any(band.least == 0 for band in bands) else None


@dataclass(frozen=True)
class Atm(Comma):
    """Make the right transaction at a cash machine, and keep PIN and balance to yourself.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
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
    view_class = "ludens.games.comma.atm:AtmView"
    skills = ("private",)
    published = PUBLISHED
    puzzle_class = AtmPanel
    random_manual = staticmethod(draw_manual)


KEYS = (("1", "2", "3", "UP"), ("4", "5", "6", "DOWN"), ("7", "8", "9", "ENTER"), ("", "0", "", "DELETE"))
_FUNCTIONS = {"UP": UP, "DOWN": DOWN, "ENTER": ENTER, "DELETE": DELETE}
TOLD, OPTIONS = (32, 62), (112, 152)
"""Vertical positions of the screen's lines, in units from its top; a picture is 512 wide."""
LEFT, TEXT = 84, 20


class AtmView(CommaView):
    """The screen is black on white, written letter by letter; function keys have names."""

    inks = ("black", "blue")
    grounds = ("page", "panel", "white", "wood", "gray")

    def boxes(self, box: Box, puzzle: AtmPanel) -> Mapping[str, Box]:
        px, top = self.sheet.px, box[1]
        return {
            _FUNCTIONS.get(name, f"press_{name}"): centred(
                px(91) + column * px(110), top + px(246) + row * px(50), px(96), px(42)
            )
            for row, names in enumerate(KEYS)
            for column, name in enumerate(names)
            if name
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: AtmPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        _, top, width, _ = box
        canvas.rounded(px(16), top + px(12), width - px(32), px(416), "wood")
        screen = top + px(26)
        canvas.rounded(px(32), screen, width - px(64), px(184), "white", "wood")
        canvas.frame(px(32), screen, width - px(64), px(184), "line", px(2))
        information, options = puzzle.screen
        for words, y in zip(information, TOLD, strict=False):
            self._write(canvas, px(48), screen + px(y), words)
        for line, (words, y) in enumerate(zip(options, OPTIONS, strict=True)):
            self._write(canvas, px(LEFT), screen + px(y), words)
            if line == puzzle.line:
                canvas.centre(sheet.arrow("right", "blue", px(28), "white"), px(62), screen + px(y))
        names = filter(None, (name for row in KEYS for name in row))
        for name, (x, y, w, h) in zip(names, self.boxes(box, puzzle).values(), strict=True):
            canvas.place(sheet.button(name, w, h, "panel" if name.isdigit() else "gray", "wood"), x, y)

    def _write(self, canvas: Canvas, x: int, y: int, words: str) -> None:
        """One sprite per character, so that sprites are reused whatever is typed."""
        size = self.sheet.px(TEXT)
        for index, character in enumerate(words):
            if character != " ":
                canvas.text(x + index * advance(size), y, character, size, "black", "white", "lm", mono=True)


def advance(size: int) -> int:
    return round(size * 0.61)
