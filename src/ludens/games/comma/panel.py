"""Panel: a COMMA puzzle for one seat, which sees the panel and has the whole manual.

The seat knows what Solver and Expert know together, so that there is no conversation between looking and
acting. The answer is all actions at once, or one action after another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

from ludens.core.errors import BadOption, Illegal, Unreadable
from ludens.core.forms import Choose, Form, Sentence, readable
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.reply import ActionFormat, ReplyFormat, without_reasoning
from ludens.core.state import Legal, Question, State
from ludens.core.twins import TwinGame
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.comma.dialogue import Comma, Dialogue, read_actions
from ludens.games.comma.pages import write
from ludens.games.comma.puzzle import Puzzle, Unclear
from ludens.games.comma.view import CommaView

PUZZLES = ("wire", "telehealth", "who", "led", "memory", "keypad", "password", "color", "maze", "atm")
"""In the order of the paper's tables."""
SEAT = "solver"
MOST_MOVES = 60
"""Moves after which a panel that is solved action by action is given up."""
_ATTEMPTS = 20_000


@dataclass(frozen=True)
class PanelQuestion(TwinGame["PanelState | SteppedPanel"]):
    """Solve a panel at once, or action by action, with the manual at hand.

    Seats: `solver`, alone, for one move; with `moves=single` until the panel is solved.
    Observation: the panel of the puzzle named by the option `puzzle`, its actions, what the Solver is told in
        private, and the manual in words (of Keypad in pictures).
    Actions: the names of the actions that solve the panel, one a line. Of Memory, Led and Color, whose panels
        change after each right action, the next one. In ATM the PIN was accepted already. With `moves=single`
        one of the names, in every state.
    Rewards: 1 if the actions are right, else 0. With `moves=single`, 1 when the panel is solved, else the
        best progress that the puzzle counts; it ends with the third mistake or after 60 moves.
    Twins: the same manual and actions, another panel; no actions are right on both.
    """

    name = "comma/panel"
    seats = (SEAT,)
    view_class = "ludens.games.comma.panel:PanelQuestionView"
    best = "bot/oracle"
    bots: ClassVar[Mapping[str, str]] = {"reader": "ludens.games.comma.reading:PanelReader"}
    presets = {
        "easy": Preset({"moves": "single"}),
        "medium": Preset({"puzzle": "keypad"}),
        "hard": Preset({"puzzle": "memory", "manual": "random"}),
        "paper": Preset(),
    }

    puzzle: str = option("wire", choices=PUZZLES, help="the puzzle whose panels are shown")
    manual: str = option(
        "standard", choices=("standard", "random"), help="the published tables, or new ones for every seed"
    )

    moves: str = option(
        "all", choices=("all", "single"), help="one answer with all actions, or one action in each move"
    )

    @property
    def question(self) -> bool:
        return self.moves == "all"

    def actions(self, seat: str) -> tuple[str, ...] | None:
        return None if self.question else puzzle_game(self.puzzle, self.manual).puzzle_class.actions

    def _state(self, game: Comma, panel: Puzzle[Any]) -> PanelState | SteppedPanel:
        return PanelState(game, panel) if self.question else SteppedPanel(game, panel)

    def world(self, seed: int) -> PanelState | SteppedPanel:
        game = puzzle_game(self.puzzle, self.manual)
        return self._state(game, _decided(game.start(seed).puzzle))

    def pair(self, seed: int) -> tuple[PanelState | SteppedPanel, PanelState | SteppedPanel]:
        first, random = self.world(seed), stream(seed, "twin")
        game, panel = first.game, first.panel
        for _ in range(_ATTEMPTS):
            other = _decided(game.panel(panel.manual, Stream(random.bits()))).briefed_as(panel)
            alike = other.actions == panel.actions and other.briefing == panel.briefing
            if alike and panel.apart(other):
                return first, self._state(game, other)
        raise BadOption(f"no twin of panel {seed} of {self.puzzle} was found.")


@lru_cache(maxsize=2 * len(PUZZLES))
def puzzle_game(puzzle: str, manual: str = "standard") -> Comma:
    game = make(f"comma/{puzzle}?manual={manual}")
    assert isinstance(game, Comma)
    return game


def _decided(panel: Puzzle[Any]) -> Puzzle[Any]:
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


class SteppedPanel(Dialogue):
    """A panel that is solved action by action: a conversation in which only the Solver speaks."""

    def __init__(self, game: Comma, puzzle: Puzzle[Any]) -> None:
        super().__init__(game, puzzle)
        self._plan: tuple[str, ...] = ()
        """The actions of `solution` that are still to be done; a new plan would undo what was typed."""

    @property
    def panel(self) -> Puzzle[Any]:
        return self.puzzle

    def legal(self, seat: str) -> Legal:
        return Legal(self.puzzle.actions) if seat in self.to_act else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        action = actions[SEAT]
        self._solver_speaks(action)
        self._plan = self._plan[1:] if self._plan[:1] == (action,) else ()
        if self._decided or self.spoken >= MOST_MOVES:
            self.to_act = ()

    def solution(self, seat: str) -> str | None:
        """The next of the actions that solve the panel; None where it cannot be solved any more."""
        panel = self.puzzle
        if panel.redraws:
            return next((action for action in panel.actions if panel.right([action])), None)
        if not self._plan:
            try:
                self._plan = tuple(panel.solution())
            except Unclear:
                return None
        return next(iter(self._plan), None)

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: self.partial}

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "solved": self.solved,
            "partial": self.partial,
            "mistakes": self.mistakes,
            "moves": self.spoken,
            "actions": [message.text for message in self.messages],
        }

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        return State.resample_hidden(self, seat, random)


@dataclass(frozen=True)
class LinesFormat(ReplyFormat):
    """A reply of lines with names from a list; other lines are ignored."""

    names: tuple[str, ...]
    request: str

    def ask(self, legal: Legal) -> str:
        return self.request

    def write(self, action: str) -> str:
        return action


class ActionLines(LinesFormat):
    """Names of actions, one a line."""

    def read(self, text: str, legal: Legal) -> str:
        lines = read_actions(without_reasoning(text), self.names)
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
        puzzle = puzzle_game(game.puzzle, game.manual)
        view = puzzle.view(render, seed)
        assert isinstance(view, CommaView)
        self._view, self._pictures = view, view.offers("expert") == "image"
        whole = "next" if puzzle.puzzle_class.redraws else "all"
        self._section = whole if game.question else "single"

    def image(self, state: PanelState | SteppedPanel, seat: str) -> Picture:
        return self._view.image(_dialogue(state), seat)

    def images(self, state: PanelState | SteppedPanel, seat: str) -> tuple[Picture, ...]:
        pages = self._view.images(_dialogue(state), "expert") if self._pictures else ()
        return self.image(state, seat), *pages

    def text(self, state: PanelState | SteppedPanel, seat: str) -> str:
        """Of the panel; with the manual where that is shown as pictures."""
        manual = f"\n\n{write(state.panel.manual.blocks())}" if self._pictures else ""
        return self._view.text(_dialogue(state), seat) + manual

    def notes(self, state: PanelState | SteppedPanel, seat: str) -> str:
        return self._notes(state, listed=True)

    def _notes(self, state: PanelState | SteppedPanel, listed: bool) -> str:
        panel, parts = state.panel, []
        if not self._pictures:
            parts.append(self.templates.fill("manual", manual=write(panel.manual.blocks())))
        if listed:
            parts.append("\n".join([self.templates.fill("actions"), *panel.actions]))
        if panel.briefing:
            lines = [f"{name}: {value}" for name, value in panel.briefing.items()]
            parts.append("\n".join([self.templates.fill("briefing"), *lines]))
        return "\n\n".join(parts)

    def brief(self, state: PanelState | SteppedPanel, seat: str) -> str | None:
        """The puzzle and the private briefing: players are trained with a manual that is always the same."""
        if self.game.options["manual"] == "random":
            return None
        secrets = (f"{name}: {value}" for name, value in state.panel.briefing.items())
        return "\n".join([str(self.game.options["puzzle"]), *secrets])

    def layout(self, seat: str) -> Literal["frames", "pages"]:
        """The panel, and the pages of the manual below it where they are pictures."""
        return "pages" if self._pictures else "frames"

    def label(self, action: str) -> str:
        return ", ".join(map(readable, action.split()))

    def form(self, state: PanelState | SteppedPanel, seat: str) -> Form:
        legal, format = state.legal(seat), self.format(state, seat)
        labels = {action: self.label(action) for action in state.panel.actions}
        places, prompt = self._view.places(_dialogue(state), seat), self.templates.fill("person")
        if legal.text_limit is None:
            return Choose(legal, labels, places, format)
        return Sentence(format, legal.text_limit, labels, places, words=False, prompt=prompt)

    def notes_for_person(self, state: PanelState | SteppedPanel, seat: str) -> str:
        """Without the list of actions, which the form has."""
        return self._notes(state, listed=False)

    def values(self, seat: str) -> dict[str, object]:
        manual = "manual in pictures" if self._pictures else "manual in words"
        return {"task": self.templates.fill(f"task {self._section}"), "where": self.templates.fill(manual)}

    def format(self, state: PanelState | SteppedPanel, seat: str) -> ReplyFormat:
        if isinstance(state, SteppedPanel):
            return ActionFormat()
        return ActionLines(state.panel.actions, self.templates.fill("reply"))

    def guess(self, state: PanelState | SteppedPanel, seat: str, random: Stream) -> str:
        return random.choice(state.panel.actions)


def _dialogue(state: PanelState | SteppedPanel) -> Dialogue:
    """What the view of the puzzle shows."""
    return state if isinstance(state, SteppedPanel) else Dialogue(state.game, state.panel)
