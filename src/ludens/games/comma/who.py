"""Who: a display names a button to read, and its label names the button to press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ludens.core.random import Stream
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, read_blocks, table
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, button_actions, read_tables
from ludens.games.comma.view import Box, CommaView

PLACES = ("top left", "top right", "middle left", "middle right", "bottom left", "bottom right")

_TABLES = read_tables(__file__)
READ: Mapping[str, str] = _TABLES["read"]
PRESS: Mapping[str, str] = _TABLES["press"]
POOL = tuple(dict.fromkeys([*filter(None, READ), *PRESS, *_TABLES["more"]]))

NO_TEXT = "(no text)"
"""The name of an empty display."""

_NEEDS = {"display": f"what the display shows, or {NO_TEXT}"}
_NEEDS |= {place: f"the label of the {place} button" for place in PLACES}


@dataclass(frozen=True)
class WhoManual(Manual):
    """Two steps: displays with the place of the button to read, and labels with words in order."""

    read: tuple[tuple[str, str], ...]
    press: tuple[tuple[str, tuple[str, ...]], ...]

    def right(self, display: str, labels: Sequence[str]) -> str:
        """The place of the button to press; labels are in the order of `PLACES`."""
        label = labels[PLACES.index(dict(self.read)[display])]
        word = next(word for word in dict(self.press)[label] if word in labels)
        return PLACES[labels.index(word)]

    def blocks(self) -> tuple[Block, ...]:
        rows = [(display or NO_TEXT, place) for display, place in self.read]
        half = (len(rows) + 1) // 2
        pairs = [(*left, *right) for left, right in zip(rows[:half], [*rows[half:], ("", "")], strict=False)]
        labels = [(label, ", ".join(words)) for label, words in self.press]
        return read_blocks(
            __file__,
            displays=table(("Display", "Button", "Display", "Button"), *pairs),
            labels=table(("Label", "Words to look for"), *labels),
        )

    def advise(self, messages: Sequence[Facts]) -> Facts:
        display, *labels = need(messages, _NEEDS)
        display = "" if display == NO_TEXT else display
        words = dict(self.press)
        if display not in dict(self.read):
            raise Unclear(f"My manual has no display {display!r}.")
        if len(set(labels)) < len(labels) or any(label not in words for label in labels):
            raise Unclear(f"I know six different labels out of {', '.join(words)}; not {', '.join(labels)}.")
        return {"press": self.right(display, labels)}


PUBLISHED = WhoManual(
    tuple(READ.items()), tuple((label, tuple(words.split(", "))) for label, words in PRESS.items())
)


def draw_manual(random: Stream, display: str = "", labels: Sequence[str] = ()) -> WhoManual:
    """Random words, places and orders that include the given display and labels."""
    displays = [display] if display else []
    displays += random.sample([word for word in POOL if word != display], len(READ) - 1 - len(displays))
    displays.append("")
    random.shuffle(displays)
    words = [*labels, *random.sample([word for word in POOL if word not in labels], len(PRESS) - len(labels))]
    random.shuffle(words)
    half = len(words) // 2
    families = ((label, family) for family in (words[:half], words[half:]) for label in family)
    press = [(label, tuple(random.sample(family, half))) for label, family in families]
    return WhoManual(tuple((text, random.choice(PLACES)) for text in displays), tuple(press))


class WhoPanel(Puzzle[WhoManual]):
    """A word, or none, above six buttons. A wrong button is a mistake and has no effect."""

    asks = "press = <place of the button>"
    actions = button_actions(PLACES)

    def set_up(self) -> None:
        self.display = self.random.choice(self.manual.read)[0]
        self.labels = tuple(self.random.sample([label for label, _ in self.manual.press], len(PLACES)))

    def act(self, action: str) -> Outcome:
        place = PLACES[self.actions.index(action)]
        return "solved" if place == self.manual.right(self.display, self.labels) else "mistake"

    def describe(self) -> str:
        labels = (f"{place}: {label}" for place, label in self._buttons())
        return "\n".join([f"The display shows: {self.display or NO_TEXT}", *labels])

    def tell(self) -> Facts:
        return {"display": self.display or NO_TEXT, **dict(self._buttons())}

    def working(self) -> Sequence[str]:
        """The button that is read, the words that its label leads to, and the first that is on a button."""
        place = dict(self.manual.read)[self.display]
        label = self.labels[PLACES.index(place)]
        words = dict(self.manual.press)[label]
        number = next(number for number, word in enumerate(words) if word in self.labels)
        press = PLACES[self.labels.index(words[number])]
        return [f"{place}: {label}", ", ".join(words[: number + 1]), f"press = {press}"]

    def follow(self, advice: Facts) -> Sequence[str]:
        place = advice.get("press")
        return [self.actions[PLACES.index(place)]] if place in PLACES else []

    def _buttons(self) -> zip[tuple[str, str]]:
        return zip(PLACES, self.labels, strict=True)


@dataclass(frozen=True)
class Who(Comma):
    """Press the right one of six buttons, by words that sound alike.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
    Observation: the Solver gets a picture of the display and the six labelled buttons, the serial number,
        the status light, mistakes and turns, and reads its actions, their results and the conversation;
        the Expert reads the manual (several pages) and the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `press_top_left_button`, `press_top_right_button`,
        `press_middle_left_button` ... `press_bottom_right_button` presses that button.
    Rewards: both seats get the partial score: 1 for the right button, else 0, since the puzzle has one step.
    Manuals: random ones have other words on displays and buttons, other places to read and other orders.
    """

    name = "comma/who"
    view_class = "ludens.games.comma.who:WhoView"
    skills = ("grounding",)
    published = PUBLISHED
    puzzle_class = WhoPanel
    random_manual = staticmethod(draw_manual)

    def imagined_manual(self, puzzle: WhoPanel, random: Stream) -> WhoManual:
        return draw_manual(random, puzzle.display, puzzle.labels)


DISPLAY = (56, 94, 400, 92)
BUTTON = (188, 74)
COLUMNS, ROWS = (150, 362), (248, 346, 444)


class WhoView(CommaView):
    """A lit display, and below it two columns of three buttons."""

    inks = ("white", "black", "yellow")
    grounds = ("page", "panel", "white", "black", "wood")

    def boxes(self, box: Box, puzzle: WhoPanel) -> Mapping[str, Box]:
        centres = [(column, row) for row in ROWS for column in COLUMNS]
        return self.buttons(puzzle.actions, centres, BUTTON)

    def draw(self, canvas: Canvas, box: Box, puzzle: WhoPanel) -> None:
        self.draw_display(canvas, DISPLAY, puzzle.display, 44)
        self.draw_buttons(canvas, puzzle.labels, self.boxes(box, puzzle), "page")
