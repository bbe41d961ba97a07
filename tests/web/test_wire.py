"""What is hidden from a seat never reaches its browser: checked on the bytes that are sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path

import orjson
import pytest

from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Move
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import GAMES, make
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of
from ludens.web.sessions import Session, Setup
from ludens.web.shown import MoveLog
from tests.support.web_client import served
from tests.web.test_play import friend_link

RENDER = RenderOptions(size=256)


@lru_cache(maxsize=1)
def hidden() -> tuple[str, ...]:
    """The games of imperfect information."""
    return tuple(name for name in GAMES.names() if GAMES.get(name).imperfect_information)


def test_there_are_games_with_hidden_information() -> None:
    assert {"hanabi", "kuhn_poker", "comma/wire", "spy"} <= set(hidden())


def course(game: Game, seed: int) -> Iterator[tuple[State, Mapping[str, str]]]:
    """The states of a random game, and the moves that led to them."""
    state, random = game.start(seed), stream(seed, "course")
    view = view_of(game, RENDER, seed)
    moves: Mapping[str, str] = {}
    while True:
        yield state, moves
        if state.over:
            return
        moves = {seat: view.guess(state, seat, random) for seat in state.to_act}
        moves = {
            seat: act if state.refusal(seat, act) is None else state.legal(seat).sample(random)
            for seat, act in moves.items()
        }
        state = state.clone()
        state.apply(moves)


def sent(game: Game, state: State, seat: str, moves: Mapping[str, str], seed: int) -> bytes:
    """The bytes that the seat's browser is sent in this state, after these moves."""
    session = Session(Setup(game, dict.fromkeys(game.seats, "human"), seed, render=RENDER), lambda setup: {})
    session.state, session.game_number, session.log = state, 1, MoveLog(game.seats)
    view = view_of(game, RENDER, seed)
    session.log.add(view, state, [Move(0, each, action) for each, action in moves.items()])
    for each in state.to_act:
        session.seats[each].ask = build_ask(view, state, each, "both", PlayConfig())
    return orjson.dumps(session.snapshot(seat))


@pytest.mark.parametrize("name", hidden())
def test_bytes_do_not_depend_on_what_is_hidden(name: str) -> None:
    game, seed = make(name), 11
    states = list(islice(course(game, seed), 40))
    chosen = sorted({*range(len(states))[:3], *range(len(states))[-3:]})  # openings, votes, ends
    for index in chosen:
        state, moves = states[index]
        for seat in game.seats:
            other = state.resample_hidden(seat, stream(seed, "other", index, seat))
            same = as_moves_of(other, state, moves, view_of(game, RENDER, seed))
            assert sent(game, state, seat, moves, seed) == sent(game, other, seat, same, seed), (index, seat)


def as_moves_of(other: State, state: State, moves: Mapping[str, str], view: View) -> dict[str, str]:
    """The moves as they were made in the other state: by those with the same public names."""
    seats = {view.public_name(other, seat): seat for seat in view.game.seats}
    return {seats[view.public_name(state, seat)]: action for seat, action in moves.items()}


async def test_choice_of_the_other_is_hidden_until_both_have_chosen(tmp_path: Path) -> None:
    received = []
    for choice in (0, -1):
        async with served(tmp_path / f"runs{choice}") as visit:
            one, two = visit(), visit()
            form = {"game": "coin_dilemma", "seat.red": "me", "seat.blue": "friend"}
            _, path, text = await one.post("/play", **form)
            first = await one.sit(path)
            await first.next()
            _, theirs, _ = await two.get(friend_link(text))
            second = await two.sit(theirs)
            await first.turn()
            await second.turn()
            legal = first.view["legal"]
            await first.move(legal[choice])
            await first.next(lambda view: view["turn"] is None)
            await second.socket.close()
            second_again = await two.sit(theirs)  # what a reload shows
            await second_again.next()
            received.append([*second.received, *second_again.received])
            await second_again.move(legal[0])
            view = await second_again.turn()
            assert {line["action"] for line in view["log"]} == {legal[0], legal[choice]}
    assert received[0] == received[1]


async def test_manual_and_panel_stay_with_their_seats(tmp_path: Path) -> None:
    game = make("comma/atm")
    state = game.start(4)
    view = view_of(game, RenderOptions(), 4)
    async with served(tmp_path / "runs") as visit:
        one, two = visit(), visit()
        form = {"game": "comma/atm", "seat.solver": "me", "seat.expert": "friend", "seed": "4"}
        _, path, text = await one.post("/play", **form)
        solver = await one.sit(path)
        await solver.next()
        _, theirs, _ = await two.get(friend_link(text))
        expert = await two.sit(theirs)
        for _ in range(2):
            await solver.turn()
            await solver.move("What now?")
            await expert.turn()
            await expert.move("Look at the panel.")
        await solver.turn()
    manual, panel = view.text(state, "expert"), view.text(state, "solver")
    for line in filter(lambda line: len(line) > 25, manual.splitlines()):
        assert orjson.dumps(line)[1:-1].decode() in "".join(expert.received)
        assert orjson.dumps(line)[1:-1].decode() not in "".join(solver.received), line
    briefing = state.puzzle.briefing.values()  # type: ignore[attr-defined]
    for secret in [*briefing, panel]:
        assert orjson.dumps(secret)[1:-1].decode() in "".join(solver.received)
        assert orjson.dumps(secret)[1:-1].decode() not in "".join(expert.received), secret
