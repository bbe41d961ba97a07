"""The picture suffices: walls, spheres, torus and mouse are read from the PNG, and the way found by it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES
from ludens.games.comma.dialogue import Dialogue, advise, read, write
from ludens.games.comma.maze import COLOURS, FREE, MAZES, WALL, Cell, Maze, MazePanel, MazeView
from ludens.games.comma.maze import MazePlan as Plan
from tests.games.comma.reading import Pixels, pixels
from tests.support.looks import themes_and_sizes

CELLS = list(product(range(9), repeat=2))


def tile(view: MazeView, seen: Pixels, cell: Cell) -> Pixels:
    x, y = view.corner(cell)
    return seen[y : y + view.cell, x : x + view.cell]


def share(part: Pixels, rgb: tuple[int, int, int]) -> float:
    """How much of a part of the picture has exactly this colour."""
    return float((part == np.array(rgb)).all(-1).mean())


def scene(view: MazeView, state: Dialogue) -> tuple[Plan, str, Cell]:
    """The maze, the colour of the torus, and where the mouse is."""
    sheet, seen = view.sheet, pixels(view, state)
    rims = {cell: tile(view, seen, cell)[-4:-1, 2:-2] for cell in CELLS}
    walls = {
        cell for cell in CELLS if share(rims[cell], sheet.rgb(WALL)) > share(rims[cell], sheet.rgb(FREE))
    }
    hues = {
        (cell, colour): share(tile(view, seen, cell), sheet.rgb(colour))
        for cell in CELLS
        for colour in COLOURS
    }
    torus, colour = max((key for key in hues if key[0] in walls), key=lambda key: hues[key])
    mask = view.mouse.mask
    face = sheet.palette.colours[view.mouse.pixels].astype(int)[mask]
    misfits = {
        cell: float(np.abs(tile(view, seen, cell)[mask] - face).mean()) for cell in CELLS if cell not in walls
    }
    mouse = min(misfits, key=lambda cell: misfits[cell])
    spheres = [max((c for c in CELLS if c not in walls), key=lambda c: hues[c, each]) for each in COLOURS]
    return Plan(frozenset(CELLS) - walls, tuple(spheres), torus, 9), colour, mouse


@themes_and_sizes(THEMES, [256, 512])
def test_the_mouse_is_led_from_its_picture(theme: str, size: int) -> None:
    game = Maze(manual="random")
    for seed in range(10):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, MazeView)
        plan, colour, mouse = scene(view, state)
        told = write({"torus": colour, "place": f"row {plan.torus[0] + 1}, column {plan.torus[1] + 1}"})
        sphere = read(advise(state.manual, [told]))["sphere"]
        moves = [f"move_{direction}" for direction in plan.path(mouse, plan.sphere(sphere))]
        state.apply({"solver": "\n".join([*moves, "check_position"])})
        assert state.solved, f"{theme} {size} seed {seed}: read {told!r}"


@pytest.mark.parametrize("theme", THEMES)
def test_a_sphere_is_known_with_the_mouse_on_it(theme: str) -> None:
    game = Maze()
    view = view_of(game, RenderOptions(theme, 256), 3)
    pictures = set()
    state = game.start(0)
    panel = state.puzzle
    assert isinstance(view, MazeView)
    assert isinstance(panel, MazePanel)
    for maze in MAZES:
        panel.maze = maze
        for cell in maze.spheres:
            panel.mouse = cell
            plan, _, mouse = scene(view, state)
            assert (mouse, plan.spheres) == (cell, maze.spheres)
            pictures.add(view.image(state, "solver").hash)
    assert len(pictures) == 32
