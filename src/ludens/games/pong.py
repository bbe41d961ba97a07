"""Pong on an Atari 2600, by the Arcade Learning Environment (extra `atari`)."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ludens.core.agent import Bot, ReasoningBot
from ludens.core.clock import REALTIME_HELP, read_interval, realtime_rule
from ludens.core.errors import MissingExtra
from ludens.core.game import Game, Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions, View
from ludens.draw import Picture, fonts, get_theme
from ludens.draw.palette import BLACK as NIGHT
from ludens.draw.palette import MIN_CONTRAST, RGB, contrast, letter_on, mix
from ludens.draw.palette import WHITE as DAY
from ludens.draw.theme import Theme

HEIGHT, WIDTH = 210, 160
TOP, BOTTOM = 34, 193
"""The rows of the screen between the walls."""
BLACK, WHITE, GROUND, LEFT, RIGHT = 0, 14, 34, 56, 200
"""Colour codes on the screen; ball and walls are white."""

ALE_ACTIONS = {"STAY": 0, "UP": 3, "DOWN": 4}
"""The console's action numbers: none, and the knob to the right or left."""

_POINTS_LEFT, _POINTS_RIGHT, _GAME, _BALL_Y, _LEFT_KNOB = 13, 14, 22, 54, 59
_COMPUTER, _TWO_PLAYERS = 0, 2
_SERVE_AFTER = 60
"""Frames without a ball before the console serves."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Screen:
    """One screen as colour codes, and the score at that time."""

    screen: NDArray[np.uint8]
    points: tuple[int, int]
    """Left, right."""

    @cached_property
    def ball(self) -> Box | None:
        """First and last column, first and last row of the ball; None when it is not in play."""
        return self._box(WHITE, 0, WIDTH)

    @cached_property
    def left(self) -> Box | None:
        """The left paddle; None before the game shows it."""
        return self._box(LEFT, 0, WIDTH // 2)

    @cached_property
    def right(self) -> Box | None:
        return self._box(RIGHT, WIDTH // 2, WIDTH)

    def _box(self, code: int, start: int, end: int) -> Box | None:
        rows, columns = np.nonzero(self.screen[TOP : BOTTOM + 1, start:end] == code)
        if not len(rows):
            return None
        first, last = int(columns.min()) + start, int(columns.max()) + start
        return first, last, int(rows[0]) + TOP, int(rows[-1]) + TOP


class Knob(NamedTuple):
    """A paddle's controller, as ALE turns it and as the console reads it."""

    turned: int = 0
    """Half steps from the centre; ALE turns by one step per frame, and stops at the ends."""
    smoothed: int = 109
    tick: int = 0

    @property
    def reading(self) -> int:
        """The console's reading, at which the paddle comes to rest."""
        return min(204, max(38, 110 + 23 * self.turned // 8))

    def after(self, action: str) -> Knob:
        """The knob one frame later; the console reads it every second frame and moves half the distance."""
        turned = min(33, max(-33, self.turned + {"UP": -2, "DOWN": 2}.get(action, 0)))
        moved = Knob(turned, self.smoothed, self.tick + 1)
        return moved if self.tick % 2 else moved._replace(smoothed=(self.smoothed + moved.reading) // 2)


class ConsoleState(NamedTuple):
    """The console between two frames."""

    ale: Any
    right: Knob = Knob()
    """A model of ALE's knob, for players that see the state."""
    left: Knob | None = None
    """The left paddle's knob, in games for two."""
    pause: int = 0
    """Frames since the ball was last in play; counted only in games for two."""


class Console:
    """One emulator."""

    def __init__(self) -> None:
        try:
            from ale_py import ALEInterface, LoggerMode, roms
        except ImportError:
            raise MissingExtra("pong", "atari") from None
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self._ale = ALEInterface()
        self._ale.setFloat("repeat_action_probability", 0.0)
        self._ale.setInt("random_seed", 0)
        self._ale.loadROM(roms.get_rom_path("pong"))
        self._ale.reset_game()
        self._on = self._ale.cloneState()
        self._current: Any = None

    def reset(self, two: bool) -> ConsoleState:
        return ConsoleState(self._on, left=Knob() if two else None)

    def run(
        self, snapshot: ConsoleState, frames: Sequence[tuple[str, str]], until: int
    ) -> tuple[ConsoleState, Screen]:
        """Run frames with the given actions, the right player's first, until a player has `until` points.

        The second action of each pair matters only where two play.
        """
        ale = self._ale
        start, right, left, pause = snapshot
        if start is not self._current:
            ale.restoreState(start)
        points = (0, 0)
        for right_action, left_action in frames:
            right = right.after(right_action)
            if left is not None:
                left = left.after(left_action)
                pause = pause + 1 if ale.getRAM()[_BALL_Y] == 0 else 0
                ale.setRAM(_GAME, _COMPUTER if pause > _SERVE_AFTER else _TWO_PLAYERS)
                ale.setRAM(_LEFT_KNOB, left.smoothed)
            ale.act(ALE_ACTIONS[right_action])
            memory = ale.getRAM()
            points = int(memory[_POINTS_LEFT]), int(memory[_POINTS_RIGHT])
            if max(points) >= until:
                break
        self._current = ale.cloneState()
        return ConsoleState(self._current, right, left, pause), Screen(ale.getScreen().copy(), points)


_threads = threading.local()


def console() -> Console:
    """This thread's emulator, created on first use; raises `MissingExtra` without ale-py."""
    if not hasattr(_threads, "console"):
        _threads.console = Console()
    emulator: Console = _threads.console
    return emulator


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
        self.turns = ["STAY", "STAY"]
        """How the right and the left knob are turned in the current frame."""
        self.console: ConsoleState = console().reset(game.players == 2)
        waited = [self._run(("STAY", "STAY")) for _ in range(random.between(1, NO_OPS))][-FRAMES:]
        self.frames = (waited[0],) * (FRAMES - len(waited)) + tuple(waited)
        """The screens after the last four decisions; the first is repeated when there are fewer."""

    def _run(self, actions: tuple[str, str]) -> Screen:
        """The screen after a decision of the right and the left player."""
        frames = []
        for _ in range(FRAMES):
            for hand, action in enumerate(actions):
                if self.random.random() >= self.game.sticky:
                    self.turns[hand] = action
            frames.append((self.turns[0], self.turns[1]))
        self.console, frame = console().run(self.console, frames, self.game.points)
        return frame

    @property
    def points(self) -> tuple[int, int]:
        return self.frames[-1].points

    @property
    def to_act(self) -> tuple[str, ...]:
        over = max(self.points) >= self.game.points or self.decisions >= self.game.decisions
        return () if over else self.game.seats

    def legal(self, seat: str) -> Legal:
        return ACTIONS if seat in self.to_act else Legal()

    def fallback(self, seat: str) -> str | None:
        return "STAY" if self.game.realtime else None

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
        copy.turns, copy.random = self.turns.copy(), self.random.clone()
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
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
    decisions. With `realtime=250ms`, a decision lasts so long, and who has not decided stays. Needs the extra
    `atari`.
    """

    name = "pong"
    version = 3
    view_class = "ludens.games.pong:PongView"
    best = "bot/tracker"
    presets = {
        "easy": Preset({"points": 1, "decisions": 300, "sticky": 0.0}),
        "medium": Preset({"decisions": 500}),
        "hard": Preset({"players": 2, "decisions": 500}, others="bot/tracker"),
        "paper": Preset(),
    }
    bots = {"tracker": "ludens.games.pong:PongTracker", "follower": "ludens.games.pong:Follower"}

    players: int = option(1, low=1, high=2, help="one against the built-in player, or two")
    points: int = option(3, low=1, high=20, help="points that win")
    decisions: int = option(1000, low=1, high=10_000, help="maximum number of decisions")
    sticky: float = option(
        0.25, low=0.0, high=0.95, help="probability that an action is repeated for a frame"
    )

    realtime: str = option("", help=REALTIME_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_interval(self.realtime, self.name)

    @property
    def step_seconds(self) -> float | None:
        return read_interval(self.realtime, self.name)

    @property
    def seats(self) -> tuple[str, ...]:
        return ("left", "right") if self.players == 2 else ("player",)

    def actions(self, seat: str) -> tuple[str, ...]:
        return ACTIONS

    def start(self, seed: int) -> PongState:
        return PongState(self, stream(seed, "pong"))


_COLUMN = {"left": 20.5, "right": 139.5}
"""The column of the ball's centre when it meets the paddle."""
_MIDDLE = (TOP + BOTTOM) / 2
_HALF = 8
"""Half the height of a paddle, in rows."""
_ABOVE = 6.5
"""Offset from a paddle's centre to the row of its knob."""
_STEP = 9
"""Tolerance in rows when there is no time left: one decision turns the knob by 24."""
_CLOSE, _TIME = 2.5, 20
"""Tolerance in rows while so many frames are left for corrections: sticky actions make finer steps."""


class _Returner(Bot):
    """Goes to where the ball will cross the column of its paddle."""

    def begin(self) -> None:
        self.side = _side(self.seat)

    def approach(self, before: Box, now: Box) -> tuple[float, float, float, float] | None:
        """The ball's row, the rows it moves per decision, the columns to go and those it moves per decision;
        None where it goes away."""
        (x, y), (old_x, old_y) = _centre(now), _centre(before)
        way, speed = _COLUMN[self.side] - x, x - old_x
        return (y, y - old_y, way, speed) if speed * way > 0 else None


@dataclass
class PongTracker(_Returner):
    """Goes to where the ball will be, slightly beyond, to hit it with the paddle's end at a steep angle."""

    kind = "bot/tracker"
    aim: float = option(6.0, low=-8.0, high=8.0, help="rows beyond the ball, in its direction, to be at")

    def begin(self) -> None:
        super().begin()
        self.mark = (_MIDDLE, float(_TIME))

    def choose(self, state: PongState) -> str:
        knob = state.console.left if self.side == "left" else state.console.right
        assert knob is not None
        self.mark = row, frames = self.meeting(*state.frames[-2:])
        return _turn(row - (knob.reading - _ABOVE), _CLOSE if frames > _TIME else _STEP)

    def meeting(self, before: Screen, now: Screen) -> tuple[float, float]:
        """The target row of the paddle's centre, and the frames until the ball arrives."""
        if now.ball is None or before.ball is None:
            return _MIDDLE, _TIME
        if _at_wall(before.ball, now.ball):
            row, frames = self.mark
            return row, frames - FRAMES
        if (approach := self.approach(before.ball, now.ball)) is None:
            return _MIDDLE, _TIME
        y, down, way, speed = approach
        decisions = way / speed
        row = min(_reflected(y + down * decisions), BOTTOM - _HALF)
        return row + (self.aim if down > 0 else -self.aim), FRAMES * decisions


@dataclass
class Follower(_Returner, ReasoningBot):
    """Goes to where the ball will be, by nothing but the four screens shown: it does not read the knob.

    Weaker than the tracker, and predictable by whoever sees the same screens.
    """

    kind = "bot/follower"

    def reasons(self, state: PongState, move: str) -> list[str]:
        """Where the ball flies, where to go, and where the paddle is."""
        paddle = self._paddle(state)
        flight = [_coarse(ball) for ball in self._flight(state.frames)]
        words = [*flight, "aim", f"{round(self._row(state.frames)) // COARSE}"]
        words += ["paddle", f"{round(_centre(paddle)[1]) // COARSE}"] if paddle else []
        return [" ".join(words)]

    def policy(self, state: Any) -> dict[str, float]:
        return {self.choose(state): 1.0}

    def choose(self, state: PongState) -> str:
        paddle = self._paddle(state)
        off = self._row(state.frames) - _centre(paddle)[1] if paddle else 0
        return _turn(off, _HALF)

    def _paddle(self, state: PongState) -> Box | None:
        return state.frames[-1].left if self.side == "left" else state.frames[-1].right

    def _flight(self, frames: Sequence[Screen]) -> tuple[Box, Box] | tuple[()]:
        """The ball before and after the latest decision in which it did not touch a wall, if it was seen."""
        for before, now in zip(frames[-2::-1], frames[:0:-1], strict=True):
            if before.ball is None or now.ball is None:
                break
            if not _at_wall(before.ball, now.ball):
                return before.ball, now.ball
        return ()

    def _row(self, frames: Sequence[Screen]) -> float:
        """Where the ball will cross the paddle's column; the middle if it goes away or cannot be told."""
        if (flight := self._flight(frames)) and (approach := self.approach(*flight)):
            y, down, way, speed = approach
            return min(_reflected(y + down * way / speed), BOTTOM - _HALF)
        return _MIDDLE


COARSE = 4
"""Columns and rows of the screen in a step of what a bot says."""


def _coarse(ball: Box) -> str:
    x, y = _centre(ball)
    return f"{round(x) // COARSE} {round(y) // COARSE}"


def _turn(off: float, tolerance: float) -> str:
    return "STAY" if abs(off) <= tolerance else "DOWN" if off > 0 else "UP"


def _at_wall(*balls: Box) -> bool:
    """Whether a ball is at a wall: it is partly hidden there and its speed unknown."""
    return any(ball[2] <= TOP or ball[3] >= BOTTOM for ball in balls)


def _centre(box: Box) -> tuple[float, float]:
    return (box[0] + box[1]) / 2, (box[2] + box[3]) / 2


def _reflected(row: float) -> float:
    """A row reflected at the walls until it is between them."""
    top, height = TOP - 2, BOTTOM - TOP + 3
    beyond = (row - top) % (2 * height)
    return top + (beyond if beyond <= height else 2 * height - beyond)


_CODES = (GROUND, WHITE, LEFT, RIGHT, BLACK)
"""The order of the palette; the numbers of the margin and of the letters on it follow."""
_MARGIN, _LETTER_LEVELS = len(_CODES), 8
_KEPT_FRAMES = 16

_CONSOLE: tuple[RGB, ...] = ((112, 52, 10), (236, 236, 236), (213, 130, 74), (92, 186, 92), NIGHT, NIGHT)
_PLAIN: tuple[RGB, ...] = ((24, 24, 24), DAY, (150, 150, 150), (205, 205, 205), NIGHT, NIGHT)


def colours(theme: Theme) -> tuple[RGB, ...]:
    """The screen's colours in a theme: ground, ball and walls, left paddle, right paddle, black, margin."""
    if theme.name == "classic":
        return _CONSOLE
    if theme.plain:
        return _PLAIN
    ground, hues = theme.colour("black"), ("orange", "cyan")
    if theme.name == "random":
        ground = theme.colour("page")
        order = ("red", "blue", "green", "purple", "orange", "cyan", "magenta", "yellow", "brown")
        legible = [hue for hue in order if contrast(theme.colour(hue), ground) >= MIN_CONTRAST]
        hues = legible[0], legible[1 + theme.seed % (len(legible) - 1)]
    ball = DAY if contrast(DAY, ground) > contrast(NIGHT, ground) else NIGHT
    margin = theme.colour("panel" if theme.name == "random" else "line")
    return ground, ball, theme.colour(hues[0]), theme.colour(hues[1]), ground, margin


class PongView(View):
    """Both seats see the same screens; YOU is in the margin beside the seat's own paddle.

    In small pictures that is a bar, and the ball is never left out where the screen is made smaller.
    """

    smallest = 64

    def __init__(self, game: Pong, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        palette = colours(get_theme(render.theme, seed))
        margin, levels = palette[_MARGIN], range(1, _LETTER_LEVELS + 1)
        letters = [mix(margin, letter_on(margin), level, _LETTER_LEVELS) for level in levels]
        self._palette = np.array([*palette, *letters], np.uint8)
        self._number = np.zeros(256, np.uint8)
        self._number[list(_CODES)] = range(len(_CODES))
        width = round(render.size * WIDTH / HEIGHT)
        self._left = (render.size - width) // 2
        self._rows = np.arange(render.size) * HEIGHT // render.size
        self._columns = np.arange(width) * WIDTH // width
        coverage = fonts.mask("YOU", max(9, self._left // 3), bold=True).astype(int)
        if coverage.shape[1] > self._left:
            coverage = np.full((max(5, render.size // 16), self._left // 2), 255)
        self._you = (_MARGIN + coverage * _LETTER_LEVELS // 255).astype(np.uint8)
        self._frame = lru_cache(maxsize=_KEPT_FRAMES)(self._draw_frame)

    def rules(self, seat: str) -> str:
        return super().rules(seat) + realtime_rule(self.game.step_seconds, "STAY")

    def image(self, state: PongState, seat: str) -> Picture:
        return self._frame(state.frames[-1], _side(seat))

    def images(self, state: PongState, seat: str) -> tuple[Picture, ...]:
        return tuple(self._frame(frame, _side(seat)) for frame in state.frames)

    def _draw_frame(self, frame: Screen, side: str) -> Picture:
        size = self.render.size
        pixels = np.full((size, size), _MARGIN, np.uint8)
        wide = self._number[frame.screen][:, self._columns]
        pixels[:, self._left : self._left + len(self._columns)] = wide[self._rows]
        if size < HEIGHT and frame.ball is not None:
            self._ball(pixels, frame.ball)
        self._label(pixels, frame.left if side == "left" else frame.right, side)
        pixels.setflags(write=False)
        return Picture(pixels, self._palette)

    def _ball(self, pixels: NDArray[np.uint8], ball: Box) -> None:
        """At least one pixel for the ball, which may fall between the rows and columns that are kept."""
        left, right, top, bottom = ball
        size, width = self.render.size, len(self._columns)
        row, column = top * size // HEIGHT, self._left + left * width // WIDTH
        below = max(row + 1, (bottom + 1) * size // HEIGHT)
        beside = max(column + 1, self._left + (right + 1) * width // WIDTH)
        pixels[row:below, column:beside] = _CODES.index(WHITE)

    def _label(self, pixels: NDArray[np.uint8], paddle: Box | None, side: str) -> None:
        """YOU in the margin, at the height of the paddle; at half height while the paddle is not shown."""
        size, (height, width) = self.render.size, self._you.shape
        middle = size // 2 if paddle is None else (paddle[2] + paddle[3] + 1) * size // (2 * HEIGHT)
        centre = self._left // 2 if side == "left" else size - self._left // 2
        top, left = middle - height // 2, centre - width // 2
        pixels[top : top + height, left : left + width] = self._you

    def text(self, state: PongState, seat: str) -> str:
        lines = [f"Columns 0 to {WIDTH - 1} from the left, rows 0 to {HEIGHT - 1} from the top."]
        you = {side: " (you)" * (side == _side(seat)) for side in ("left", "right")}
        for frame, when in zip(state.frames, ("three", "two", "one", ""), strict=True):
            left, right = frame.points
            moment = f"{when} decision{'s' * (when != 'one')} ago" if when else "now"
            lines.append(
                f"{moment}: ball {_where(frame.ball)}; left paddle{you['left']} {_where(frame.left)}; "
                f"right paddle{you['right']} {_where(frame.right)}; points left {left}, right {right}"
            )
        return "\n".join(lines)

    def notes(self, state: PongState, seat: str) -> str:
        count = f"Decisions made: {state.decisions} of {state.game.decisions} at most."
        return f"You control the {_side(seat)} paddle. {count}"

    def values(self, seat: str) -> dict[str, object]:
        side = _side(seat)
        against = self.templates.fill("opponent one" if seat == "player" else "opponent two")
        other = "left" if side == "right" else "right"
        sticky = f"{100 * float(str(self.game.options['sticky'])):g}"
        return {**super().values(seat), "side": side, "other": other, "opponent": against, "percent": sticky}


def _side(seat: str) -> str:
    return "right" if seat == "player" else seat


def _where(box: Box | None) -> str:
    if box is None:
        return "not in sight"
    return f"columns {box[0]} to {box[1]}, rows {box[2]} to {box[3]}"
