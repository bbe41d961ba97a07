"""A small puzzle with all that wire lacks: a private code, hidden keys, stages, setbacks, dead keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ludens.core.random import Stream
from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.pages import Block, Figure, Paragraph
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle
from ludens.games.comma.view import Box, CommaView

DIGITS = tuple(f"press_{digit}" for digit in range(10))


@dataclass(frozen=True)
class SafeManual(Manual):
    """How often the code must be typed."""

    times: int = 2

    def blocks(self) -> tuple[Block, ...]:
        dots = Figure(f"{self.times} dots", 40, lambda canvas, x, y, w, h: canvas.fill(x, y, w, h, "red"))
        return (Paragraph(f"The code must be entered {self.times} times."), dots)

    def advise(self, messages: Sequence[Facts]) -> Facts:
        return {"times": str(self.times)}


class SafePanel(Puzzle[SafeManual]):
    """Type the code, then enter; as often as the manual says."""

    hidden = frozenset(DIGITS)
    asks = "times = <how often>"
    actions = (*DIGITS, "press_enter", "knock")

    def set_up(self) -> None:
        self.code = str(self.random.between(10_000, 99_999))
        self.typed = ""
        self.entered = 0

    def act(self, action: str) -> Outcome:
        if action == "knock":
            return "nothing"
        if action != "press_enter":
            self.typed += action[-1]
            return "done"
        right, self.typed = self.typed == self.code, ""
        self.entered = self.entered + 1 if right else 0
        if self.entered == self.manual.times:
            return "solved"
        return "done" if right else "mistake"

    @property
    def progress(self) -> float:
        return self.entered / self.manual.times

    def describe(self) -> str:
        return f"{len(self.typed)} stars, {self.entered} lamps"

    @property
    def briefing(self) -> Mapping[str, str]:
        return {"Code": self.code}

    @property
    def private(self) -> Mapping[str, str]:
        return {"code": self.code}

    def tell(self) -> Facts:
        return {"panel": "safe"}

    def follow(self, advice: Facts) -> Sequence[str]:
        once = [*(f"press_{digit}" for digit in self.code), "press_enter"]
        return once * int(advice.get("times", 0))


class SafeView(CommaView):
    """Stars and lamps as bars."""

    templates_file = "safe.md"

    def draw(self, canvas: Canvas, box: Box, puzzle: SafePanel) -> None:
        x, y, _, _ = box
        canvas.fill(x, y, 10 * len(puzzle.typed), 10, "red")
        canvas.fill(x, y + 20, 10 * puzzle.entered, 10, "blue")


@dataclass(frozen=True)
class Safe(Comma):
    """Open a safe."""

    name = "comma/safe"
    skills = ("private", "multi-step")
    published = SafeManual()
    puzzle_class = SafePanel

    def random_manual(self, random: Stream) -> SafeManual:
        return SafeManual(random.between(3, 10_000))

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        return SafeView(self, render, seed)
