"""A refused move in playground is not explained: what a player is told says nothing about the board."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest

import ludens
from ludens.agents.vlm import prompt
from ludens.attempts import attempt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import Ambiguous, Illegal, ReplayMismatch, Unreadable
from ludens.core.random import stream
from ludens.core.state import State
from ludens.core.verify import verify
from ludens.core.view import RenderOptions, view_of
from ludens.games.boards import BoardView
from ludens.loop import play
from ludens.models.settings import PromptOptions
from ludens.run.task import MODEL
from ludens.suites.playground import GAMES
from tests.suites.test_playground import named
from tests.support.players import Scripted

KINDS = {error.kind for error in (Unreadable, Ambiguous, Illegal)}


def positions(game: str, seat: str) -> list[State]:
    """Positions of several games, in which this seat is to move."""
    found = []
    for seed in range(6):
        state, choose = ludens.make(game).start(seed), stream(seed, "test")
        for _ in range(3 * seed + 1):
            if state.to_act == (seat,):
                reached = state.clone()
            after = state.clone()
            after.apply({state.to_act[0]: state.legal(state.to_act[0]).sample(choose)})
            state = state if after.over else after
        found.append(reached)
    return found


@pytest.mark.parametrize("game", GAMES)
def test_what_a_player_is_told_depends_on_the_answer_alone(game: str) -> None:
    task = named(f"e2e/{game}")
    made = ludens.make(task.game)
    [seat] = [seat for seat, who in task.seatings[0].items() if who == MODEL]
    view = view_of(made, RenderOptions(), 0)
    assert isinstance(view, BoardView)
    moves = [*stream(1, "moves").sample(view.answers(), 9), *view.answers()[:9], "Z99", "PASS", "Nf3", "O-O"]
    replies = [f"Action: {move}" for move in moves] + [*moves, "", "huh?", "\n".join(moves)]
    replies += [f"Action: {a}\nAction: {b}" for a, b in pairwise(moves)]
    told: dict[tuple[str, str], set[str]] = defaultdict(set)
    kinds = set()
    for state in positions(game, seat):
        ask = build_ask(view, state, seat, "text", task.config)
        for reply in replies:
            tried, action = asyncio.run(attempt(Scripted(says=[reply]), ask, state, task.config))
            if action is None:
                [*_, message] = prompt(ask.again(tried.text, tried.reason), PromptOptions(modality="text"))
                told[reply, tried.reason].add(str(message.parts))
                kinds.add(tried.reason)
    assert kinds == KINDS
    assert all(len(messages) == 1 for messages in told.values())


def test_the_full_reason_names_the_digit_in_the_way_and_the_kind_does_not() -> None:
    state = ludens.make("sudoku").start(1)
    view = view_of(ludens.make("sudoku"), RenderOptions(), 0)
    given = next(c for row in view.matrix(state) for c in row if c)  # type: ignore[attr-defined]
    cells = [f"{cell}={given}" for cell in view.cells()]  # type: ignore[attr-defined]
    wrong = next(move for move in cells if "already holds" in (state.refusal("player", move) or ""))
    for config, words in ((PlayConfig(), "already holds"), (PlayConfig(reasons="kind"), "not legal now")):
        ask = build_ask(view, state, "player", "text", config)
        tried, _ = asyncio.run(attempt(Scripted(says=[f"Action: {wrong}"]), ask, state, config))
        assert words in tried.reason


def test_people_are_told_why() -> None:
    class Person(Scripted):
        unlimited_retries = True

    state, view = ludens.make("sudoku").start(1), view_of(ludens.make("sudoku"), RenderOptions(), 0)
    config = PlayConfig(reasons="kind")
    ask = build_ask(view, state, "player", "text", config)
    tried, _ = asyncio.run(attempt(Person(says=["Action: Z9=1"]), ask, state, config))
    assert tried.reason == "'Z9=1' is not a legal action now."


async def test_an_episode_that_tells_more_than_its_config_allows_is_no_valid_one() -> None:
    task = named("e2e/sudoku")
    game = ludens.make(task.game)
    episode = await play(game, {"player": Scripted(says=["huh?"])}, 1, config=task.config)
    assert episode.config["reasons"] == "kind"
    assert verify(episode).replies == 3
    episode.moves[0].tries[0] = replace(episode.moves[0].tries[0], reason="A1 already holds the digit 4.")
    with pytest.raises(ReplayMismatch, match="refused with more than the kind of its fault"):
        verify(episode)
