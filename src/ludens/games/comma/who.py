"""Who: a display names a button to read, and its label names the button to press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ludens.core.random import Stream
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, Grid, Heading, Paragraph
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Setting, Unclear, button_actions
from ludens.games.comma.view import Box, CommaView, centred

PLACES = ("top left", "top right", "middle left", "middle right", "bottom left", "bottom right")

READ = {
    "YES": "middle left",
    "FIRST": "top right",
    "DISPLAY": "bottom right",
    "OKAY": "top right",
    "SAYS": "bottom right",
    "NOTHING": "middle left",
    "": "bottom left",
    "BLANK": "middle right",
    "NO": "bottom right",
    "LED": "middle left",
    "LEAD": "bottom right",
    "READ": "middle right",
    "RED": "middle right",
    "REED": "bottom left",
    "LEED": "bottom left",
    "HOLD ON": "bottom right",
    "YOU": "middle right",
    "YOU ARE": "bottom right",
    "YOUR": "middle right",
    "YOU'RE": "middle right",
    "UR": "top left",
    "THERE": "bottom right",
    "THEY'RE": "bottom left",
    "THEIR": "middle right",
    "THEY ARE": "middle left",
    "SEE": "bottom right",
    "C": "top right",
    "CEE": "bottom right",
}

PRESS = {
    "READY": "YES, OKAY, WHAT, MIDDLE, LEFT, PRESS, RIGHT, BLANK, READY, NO, FIRST, UHHH, NOTHING, WAIT",
    "FIRST": "LEFT, OKAY, YES, MIDDLE, NO, RIGHT, NOTHING, UHHH, WAIT, READY, BLANK, WHAT, PRESS, FIRST",
    "NO": "BLANK, UHHH, WAIT, FIRST, WHAT, READY, RIGHT, YES, NOTHING, LEFT, PRESS, OKAY, NO, MIDDLE",
    "BLANK": "WAIT, RIGHT, OKAY, MIDDLE, BLANK, PRESS, READY, NOTHING, NO, WHAT, LEFT, UHHH, YES, FIRST",
    "NOTHING": "UHHH, RIGHT, OKAY, MIDDLE, YES, BLANK, NO, PRESS, LEFT, WHAT, WAIT, FIRST, NOTHING, READY",
    "YES": "OKAY, RIGHT, UHHH, MIDDLE, FIRST, WHAT, PRESS, READY, NOTHING, YES, LEFT, BLANK, NO, WAIT",
    "WHAT": "UHHH, WHAT, LEFT, NOTHING, READY, BLANK, MIDDLE, NO, OKAY, FIRST, WAIT, YES, PRESS, RIGHT",
    "UHHH": "READY, NOTHING, LEFT, WHAT, OKAY, YES, RIGHT, NO, PRESS, BLANK, UHHH, MIDDLE, WAIT, FIRST",
    "LEFT": "RIGHT, LEFT, FIRST, NO, MIDDLE, YES, BLANK, WHAT, UHHH, WAIT, PRESS, READY, OKAY, NOTHING",
    "RIGHT": "YES, NOTHING, READY, PRESS, NO, WAIT, WHAT, RIGHT, MIDDLE, LEFT, UHHH, BLANK, OKAY, FIRST",
    "MIDDLE": "BLANK, READY, OKAY, WHAT, NOTHING, PRESS, NO, WAIT, LEFT, MIDDLE, RIGHT, FIRST, UHHH, YES",
    "OKAY": "MIDDLE, NO, FIRST, YES, UHHH, NOTHING, WAIT, OKAY, LEFT, READY, BLANK, PRESS, WHAT, RIGHT",
    "WAIT": "UHHH, NO, BLANK, OKAY, YES, LEFT, FIRST, PRESS, WHAT, WAIT, NOTHING, READY, RIGHT, MIDDLE",
    "PRESS": "RIGHT, MIDDLE, YES, READY, PRESS, OKAY, NOTHING, UHHH, BLANK, LEFT, FIRST, WHAT, NO, WAIT",
    "YOU": "SURE, YOU ARE, YOUR, YOU'RE, NEXT, UH HUH, UR, HOLD, WHAT?, YOU, UH UH, LIKE, DONE, U",
    "YOU ARE": "YOUR, NEXT, LIKE, UH HUH, WHAT?, DONE, UH UH, HOLD, YOU, U, YOU'RE, SURE, UR, YOU ARE",
    "YOUR": "UH UH, YOU ARE, UH HUH, YOUR, NEXT, UR, SURE, U, YOU'RE, YOU, WHAT?, HOLD, LIKE, DONE",
    "YOU'RE": "YOU, YOU'RE, UR, NEXT, UH UH, YOU ARE, U, YOUR, WHAT?, UH HUH, SURE, DONE, LIKE, HOLD",
    "UR": "DONE, U, UR, UH HUH, WHAT?, SURE, YOUR, HOLD, YOU'RE, LIKE, NEXT, UH UH, YOU ARE, YOU",
    "U": "UH HUH, SURE, NEXT, WHAT?, YOU'RE, UR, UH UH, DONE, U, YOU, LIKE, HOLD, YOU ARE, YOUR",
    "UH HUH": "UH HUH, YOUR, YOU ARE, YOU, DONE, HOLD, UH UH, NEXT, SURE, LIKE, YOU'RE, UR, U, WHAT?",
    "UH UH": "UR, U, YOU ARE, YOU'RE, NEXT, UH UH, DONE, YOU, UH HUH, LIKE, YOUR, SURE, HOLD, WHAT?",
    "WHAT?": "YOU, HOLD, YOU'RE, YOUR, U, DONE, UH UH, LIKE, YOU ARE, UH HUH, UR, NEXT, WHAT?, SURE",
    "DONE": "SURE, UH HUH, NEXT, WHAT?, YOUR, UR, YOU'RE, HOLD, LIKE, YOU, U, YOU ARE, UH UH, DONE",
    "NEXT": "WHAT?, UH HUH, UH UH, YOUR, HOLD, SURE, NEXT, LIKE, DONE, YOU ARE, UR, YOU'RE, U, YOU",
    "HOLD": "YOU ARE, U, DONE, UH UH, YOU, UR, SURE, WHAT?, YOU'RE, NEXT, HOLD, UH HUH, YOUR, LIKE",
    "SURE": "YOU ARE, DONE, LIKE, YOU'RE, YOU, HOLD, UH HUH, UR, SURE, U, WHAT?, NEXT, YOUR, UH UH",
    "LIKE": "YOU'RE, NEXT, U, UR, HOLD, DONE, UH UH, WHAT?, UH HUH, YOU, LIKE, SURE, YOU ARE, YOUR",
}

MORE = (
    "WEIGHT", "WRITE", "KNOW", "KNOWS", "NOSE", "HERE", "HEAR", "SEA", "TO", "TOO", "TWO", "FOR", "FOUR",
    "ATE", "EIGHT", "ONE", "WON", "BY", "BUY", "BYE", "I", "EYE", "AYE", "OWE", "ITS", "IT'S", "WHICH",
    "WITCH", "WHO", "WHO'S", "WHOSE", "HUH", "AH HA", "HOLD IT", "I SEE", "ICY", "LET'S", "LETS",
)  # fmt: skip
"""More words that are easily confused, for random manuals."""

POOL = tuple(dict.fromkeys([word for word in READ if word] + list(PRESS) + list(MORE)))


NO_TEXT = "(no text)"
"""The name of an empty display."""

_NEEDS = {
    "display": f"what the display shows, or {NO_TEXT}",
    **{place: f"the label of the {place} button" for place in PLACES},
}


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
        intro = (
            "A panel has a display above six labelled buttons in three rows of two. One of them must be "
            "pressed. Many words sound alike: have them spelt out."
        )
        first = "The text on the display tells which button's label matters."
        second = (
            "Look up that label. Go through the words beside it from the start: the first of them that is "
            "the label of any of the six buttons is the one to press."
        )
        shown = [(display or NO_TEXT, place) for display, place in self.read]
        half = (len(shown) + 1) // 2
        pairs = [
            (*left, *right) for left, right in zip(shown[:half], [*shown[half:], ("", "")], strict=False)
        ]
        return (
            Heading("Words"),
            Paragraph(intro),
            Heading("Step 1: which label to read"),
            Paragraph(first),
            Grid((("Display", "Button", "Display", "Button"), *pairs)),
            Heading("Step 2: which button to press"),
            Paragraph(second),
            Grid(
                (("Label", "Words to look for"), *((label, ", ".join(words)) for label, words in self.press))
            ),
        )

    def advise(self, told: Sequence[Facts]) -> Facts:
        display, *labels = need(told[-1] if told else {}, _NEEDS)
        display = "" if display == NO_TEXT else display
        known = dict(self.press)
        if display not in dict(self.read):
            raise Unclear(f"My manual has no display {display!r}.")
        if len(set(labels)) < len(labels) or any(label not in known for label in labels):
            raise Unclear(f"I know six different labels out of {', '.join(known)}; not {', '.join(labels)}.")
        return {"press": self.right(display, labels)}


PUBLISHED = WhoManual(
    tuple(READ.items()), tuple((label, tuple(words.split(", "))) for label, words in PRESS.items())
)


def draw_manual(random: Stream, display: str = "", labels: Sequence[str] = ()) -> WhoManual:
    """Random words, places and orders that include the given display and labels."""
    shown = [display] if display else []
    shown += random.sample([word for word in POOL if word != display], len(READ) - 1 - len(shown))
    shown.append("")
    random.shuffle(shown)
    words = [*labels, *random.sample([word for word in POOL if word not in labels], len(PRESS) - len(labels))]
    random.shuffle(words)
    half = len(words) // 2
    press = [
        (label, tuple(random.sample(family, half)))
        for family in (words[:half], words[half:])
        for label in family
    ]
    return WhoManual(tuple((text, random.choice(PLACES)) for text in shown), tuple(press))


class WhoPanel(Puzzle[WhoManual]):
    """A word, or none, above six buttons. A wrong button is a mistake and has no effect."""

    asks = "press = <place of the button>"
    actions = button_actions(PLACES)

    def __init__(self, manual: WhoManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        self.display = setting.random.choice(manual.read)[0]
        self.labels = tuple(setting.random.sample([label for label, _ in manual.press], len(PLACES)))

    def act(self, action: str) -> Outcome:
        place = PLACES[self.actions.index(action)]
        return "solved" if place == self.manual.right(self.display, self.labels) else "mistake"

    def describe(self) -> str:
        shown = f"The display shows: {self.display or NO_TEXT}"
        return "\n".join([shown, *(f"{place}: {label}" for place, label in self._buttons())])

    def tell(self, advice: Facts) -> Facts:
        return {"display": self.display or NO_TEXT, **dict(self._buttons())}

    def follow(self, advice: Facts) -> Sequence[str]:
        place = advice.get("press")
        return [self.actions[PLACES.index(place)]] if place in PLACES else []

    def _buttons(self) -> zip[tuple[str, str]]:
        return zip(PLACES, self.labels, strict=True)


@dataclass(frozen=True)
class Who(Comma):
    """Press the right one of six buttons, by words that sound alike.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
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

    def imagined_manual(self, puzzle: Puzzle[Any], random: Stream) -> WhoManual:
        assert isinstance(puzzle, WhoPanel)
        return draw_manual(random, puzzle.display, puzzle.labels)


DISPLAY = (56, 94, 400, 92)
"""The display: x, y, width, height in units."""
BUTTON = (188, 74)
COLUMNS, ROWS = (150, 362), (248, 346, 444)
"""The centres of the buttons."""


class WhoView(CommaView):
    """A lit display, and below it two columns of three buttons."""

    inks = ("white", "black", "yellow")
    grounds = ("page", "panel", "white", "black", "wood")

    def boxes(self, box: Box, puzzle: WhoPanel) -> Mapping[str, Box]:
        px, centres = self.sheet.px, [(column, row) for row in ROWS for column in COLUMNS]
        return {
            action: centred(px(x), px(y), px(BUTTON[0]), px(BUTTON[1]))
            for action, (x, y) in zip(puzzle.actions, centres, strict=True)
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: WhoPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        x, y, w, h = map(px, DISPLAY)
        canvas.rounded(x - px(6), y - px(6), w + px(12), h + px(12), "line")
        canvas.rounded(x, y, w, h, "black", "line")
        canvas.text(x + w // 2, y + h // 2, puzzle.display, px(44), "white", "black", "mm", bold=True)
        for label, (left, top, wide, high) in zip(
            puzzle.labels, self.boxes(box, puzzle).values(), strict=True
        ):
            canvas.place(sheet.button(label, wide, high, "wood", "page"), left, top)
