"""The blocks of a manual: each is both drawn on pages and written as text, so that both agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludens.draw import Canvas


@dataclass(frozen=True)
class Heading:
    """A title."""

    words: str


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    words: str


@dataclass(frozen=True)
class Items:
    """A list, numbered where order matters."""

    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class Grid:
    """A table; the first row is its head."""

    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A drawing, with a text that carries the same information."""

    words: str
    height: int
    """In units: a page is 512 wide."""
    draw: Callable[[Canvas, int, int, int, int], None]
    """Draws into x, y, width, height, in pixels."""


Block = Heading | Paragraph | Items | Grid | Figure


def mark(block: Items, index: int) -> str:
    """The label before an item."""
    return f"{index + 1}. " if block.numbered else "- "


def write(blocks: Sequence[Block]) -> str:
    """The blocks as plain text."""
    return "\n\n".join(map(_text, blocks))


def _text(block: Block) -> str:
    match block:
        case Heading(words):
            return words.upper()
        case Items(items):
            return "\n".join(mark(block, index) + item for index, item in enumerate(items))
        case Grid(rows):
            return "\n".join("| " + " | ".join(row) + " |" for row in rows)
        case Paragraph(words) | Figure(words):
            return words
