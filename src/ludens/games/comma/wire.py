"""Wire: three to six coloured wires, one of which must be cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Literal, cast, get_args

from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, read_blocks
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, read_tables
from ludens.games.comma.view import Box, CommaView

COLOURS = ("red", "white", "yellow", "blue", "black")
FEWEST, MOST = 3, 6
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")

Amount = Literal["no", "exactly one", "more than one"]
AMOUNTS: tuple[Amount, ...] = get_args(Amount)
Subject = Amount | Literal["last", "serial"]


@dataclass(frozen=True)
class WireCondition:
    """How many wires have a colour, the colour of the last wire, or a serial number that is odd or even."""

    subject: Subject
    value: str

    def holds(self, wires: Sequence[str], odd: bool) -> bool:
        match self.subject:
            case "last":
                return wires[-1] == self.value
            case "serial":
                return odd == (self.value == "odd")
            case amount:
                return amount == AMOUNTS[min(wires.count(self.value), 2)]

    def words(self) -> str:
        match self.subject:
            case "last":
                return f"the last wire is {self.value}"
            case "serial":
                return f"the serial number is {self.value}"
            case "no":
                return f"there are no {self.value} wires"
            case amount:
                return f"there is {amount} {self.value} wire"


@dataclass(frozen=True)
class WireRule:
    """When all conditions hold, cut a place counted from the top, the last wire (-1) or a colour's last."""

    conditions: tuple[WireCondition, ...]
    cut: int | str

    def holds(self, wires: Sequence[str], odd: bool) -> bool:
        return all(condition.holds(wires, odd) for condition in self.conditions)

    def place(self, wires: Sequence[str]) -> int:
        """The wire to cut, counted from 1 at the top."""
        if isinstance(self.cut, str):
            return len(wires) - list(reversed(wires)).index(self.cut)
        return len(wires) if self.cut == -1 else self.cut

    def wire_name(self) -> str:
        if isinstance(self.cut, str):
            return f"last {self.cut}"
        return "last" if self.cut == -1 else ORDINALS[self.cut - 1]

    def words(self) -> str:
        when = " and ".join(condition.words() for condition in self.conditions)
        return (
            f"If {when}, cut the {self.wire_name()} wire."
            if when
            else f"Otherwise, cut the {self.wire_name()} wire."
        )

    def brief(self) -> str:
        """The conditions in few words."""
        return ", ".join(f"{condition.subject} {condition.value}" for condition in self.conditions) or "else"


@dataclass(frozen=True)
class WireManual(Manual):
    """The rules for three, four, five and six wires, in this order."""

    tables: tuple[tuple[WireRule, ...], ...]

    def right(self, wires: Sequence[str], serial: str) -> int:
        """The wire to cut, counted from 1 at the top."""
        odd = int(serial[-1]) % 2 == 1
        return next(rule.place(wires) for rule in self.tables[len(wires) - FEWEST] if rule.holds(wires, odd))

    def blocks(self) -> tuple[Block, ...]:
        lists = []
        for number, rules in enumerate(self.tables, FEWEST):
            lines = [f"{place}. {rule.words()}" for place, rule in enumerate(rules, 1)]
            lists += [f"# {number} wires", "\n".join(lines)]
        return read_blocks(__file__, lists="\n\n".join(lists))

    def advise(self, messages: Sequence[Facts]) -> Facts:
        colours, serial = need(messages, _NEEDS)
        wires = [colour.strip().lower() for colour in colours.split(",")]
        if not FEWEST <= len(wires) <= MOST or any(wire not in COLOURS for wire in wires):
            raise Unclear(
                f"I know panels of {FEWEST} to {MOST} wires, each {', '.join(COLOURS)}; not {colours!r}."
            )
        if not (serial.isascii() and serial.isdigit()):
            raise Unclear(f"A serial number has digits only; not {serial!r}.")
        return {"cut": str(self.right(wires, serial))}


_NEEDS: Mapping[str, str] = {
    "wires": "the colours from top to bottom, with commas",
    "serial": "the serial number",
}


def _rule(line: str) -> WireRule:
    conditions, cut = line.split(": ") if not line.startswith(":") else ("", line[2:])
    parts = [condition.rpartition(" ") for condition in conditions.split(", ") if condition]
    place = cut if cut in COLOURS else int(cut)
    return WireRule(tuple(WireCondition(cast(Subject, subject), value) for subject, _, value in parts), place)


PUBLISHED = WireManual(tuple(tuple(map(_rule, rules)) for rules in read_tables(__file__)["published"]))


def draw_manual(random: Stream) -> WireManual:
    """Random rules of the published form: three or four conditions per number of wires, then the rest."""
    return WireManual(tuple(_draw_rules(number, random) for number in range(FEWEST, MOST + 1)))


def _draw_rules(number: int, random: Stream) -> tuple[WireRule, ...]:
    """A list for this number of wires in which every rule applies to some panel."""
    while True:
        colours = random.sample(COLOURS, len(COLOURS))
        rules: list[WireRule] = []
        for _ in range(random.between(3, 4)):
            conditions = _draw_conditions(colours, random)
            rules.append(WireRule(conditions, _draw_cut(number, conditions, rules, random)))
        rules.append(WireRule((), _draw_cut(number, (), rules, random)))
        if _all_count(rules, number):
            return tuple(rules)


def _draw_conditions(colours: list[str], random: Stream) -> tuple[WireCondition, ...]:
    """One or two conditions; a colour is removed from the list when it is used, so that none occurs twice."""
    conditions = [WireCondition(random.choice(AMOUNTS), colours.pop())]
    if random.below(4) == 0:
        conditions.insert(0, WireCondition("last", random.choice(COLOURS)))
    if random.below(4) == 0:
        conditions.append(WireCondition("serial", "odd" if random.below(2) == 0 else "even"))
    if len(conditions) == 2 and conditions[0].subject == "last" and random.below(2) == 0:
        conditions.pop()
    return tuple(conditions)


def _draw_cut(
    number: int, conditions: Sequence[WireCondition], before: Sequence[WireRule], random: Stream
) -> int | str:
    """A place other than the previous rule's, or the last wire of a colour that must be present."""
    present = [condition.value for condition in conditions if condition.subject == "more than one"]
    if present and random.below(2) == 0:
        return present[0]
    places: list[int] = [p for p in (*range(1, number), -1) if not before or p != before[-1].cut]
    return random.choice(places)


def _all_count(rules: Sequence[WireRule], number: int) -> bool:
    waiting = set(range(len(rules)))
    for wires, odd in _panels(number):
        waiting.discard(next(index for index, rule in enumerate(rules) if rule.holds(wires, odd)))
        if not waiting:
            return True
    return False


@lru_cache(maxsize=8)
def _panels(number: int) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """Every panel that rules can distinguish: how often each colour occurs, the last colour, odd or even."""
    rest = combinations_with_replacement(COLOURS, number - 1)
    panels = [((*most, last), odd) for most, last, odd in product(rest, COLOURS, (False, True))]
    stream(number, "panels").shuffle(panels)
    return tuple(panels)


_ACTIONS = tuple(f"cut_wire_{number}" for number in range(1, MOST + 1))


class WirePanel(Puzzle[WireManual]):
    """Wires of any colours, one above the other. A wrong cut is a mistake and leaves the wire."""

    asks = "cut = <number of the wire, counted from the top>"
    actions = _ACTIONS

    def set_up(self) -> None:
        random = self.random
        self.wires = tuple(random.choice(COLOURS) for _ in range(random.between(FEWEST, MOST)))
        self.actions = _ACTIONS[: len(self.wires)]
        self.cut = 0
        """The wire that was cut correctly, counted from 1 at the top; 0 before."""

    def act(self, action: str) -> Outcome:
        number = self.actions.index(action) + 1
        if number != self.manual.right(self.wires, self.serial):
            return "mistake"
        self.cut = number
        return "solved"

    def describe(self) -> str:
        lines = [f"{n}: {colour}{', cut' if n == self.cut else ''}" for n, colour in enumerate(self.wires, 1)]
        return "\n".join([f"{len(self.wires)} wires, from top to bottom:", *lines])

    def tell(self) -> Facts:
        return {"wires": ", ".join(self.wires), "serial": self.serial}

    def working(self) -> Sequence[str]:
        """How many wires have each colour, which rules hold, and the wire of the first that does."""
        wires, odd = self.wires, int(self.serial[-1]) % 2 == 1
        counts = [f"{wires.count(colour)} {colour}" for colour in COLOURS]
        facts = [f"{len(wires)} wires", *counts, f"last {wires[-1]}", "odd" if odd else "even"]
        rules = self.manual.tables[len(wires) - FEWEST]
        number = next(number for number, rule in enumerate(rules) if rule.holds(wires, odd))
        tried = [f"{rule.brief()}: {rule.wire_name() if rule.holds(wires, odd) else 'no'}" for rule in rules]
        return [", ".join(facts), *tried[: number + 1], f"cut = {rules[number].place(wires)}"]

    def follow(self, advice: Facts) -> Sequence[str]:
        action = f"cut_wire_{advice.get('cut')}"
        return [action] if action in self.actions else []


@dataclass(frozen=True)
class Wire(Comma):
    """Cut the right one of three to six coloured wires.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
    Observation: the Solver gets a picture of the wires (counted from the top), the serial number, the status
    light, mistakes and turns, and reads its actions, their results and the conversation; the Expert
    reads the manual and the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `cut_wire_1` to `cut_wire_6` cuts that wire.
    Rewards: both seats get the partial score: 1 for the right cut, else 0, since the puzzle has one step.
    """

    name = "comma/wire"
    view_class = "ludens.games.comma.wire:WireView"
    skills = ("grounding",)
    published = PUBLISHED
    puzzle_class = WirePanel
    random_manual = staticmethod(draw_manual)

    balanced: bool = option(
        False, help="every wire that the manual can name is right equally often, so that none is a good guess"
    )

    def panel(self, manual: Manual, random: Stream) -> WirePanel:
        panel = super().panel(manual, random)
        assert isinstance(panel, WirePanel)
        if self.balanced:
            panel.wires = next(_balanced(panel, random), panel.wires)
        return panel


_PATIENCE = 60
"""Panels drawn for one place: it may be that no rule names the wire there."""


def _balanced(panel: WirePanel, random: Stream) -> Iterator[tuple[str, ...]]:
    """Wires of which the one at a random place is right; every place is as likely."""
    places = list(range(1, len(panel.wires) + 1))
    random.shuffle(places)
    for place in places:
        for _ in range(_PATIENCE):
            wires = tuple(random.choice(COLOURS) for _ in panel.wires)
            if panel.manual.right(wires, panel.serial) == place:
                yield wires


class WireView(CommaView):
    """Two posts with wires between them, on grey, so that black and white ones are visible in every theme.

    In themes with letters, every wire has its colour's name.
    """

    inks = (*COLOURS, "orange")
    grounds = ("page", "panel", "white", "gray", "wood")

    def boxes(self, box: Box, puzzle: WirePanel) -> Mapping[str, Box]:
        px, (_, top, _, height) = self.sheet.px, box
        left, right, side = px(20), px(470) + px(62) // 2, px(38)
        step = (height - px(32)) / len(puzzle.wires)
        middles = [top + px(16) + round(step * (number + 0.5)) for number in range(len(puzzle.wires))]
        boxes = ((left, middle - side // 2, right - left, side) for middle in middles)
        return dict(zip(puzzle.actions, boxes, strict=True))

    def draw(self, canvas: Canvas, box: Box, puzzle: WirePanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        _, top, _, height = box
        left, right, thick = px(58), px(392), px(34)
        canvas.fill(left, top + px(24), right - left, height - px(48), "gray")
        for post in (px(20), right):
            canvas.rounded(post, top + px(16), px(38), height - px(32), "wood")
        rows = self.boxes(box, puzzle).values()
        for number, (colour, (_, upper, _, side)) in enumerate(zip(puzzle.wires, rows, strict=True), 1):
            y = upper + side // 2
            canvas.text(px(39), y, str(number), px(22), ground="wood", anchor="mm", bold=True)
            wire = sheet.wire(colour, right - left, thick, "gray", number == puzzle.cut)
            canvas.place(wire, left, y - thick // 2)
            if sheet.theme.lettered:
                w, h, middle = px(76), thick, px(146 if number == puzzle.cut else 225)
                canvas.rounded(middle - w // 2, y - h // 2, w, h, "white", colour, px(4))
                canvas.frame(middle - w // 2, y - h // 2, w, h, "line")
                canvas.text(middle, y, colour, max(10, px(15)), "black", "white", "mm", bold=True)
            canvas.centre(sheet.button(f"CUT {number}", px(62), px(38), "panel", "page"), px(470), y)
