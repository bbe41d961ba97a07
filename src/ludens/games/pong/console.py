"""The console: Pong on the Arcade Learning Environment, as steps between immutable console states.

All games of a thread share one emulator: a `ConsoleState` holds everything, is restored before a step where
the emulator was used for another game, and continues bit for bit.

ALE drives only the right paddle. For two players the cartridge is switched to its own two-player game, by its
game number in memory; the left paddle's knob is emulated here and written to where the cartridge keeps its
smoothed reading. In that game a player must press a button to serve, and ALE has none for the left player:
for those frames the number of the game against the computer is set, which serves automatically.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludens.core.errors import MissingExtra

HEIGHT, WIDTH = 210, 160
TOP, BOTTOM = 34, 193
"""The rows of the screen between the walls."""
BLACK, WHITE, GROUND, LEFT, RIGHT = 0, 14, 34, 56, 200
"""Colour codes on the screen; ball and walls are white."""

ACTIONS = {"STAY": 0, "UP": 3, "DOWN": 4}
"""The console's action numbers: none, and the knob to the right or left."""

_POINTS_LEFT, _POINTS_RIGHT, _GAME, _BALL_Y, _LEFT_KNOB = 13, 14, 22, 54, 59
_COMPUTER, _TWO_PLAYERS = 0, 2
_SERVE_AFTER = 60
"""Frames without a ball before the console serves."""

Box = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Frame:
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
        """The right paddle."""
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
        """The console after a reset."""
        return ConsoleState(self._on, left=Knob() if two else None)

    def run(
        self, snapshot: ConsoleState, frames: Sequence[tuple[str, str]], until: int
    ) -> tuple[ConsoleState, Frame]:
        """Run frames with the given actions (right player's first) until a player wins.

        Args:
            snapshot: Where to go on from.
            frames: The actions; the second of each pair matters only where two play.
            until: The points that win.
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
            ale.act(ACTIONS[right_action])
            memory = ale.getRAM()
            points = int(memory[_POINTS_LEFT]), int(memory[_POINTS_RIGHT])
            if max(points) >= until:
                break
        self._current = ale.cloneState()
        return ConsoleState(self._current, right, left, pause), Frame(ale.getScreen().copy(), points)


_threads = threading.local()


def console() -> Console:
    """This thread's emulator, created on first use; raises `MissingExtra` without ale-py."""
    found: Console | None = getattr(_threads, "console", None)
    if found is None:
        found = _threads.console = Console()
    return found
