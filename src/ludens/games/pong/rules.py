"""Pong: the Atari game, against its built-in player or between two seats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.games.pong.console import ConsoleState, Frame, console

ACTIONS = Legal(("STAY", "UP", "DOWN"))
FRAMES = 4
"""Frames per decision, and frames shown."""
NO_OPS = 30

# The paper scores 90 * points / 3 + 10 * (decisions - N_MIN) / (N_MAX - N_MIN) and publishes neither bound.
# Its tables give them away: the random agent's 147.2 decisions are worth 0, 230.5 are worth 2.9 and 121.4 are
# worth -0.9 to models that scored no point, so that a tenth of the range is about 28.8 decisions.
N_MIN, N_MAX = 147, 435


def combined(points: float, decisions: float, to_win: int = 3) -> float:
    """The paper's combined score: points scored, up to 90, and how long the player lasted, up to 10."""
    lasted = min(1.0, (decisions - N_MIN) / (N_MAX - N_MIN))
    return 90 * points / to_win + 10 * lasted


class PongState(State):
    """The console state, the frames shown, and the actions that may stick."""

    def __init__(self, game: Pong, random: Stream) -> None:
        self.game = game
        self.random = random
        self.decisions = 0
        self.held = ["STAY", "STAY"]
        """The last action of the right and the left player."""
        self.console: ConsoleState = console().reset(game.players == 2)
        waited = [self._run(("STAY", "STAY")) for _ in range(random.between(1, NO_OPS))][-FRAMES:]
        self.frames = (waited[0],) * (FRAMES - len(waited)) + tuple(waited)
        """The screens after the last four decisions; the first is repeated when there are fewer."""

    def _run(self, wanted: tuple[str, str]) -> Frame:
        """One decision of the right and the left player."""
        hands = []
        for _ in range(FRAMES):
            for hand, action in enumerate(wanted):
                if self.random.random() >= self.game.sticky:
                    self.held[hand] = action
            hands.append((self.held[0], self.held[1]))
        self.console, frame = console().run(self.console, hands, self.game.points)
        return frame

    @property
    def points(self) -> tuple[int, int]:
        """Points of the left and of the right player."""
        return self.frames[-1].points

    @property
    def to_act(self) -> tuple[str, ...]:
        done = max(self.points) >= self.game.points or self.decisions >= self.game.decisions
        return () if done else self.game.seats

    def legal(self, seat: str) -> Legal:
        return ACTIONS if seat in self.to_act else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.decisions += 1
        two = self.game.players == 2
        frame = self._run((actions["right"], actions["left"]) if two else (actions["player"], "STAY"))
        self.frames = (*self.frames[1:], frame)

    @property
    def returns(self) -> dict[str, float]:
        left, right = self.points
        lead = float(right - left)
        return {"left": -lead, "right": lead} if self.game.players == 2 else {"player": lead}

    @property
    def facts(self) -> dict[str, Any]:
        left, right = self.points
        score = combined(right, self.decisions, self.game.points)
        return {"decisions": self.decisions, "left_points": left, "right_points": right, "combined": score}

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.held, copy.random = self.held.copy(), self.random.clone()
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        """The same screens with a new random stream for sticky actions."""
        copy = self.clone()
        copy.random = random.clone()
        return copy


@dataclass(frozen=True)
class Pong(Game):
    """Atari Pong: first to three points, against the console's own player or another seat.

    Seats: `player` at the right paddle against the built-in player; with `players=2`, `left` and `right`.
    Observation: the screens after the last four decisions, the latest last.
    Actions: `STAY`, `UP`, `DOWN`, each held for four frames; in every frame the previous action is
    repeated with probability `sticky`. Paddles have momentum.
    Rewards: points scored less points conceded. Facts hold the paper's combined score of the right player.
    Starts after 1 to 30 decisions of STAY. Ends when somebody has `points` points, or after `decisions`
    decisions. Needs the extra `atari`.
    """

    name = "pong"
    version = 3
    view_class = "ludens.games.pong.view:PongView"
    best = "bot/tracker"
    bots = {
        "tracker": "ludens.games.pong.bots:Tracker",
        "follower": "ludens.games.pong.bots:Follower",
    }

    players: int = option(1, low=1, high=2, help="one against the built-in player, or two")
    points: int = option(3, low=1, high=20, help="points that win")
    decisions: int = option(1000, low=1, high=10_000, help="maximum number of decisions")
    sticky: float = option(
        0.25, low=0.0, high=0.95, help="probability that an action is repeated for a frame"
    )

    @property
    def seats(self) -> tuple[str, ...]:
        return ("left", "right") if self.players == 2 else ("player",)

    def start(self, seed: int) -> PongState:
        return PongState(self, stream(seed, "pong"))
