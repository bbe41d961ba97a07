"""The ATM manual: which transaction and amount a balance calls for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Items, Paragraph
from ludens.games.comma.puzzle import Facts, Manual

Transaction = Literal["deposit", "withdrawal"]
TRANSACTIONS: tuple[Transaction, Transaction] = ("deposit", "withdrawal")
HIGHEST = 1000
"""The highest possible balance."""


@dataclass(frozen=True)
class Band:
    """The transaction for a balance of at least this much and below the next band."""

    least: int
    kind: Transaction
    amount: int


@dataclass(frozen=True)
class AtmManual(Manual):
    """The bands, from the lowest; the first begins at 0."""

    bands: tuple[Band, ...]

    def right(self, balance: int) -> Band:
        """The band a balance lies in."""
        return max((band for band in self.bands if band.least <= balance), key=lambda band: band.least)

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            "At the cash machine one transaction must be made. Which one, and of how much, depends on the "
            "balance, which is shown once the PIN was accepted. PIN and balance are private and must not be "
            "told: give the Solver the whole table instead."
        )
        rows = [("Balance", "Transaction", "Amount")]
        ends = [*(band.least for band in self.bands[1:]), None]
        for band, end in zip(self.bands, ends, strict=True):
            limits = f"${band.least} or more" if end is None else f"${band.least} or more, less than ${end}"
            rows.append(
                (limits if band.least else f"less than ${end}", band.kind.capitalize(), f"${band.amount}")
            )
        return (
            Heading("Cash machine"),
            Paragraph(intro),
            Grid(tuple(rows)),
            Heading("How the machine works"),
            Items(_STEPS, numbered=True),
            Paragraph(_KEYS),
        )

    def advise(self, told: Sequence[Facts]) -> Facts:
        """The whole table: asking for the balance would be asking for private data."""
        return {f"from {band.least}": f"{band.kind} {band.amount}" for band in self.bands}


_STEPS = (
    "On the first screen choose the transaction.",
    "On the next one type the PIN, which has 4 digits, and press Enter. A wrong PIN is a mistake.",
    "The last screen shows the balance. If the balance calls for the other transaction, go back and choose "
    "that one; the PIN must then be typed again, and an amount typed before is still there.",
    "Type the amount and press Enter. A wrong amount, or the wrong transaction, is a mistake.",
)
_KEYS = (
    "Up and Down move the arrow between the two lines of a screen, Enter chooses the line with the arrow. "
    "Digits and Delete work only while the arrow is on the line to type in."
)

PUBLISHED = AtmManual((Band(0, "deposit", 100), Band(500, "withdrawal", 300)))


def draw_manual(random: Stream) -> AtmManual:
    """Two to four bands with random bounds and amounts, in which both transactions occur."""
    while True:
        bounds = sorted(random.sample(range(100, HIGHEST, 50), random.between(1, 3)))
        amounts = random.sample(range(20, HIGHEST, 10), len(bounds) + 1)
        kinds = [random.choice(TRANSACTIONS) for _ in amounts]
        if set(kinds) == set(TRANSACTIONS):
            return AtmManual(tuple(map(Band, (0, *bounds), kinds, amounts)))
