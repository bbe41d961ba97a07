"""`ludens bench comma`: pictures and random episodes of every puzzle on one core, next to released code."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks import Row, rate
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.dialogue import Comma, Dialogue

PICTURES, EPISODES = 400.0, {"wire": 2_000.0}
"""Targets: pictures per second of every puzzle, random episodes per second of wire."""
RELEASED_PICTURE, RELEASED_EPISODE = 0.061, 0.66
"""Seconds the released code needs for a picture, and for an episode of its random solver."""


def rows(seconds: float) -> Iterator[Row]:
    """A random solver's pictures at 512x512 (drawn, encoded, base64), and its episodes without rendering."""
    from ludens.suites.comma import PUZZLES

    pictures = {puzzle: rate(_pictures(puzzle), seconds) for puzzle in PUZZLES}
    for puzzle, ours in pictures.items():
        yield Row(f"{puzzle}: pictures", ours, "images/s", PICTURES)
    slowest = min(pictures.values())
    yield Row("released code: pictures", 1 / RELEASED_PICTURE, "images/s", ratio=slowest * RELEASED_PICTURE,
              note="61 ms per picture; compared with our slowest puzzle")  # fmt: skip
    episodes = {puzzle: rate(_episodes(puzzle), seconds) for puzzle in PUZZLES}
    for puzzle, ours in episodes.items():
        yield Row(f"{puzzle}: random episodes", ours, "episodes/s", EPISODES.get(puzzle))
    slowest = min(episodes.values())
    yield Row("released code: random episodes", 1 / RELEASED_EPISODE, "episodes/s",
              ratio=slowest * RELEASED_EPISODE,
              note="0.66 s per episode, rendered; compared with our slowest puzzle")  # fmt: skip


def _pictures(puzzle: str) -> Callable[[int], int]:
    """Every picture a random solver is shown: new panels, and further turns on the same one."""
    game = _game(puzzle)
    view = view_of(game, RenderOptions(), 0)

    def work(seed: int) -> int:
        return _play(game, seed, lambda state: view.image(state, "solver").data_uri())

    return work


def _episodes(puzzle: str) -> Callable[[int], int]:
    game = _game(puzzle)

    def work(seed: int) -> int:
        _play(game, seed, lambda state: None)
        return 1

    return work


def _play(game: Comma, seed: int, look: Callable[[Dialogue], object]) -> int:
    """One episode of a random solver that looks before each message; returns the number of looks."""
    state, random, looks = game.start(seed), stream(seed, "bench"), 0
    while to_act := state.to_act:
        message = ""
        if to_act == ("solver",):
            look(state)
            looks += 1
            message = random.choice(state.puzzle.actions)
        state.apply({to_act[0]: message})
    return looks


def _game(puzzle: str) -> Comma:
    game = make(f"comma/{puzzle}")
    assert isinstance(game, Comma)
    return game
