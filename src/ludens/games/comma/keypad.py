"""Keypad: press four symbols in the order of the one column that holds them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import NamedTuple

from PIL.ImageDraw import ImageDraw

from ludens.core.random import Stream
from ludens.draw import Canvas, Sprite, SpriteSheet
from ludens.draw.palette import RGB
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, Figure, Heading, Paragraph
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, button_actions, read_tables
from ludens.games.comma.view import Box, CommaView

Points = tuple[tuple[float, float], ...]
STROKE = 9.0


class Stroke(NamedTuple):
    """A stroke along points, with round ends and corners."""

    points: Points


class Solid(NamedTuple):
    """A filled polygon."""

    points: Points


class Disc(NamedTuple):
    """A filled circle, or a hole in a filled shape."""

    x: float
    y: float
    radius: float
    empty: bool = False


Mark = Stroke | Solid | Disc


def _arc(x: float, y: float, radius: float, start: float, end: float, growth: float = 0.0) -> Stroke:
    """Part of a circle, in degrees clockwise from the right; with growth, a spiral."""
    steps = max(8, int(abs(end - start) / 6))
    turns = [start + (end - start) * step / steps for step in range(steps + 1)]
    radii = [radius + growth * step / steps for step in range(steps + 1)]
    polar = zip(radii, turns, strict=True)
    return Stroke(tuple((x + r * cos(t * pi / 180), y + r * sin(t * pi / 180)) for r, t in polar))


def _bulge(x: float, y: float, rx: float, ry: float, start: float, end: float) -> Points:
    turns = [start + (end - start) * step / 24 for step in range(25)]
    return tuple((x + rx * cos(t * pi / 180), y + ry * sin(t * pi / 180)) for t in turns)


def _marks(text: str) -> Iterator[Mark]:
    kind, _, rest = text.partition(" ")
    plain, *ovals = ([float(number) for number in part.split()] for part in rest.split("oval"))
    points = tuple(zip(plain[::2], plain[1::2], strict=False))
    match kind:
        case "line" | "solid":
            arcs = (point for oval in ovals for point in _bulge(*oval))
            yield (Stroke if kind == "line" else Solid)((*points, *arcs))
        case "arc":
            yield _arc(*plain)
        case "ring":
            x, y, radius = plain
            yield _arc(x, y, radius, 0, 360)
        case "disc" | "hole":
            x, y, radius = plain
            yield Disc(x, y, radius, kind == "hole")
        case "twigs":
            for angle in (t * pi / 3 + pi / 6 for t in range(6)):
                corners = ((50 + r * cos(angle + a), 50 + r * sin(angle + a)) for r, a in points)
                yield Stroke(tuple(corners))


_TABLES = read_tables(__file__)
_SHAPES: Mapping[str, Sequence[str]] = _TABLES["symbols"]
SHAPES = {name: tuple(mark for text in texts for mark in _marks(text)) for name, texts in _SHAPES.items()}
SYMBOLS = tuple(SHAPES)


def paint(draw: ImageDraw, name: str, x: float, y: float, side: float, ink: RGB, ground: RGB) -> None:
    unit = side / 100

    def at(points: Points) -> list[tuple[float, float]]:
        return [(x + px * unit, y + py * unit) for px, py in points]

    def disc(px: float, py: float, radius: float, colour: RGB) -> None:
        (left, top), (right, bottom) = at(((px - radius, py - radius), (px + radius, py + radius)))
        draw.ellipse((left, top, right, bottom), fill=colour)

    for mark in SHAPES[name]:
        match mark:
            case Stroke(points):
                draw.line(at(points), fill=ink, width=round(STROKE * unit), joint="curve")
                for px, py in (points[0], points[-1]):
                    disc(px, py, STROKE / 2, ink)
            case Solid(points):
                draw.polygon(at(points), fill=ink)
            case Disc(px, py, radius, empty):
                disc(px, py, radius, ground if empty else ink)


def sprite(sheet: SpriteSheet, name: str, side: int, ink: str, ground: str) -> Sprite:
    colours = sheet.rgb(ink), sheet.rgb(ground)
    key = ("keypad symbol", name, ink)
    return sheet.sprite(key, side, side, ground, lambda draw, s: paint(draw, name, 0, 0, side * s, *colours))


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
            title, size = str(number + 1), sheet.font_px(13)
            canvas.text(middle, y + head // 2, title, size, "muted", anchor="mm", bold=True)
            canvas.frame(left + sheet.px(4), y + head, wide - sheet.px(8), step * len(column), "line")
            for row, symbol in enumerate(column):
                drawing = sprite(sheet, symbol, side, "ink", "page")
                canvas.centre(drawing, middle, y + head + row * step + step // 2)

    def words(self) -> str:
        columns = enumerate(map(", ".join, self.columns), 1)
        return "\n".join(f"Column {number}, from top to bottom: {column}." for number, column in columns)


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

    def advise(self, messages: Sequence[Facts]) -> Facts:
        [listed] = need(messages, _NEEDS)
        symbols = [symbol.strip().lower() for symbol in listed.split(",")]
        unknown = [symbol for symbol in symbols if symbol not in SYMBOLS]
        if unknown:
            raise Unclear(f"I know these symbols: {', '.join(SYMBOLS)}; not {unknown[0]!r}.")
        order = self.order(symbols)
        if len(set(symbols)) != KEYS or not order:
            raise Unclear(f"No column has just these {KEYS} symbols: {listed}.")
        return {"order": ", ".join(order)}


_NEEDS: Mapping[str, str] = {"symbols": "the names of the four symbols, with commas"}

PUBLISHED = KeypadManual(tuple(map(tuple, _TABLES["published"])))


def draw_manual(random: Stream) -> KeypadManual:
    """Random columns: new symbols in the published places, each column reordered, columns shuffled."""
    replacements = dict(zip(SYMBOLS, random.sample(SYMBOLS, len(SYMBOLS)), strict=True))
    replaced = ([replacements[symbol] for symbol in column] for column in PUBLISHED.columns)
    columns = [tuple(random.sample(column, len(column))) for column in replaced]
    random.shuffle(columns)
    return KeypadManual(tuple(columns))


def imagine_manual(symbols: Sequence[str], pressed: Sequence[str], random: Stream) -> KeypadManual:
    """Random columns that hold these symbols together, those already pressed first and in this order."""
    manual = draw_manual(random)
    column = random.choice(manual.columns)
    places = sorted(random.sample(range(len(column)), len(symbols)))
    rest = random.sample([symbol for symbol in symbols if symbol not in pressed], len(symbols) - len(pressed))
    swap = {symbol: symbol for symbol in SYMBOLS}
    for place, symbol in zip(places, (*pressed, *rest), strict=True):
        holder = next(old for old, new in swap.items() if new == symbol)
        swap[holder], swap[column[place]] = swap[column[place]], symbol
    return KeypadManual(tuple(tuple(swap[symbol] for symbol in each) for each in manual.columns))


PLACES = ("top left", "bottom left", "top right", "bottom right")


class KeypadPanel(Puzzle[KeypadManual]):
    """Four symbols of one column in any order. A wrong key is a mistake and turns off every lamp."""

    asks = "order = <the four symbols in the order to press them, with commas>"
    actions = button_actions(PLACES)

    def set_up(self) -> None:
        self.symbols = tuple(self.random.sample(self.random.choice(self.manual.columns), KEYS))
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
        lamps = {symbol: "on" if symbol in self.pressed else "off" for symbol in self.symbols}
        lines = [f"{at}: {name}, lamp {lamps[name]}" for at, name in zip(PLACES, self.symbols, strict=True)]
        return "\n".join(["Four keys with symbols:", *lines])

    def tell(self) -> Facts:
        return {"symbols": ", ".join(self.symbols)}

    def follow(self, advice: Facts) -> Sequence[str]:
        keys = dict(zip(self.symbols, self.actions, strict=True))
        symbols = [symbol.strip() for symbol in advice.get("order", "").split(",")]
        return [keys[symbol] for symbol in symbols if symbol in keys and symbol not in self.pressed]


@dataclass(frozen=True)
class Keypad(Comma):
    """Press four symbols in the order of the one column that has them all.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
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
    view_class = "ludens.games.comma.keypad:KeypadView"
    skills = ("grounding", "multi-step")
    expert_sees = "image"
    published = PUBLISHED
    puzzle_class = KeypadPanel
    random_manual = staticmethod(draw_manual)

    def imagined_manual(self, puzzle: KeypadPanel, random: Stream) -> KeypadManual:
        return imagine_manual(puzzle.symbols, puzzle.pressed, random)


KEY, GAP, SYMBOL, LAMP = 180, 18, 126, 30
"""Sides in units; a picture is 512 wide."""


class KeypadView(CommaView):
    """Keys in black on white, so that symbols look the same in every theme."""

    inks = ("black",)
    grounds = ("page", "panel", "white", "gray")

    def boxes(self, box: Box, puzzle: KeypadPanel) -> Mapping[str, Box]:
        (left, top, _, _), rim, key = self._plate(box), self.sheet.px(GAP), self.sheet.px(KEY)
        step = key + rim
        return {
            action: (left + rim + index // 2 * step, top + rim + index % 2 * step, key, key)
            for index, action in enumerate(puzzle.actions)
        }

    def _plate(self, box: Box) -> Box:
        left, top, width, height = box
        side = 2 * self.sheet.px(KEY) + 3 * self.sheet.px(GAP)
        return left + (width - side) // 2, top + (height - side) // 2, side, side

    def draw(self, canvas: Canvas, box: Box, puzzle: KeypadPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        canvas.rounded(*self._plate(box), "gray")
        for symbol, (x, y, w, h) in zip(puzzle.symbols, self.boxes(box, puzzle).values(), strict=True):
            canvas.rounded(x, y, w, h, "white", "gray")
            drawing = sprite(sheet, symbol, px(SYMBOL), "black", "white")
            canvas.centre(drawing, x + px(KEY) // 2, y + px(KEY) // 2 + px(8))
            # Without the letter of its colour, which could be taken for a symbol.
            lamp = sheet.led("green", px(LAMP), "white", symbol in puzzle.pressed, letter=" ")
            canvas.place(lamp, x + px(KEY) - px(LAMP) - px(6), y + px(6))
