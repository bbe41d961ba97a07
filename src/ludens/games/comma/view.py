"""The view of COMMA: a header with serial number, light, mistakes and turns above every panel; the Expert's
pages."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from ludens.core.errors import Unreadable
from ludens.core.forms import Place, Places, Sentence, readable
from ludens.core.random import Stream
from ludens.core.reply import MessageFormat, ReplyFormat
from ludens.core.state import Legal
from ludens.core.view import Picture, RenderOptions, View
from ludens.draw import Canvas, SpriteSheet, sprite_sheet
from ludens.games.comma.dialogue import Comma, Dialogue, Utterance
from ludens.games.comma.pages import draw_pages, write
from ludens.games.comma.puzzle import Manual

Box = tuple[int, int, int, int]
"""x, y, width, height, in pixels."""


def centred(x: int, y: int, width: int, height: int) -> Box:
    """The box of a sprite of this size whose centre is at (x, y)."""
    return x - width // 2, y - height // 2, width, height


HEAD = 72
"""Height of the header in units; a picture is 512 units wide."""

LIGHTS = {"off": ("gray", False, "off"), "red": ("red", True, "mistake"), "green": ("green", True, "solved")}
_MANY = 6


@dataclass(frozen=True)
class PanelHead:
    """The contents of a panel's header."""

    serial: str
    light: str
    mistakes: int
    most_mistakes: int
    turn: int
    turns: int


class PanelLayout:
    """Draws the header; made once for a sheet and title."""

    def __init__(self, sheet: SpriteSheet, title: str) -> None:
        self._sheet = sheet
        px, height = sheet.px, sheet.px(HEAD)
        self._small, self._large = max(9, px(13)), max(9, px(17))
        self._base = canvas = Canvas(sheet)
        canvas.fill(0, 0, sheet.size, height, "panel")
        canvas.fill(0, height - px(2), sheet.size, px(2), "line")
        canvas.text(px(16), px(20), title, self._large, ground="panel", bold=True)
        width = canvas.text(px(16), px(51), "Mistakes", self._small, "muted", "panel")
        self._boxes_at = px(16) + width + px(10)
        canvas.text(px(274), px(51), "Turn", self._small, "muted", "panel", "rm")
        canvas.text(px(274), px(20), "Serial", self._small, "muted", "panel", "rm")
        canvas.fill(px(282), px(6), px(120), px(28), "white")
        canvas.frame(px(282), px(6), px(120), px(28), "line")

    @property
    def box(self) -> Box:
        head, side = self._sheet.px(HEAD), self._sheet.size
        return 0, head, side, side - head

    def canvas(self, head: PanelHead) -> Canvas:
        sheet, px = self._sheet, self._sheet.px
        canvas = self._base.copy()
        for index, digit in enumerate(head.serial):
            x = px(298) + index * px(18)
            canvas.text(x, px(20), digit, self._large, "black", "white", "mm", mono=True)
        self._draw_mistakes(canvas, head)
        canvas.text(px(284), px(51), f"{head.turn} of {head.turns}", self._small, ground="panel", bold=True)
        hue, on, word = LIGHTS[head.light]
        # The word below names the colour: its letter would be one more sign to explain.
        canvas.centre(sheet.led(hue, px(34), "panel", on, letter=" "), px(462), px(26))
        canvas.text(px(462), px(57), word, self._small, ground="panel", anchor="mm", bold=head.light != "off")
        return canvas

    def _draw_mistakes(self, canvas: Canvas, head: PanelHead) -> None:
        """A box for every mistake allowed, crossed when made; a number where there are too many boxes."""
        px, left = self._sheet.px, self._boxes_at
        if head.most_mistakes > _MANY:
            words = f"{head.mistakes} of {head.most_mistakes}"
            canvas.text(left, px(51), words, self._small, ground="panel", bold=True)
            return
        for index in range(head.most_mistakes):
            x, side = left + index * px(20), px(15)
            canvas.fill(x, px(44), side, side, "white")
            canvas.frame(x, px(44), side, side, "line", px(1))
            if index < head.mistakes:
                cross = self._sheet.mark("x", "red", side - 2 * px(2), "white")
                canvas.place(cross, x + px(2), px(44) + px(2))


_NAMED = re.compile(r"`(\w+)`")
_NAMES = {"solver": "Solver", "expert": "Expert"}


@dataclass(frozen=True)
class WholeReply(MessageFormat):
    """The released reply format: reasoning is part of the message."""

    def read(self, text: str, legal: Legal) -> str:
        message = text.strip()
        if not message:
            raise Unreadable("the reply is empty.")
        return message


class CommaView(View):
    """The base of a puzzle's view: the subclass draws the panel."""

    shared_templates = Path(__file__).parent / "templates.md"
    inks: ClassVar[Sequence[str] | None] = None
    """The colours of the panel; naming them leaves more of the palette for smooth edges."""
    grounds: ClassVar[Sequence[str]] = ("page", "panel", "white")

    game: Comma

    def __init__(self, game: Comma, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        inks = None if self.inks is None else ("ink", "muted", "line", "gray", "red", "green", *self.inks)
        self.sheet = sprite_sheet(render.theme, render.size, seed, inks, self.grounds)
        self._frame = PanelLayout(self.sheet, self.templates.fill("title"))
        self._formats = {seat: self._format(seat) for seat in game.seats}
        self._pages: tuple[Manual, tuple[Picture, ...]] | None = None

    def _format(self, seat: str) -> MessageFormat:
        if not self.game.released:
            return MessageFormat(self.templates.fill("reply", seat=seat))
        styles = {style: self.templates.fill(f"{style} released") for style in ("cot", "explain")}
        return WholeReply(self.templates.fill("reply released", seat=seat), styles)

    @abstractmethod
    def draw(self, canvas: Canvas, box: Box, puzzle: Any) -> None:
        """Draw the panel into the box (x, y, width, height, in pixels)."""

    def buttons(
        self, actions: Iterable[str], centres: Iterable[tuple[int, int]], size: tuple[int, int]
    ) -> dict[str, Box]:
        """The boxes of buttons of one size with these centres, in units."""
        px, (width, height) = self.sheet.px, size
        boxes = (centred(px(x), px(y), px(width), px(height)) for x, y in centres)
        return dict(zip(actions, boxes, strict=True))

    def draw_buttons(
        self, canvas: Canvas, labels: Iterable[str], boxes: Mapping[str, Box], ground: str
    ) -> None:
        for label, (x, y, width, height) in zip(labels, boxes.values(), strict=True):
            canvas.place(self.sheet.button(label, width, height, "wood", ground), x, y)

    def draw_display(self, canvas: Canvas, units: Box, words: str, size: int) -> None:
        """Draw a black display with a frame; position and font size are in units."""
        px, (x, y, w, h) = self.sheet.px, map(self.sheet.px, units)
        canvas.rounded(x - px(6), y - px(6), w + px(12), h + px(12), "line")
        canvas.rounded(x, y, w, h, "black", "line")
        canvas.text(x + w // 2, y + h // 2, words, px(size), "white", "black", "mm", bold=True)

    def boxes(self, box: Box, puzzle: Any) -> Mapping[str, Box]:
        """Where the actions are on a panel drawn into the box; those that are nowhere on it are left out."""
        return {}

    def places(self, state: Dialogue, seat: str) -> Places:
        if seat != "solver" or seat not in state.to_act:
            return {}
        size, boxes = self.sheet.size, self.boxes(self._frame.box, state.puzzle)
        return {action: (Place.of_pixels(box, size, size),) for action, box in boxes.items()}

    def values(self, seat: str) -> dict[str, object]:
        puzzle = self.templates.fill("puzzle", seat=seat)
        return {**super().values(seat), "turns": self.game.last_turn, "puzzle": puzzle}

    def rules(self, seat: str) -> str:
        # The released code has one prompt for all puzzles.
        return self.templates.fill("rules released", seat=seat) if self.game.released else super().rules(seat)

    def offers(self, seat: str) -> Literal["image", "text", "both"]:
        return "image" if seat == "solver" else self.game.expert_sees

    def format(self, state: Dialogue, seat: str) -> ReplyFormat:
        return self._formats[seat]

    def form(self, state: Dialogue, seat: str) -> Sentence:
        limit = state.legal(seat).text_limit or 0
        if seat == "expert":
            return Sentence(self._formats[seat], limit, prompt=self.templates.fill("person message expert"))
        return Sentence(
            self._formats[seat],
            limit,
            {action: self.label(action) for action in state.puzzle.actions},
            self.places(state, seat),
            prompt=self.templates.fill("person message"),
            help=self.templates.fill("person help"),
        )

    def layout(self, seat: str) -> Literal["frames", "pages"]:
        return "frames" if seat == "solver" else "pages"

    def label(self, action: str) -> str:
        return readable(action) if "_" in action else action

    def rules_for_person(self, seat: str) -> str:
        section = "rules person" if seat == "solver" else "rules"
        text = self.templates.fill(section, seat=seat, **self.values(seat))
        return _NAMED.sub(lambda name: f"“{self.label(name[1])}”", text)

    def notes_for_person(self, state: Dialogue, seat: str) -> str:
        """Without the list of actions, which the form has."""
        return "\n\n".join([*self._briefing(state, seat), "\n".join(self._conversation(state, seat))])

    def public_action(self, state: Dialogue, seat: str, action: str) -> str:
        return state.of(seat)[-1].heard

    def guess(self, state: Dialogue, seat: str, random: Stream) -> str:
        return random.choice(state.puzzle.actions) if seat == "solver" else ""

    def image(self, state: Dialogue, seat: str) -> Picture:
        return self.images(state, seat)[0]

    def images(self, state: Dialogue, seat: str) -> tuple[Picture, ...]:
        if seat == "solver":
            canvas = self._frame.canvas(_head(state))
            self.draw(canvas, self._frame.box, state.puzzle)
            return (canvas.picture(),)
        manual = state.manual
        if self._pages is None or self._pages[0] is not manual:
            self._pages = manual, draw_pages(self.sheet, manual.blocks())
        return self._pages[1]

    def text(self, state: Dialogue, seat: str) -> str:
        if seat == "expert":
            return write(state.manual.blocks())
        head = self.templates.fill("panel", **asdict(_head(state)))
        return f"{self.templates.fill('title')}\n{head}\n{state.puzzle.describe()}"

    def notes(self, state: Dialogue, seat: str) -> str:
        parts = []
        if seat == "solver":
            parts.append("\n".join([self.templates.fill("actions"), *state.puzzle.actions]))
        parts += [*self._briefing(state, seat), "\n".join(self._conversation(state, seat))]
        return "\n\n".join(parts)

    def _briefing(self, state: Dialogue, seat: str) -> Iterator[str]:
        briefing = state.puzzle.briefing if seat == "solver" else {}
        if briefing:
            lines = [f"{name}: {value}" for name, value in briefing.items()]
            yield "\n".join([self.templates.fill("briefing"), *lines])

    def _conversation(self, state: Dialogue, seat: str) -> Iterator[str]:
        if not state.messages:
            yield self.templates.fill("silence", seat=seat)
            return
        latest_only = self.game.history == "last"
        yield self.templates.fill("conversation last" if latest_only else "conversation")
        if latest_only and seat == "solver":
            # The panel's response to the seat's own last actions is not a message: the ablation keeps it.
            yield from self._answers(state.of(seat)[-1])
        incoming = [message for message in state.messages if message.seat != seat]
        for message in incoming[-1:] if latest_only else state.messages:
            words = message.text if message.seat == seat else message.heard
            yield f"{_NAMES[message.seat]}:"
            yield from (f"    {line}" for line in words.splitlines() or ["..."])
            if seat == "solver":
                yield from self._answers(message)

    def _answers(self, message: Utterance) -> Iterator[str]:
        for words, outcome in message.events:
            section = f"{outcome} released" if self.game.released else outcome
            yield f"Panel: {self.templates.fill(section, action=words)}"


def _head(state: Dialogue) -> PanelHead:
    game = state.game
    turn = max(1, state.spoken + (state.to_act == ("solver",)))
    return PanelHead(state.puzzle.serial, state.light, state.mistakes, game.mistakes, turn, game.last_turn)
