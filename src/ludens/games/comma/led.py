"""LED: letters count as numbers, each stage's light is a multiplier, and a product names the button."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Literal, get_args

from ludens.core.random import Stream
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, read_blocks, table
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, button_actions
from ludens.games.comma.view import Box, CommaView

COLOURS = ("red", "green", "blue", "yellow", "purple", "orange")
CORNERS = ("top left", "top right", "bottom right", "bottom left")
"""Clockwise, so that the diagonal partner of a corner is two positions further."""
LETTERS = len(ascii_uppercase)

Partner = Literal["diagonal", "beside", "upright"]
PARTNERS: tuple[Partner, ...] = get_args(Partner)
_PARTNER_OF = {"diagonal": (2, 3, 0, 1), "beside": (1, 0, 3, 2), "upright": (3, 2, 1, 0)}
_PARTNER_WORDS = {
    "diagonal": "the button diagonally across from it",
    "beside": "the button beside it in the same row",
    "upright": "the button above or below it in the same column",
}

_NEEDS = {"light": "the colour of the light of this stage"}
_NEEDS |= {corner: f"the letter on the {corner} button" for corner in CORNERS}


@dataclass(frozen=True)
class LedManual(Manual):
    """A multiplier for every colour, the letter that counts 0, and the button to compare with."""

    multipliers: tuple[int, ...]
    """In the order of `COLOURS`."""
    zero: str = "A"
    partner: Partner = "diagonal"

    def value(self, letter: str) -> int:
        return (ord(letter) - ord(self.zero)) % LETTERS

    def product(self, letter: str, colour: str) -> str:
        value = self.value(letter) * self.multipliers[COLOURS.index(colour)]
        return ascii_uppercase[(value + ascii_uppercase.index(self.zero)) % LETTERS]

    def partner_of(self, corner: int) -> int:
        return _PARTNER_OF[self.partner][corner]

    def right(self, letters: Sequence[str], colour: str) -> tuple[int, ...]:
        """The corners that may be pressed; letters are in the order of `CORNERS`."""
        products = enumerate(self.product(letter, colour) for letter in letters)
        return tuple(corner for corner, product in products if product == letters[self.partner_of(corner)])

    def blocks(self) -> tuple[Block, ...]:
        letters, numbers = sorted(ascii_uppercase, key=self.value), [*map(str, range(LETTERS))]
        halves = [slice(LETTERS // 2), slice(LETTERS // 2, None)]
        return read_blocks(
            __file__,
            lights=table(COLOURS, map(str, self.multipliers)),
            letters="\n\n".join(table(letters[half], numbers[half]) for half in halves),
            partner=_PARTNER_WORDS[self.partner],
        )

    def advise(self, messages: Sequence[Facts]) -> Facts:
        colour, *letters = need(messages, _NEEDS)
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
    multipliers = tuple(random.sample(range(2, 13), len(COLOURS)))
    return LedManual(multipliers, random.choice(ascii_uppercase), random.choice(PARTNERS))


FEWEST, MOST = 2, 5


class LedPanel(Puzzle[LedManual]):
    """Stages with a light each. A right press leads to the next stage; a wrong one is a mistake."""

    redraws = True
    asks = "press = <corner of the button>"
    actions = button_actions(CORNERS)

    def set_up(self) -> None:
        random = self.random
        self.lights = tuple(random.choice(COLOURS) for _ in range(random.between(FEWEST, MOST)))
        self.stages_done = 0
        self.letters = self._draw_letters()

    @property
    def stage(self) -> int:
        """The current stage, counted from 0; the last one stays when all are done."""
        return min(self.stages_done, len(self.lights) - 1)

    def _draw_letters(self) -> tuple[str, ...]:
        """A right button in a random corner and its product on its partner; the other letters are random.

        The released code lets letters repeat; the paper says there are four different ones.
        """
        random, colour = self.random, self.lights[self.stages_done]
        while True:
            letters = [random.choice(ascii_uppercase) for _ in CORNERS]
            corner = random.below(len(CORNERS))
            letters[self.manual.partner_of(corner)] = self.manual.product(letters[corner], colour)
            if self.released or len(set(letters)) == len(letters):
                return tuple(letters)

    def act(self, action: str) -> Outcome:
        if self.actions.index(action) not in self.manual.right(self.letters, self.lights[self.stage]):
            return "mistake"
        self.stages_done += 1
        if self.stages_done == len(self.lights):
            return "solved"
        self.letters = self._draw_letters()
        return "done"

    @property
    def progress(self) -> float:
        return self.stages_done / len(self.lights)

    def describe(self) -> str:
        when = ["done"] * self.stages_done + ["now"] + ["to come"] * len(self.lights)
        lights = [f"Light {n + 1}: {colour}, {when[n]}" for n, colour in enumerate(self.lights)]
        buttons = [f"{corner}: {letter}" for corner, letter in zip(CORNERS, self.letters, strict=True)]
        return "\n".join([f"Stage {self.stage + 1} of {len(self.lights)}", *lights, "Buttons:", *buttons])

    def tell(self) -> Facts:
        return {"light": self.lights[self.stage], **dict(zip(CORNERS, self.letters, strict=True))}

    def working(self) -> Sequence[str]:
        """Of each button, its letter, the product, and the letter of its partner, up to the right one."""
        colour, manual, lines = self.lights[self.stage], self.manual, list[str]()
        for corner, letter in enumerate(self.letters):
            product, other = manual.product(letter, colour), self.letters[manual.partner_of(corner)]
            lines.append(f"{colour} {letter} is {product} not {other}")
            if product == other:
                return [*lines[:-1], f"{colour} {letter} is {product}", f"press = {CORNERS[corner]}"]
        return ()

    def follow(self, advice: Facts) -> Sequence[str]:
        corner = advice.get("press")
        return [self.actions[CORNERS.index(corner)]] if corner in CORNERS else []


@dataclass(frozen=True)
class Led(Comma):
    """Press a right button in each of two to five stages, by a little arithmetic with letters.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
    Observation: the Solver gets a picture of the lights (one for each stage), the stage, the four lettered
        buttons, the serial number, the status light, mistakes and turns, and reads its actions, their
        results and the conversation; the Expert reads the manual and the conversation, without the
        results of the actions.
    Actions: messages. A line of the Solver's that is `press_top_left_button`, `press_top_right_button`,
        `press_bottom_right_button` or `press_bottom_left_button` presses that button.
    Rewards: both seats get the partial score: stages done / stages.
    Manuals: random ones have other multipliers, let another letter count 0, and may compare with the button
        beside, above or below instead of the diagonal one.
    Released: letters may repeat.
    """

    name = "comma/led"
    view_class = "ludens.games.comma.led:LedView"
    skills = ("memory", "multi-step")
    published = PUBLISHED
    puzzle_class = LedPanel
    random_manual = staticmethod(draw_manual)

    def imagined_manual(self, puzzle: LedPanel, random: Stream) -> LedManual:
        while True:
            manual = draw_manual(random)
            if manual.right(puzzle.letters, puzzle.lights[puzzle.stage]):
                return manual


LIGHT, LIGHTS_AT, STEP = 58, 136, 92
"""Side of a light, height of its centre, and distance between lights, in units."""
BUTTON = 116
CORNERS_AT = ((172, 302), (340, 302), (340, 434), (172, 434))


def light_at(number: int, lights: int) -> int:
    return 256 + round(STEP * (number - (lights - 1) / 2))


class LedView(CommaView):
    """A row of lights, the current one on a plate, above a square of four buttons.

    Lights that wait or burn are filled and have rays, those that are done are hollow.
    """

    inks = (*COLOURS, "black", "white", "highlight")
    grounds = ("page", "panel", "white", "highlight", "wood")

    def boxes(self, box: Box, puzzle: LedPanel) -> Mapping[str, Box]:
        return self.buttons(puzzle.actions, CORNERS_AT, (BUTTON, BUTTON))

    def draw(self, canvas: Canvas, box: Box, puzzle: LedPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        small, lights = sheet.font_px(13), len(puzzle.lights)
        for number, colour in enumerate(puzzle.lights):
            x, y, now = px(light_at(number, lights)), px(LIGHTS_AT), number == puzzle.stage
            ground = "white" if now else "page"
            if now:
                w, h = px(84), px(112)
                canvas.rounded(x - w // 2 - px(3), px(81), w + 2 * px(3), h + 2 * px(3), "ink")
                canvas.rounded(x - w // 2, px(81) + px(3), w, h, "white", "ink")
            words = "black" if now else "ink"
            canvas.text(x, px(97), f"Stage {number + 1}", small, words, ground, "mm")
            canvas.centre(sheet.led(colour, px(LIGHT), ground, on=number >= puzzle.stages_done), x, y)
            if number < puzzle.stages_done:
                canvas.text(x, px(178), "done", small, words, ground, "mm")
            elif sheet.theme.lettered:
                canvas.text(x, px(178), colour, small, words, ground, "mm", bold=True)
        canvas.rounded(px(92), px(232), px(328), px(272), "panel")
        self.draw_buttons(canvas, puzzle.letters, self.boxes(box, puzzle), "panel")
