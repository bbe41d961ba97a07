"""What the levels share: one seat, a scene for every seed, and answers that are texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ludens.core.errors import MoveError
from ludens.core.game import Game
from ludens.core.legal import Legal
from ludens.core.options import Touch, option
from ludens.core.state import State
from ludens.games.viki.reply import combined
from ludens.games.viki.scene import Scene
from ludens.games.viki.source import LOOKS, SPLIT_HELP, SPLITS, Shown, shown
from ludens.games.viki.stored import Numbered, store
from ludens.pictures.sets import installed_sets

if TYPE_CHECKING:
    from ludens.core.episode import Move

SEAT = "planner"
TEACHERS = {
    "oracle": "ludens.games.viki.teachers:Oracle",
    "describe": "ludens.games.viki.teachers:Describe",
}
"""Bots of all levels, for imitation."""


@dataclass(frozen=True)
class Level(Game):
    """The options of all levels."""

    seats = (SEAT,)
    best = "bot/oracle"
    question = True

    look: str = option("map", choices=LOOKS, help="the kitchen from above, or rendered camera pictures")
    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)
    pictures: str = option(
        "viki-8",
        help="the picture set of look=camera",
        touches=Touch.READ,
        installed=lambda: installed_sets("scene"),
    )
    data: str = option(
        "",
        help="a folder with the released Parquet files, played by the released rules",
        touches=Touch.READ,
    )

    def shown(self, seed: int) -> Shown:
        """The scene of a seed, with its pictures where they come from files."""
        return shown(self.name, self.look, self.split, self.pictures, self.data, seed)

    module: ClassVar[str] = "generate"
    """The module that makes its scenes."""

    def prepare(self, seeds: Iterable[int]) -> None:
        """Make scenes, which need a planner; those from files are there already."""
        if self.look == "map" and not self.data:
            store(self.module, self.split, seeds, self._made)

    def _made(self, seed: int) -> Numbered:
        given = self.shown(seed)
        return given.seed, given.scene

    def rewards(self, state: State, moves: Sequence[Move]) -> list[float]:
        """A tenth for the form of the reply, the rest for the answer."""
        assert isinstance(state, Answered)
        accuracy = state.accuracies
        return [combined(_said(move), part) for move, part in zip(moves, accuracy, strict=False)]


def _said(move: Move) -> str:
    return move.tries[-1].text if move.tries else ""


class Answered(State):
    """A scene and the answers that were given about it."""

    attempts = 1
    """How many answers may be given."""
    longest = 2_000
    """Characters of an answer."""

    def __init__(self, game: Level, given: Shown, answers: tuple[str, ...] = ()) -> None:
        self.game = game
        self.given = given
        self.answers = answers

    @property
    def scene(self) -> Scene:
        """The scene that is shown."""
        return self.given.scene

    @property
    def to_act(self) -> tuple[str, ...]:
        done = len(self.answers) >= self.attempts or (bool(self.answers) and self.accuracies[-1] == 1.0)
        return () if done else (SEAT,)

    def legal(self, seat: str) -> Legal:
        return Legal.text(self.longest) if seat in self.to_act else Legal()

    def refusal(self, seat: str, action: str) -> str | None:
        reason = super().refusal(seat, action)
        if reason is None and action:
            try:
                canonical = self.canonical(action)
            except MoveError as error:
                return str(error)
            if canonical != action:
                return "the answer is not in its canonical form."
        return reason

    def canonical(self, answer: str) -> str:
        """The canonical form of an answer; raises a `MoveError` where there is none."""
        raise NotImplementedError

    def fallback(self, seat: str) -> str | None:
        """No readable answer is an empty one, which is wrong."""
        return ""

    @property
    def accuracies(self) -> list[float]:
        """What each answer is worth, from 0 to 1."""
        raise NotImplementedError

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.answers = (*self.answers, actions[SEAT])

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: max(self.accuracies, default=0.0)}

    @property
    def facts(self) -> dict[str, Any]:
        task = self.scene.task
        return {
            **task.facts,
            "task": task.name,
            "layout": self.scene.layout,
            "answers": len(self.answers),
            "readable": bool(self.answers) and all(self.answers),
        }

    def clone(self) -> Self:
        return type(self)(self.game, self.given, self.answers)
