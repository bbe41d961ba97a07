"""Scripted Pong players: they predict where the ball will cross their column and wait there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.state import State
from ludens.games.pong.console import BOTTOM, TOP, Box, Frame
from ludens.games.pong.rules import FRAMES, PongState

_COLUMN = {"left": 20.5, "right": 139.5}
"""The column of the ball's centre when it meets the paddle."""
_MIDDLE = (TOP + BOTTOM) / 2
_HALF = 8
"""Half the height of a paddle, in rows."""
_ABOVE = 6.5
"""Offset from a paddle's centre to the row of its knob."""
_STEP = 9
"""Tolerance in rows when there is no time left: one decision turns the knob by 24."""
_CLOSE = 2.5
"""Rows off the mark that are too many while there is time to turn to and fro: the hand that sticks now and
then makes the finer steps."""
_TIME = 20
"""Frames that allow for it."""


@dataclass
class Tracker(Agent):
    """Goes to where the ball will be, slightly beyond, to hit it with the paddle's end at a steep angle."""

    kind = "bot/tracker"
    sees = "state"
    aim: float = option(6.0, low=-8.0, high=8.0, help="rows beyond the ball, in its direction, to be at")

    def begin(self) -> None:
        self.side = "left" if self.seat == "left" else "right"
        self.mark = (_MIDDLE, float(_TIME))

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, PongState)
        action = self.action(ask.state)
        return Reply(action, action)

    def action(self, state: PongState) -> str:
        """The action for this state."""
        knob = state.console.left if self.side == "left" else state.console.right
        assert knob is not None
        self.mark = row, frames = self.meeting(*state.frames[-2:])
        off = row - (knob.reading - _ABOVE)
        enough = _CLOSE if frames > _TIME else _STEP
        return "STAY" if abs(off) <= enough else "DOWN" if off > 0 else "UP"

    def meeting(self, before: Frame, now: Frame) -> tuple[float, float]:
        """The target row of the paddle's centre, and the frames until the ball arrives."""
        if now.ball is None or before.ball is None:
            return _MIDDLE, _TIME
        if any(ball[2] <= TOP or ball[3] >= BOTTOM for ball in (before.ball, now.ball)):
            row, frames = self.mark  # at a wall the ball is partly hidden and its speed unknown
            return row, frames - FRAMES
        (x, y), (old_x, old_y) = _centre(now.ball), _centre(before.ball)
        way, speed = _COLUMN[self.side] - x, x - old_x
        if speed * way <= 0:
            return _MIDDLE, _TIME
        decisions = way / speed
        row = min(_reflected(y + (y - old_y) * decisions), BOTTOM - _HALF)
        return row + (self.aim if y > old_y else -self.aim), FRAMES * decisions


@dataclass
class Follower(Agent):
    """Goes to where the ball will be, by nothing but the four screens shown: it does not read the knob.

    Weaker than the tracker, and predictable by whoever sees the same screens.
    """

    kind = "bot/follower"
    sees = "state"

    def begin(self) -> None:
        self.side = "left" if self.seat == "left" else "right"

    def policy(self, state: State) -> dict[str, float]:
        """The probability of each action: always one action."""
        assert isinstance(state, PongState)
        frames = state.frames
        paddle = frames[-1].left if self.side == "left" else frames[-1].right
        if paddle is None:
            return {"STAY": 1.0}
        off = self._row(frames) - _centre(paddle)[1]
        return {"STAY" if abs(off) <= _HALF else "DOWN" if off > 0 else "UP": 1.0}

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        [action] = self.policy(ask.state)
        return Reply(action, action)

    def _row(self, frames: Sequence[Frame]) -> float:
        """Where the ball will cross the paddle's column; the middle if it goes away or cannot be told."""
        for before, now in zip(frames[-2::-1], frames[:0:-1], strict=True):
            balls = [ball for ball in (before.ball, now.ball) if ball is not None]
            if len(balls) < 2:
                return _MIDDLE
            if any(ball[2] <= TOP or ball[3] >= BOTTOM for ball in balls):
                continue  # at a wall the ball is partly hidden and its speed unknown: look at earlier screens
            (old_x, old_y), (x, y) = map(_centre, balls)
            way, speed = _COLUMN[self.side] - x, x - old_x
            if speed * way <= 0:
                return _MIDDLE
            return min(_reflected(y + (y - old_y) * way / speed), BOTTOM - _HALF)
        return _MIDDLE


def _centre(box: Box) -> tuple[float, float]:
    return (box[0] + box[1]) / 2, (box[2] + box[3]) / 2


def _reflected(row: float) -> float:
    """A row reflected at the walls until it is between them."""
    top, height = TOP - 2, BOTTOM - TOP + 3
    beyond = (row - top) % (2 * height)
    return top + (beyond if beyond <= height else 2 * height - beyond)
