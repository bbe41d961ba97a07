"""Panel, a one-move question of COMMA: the panel in the picture and the whole manual; what must be done?

What a Solver sees and an Expert knows, in one seat: no conversation stands between looking and acting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self

from ludens.core.errors import BadOption, Illegal, Unreadable
from ludens.core.forms import Sentence, readable
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.reply import ReplyFormat, without_reasoning
from ludens.core.state import Legal, Question
from ludens.core.twins import TwinGame
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.comma.dialogue import Comma, Dialogue, read_actions
from ludens.games.comma.pages import write
from ludens.games.comma.puzzle import Manual, Puzzle
from ludens.games.comma.view import CommaView

PUZZLES = ("wire", "telehealth", "who", "led", "memory", "keypad", "password", "color", "maze", "atm")
"""In the order of the paper's tables."""
SEAT = "solver"
_ATTEMPTS = 20_000


@dataclass(frozen=True)
class PanelQuestion(TwinGame["PanelState"]):
    """Solve a panel at once, with the manual at hand.

    Seats: `solver`, alone, for one move.
    Observation: the panel of the puzzle named by the option `puzzle`, its actions, what the Solver is told in
        private, and the manual in words (of Keypad in pictures).
    Actions: the names of the actions that solve the panel, one a line. Of Memory, Led and Color, whose panels
        change after each right action, the next one. In ATM the PIN was accepted already.
    Rewards: 1 if the actions are right, else 0.
    Twins: the same manual and actions, another panel; no actions are right on both.
    """

    name = "comma/panel"
    seats = (SEAT,)
    view_class = "ludens.games.comma.panel:PanelQuestionView"
    best = "bot/oracle"
    question = True

    puzzle: str = option("wire", choices=PUZZLES, help="the puzzle whose panels are shown")
    manual: str = option(
        "standard", choices=("standard", "random"), help="the published tables, or new ones for every seed"
    )

    def world(self, seed: int) -> PanelState:
        game = _puzzle_game(self.puzzle)
        manual = game.standard_manual
        if self.manual == "random":
            manual = game.random_manual(stream(seed, game.name, "manual"))
        return PanelState(game, _decided(game, manual, stream(seed, game.name, "panel")))

    def pair(self, seed: int) -> tuple[PanelState, PanelState]:
        first, random = self.world(seed), stream(seed, "twin")
        game, panel = first.game, first.panel
        for _ in range(_ATTEMPTS):
            other = _decided(game, panel.manual, Stream(random.bits())).briefed_as(panel)
            alike = other.actions == panel.actions and other.briefing == panel.briefing
            if alike and panel.apart(other):
                return first, PanelState(game, other)
        raise BadOption(f"no twin of panel {seed} of {self.puzzle} was found.")


@lru_cache(maxsize=len(PUZZLES))
def _puzzle_game(puzzle: str) -> Comma:
    game = make(f"comma/{puzzle}")
    assert isinstance(game, Comma)
    return game


def _decided(game: Comma, manual: Manual, random: Stream) -> Puzzle[Any]:
    panel = game.panel(manual, random)
    panel.decide()
    return panel


class PanelState(Question):
    """A panel, and the actions that were answered."""

    def __init__(self, game: Comma, panel: Puzzle[Any]) -> None:
        super().__init__(SEAT, Legal.text(4000))
        self.game, self.panel = game, panel

    def refusal(self, seat: str, action: str) -> str | None:
        unknown = next((name for name in action.split() if name not in self.panel.actions), None)
        return None if unknown is None else f"{unknown[:60]!r} is not one of the actions."

    def solution(self, seat: str) -> str | None:
        return "\n".join(self.panel.solution())

    @property
    def right(self) -> bool:
        return bool(self.answer) and self.panel.right((self.answer or "").split())

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.right)}

    @property
    def facts(self) -> dict[str, Any]:
        return {"right": self.right, "readable": bool(self.answer), "actions": (self.answer or "").split()}

    def clone(self) -> Self:
        copy = super().clone()
        copy.panel = self.panel.clone()
        return copy


@dataclass(frozen=True)
class ActionLines(ReplyFormat):
    """Names of actions, one a line; lines without one are ignored."""

    actions: tuple[str, ...]
    request: str

    def ask(self, legal: Legal) -> str:
        return self.request

    def write(self, action: str) -> str:
        return action

    def read(self, text: str, legal: Legal) -> str:
        lines = read_actions(without_reasoning(text), self.actions)
        if unknown := next((line.line.strip() for line in lines if not line.action), None):
            raise Illegal(f"{unknown[:60]!r} is not one of the actions.")
        if not lines:
            raise Unreadable("the reply names none of the actions on a line of its own.")
        return "\n".join(line.action for line in lines)


class PanelQuestionView(View):
    """The panel as the Solver sees it, and the manual as the Expert does."""

    templates_file = "panel.md"

    def __init__(self, game: PanelQuestion, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        view = _puzzle_game(game.puzzle).view(render, seed)
        assert isinstance(view, CommaView)
        self._view, self._pictures = view, view.offers("expert") == "image"

    def image(self, state: PanelState, seat: str) -> Picture:
        return self._view.image(Dialogue(state.game, state.panel), seat)

    def images(self, state: PanelState, seat: str) -> tuple[Picture, ...]:
        pages = self._view.images(Dialogue(state.game, state.panel), "expert") if self._pictures else ()
        return self.image(state, seat), *pages

    def text(self, state: PanelState, seat: str) -> str:
        """Of the panel; with the manual where that is shown as pictures."""
        manual = f"\n\n{write(state.panel.manual.blocks())}" if self._pictures else ""
        return self._view.text(Dialogue(state.game, state.panel), seat) + manual

    def notes(self, state: PanelState, seat: str) -> str:
        return self._notes(state, listed=True)

    def _notes(self, state: PanelState, listed: bool) -> str:
        panel, parts = state.panel, []
        if not self._pictures:
            parts.append(self.templates.fill("manual", manual=write(panel.manual.blocks())))
        if listed:
            parts.append("\n".join([self.templates.fill("actions"), *panel.actions]))
        if panel.briefing:
            lines = [f"{name}: {value}" for name, value in panel.briefing.items()]
            parts.append("\n".join([self.templates.fill("briefing"), *lines]))
        return "\n\n".join(parts)

    def layout(self, seat: str) -> Literal["frames", "pages"]:
        """The panel, and the pages of the manual below it where they are pictures."""
        return "pages" if self._pictures else "frames"

    def label(self, action: str) -> str:
        return ", ".join(map(readable, action.split()))

    def form(self, state: PanelState, seat: str) -> Sentence:
        labels = {action: self.label(action) for action in state.panel.actions}
        places = self._view.places(Dialogue(state.game, state.panel), seat)
        prompt, limit = self.templates.fill("person"), state.legal(seat).text_limit or 0
        return Sentence(self.format(state, seat), limit, labels, places, words=False, prompt=prompt)

    def notes_for_person(self, state: PanelState, seat: str) -> str:
        """Without the list of actions, which the form has."""
        return self._notes(state, listed=False)

    def values(self, seat: str) -> Mapping[str, object]:  # type: ignore[override]
        section = "next" if _redraws(self.game.options["puzzle"]) else "all"
        where = "pictures" if self._pictures else "words"
        return {
            "task": self.templates.fill(f"task {section}"),
            "where": self.templates.fill(f"manual in {where}"),
        }

    def format(self, state: PanelState, seat: str) -> ActionLines:
        return ActionLines(state.panel.actions, self.templates.fill("reply"))

    def guess(self, state: PanelState, seat: str, random: Stream) -> str:
        return random.choice(state.panel.actions)


def _redraws(puzzle: str) -> bool:
    return _puzzle_game(puzzle).puzzle_class.redraws
