"""The LED manual: letters count as numbers, and a light multiplies the number of the right button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Literal

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear

COLOURS = ("red", "green", "blue", "yellow", "purple", "orange")
CORNERS = ("top left", "top right", "bottom right", "bottom left")
"""Clockwise, so that the diagonal partner of a corner is two positions further."""
LETTERS = len(ascii_uppercase)

Partner = Literal["diagonal", "beside", "upright"]
PARTNERS: tuple[Partner, ...] = ("diagonal", "beside", "upright")
_PARTNER_OF = {"diagonal": (2, 3, 0, 1), "beside": (1, 0, 3, 2), "upright": (3, 2, 1, 0)}
_PARTNER_WORDS = {
    "diagonal": "the button diagonally across from it",
    "beside": "the button beside it in the same row",
    "upright": "the button above or below it in the same column",
}

_NEEDS = {
    "light": "the colour of the light of this stage",
    **{corner: f"the letter on the {corner} button" for corner in CORNERS},
}


@dataclass(frozen=True)
class LedManual(Manual):
    """A multiplier for every colour, the letter that counts 0, and the button to compare with."""

    multipliers: tuple[int, ...]
    """In the order of `COLOURS`."""
    zero: str = "A"
    partner: Partner = "diagonal"

    def value(self, letter: str) -> int:
        """The number of a letter."""
        return (ord(letter) - ord(self.zero)) % LETTERS

    def product(self, letter: str, colour: str) -> str:
        """The letter on the partner of a right button."""
        value = self.value(letter) * self.multipliers[COLOURS.index(colour)]
        return ascii_uppercase[(value + ascii_uppercase.index(self.zero)) % LETTERS]

    def partner_of(self, corner: int) -> int:
        """The corner whose letter is compared with this one's."""
        return _PARTNER_OF[self.partner][corner]

    def right(self, letters: Sequence[str], colour: str) -> tuple[int, ...]:
        """The corners that may be pressed; letters are in the order of `CORNERS`."""
        return tuple(
            corner
            for corner, letter in enumerate(letters)
            if self.product(letter, colour) == letters[self.partner_of(corner)]
        )

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            "A panel has a row of two to five lights, one for each stage, and four buttons with letters. In "
            "every stage the letters are others, and one right button must be pressed; then the next stage "
            "begins. The number of the stage and its light are marked on the panel."
        )
        test = (
            "Take the number of a button's letter, multiply it by the number of the stage's light and divide "
            f"by {LETTERS}. If the remainder is the number of the letter on {_PARTNER_WORDS[self.partner]}, "
            "the button is right. Sometimes more than one button is; any of them will do."
        )
        order = sorted(ascii_uppercase, key=self.value)
        half = LETTERS // 2
        numbers = [str(number) for number in range(LETTERS)]
        rows = tuple(
            row
            for part in (slice(0, half), slice(half, LETTERS))
            for row in (tuple(order[part]), tuple(numbers[part]))
        )
        return (
            Heading("Lights and letters"),
            Paragraph(intro),
            Heading("What the light multiplies by"),
            Grid((COLOURS, tuple(map(str, self.multipliers)))),
            Heading("What the letters count"),
            Grid(rows[:2]),
            Grid(rows[2:]),
            Heading("Which button is right"),
            Paragraph(test),
        )

    def advise(self, told: Sequence[Facts]) -> Facts:
        colour, *letters = need(told[-1] if told else {}, _NEEDS)
        colour, letters = colour.lower(), [letter.upper() for letter in letters]
        if colour not in COLOURS:
            raise Unclear(f"A light is {', '.join(COLOURS)}; not {colour!r}.")
        if any(len(letter) != 1 or letter not in ascii_uppercase for letter in letters):
            raise Unclear(f"Every button has one letter from A to Z; not {', '.join(letters)}.")
        right = self.right(letters, colour)
        if not right:
            raise Unclear("No button is right with these letters and this light; please look again.")
        return {"press": CORNERS[right[0]]}


PUBLISHED = LedManual((2, 3, 4, 5, 6, 7))


def draw_manual(random: Stream) -> LedManual:
    """Random multipliers, a random letter that counts 0, and possibly another partner."""
    return LedManual(
        tuple(random.sample(range(2, 13), len(COLOURS))),
        random.choice(ascii_uppercase),
        random.choice(PARTNERS),
    )
