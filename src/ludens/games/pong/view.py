"""The view of Pong: the console's own screen, enlarged, in the theme's colours, and YOU beside a paddle."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ludens.core.view import RenderOptions, View
from ludens.draw import Picture, fonts, get_theme
from ludens.draw.palette import BLACK as NIGHT
from ludens.draw.palette import MIN_CONTRAST, RGB, contrast, letter_on, mix
from ludens.draw.palette import WHITE as DAY
from ludens.draw.theme import Theme
from ludens.games.pong.console import BLACK, GROUND, HEIGHT, LEFT, RIGHT, WHITE, WIDTH, Box, Frame
from ludens.games.pong.rules import Pong, PongState

_CODES = (GROUND, WHITE, LEFT, RIGHT, BLACK)
"""The order of the palette; the numbers of the margin and of the letters on it follow."""
_MARGIN, _LETTER_LEVELS = len(_CODES), 8
_KEPT_FRAMES = 16

_CONSOLE: tuple[RGB, ...] = (
    (112, 52, 10),
    (236, 236, 236),
    (213, 130, 74),
    (92, 186, 92),
    (0, 0, 0),
    (0, 0, 0),
)
_PLAIN: tuple[RGB, ...] = (
    (24, 24, 24),
    (255, 255, 255),
    (150, 150, 150),
    (205, 205, 205),
    (0, 0, 0),
    (0, 0, 0),
)


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
        shown = [hue for hue in order if contrast(theme.colour(hue), ground) >= MIN_CONTRAST]
        hues = shown[0], shown[1 + theme.seed % (len(shown) - 1)]
    ball = DAY if contrast(DAY, ground) > contrast(NIGHT, ground) else NIGHT
    margin = theme.colour("panel" if theme.name == "random" else "line")
    return ground, ball, theme.colour(hues[0]), theme.colour(hues[1]), ground, margin


class PongView(View):
    """Both seats see the same screens; YOU is in the margin beside the seat's own paddle."""

    def __init__(self, game: Pong, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        shown = colours(get_theme(render.theme, seed))
        levels = range(1, _LETTER_LEVELS + 1)
        letters = [mix(shown[_MARGIN], letter_on(shown[_MARGIN]), level, _LETTER_LEVELS) for level in levels]
        self._palette = np.array([*shown, *letters], np.uint8)
        self._number = np.zeros(256, np.uint8)
        self._number[list(_CODES)] = range(len(_CODES))
        width = round(render.size * WIDTH / HEIGHT)
        self._left = (render.size - width) // 2
        self._rows = np.arange(render.size) * HEIGHT // render.size
        self._columns = np.arange(width) * WIDTH // width
        font = max(9, self._left // 3)
        coverage = fonts.mask("YOU", font, bold=True).astype(int)
        self._you = (_MARGIN + coverage * _LETTER_LEVELS // 255).astype(np.uint8)
        self._frame = lru_cache(maxsize=_KEPT_FRAMES)(self._drawn)

    def image(self, state: PongState, seat: str) -> Picture:
        return self._frame(state.frames[-1], _side(seat))

    def images(self, state: PongState, seat: str) -> tuple[Picture, ...]:
        return tuple(self._frame(frame, _side(seat)) for frame in state.frames)

    def _drawn(self, frame: Frame, side: str) -> Picture:
        size = self.render.size
        pixels = np.full((size, size), _MARGIN, np.uint8)
        wide = self._number[frame.screen][:, self._columns]
        pixels[:, self._left : self._left + len(self._columns)] = wide[self._rows]
        self._label(pixels, frame.left if side == "left" else frame.right, side)
        pixels.setflags(write=False)
        return Picture(pixels, self._palette)

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
            told = f"{when} decision{'s' * (when != 'one')} ago" if when else "now"
            lines.append(
                f"{told}: ball {_where(frame.ball)}; left paddle{you['left']} {_where(frame.left)}; "
                f"right paddle{you['right']} {_where(frame.right)}; points left {left}, right {right}"
            )
        return "\n".join(lines)

    def notes(self, state: PongState, seat: str) -> str:
        made = f"Decisions made: {state.decisions} of {state.game.decisions} at most."
        return f"You control the {_side(seat)} paddle. {made}"

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
