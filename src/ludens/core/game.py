"""A game: fixed options, named seats, and a start state for every seed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ludens.core.loading import load
from ludens.core.options import check_options, option_values
from ludens.core.state import State

if TYPE_CHECKING:
    from ludens.core.episode import Move
    from ludens.core.view import RenderOptions, View


@dataclass(frozen=True, slots=True)
class GameStage:
    """A kind of moves that is a task of its own: training can treat stages differently, or alternate."""

    name: str
    decision: bool = False
    """Whether its moves settle the outcome (votes, actions) instead of preparing it (clues, advice)."""
    group: tuple[str, ...] = ()
    """Attributes of moves whose rewards are compared: ("episode",) where several seats answer one question,
    ("seed", "seat") for several episodes of a seed. Empty: with the moving average of the role."""
    seats: tuple[str, ...] = ()
    """The seats whose moves it consists of, where that tells stages apart; empty: `State.stage` names it."""


class DecisionScore(NamedTuple):
    """How well the decisions of one episode were made; both from 0 to 1."""

    right: float = 0.0
    abstained: float = 0.0
    """Share of decisions that were not made (n/a)."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A setting of a game with a difficulty: options other than the defaults, and who plays other seats."""

    options: Mapping[str, Any] = field(default_factory=dict)
    others: str = "bot/random"
    """The spec of the players in all other seats, where a game has several."""


DIFFICULTIES = ("easy", "medium", "hard", "paper")
"""The presets that every game of Ludens has; `paper` is what its paper played, or its defaults."""


class Game(ABC):
    """A game with its options. Subclasses are frozen dataclasses whose fields are made with `option`.

    The class docstring is the game's documentation page; its first line is its summary.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Bumped only when behaviour changes; episodes record it."""
    imperfect_information: ClassVar[bool] = False
    """Whether some seat does not know the whole state; states then override `resample_hidden`."""
    view_class: ClassVar[str]
    """The game's view as "module:Class", imported only when something is shown."""
    bots: ClassVar[Mapping[str, str]] = {}
    """The game's own bots: name to "module:Class", used as `bot/NAME`."""
    best: ClassVar[str] = ""
    """The spec of the strongest known bot, used as `bot/best`; empty where there is none."""
    cooperative: ClassVar[bool] = False
    """Whether all seats earn the same."""
    presets: ClassVar[Mapping[str, Preset]] = {}
    """Settings by difficulty (`DIFFICULTIES`), used as `GAME?preset=medium`."""
    stages: ClassVar[tuple[GameStage, ...]] = ()
    """The stages of the game, where it has several. Iterative-SPO needs two, one of them of decisions."""

    def __post_init__(self) -> None:
        """Check the options; subclasses that check more call this first."""
        check_options(self, self.name)

    @property
    @abstractmethod
    def seats(self) -> tuple[str, ...]:
        """The names of the seats, in playing order."""

    @property
    def first_seat(self) -> str:
        """The seat that usually moves first, which people are offered; by default the first one."""
        return self.seats[0]

    @abstractmethod
    def start(self, seed: int) -> State:
        """The start state for this seed."""

    @property
    def step_seconds(self) -> float | None:
        """How long a step lasts where the game is played in real time (`ludens.core.clock`): seats that have
        not acted by then are late, and their states must have a `State.fallback`."""
        return None

    def actions(self, seat: str) -> tuple[str, ...] | None:
        """All actions that the seat can ever take, in a fixed order; None where some of them are texts.

        `State.legal` is always a subset of them. Their order numbers them, for learners that need numbers.
        """
        return None

    def cluster(self, seed: int) -> str:
        """What the episodes of several seeds have in common: the name of an entry of a picture set, say.

        Intervals count episodes of one cluster as one observation. Empty where each seed stands for itself.
        """
        return ""

    @property
    def seeded(self) -> bool:
        """Whether the seed decides something: a deal, an opening, what is drawn. If not, equal moves make
        equal games, and intervals count a game once, on however many seeds it was played."""
        return True

    def prepare(self, seeds: Iterable[int]) -> None:
        """Compute and store in advance what takes long in `start`; by default nothing."""

    @property
    def question(self) -> bool:
        """Whether an episode is one answer to one question, and `State.solution` knows the right one."""
        return False

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        """The view of the game; only the theme `random` depends on the seed."""
        view: View = load(self.view_class)(self, render, seed)
        return view

    def evaluate(self, state: State, seat: str) -> float:
        """The value of a state for a seat, for search; by default its return so far."""
        return state.returns[seat]

    def rewards(self, state: State, moves: Sequence[Move]) -> list[float]:
        """What each move of a finished episode earned, for training: by default its seat's return.

        Games in which one seat earns differently for different moves override this.
        """
        return [state.returns[move.seat] for move in moves]

    def stage_of(self, seat: str, stage: str) -> str:
        """The name of the stage of a seat's move, in a state that names `stage` itself (`State.stage`)."""
        return next((declared.name for declared in self.stages if seat in declared.seats), stage)

    def decision_score(self, state: State) -> DecisionScore:
        """How well the decisions of an episode were made; games with a stage of decisions override this."""
        raise NotImplementedError(f"{self.name} has no stage of decisions")

    def measures(self, state: State) -> dict[str, float]:
        """What the curves of training show of a finished episode besides rewards; by default nothing.

        A measure that an episode does not have (no vote was cast) is left out.
        """
        return {}

    @property
    def options(self) -> dict[str, Any]:
        """All options with their values."""
        return option_values(self)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (type(self).__doc__ or self.name).strip().splitlines()[0]
