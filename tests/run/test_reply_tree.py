"""The recorded replies of nano in tic-tac-toe: complete, and those that the model gives."""

from __future__ import annotations

import asyncio

import pytest

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.games import tic_tac_toe
from ludens.loop import play
from ludens.run.board.tree import (
    CELLS,
    GAME,
    LINES,
    MARKS,
    PLAYER,
    START,
    advance,
    lines,
    outcomes,
    read_tree,
    winner,
)
from tests.support.players import Scripted

AGAIN = "the model or the game has changed: run `python -m ludens.run.board.tree`"
SEATS = ("x", "o")


def other(seat: str) -> str:
    return "o" if seat == "x" else "x"


async def check_line(seat: str, line: tuple[int, ...], model: Agent) -> None:
    """Play one line through the loop: the person makes its moves, and nano must make the recorded ones."""
    own = [CELLS[cell] for number, cell in enumerate(line) if MARKS[number % 2] != seat]
    person = Scripted([f"Action: {action}" for action in own])
    episode = await play(make(GAME), {seat: model, other(seat): person}, 0)
    assert [move.action for move in episode.moves] == [CELLS[cell] for cell in line], AGAIN


@pytest.mark.parametrize("seat", SEATS)
def test_every_line_ends(seat: str) -> None:
    tree = read_tree()
    assert tree.version == make(GAME).version, AGAIN
    replies = tree.seats[seat]
    reached = set()
    games = list(lines(seat, replies))
    for line in games:
        position, state = START, make(GAME).start(0)
        for number, cell in enumerate(line):
            if MARKS[number % 2] == seat:
                reached.add(position)
            state.apply({MARKS[number % 2]: CELLS[cell]})
            position = advance(position, MARKS[number % 2], cell)
        assert state.over
        assert state.returns[seat] == {"": 0.0, seat: 1.0}.get(winner(position), -1.0)
    assert reached == set(replies)
    assert outcomes(seat, replies) == tree.outcomes[seat]
    assert sum(tree.outcomes[seat].values()) == len(games) == len(set(games)) > 50


def test_the_lines_of_the_board_are_those_of_the_game() -> None:
    assert sorted(LINES) == sorted(tic_tac_toe.LINES)


@pytest.mark.parametrize("seat", SEATS)
async def test_nano_plays_the_recorded_replies(seat: str) -> None:
    games, model = list(lines(seat, read_tree().seats[seat])), agent(PLAYER, make(GAME))
    for line in stream(1, "lines", seat).sample(games, 2):
        await check_line(seat, line, model)
    await model.close()


@pytest.mark.slow
@pytest.mark.parametrize("seat", SEATS)
async def test_nano_plays_every_recorded_reply(seat: str) -> None:
    model = agent(PLAYER, make(GAME))
    games = lines(seat, read_tree().seats[seat])
    await asyncio.gather(*(check_line(seat, line, model) for line in games))
    await model.close()
