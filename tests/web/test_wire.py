"""What is hidden from a seat never reaches its browser: checked on the bytes that are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby, islice, pairwise
from pathlib import Path

import orjson
import pytest

from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Move
from ludens.core.game import Game
from ludens.core.random import Stream, stream
from ludens.core.registry import GAMES, make
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of
from ludens.web.play import TABLES
from ludens.web.sessions import MoveLog, Session, Setup, observation_fields
from tests.support.web_client import Seat, served
from tests.web.test_play import friend_link

RENDER = RenderOptions(size=256)
PRIVATE_MOVES = ("comma/atm", "spy", "viki/team")
"""Games in which a seat does not see all of what the others do: keys, votes, actions elsewhere."""
SIMULTANEOUS = ("battle_of_colors", "coin_dilemma", "monster_hunt", "overcooked", "spy", "viki/team")


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


@pytest.mark.parametrize("name", [name for name in hidden() if len(GAMES.get(name)().seats) > 1])
def test_bytes_do_not_depend_on_moves_that_the_seat_does_not_see(name: str) -> None:
    """Where others had moved differently and the seat observed the same, nothing else tells it."""
    game, seed, compared = make(name), 11, 0
    view = view_of(game, RENDER, seed)
    steps = list(pairwise(islice(course(game, seed), 40)))
    for index in sorted({*range(len(steps))[:4], *range(len(steps))[-2:]}):
        (before, _), (state, moves) = steps[index]
        for seat in game.seats:
            for others in other_moves(view, before, seat, moves, stream(seed, "moves", index, seat)):
                other = before.clone()
                other.apply(others)
                if others != moves and observed(view, state, seat) == observed(view, other, seat):
                    assert sent(game, state, seat, moves, seed) == sent(game, other, seat, others, seed), (
                        index
                    )
                    compared += 1
    assert bool(compared) == (name in PRIVATE_MOVES)


def other_moves(
    view: View, state: State, seat: str, moves: Mapping[str, str], random: Stream
) -> Iterator[Mapping[str, str]]:
    """Moves in which the seat does the same, and the others something else or each what another one did."""
    others = [each for each in moves if each != seat]
    yield dict(moves) | dict(zip(others, [moves[each] for each in (*others[1:], *others[:1])], strict=True))
    for _ in range(3):
        changed = {each: view.guess(state, each, random) for each in others}
        if all(state.refusal(each, action) is None for each, action in changed.items()):
            yield dict(moves) | changed


def observed(view: View, state: State, seat: str) -> object:
    """What a seat sees, and who acts next."""
    seen = view.observe(state, seat, "both")
    return [picture.hash for picture in seen.images], seen.text, seen.notes, state.to_act


@pytest.mark.parametrize("name", SIMULTANEOUS)
def test_order_of_moves_is_that_of_public_names(name: str) -> None:
    game, seed = make(name), 11
    view = view_of(game, RENDER, seed)
    state, moves = next(step for step in course(game, seed) if len(step[1]) > 1)
    turned = dict(reversed(list(moves.items())))
    for seat in game.seats:
        line = sent(game, state, seat, moves, seed)
        assert line == sent(game, state, seat, turned, seed)
        names = [each["name"] for each in orjson.loads(line)["log"]]
        assert names == sorted(view.public_name(state, each) for each in moves)


def test_order_of_votes_does_not_tell_who_sits_where() -> None:
    """Two worlds in which two others have changed places, and the players vote as before."""
    game, seed = make("spy"), 11
    view = view_of(game, RENDER, seed)
    (before, _), (state, moves) = list(pairwise(course(game, seed)))[-1]
    swapped = {"civilian_2": "civilian_3", "civilian_3": "civilian_2"}
    other = before.clone()
    other.table = tuple(swapped.get(seat, seat) for seat in before.table)  # type: ignore[attr-defined]
    changed = as_moves_of(other, before, moves, view)
    votes = {seat: changed[seat] for seat in other.to_act}  # in the order in which the loop records them
    assert votes != moves
    other.apply(votes)
    for seat in ("spy", "civilian_1", "civilian_4"):
        assert sent(game, state, seat, moves, seed) == sent(game, other, seat, votes, seed), seat


@pytest.mark.parametrize("name", SIMULTANEOUS)
async def test_choice_of_the_other_is_hidden_until_both_have_chosen(name: str, tmp_path: Path) -> None:
    options = {"civilians": "2", "rounds": "1"} if name == "spy" else {}
    game = make(name, **options)
    mine, theirs = game.seats[-2:]
    form = {"game": name} | {f"seat.{seat}": "bot/random" for seat in game.seats}
    form |= {f"seat.{mine}": "me", f"seat.{theirs}": "friend"}
    form |= {f"option.{option}": value for option, value in options.items()}
    worlds = []
    for choice in (0, -1):
        async with served(tmp_path / f"runs{choice}") as visit:
            one, two = visit(), visit()
            _, path, text = await one.post("/play", **form)
            first = await one.sit(path)
            await first.next()
            _, there, _ = await two.get(friend_link(text))
            second = await two.sit(there)
            if name == "spy":
                await asyncio.gather(speak(first), speak(second))
            await first.turn()
            await second.turn()
            chosen, answer = choices(first)[choice], choices(second)[0]
            await first.move(chosen)
            await first.next(lambda view: view["turn"] is None)
            await second.socket.close()
            page = (await two.get(there))[2].replace(path.split("/")[2], "SESSION")
            again = await two.sit(there)  # what a reload shows
            await again.next()
            worlds.append((page, [message for message, _ in groupby([*second.received, *again.received])]))
            await again.move(answer)
            last = {line["own"]: line["action"] for line in (await again.turn())["log"][-2:]}
            private = {"spy": "(voted)", "viki/team": "(moved)"}
            told = [told_as(game, seat, text) for seat, text in ((theirs, answer), (mine, chosen))]
            assert last == {True: told[0], False: private.get(name, told[1])}
    assert worlds[0] == worlds[1]


async def speak(seat: Seat) -> None:
    await seat.turn()
    await seat.move("There is something red.")


def told_as(game: Game, seat: str, text: str) -> str:
    """How the list of moves names what a browser sent."""
    view = view_of(game, RENDER, 0)
    is_plan = text.startswith("{")
    return view.label(view.form(game.start(0), seat).read(text) if is_plan else text)


def choices(asked: Seat) -> list[str]:
    """Two different moves."""
    if asked.view["legal"]:
        return [asked.view["legal"][0], asked.view["legal"][-1]]
    [robot] = asked.view["form"]["robots"]
    steps = [[{robot: ["Move", place]}] for place in ("R1", "R2")]
    return [orjson.dumps({"steps": each, "message": ""}).decode() for each in steps]


async def test_friends_are_not_sent_the_tokens_of_others(tmp_path: Path) -> None:
    """Pages, headers and messages; only who began the game has the links of the others."""
    async with served(tmp_path / "runs") as visit:
        owner, friends = visit(), {"player_0": visit(), "player_2": visit()}
        form = {"game": "hanabi", "option.players": "3", "seat.player_1": "me"}
        _, path, page = await owner.post("/play", **form, **{f"seat.{seat}": "friend" for seat in friends})
        session = owner.app[TABLES].sessions.get(path.split("/")[2])
        assert session is not None
        tokens = {seat: person.token for seat, person in session.seats.items()}
        assert {seat for seat, token in tokens.items() if token in page} == set(friends)
        sent, seats = {"player_1": ""}, {"player_1": await owner.sit(path)}
        for seat, friend in friends.items():
            place = f"{path[:-1]}{seat[-1]}"
            async with friend.http.get(f"{place}/join/{tokens[seat]}") as reply:
                sent[seat] = f"{[each.raw_headers for each in reply.history]}{await reply.text()}"
            seats[seat] = await friend.sit(place)
        for seat, browser in seats.items():
            await browser.next(lambda view: view["game"] and not view["missing"])
            everything = sent[seat] + "".join(browser.received)
            known = {other for other, token in tokens.items() if token in everything}
            assert known == {seat} & set(friends), seat  # a friend's own is in the cookie
            assert "/join/" not in everything


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


def test_a_seat_waits_for_nobody_when_it_alone_must_act() -> None:
    game = make("tic_tac_toe")
    state, view = game.start(0), view_of(game, RENDER, 0)
    assert observation_fields(view, state, "x", None)["waiting"] == ""
    assert observation_fields(view, state, "o", None)["waiting"] == view.public_name(state, "x")


@pytest.mark.parametrize("listed", [True, False])
def test_legal_actions_are_sent_only_where_the_game_lists_them(listed: bool) -> None:
    game = make("tic_tac_toe")
    state, view = game.start(0), view_of(game, RENDER, 0)
    ask = build_ask(view, state, "x", "both", PlayConfig(listed=listed))
    fields = observation_fields(view, state, "x", ask)
    assert bool(fields["legal"]) == listed


def test_a_refusal_is_one_sentence_without_the_list_of_actions() -> None:
    game = make("tic_tac_toe")
    state, view = game.start(0), view_of(game, RENDER, 0)
    reason = state.refusal("x", "Z9")
    assert reason is not None
    ask = build_ask(view, state, "x", "both", PlayConfig()).again("Z9", reason)
    refused = observation_fields(view, state, "x", ask)["refused"]
    assert refused == "'Z9' is not a legal action for x now."
