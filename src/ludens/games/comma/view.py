"""The view of a puzzle: the panel for the Solver, the manual for the Expert, the conversation for both.

A puzzle's view says how its panel is drawn below the common head; the rest is shared. Messages are
indented, so that no message can pass for the panel's answer or for the other seat.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from ludens.core.errors import Unreadable
from ludens.core.places import Place, Places
from ludens.core.random import Stream
from ludens.core.reply import MessageFormat, ReplyFormat
from ludens.core.state import Legal
from ludens.core.view import Picture, RenderOptions, View
from ludens.draw import Canvas, sprite_sheet
from ludens.games.comma import blocks
from ludens.games.comma.dialogue import Comma, Dialogue, Said
from ludens.games.comma.frame import Box, Head, PanelLayout
from ludens.games.comma.pages import pages
from ludens.games.comma.puzzle import Manual

_NAMES = {"solver": "Solver", "expert": "Expert"}


@dataclass(frozen=True)
class WholeReply(MessageFormat):
    """The released reply format: reasoning is part of the message."""

    def read(self, text: str, legal: Legal) -> str:
        said = text.strip()
        if not said:
            raise Unreadable("the reply is empty.")
        return said


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
        return WholeReply(
            self.templates.fill("reply released", seat=seat),
            {style: self.templates.fill(f"{style} released") for style in ("cot", "explain")},
        )

    @abstractmethod
    def draw(self, canvas: Canvas, box: Box, puzzle: Any) -> None:
        """Draw the panel into the box (x, y, width, height, in pixels)."""

    def boxes(self, box: Box, puzzle: Any) -> Mapping[str, Box]:
        """Where the actions are on a panel drawn into the box; those that are nowhere on it are left out."""
        return {}

    def places(self, state: Dialogue, seat: str) -> Places:
        """Of the Solver's actions, each of which is a line of its message."""
        if seat != "solver" or seat not in state.to_act:
            return {}
        size, boxes = self.sheet.size, self.boxes(self._frame.box, state.puzzle)
        return {action: (Place.of_pixels(box, size, size),) for action, box in boxes.items()}

    def values(self, seat: str) -> dict[str, object]:
        told = {"turns": self.game.last_turn, "puzzle": self.templates.fill("puzzle", seat=seat)}
        return {**super().values(seat), **told}

    def rules(self, seat: str) -> str:
        # The released code has one prompt for all puzzles.
        return self.templates.fill("rules released", seat=seat) if self.game.released else super().rules(seat)

    def offers(self, seat: str) -> Literal["image", "text", "both"]:
        return "image" if seat == "solver" else self.game.expert_sees

    def format(self, state: Dialogue, seat: str) -> ReplyFormat:
        return self._formats[seat]

    def public_action(self, state: Dialogue, seat: str, action: str) -> str:
        return next(said.heard for said in reversed(state.said) if said.seat == seat)

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
            self._pages = manual, pages(self.sheet, manual.blocks())
        return self._pages[1]

    def text(self, state: Dialogue, seat: str) -> str:
        if seat == "expert":
            return blocks.write(state.manual.blocks())
        head = self.templates.fill("panel", **asdict(_head(state)))
        return f"{self.templates.fill('title')}\n{head}\n{state.puzzle.describe()}"

    def notes(self, state: Dialogue, seat: str) -> str:
        parts = []
        if seat == "solver":
            parts.append("\n".join([self.templates.fill("actions"), *state.puzzle.actions]))
            briefing = state.puzzle.briefing
            if briefing:
                lines = [f"{name}: {value}" for name, value in briefing.items()]
                parts.append("\n".join([self.templates.fill("briefing"), *lines]))
        parts.append("\n".join(self._conversation(state, seat)))
        return "\n\n".join(parts)

    def _conversation(self, state: Dialogue, seat: str) -> Iterator[str]:
        if not state.said:
            yield self.templates.fill("silence", seat=seat)
            return
        shown: Sequence[Said] = state.said
        if self.game.history == "last":
            shown = [said for said in state.said if said.seat != seat][-1:]
        yield self.templates.fill("conversation last" if self.game.history == "last" else "conversation")
        if self.game.history == "last" and seat == "solver":
            # The panel's response to the seat's own last actions is not a message: the ablation keeps it.
            mine = [said for said in state.said if said.seat == seat]
            yield from self._answers(mine[-1])
        for said in shown:
            words = said.text if said.seat == seat else said.heard
            yield f"{_NAMES[said.seat]}:"
            yield from (f"    {line}" for line in words.splitlines() or ["..."])
            if seat == "solver":
                yield from self._answers(said)

    def _answers(self, said: Said) -> Iterator[str]:
        """The results of the actions in a message, as the panel reports them."""
        for words, outcome in said.events:
            section = f"{outcome} released" if self.game.released else outcome
            yield f"Panel: {self.templates.fill(section, action=words)}"


def _head(state: Dialogue) -> Head:
    game = state.game
    turn = max(1, state.spoken + (state.to_act == ("solver",)))
    return Head(state.puzzle.serial, state.light, state.mistakes, game.mistakes, turn, game.last_turn)
