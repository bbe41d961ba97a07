"""The Keypad manual: six columns of seven symbols, of which one holds all four on the keypad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Figure, Heading, Paragraph
from ludens.games.comma.keypad.symbols import SYMBOLS, sprite
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear

if TYPE_CHECKING:
    from ludens.draw import Canvas

KEYS = 4
Column = tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """Draws the columns side by side, with their numbers above them."""

    columns: tuple[Column, ...]

    def __call__(self, canvas: Canvas, x: int, y: int, width: int, height: int) -> None:
        sheet = canvas.sheet
        head, wide = sheet.px(22), width // len(self.columns)
        step = (height - head) // len(self.columns[0])
        side = step - sheet.px(7)
        for number, column in enumerate(self.columns):
            left, middle = x + number * wide, x + number * wide + wide // 2
            canvas.text(
                middle, y + head // 2, str(number + 1), sheet.font_px(13), "muted", anchor="mm", bold=True
            )
            canvas.frame(left + sheet.px(4), y + head, wide - sheet.px(8), step * len(column), "line")
            for row, symbol in enumerate(column):
                canvas.centre(
                    sprite(sheet, symbol, side, "ink", "page"), middle, y + head + row * step + step // 2
                )

    def words(self) -> str:
        """The names of the symbols."""
        return "\n".join(
            f"Column {number}, from top to bottom: {', '.join(column)}."
            for number, column in enumerate(self.columns, 1)
        )


@dataclass(frozen=True)
class KeypadManual(Manual):
    """The columns, each from top to bottom. No two share more than three symbols, so four identify one."""

    columns: tuple[Column, ...]

    def order(self, symbols: Sequence[str]) -> tuple[str, ...]:
        """The symbols of a keypad in the order to press; empty when no column holds them all."""
        for column in self.columns:
            if set(symbols) <= set(column):
                return tuple(symbol for symbol in column if symbol in symbols)
        return ()

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            "The keypad has four keys with a symbol each, and exactly one of these columns has all four. "
            "Press the keys in the order of that column, from top to bottom."
        )
        columns = Columns(self.columns)
        return Heading("Keypad"), Paragraph(intro), Figure(columns.words(), 364, columns)

    def advise(self, told: Sequence[Facts]) -> Facts:
        [listed] = need(told[-1] if told else {}, _NEEDS)
        symbols = [symbol.strip().lower() for symbol in listed.split(",")]
        unknown = [symbol for symbol in symbols if symbol not in SYMBOLS]
        if unknown:
            raise Unclear(f"I know these symbols: {', '.join(SYMBOLS)}; not {unknown[0]!r}.")
        order = self.order(symbols)
        if len(set(symbols)) != KEYS or not order:
            raise Unclear(f"No column has just these {KEYS} symbols: {listed}.")
        return {"order": ", ".join(order)}


_NEEDS: Mapping[str, str] = {"symbols": "the names of the four symbols, with commas"}

PUBLISHED = KeypadManual(
    (
        ("anchor", "hourglass", "ladder", "zigzag", "comb", "key", "cup with a dot"),
        ("eye", "anchor", "cup with a dot", "linked rings", "open diamond", "key", "spiral"),
        ("wheel", "bow tie", "linked rings", "snowflake", "stairs", "ladder", "open diamond"),
        ("drop with a hole", "flag", "fish", "comb", "snowflake", "spiral", "mushroom"),
        ("pinwheel", "mushroom", "fish", "arch with a dot", "flag", "crescent", "solid diamond"),
        (
            "drop with a hole", "eye", "arrow through a ring", "dumbbell", "pinwheel", "triangle with a dot",
            "half-filled ring",
        ),
    )
)  # fmt: skip
"""The published columns, with each symbol replaced by one of ours."""


def draw_manual(random: Stream) -> KeypadManual:
    """Random columns: new symbols in the published places, each column reordered, columns shuffled."""
    others = dict(zip(SYMBOLS, random.sample(SYMBOLS, len(SYMBOLS)), strict=True))
    columns = [
        tuple(random.sample([others[symbol] for symbol in column], len(column)))
        for column in PUBLISHED.columns
    ]
    random.shuffle(columns)
    return KeypadManual(tuple(columns))


def imagine_manual(symbols: Sequence[str], pressed: Sequence[str], random: Stream) -> KeypadManual:
    """Random columns that hold these symbols together, those already pressed first and in this order."""
    drawn = draw_manual(random)
    column = random.choice(drawn.columns)
    places = sorted(random.sample(range(len(column)), len(symbols)))
    rest = random.sample([symbol for symbol in symbols if symbol not in pressed], len(symbols) - len(pressed))
    swap = {symbol: symbol for symbol in SYMBOLS}
    for place, symbol in zip(places, (*pressed, *rest), strict=True):
        holder = next(old for old, new in swap.items() if new == symbol)
        swap[holder], swap[column[place]] = swap[column[place]], symbol
    return KeypadManual(tuple(tuple(swap[symbol] for symbol in each) for each in drawn.columns))
