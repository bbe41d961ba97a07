"""Manuals as text and as pictures: the blocks they are written in, and the pages these are drawn on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from string import Template

from ludens.draw import Canvas, Picture, SpriteSheet, fonts


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
    return f"{index + 1}. " if block.numbered else "- "


@lru_cache(maxsize=256)
def read_blocks(module: str, **values: str) -> tuple[Block, ...]:
    """The manual of a puzzle in `manuals`, by the file of its module, with `$words` substituted.

    Blank lines separate blocks: `# heading`, `1. item` or `- item`, `| table | row |`, else a paragraph.
    """
    file = Path(module).parent / "manuals" / f"{Path(module).stem}.md"
    text = Template(file.read_text(encoding="utf-8")).substitute(values)
    return tuple(map(_block, text.strip().split("\n\n")))


def _block(text: str) -> Block:
    lines = text.splitlines()
    match text[:2]:
        case "# ":
            return Heading(text[2:])
        case "| ":
            return Grid(tuple(tuple(line[2:-2].split(" | ")) for line in lines))
        case "1." | "- ":
            return Items(tuple(line.partition(" ")[2] for line in lines), numbered=text[0] == "1")
    return Paragraph(text)


def table(*rows: Iterable[str]) -> str:
    """A table as text; the first row is its head."""
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write(blocks: Sequence[Block]) -> str:
    return "\n\n".join(map(_text, blocks))


def _text(block: Block) -> str:
    match block:
        case Heading(words):
            return words.upper()
        case Items(items):
            return "\n".join(mark(block, index) + item for index, item in enumerate(items))
        case Grid(rows):
            return table(*rows)
        case Paragraph(words) | Figure(words):
            return words


@dataclass(frozen=True)
class _Row:
    """A part that is never split over pages: its height, and how to draw it."""

    height: int
    draw: Callable[[Canvas, int], object]
    tied: bool = False
    """Whether it must not be the last on its page."""
    blank: bool = False
    """Whether it is omitted at the end of a page."""
    head: _Row | None = None
    """What is repeated above it when it starts a page."""


def draw_pages(sheet: SpriteSheet, blocks: Sequence[Block]) -> tuple[Picture, ...]:
    """The blocks on square pages, numbered at the bottom when there are several."""
    top, bottom = sheet.px(14), sheet.size - sheet.px(32)
    placed_pages: list[list[tuple[int, _Row]]] = [[]]
    y = top
    rows = [row for block in blocks for row in _rows(sheet, block)]
    for index, row in enumerate(rows):
        height = row.height
        for tied, after in zip(rows[index:], rows[index + 1 :], strict=False):
            if not tied.tied:
                break
            height += after.height
        if row.blank and y + row.height > bottom:
            continue
        if y + height > bottom and placed_pages[-1]:
            placed_pages.append([])
            y = top
            if row.head is not None:
                placed_pages[-1].append((y, row.head))
                y += row.head.height
        placed_pages[-1].append((y, row))
        y += row.height
    return tuple(_page(sheet, rows, number, len(placed_pages)) for number, rows in enumerate(placed_pages, 1))


def _page(sheet: SpriteSheet, rows: Sequence[tuple[int, _Row]], number: int, total: int) -> Picture:
    canvas = Canvas(sheet)
    for y, row in rows:
        row.draw(canvas, y)
    if total > 1:
        foot, px = f"Manual, page {number} of {total}", max(9, sheet.px(11))
        canvas.text(sheet.size // 2, sheet.size - sheet.px(17), foot, px, "muted", anchor="mm")
    return canvas.picture()


def _rows(sheet: SpriteSheet, block: Block) -> Iterator[_Row]:
    text, title = max(10, sheet.px(14)), max(11, sheet.px(16))
    left, room = sheet.px(18), sheet.size - 2 * sheet.px(18)
    match block:
        case Heading(words):
            yield _gap(sheet.px(4), tied=True)
            yield _line(left, words, title, bold=True, tied=True)
        case Paragraph(words):
            for line in fonts.wrap(words, room, text):
                yield _line(left, line, text)
            yield _gap(sheet.px(6))
        case Items():
            yield from _list(sheet, block, left, room, text)
            yield _gap(sheet.px(6))
        case Grid(rows):
            yield from _grid(sheet, rows, left, room, max(9, sheet.px(12)))
            yield _gap(sheet.px(8))
        case Figure(_, units, draw):
            height = sheet.px(units)
            yield _Row(height, lambda canvas, y: draw(canvas, left, y, room, height))
            yield _gap(sheet.px(8))


def _gap(height: int, tied: bool = False) -> _Row:
    return _Row(height, lambda canvas, y: None, tied, blank=not tied)


def _line(
    x: int, words: str, px: int, before: str = "", indent: int = 0, bold: bool = False, tied: bool = False
) -> _Row:
    def draw(canvas: Canvas, y: int) -> None:
        canvas.text(x, y, words, px, anchor="lt", bold=bold)
        if before:
            canvas.text(x - indent, y, before.strip(), px, "muted", anchor="lt")

    return _Row(round(px * (1.6 if bold else 1.35)), draw, tied)


def _list(sheet: SpriteSheet, block: Items, left: int, room: int, px: int) -> Iterator[_Row]:
    """Items are never split over pages, nor is a list that fills less than half of one."""
    indent = sheet.px(24)
    items = [fonts.wrap(item, room - indent, px) for item in block.items]
    short = sum(map(len, items)) * px * 1.35 < sheet.size / 2
    for index, lines in enumerate(items):
        for number, line in enumerate(lines, 1):
            tied = number < len(lines) or (short and index + 1 < len(items))
            yield _line(left + indent, line, px, mark(block, index) if number == 1 else "", indent, tied=tied)


def _grid(sheet: SpriteSheet, rows: Sequence[Sequence[str]], left: int, room: int, px: int) -> Iterator[_Row]:
    """Table rows with wrapped cells; column widths follow their longest cells.

    A table that fits a page is not broken; in longer ones the head is repeated.
    """
    pad, step = sheet.px(5), round(px * 1.35)
    columns = max(map(len, rows))
    cells = [[*row, *[""] * (columns - len(row))] for row in rows]
    widest = [max(fonts.width(row[c], px, bold=True) for row in cells) + 2 * pad for c in range(columns)]
    narrow = [
        max(fonts.width(word, px, bold=True) for row in cells for word in row[c].split() or [""]) + 2 * pad
        for c in range(columns)
    ]
    spare, wish = max(0, room - sum(narrow)), sum(widest) - sum(narrow) or 1
    widths = [n + (w - n) * min(spare, wish) // wish for n, w in zip(narrow, widest, strict=True)]
    edges = [left + sum(widths[:c]) for c in range(columns)]
    broken = [
        [fonts.wrap(cell, widths[c] - 2 * pad, px, bold=number == 0) for c, cell in enumerate(row)]
        for number, row in enumerate(cells)
    ]
    heights = [max(map(len, lines)) * step + sheet.px(4) for lines in broken]
    unbroken = sum(heights) < sheet.size - 2 * sheet.px(32)
    top: _Row | None = None

    def draw(lines: Sequence[Sequence[str]], height: int, head: bool, canvas: Canvas, y: int) -> None:
        for edge, cell in zip(edges, lines, strict=True):
            for index, line in enumerate(cell):
                canvas.text(edge + pad, y + sheet.px(2) + index * step, line, px, anchor="lt", bold=head)
        canvas.fill(left, y + height - 1, sum(widths), 1, "line" if head else "panel")

    for number, (lines, height) in enumerate(zip(broken, heights, strict=True)):
        tied = number == 0 or (unbroken and number + 1 < len(cells))
        row = _Row(height, partial(draw, lines, height, number == 0), tied, head=top)
        top = top or row
        yield row
