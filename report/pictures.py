"""Pictures of the report: what players see in some games, and a pair of twin worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.files import save_file
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.replay import wander
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of

SIZE = 512
SHOWN: dict[str, int] = {
    "hanabi": 14,
    "overcooked": 18,
    "breakthrough": 18,
    "monster_hunt": 6,
    "coin_dilemma": 6,
    "chess": 20,
    "reversi": 18,
    "gomoku": 40,
    "minesweeper": 3,
    "sudoku": 4,
    "comma/wire": 0,
    "comma/keypad": 0,
    "comma/maze": 0,
    "spy": 0,
    "viki/activate": 0,
    "kuhn_poker": 1,
    "battle_of_colors": 6,
    "comma/who": 0,
}
"""Game to the number of random moves before the picture."""
SEED = 7


def seen(game: Game, state: State, seat: str) -> tuple[bytes, str]:
    """The first picture that a seat is shown, as PNG, and the notes beside it."""
    view = view_of(game, RenderOptions(size=SIZE), SEED)
    observation = build_ask(view, state, seat, "offered", PlayConfig()).observation
    return observation.images[0].png(), observation.notes


def games(folder: Path) -> list[dict[str, str]]:
    """One picture of each game, written into a folder."""
    shown = []
    for name, moves in SHOWN.items():
        game = make(name)
        state, _ = wander(game, SEED, moves)
        seat = state.to_act[0] if state.to_act else game.seats[0]
        file = f"game-{name.replace('/', '-')}.png"
        save_file(folder / file, seen(game, state, seat)[0])
        shown.append({"file": file, "name": name})
    return shown


def twins(
    folder: Path, spec: str = "qa?board=tic_tac_toe&twins=true", asked: str = "three in a row"
) -> dict[str, Any]:
    """Two worlds with the same words: the first pair whose question has some words in it."""
    game = make(spec)
    for pair in range(1000):
        worlds = [game.start(2 * pair + number) for number in (0, 1)]
        [seat] = worlds[0].to_act
        pictures, notes = zip(*(seen(game, world, seat) for world in worlds), strict=True)
        question = notes[0].rpartition("Question: ")[2]
        if asked in question:
            break
    assert notes[0] == notes[1]
    for number, picture in enumerate(pictures):
        save_file(folder / f"twin-{number}.png", picture)
    return {
        "question": question.splitlines(),
        "answers": [str(world.solution(seat)) for world in worlds],
        "files": ["twin-0.png", "twin-1.png"],
        "seeds": [2 * pair, 2 * pair + 1],
    }
