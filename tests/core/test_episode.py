"""Episodes: the same after JSON, clear about what is wrong with a file, honest when replayed."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludens.core.config import PlayConfig
from ludens.core.episode import SCHEMA, Episode, Move, Try, Usage
from ludens.core.errors import BadFile, ReplayMismatch, UsageError
from ludens.core.registry import GAMES
from ludens.core.replay import replay
from ludens.core.verify import Verified, verify
from ludens.core.view import RenderOptions, view_of
from ludens.loop import play
from tests.support.pebbles import Pebbles
from tests.support.players import Scripted

GAME = Pebbles(heap=6)


def played(**table: Any) -> Episode:
    left = Scripted(says=["hm", "take 2"])
    right = Scripted(says=["Action: take 1"])
    left.sees = right.sees = "both"
    return asyncio.run(play(GAME, {"left": left, "right": right}, 3, config=PlayConfig(**table)))


def _last_pictures(episode: Episode, seat: str) -> list[str]:
    *_, last = replay(episode, GAME)
    return [picture.hash for picture in view_of(GAME, RenderOptions(), 3).images(last.state, seat)]


def older(episode: Episode) -> Episode:
    """The episode as older versions recorded it."""
    return replace(copy.deepcopy(episode), sees={}, unlimited_retries=None)


DONE = played()
FORFEIT = played(retries=0, fallback="forfeit")
HORIZON = played(horizon=2)
VOID = replace(
    HORIZON,
    status="void",
    config={**HORIZON.config, "horizon": 1000},
    culprit="left",
    error="gone",
    unfinished=[Move(2, "left", "", "void", _last_pictures(HORIZON, "left"), HORIZON.moves[0].tries[:1])],
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES._added, "test/pebbles", Pebbles)


@pytest.mark.parametrize("episode", [DONE, FORFEIT, HORIZON, VOID], ids=lambda episode: episode.status)
def test_an_episode_survives_json_and_verifies(episode: Episode) -> None:
    again = Episode.from_json(episode.to_json())
    assert again == episode
    assert again.to_json() == episode.to_json()
    assert again.fingerprint() == episode.fingerprint()
    assert verify(again).pictures == len(episode.moves) + len(episode.unfinished)
    assert Episode.from_json(episode.to_json().decode()) == episode
    assert b"\n" not in episode.to_json()


def test_the_fingerprint_ignores_clocks_and_bills_alone() -> None:
    def fingerprint(**changes: Any) -> str:
        other = copy.deepcopy(DONE)
        attempt = other.moves[0].tries[0]
        for name, value in changes.items():
            setattr(attempt if hasattr(attempt, name) else other, name, value)
        return other.fingerprint()

    same = DONE.fingerprint()
    assert fingerprint(ms=99.0) == fingerprint(usage=Usage(5, 5)) == fingerprint(remarks=["x"]) == same
    changed = {
        fingerprint(text="x"),
        fingerprint(reason="x"),
        fingerprint(seed=9),
        fingerprint(theme="plain"),
        same,
    }
    assert len(changed) == 5


def test_a_replay_shows_every_step_and_the_end() -> None:
    steps = list(replay(DONE))
    assert [step.index for step in steps] == list(range(len(DONE.moves) + 1))
    assert steps[-1].moves == ()
    assert steps[-1].state.over
    heaps = [step.state.facts["heap"] for step in steps]
    assert heaps[0] == 6
    assert heaps == sorted(heaps, reverse=True)
    steps[0].state.apply({"left": "take 3"})
    assert list(replay(DONE))[1].state.facts["heap"] == heaps[1]


NOT_EPISODES = [
    "", "{", "[]", "null", "1", '"text"', "{}", '{"schema": 1}', '{"schema": null}', '{"schema": true}',
    "\ud800", b"\xff", b"\x89PNG", '{"schema": 2}', '{"schema": 2, "game": 1}', "[" * 100_000,
    "NaN", '{"schema": 2.0}', '{"schema": 99999999999999999999999}',
]  # fmt: skip


@pytest.mark.parametrize("data", NOT_EPISODES, ids=repr)
def test_what_is_no_episode_is_a_bad_file(data: bytes | str) -> None:
    with pytest.raises(BadFile) as error:
        Episode.from_json(data)
    assert "this " in str(error.value)
    assert len(str(error.value)) < 500


def test_another_schema_is_named() -> None:
    with pytest.raises(BadFile, match=f"has schema 7; this Ludens reads schema {SCHEMA}"):
        Episode.from_json(DONE.to_json().replace(b'"schema":2', b'"schema":7'))


def test_the_place_of_the_fault_is_named() -> None:
    raw = json.loads(DONE.to_json())
    raw["moves"][1]["tries"][0]["verdict"] = "great"
    with pytest.raises(BadFile, match=r"not valid at moves\.1\.tries\.0\.verdict"):
        Episode.from_json(orjson.dumps(raw))


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


def at(episode: Episode, path: tuple[str | int, ...]) -> Any:
    place = json.loads(episode.to_json())
    for key in path:
        place = place[key]
    return place


def mutated(episode: Episode, path: tuple[str | int, ...], value: Any) -> bytes:
    raw = json.loads(episode.to_json())
    place = raw
    for key in path[:-1]:
        place = place[key]
    if value is DELETED:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(raw).encode()


DELETED = object()
WRONG: list[Any] = [
    DELETED,
    None,
    True,
    -1,
    0,
    7,
    2.5,
    1e400,
    10**30,
    "",
    "junk",
    "take 3",
    "left",
    [],
    {},
    [[]],
]
WRONG += [{"spec": 1}, {"heap": 7}, {"heap": "x"}, ["a" * 16], [None], {"": {}}]


@pytest.mark.parametrize("episode", [DONE, FORFEIT, VOID], ids=lambda episode: episode.status)
def test_no_tampering_causes_more_than_a_clear_error(episode: Episode) -> None:
    """Any value in place of any part of the file is detected, or changes nothing that can be verified."""
    accepted = set()
    for path in paths(json.loads(episode.to_json())):
        for value in WRONG:
            if value == at(episode, path):
                continue
            try:
                changed = Episode.from_json(mutated(episode, path, value))
                verify(changed)
            except UsageError:
                continue
            if changed != episode:
                accepted.add(".".join(part for part in path if isinstance(part, str)))
    assert accepted <= UNPROVABLE


UNPROVABLE = {
    "error", "prompt_templates", "sample", "templates", "remarks", "seats.left", "seats.right",
    "sees", "unlimited_retries",
    "config.horizon", "config.reply_limit", "config.retries", "config.seconds",
    "moves.ms", "moves.tries",
    "moves.tries.direct", "moves.tries.finish", "moves.tries.ms", "moves.tries.reasoning",
    "moves.tries.reason", "moves.tries.text", "moves.tries.usage",
    "unfinished", "unfinished.ms", "unfinished.tries.finish", "unfinished.tries.ms",
    "unfinished.tries.reason", "unfinished.tries.text", "unfinished.tries.usage",
    "unfinished.tries.reasoning",
}  # fmt: skip
"""What an episode cannot prove: who played, how long it took, limits that were not reached, wording of
replies that lead to the same verdict."""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("game",), "test/pebble"),
        (("game",), "tic_tac_toe"),
        (("version",), 2),
        (("options", "heap"), 7),
        (("options", "heap"), 1000),
        (("options", "spec"), 7),
        (("options",), {}),
        (("seed",), 4),
        (("seats",), {"left": "human"}),
        (("seats", "middle"), "human"),
        (("theme",), "plain"),
        (("size",), 256),
        (("moves",), []),
        (("moves", 0, "step"), 1),
        (("moves", 1, "step"), 0),
        (("moves", 0, "seat"), "right"),
        (("moves", 0, "action"), "take 1"),
        (("moves", 0, "action"), "take 9"),
        (("moves", 0, "action"), ""),
        (("moves", 0, "pictures"), ["0123456789abcdef"]),
        (("moves", 0, "pictures", 0), "0123456789abcdef"),
        (("moves", 0, "pictures"), []),
        (("moves", 1, "pictures"), DELETED),
        (("sees", "left"), "text"),
        (("sees", "left"), "nothing"),
        (("sees", "left"), DELETED),
        (("unlimited_retries",), ["middle"]),
        (("moves", 1), DELETED),
        (("returns", "left"), 100.0),
        (("returns", "right"), DELETED),
        (("facts", "heap"), 1),
        (("facts", "more"), 1),
        (("unfinished",), [{"step": 9, "seat": "left", "action": ""}]),
        (("status",), "horizon"),
        (("status",), "forfeit"),
        (("status",), "void"),
        (("culprit",), "left"),
        (("error",), "gone"),
        (("moves", 0, "verdict"), "ok"),
        (("moves", 0, "verdict"), "fallback"),
        (("moves", 0, "verdict"), "void"),
        (("moves", 1, "verdict"), "retried"),
        (("moves", 0, "tries"), []),
        (("moves", 0, "tries", 0), DELETED),
        (("moves", 0, "tries", 0, "verdict"), "ok"),
        (("moves", 0, "tries", 0, "verdict"), "illegal"),
        (("moves", 0, "tries", 0, "verdict"), "late"),
        (("moves", 0, "tries", 0, "text"), "take 2"),
        (("moves", 0, "tries", 0, "text"), "Action: take 9"),
        (("moves", 0, "tries", 1, "verdict"), "illegal"),
        (("moves", 0, "tries", 1, "text"), "take 3"),
        (("moves", 0, "tries", 1, "text"), "hm"),
        (("moves", 0, "tries", 1, "finish"), "filtered"),
        (("config",), {}),
        (("config", "retries"), 0),
        (("config", "retries"), "2"),
        (("config", "horizon"), 1),
        (("config", "fallback"), "draw"),
        (("config", "more"), 1),
        (("config", "reply_limit"), 3),
    ],
)
def test_what_is_provable_is_proved(path: tuple[str | int, ...], value: Any) -> None:
    with pytest.raises(UsageError) as error:
        verify(Episode.from_json(mutated(DONE, path, value)))
    assert isinstance(error.value, BadFile | ReplayMismatch) or path[0] in ("game", "options")


@pytest.mark.parametrize("fallback", ["random", "first"])
def test_fallback_actions_are_verified(fallback: str) -> None:
    for sample in (0, 3):
        agents = {"left": Scripted(says=["hm"]), "right": Scripted(says=["Action: take 1"])}
        config = PlayConfig(retries=1, fallback=fallback)  # type: ignore[arg-type]
        episode = asyncio.run(play(Pebbles(heap=30), agents, 3, config=config, sample=sample))
        falls = [move for move in episode.moves if move.verdict == "fallback"]
        assert verify(episode).replies == sum(len(move.tries) for move in episode.moves) > len(falls) > 2
        with pytest.raises(ReplayMismatch, match=r"not all retries|only 1 were allowed"):
            verify(replace(episode, config={**episode.config, "retries": 2 if sample else 0}))
        for other in ("take 1", "take 2", "take 3"):
            if other != falls[-1].action:
                changed = copy.deepcopy(episode)
                changed.moves[episode.moves.index(falls[-1])].action = other
                with pytest.raises(ReplayMismatch, match="not the fallback action"):
                    verify(changed)


def test_removed_picture_hashes_are_noticed() -> None:
    for episode in (DONE, older(DONE)):
        one = copy.deepcopy(episode)
        one.moves[0].pictures = []
        with pytest.raises(ReplayMismatch, match="shown to left in step 0 are not recorded"):
            verify(one)
    every = copy.deepcopy(DONE)
    for move in every.moves:
        move.pictures = []
    with pytest.raises(ReplayMismatch, match="are not recorded"):
        verify(every)
    cut = copy.deepcopy(VOID)
    cut.unfinished[0].pictures = []
    with pytest.raises(ReplayMismatch, match="shown to left in step 2 are not recorded"):
        verify(cut)


def test_older_episodes_are_read_and_verified() -> None:
    raw = json.loads(DONE.to_json())
    del raw["sees"], raw["unlimited_retries"]
    episode = Episode.from_json(json.dumps(raw))
    assert (episode.sees, episode.unlimited_retries) == ({}, None)
    assert verify(episode) == verify(DONE)
    assert episode.fingerprint() == DONE.fingerprint()


async def test_an_agent_with_unlimited_retries_makes_an_episode_that_verifies() -> None:
    class Typist(Scripted):
        unlimited_retries = True

    agents = {"left": Typist(says=[*["hm"] * 9, "Action: take 1"]), "right": Scripted(says=["take 1"])}
    config = PlayConfig(retries=1, reasons="kind")
    episode = Episode.from_json((await play(GAME, agents, 3, config=config)).to_json())
    assert episode.unlimited_retries == ["left"]
    assert verify(episode).replies > 9
    with pytest.raises(ReplayMismatch, match="10 replies, but only 2 were allowed"):
        verify(replace(episode, unlimited_retries=[]))
    with pytest.raises(ReplayMismatch, match="10 replies, but only 2 were allowed"):
        verify(older(episode))


def test_in_older_episodes_only_people_retry_without_limit() -> None:
    tries = [Try("hm", "unreadable", "no action.")] * 5
    for spec in ("human?pictures=here", "bot/random"):
        changed = older(DONE)
        changed.seats["left"] = spec
        changed.moves[0].tries[:0] = tries
        if spec.startswith("human"):
            assert verify(changed).replies == verify(DONE).replies + 5
        else:
            with pytest.raises(ReplayMismatch, match="7 replies, but only 3 were allowed"):
                verify(changed)


def test_the_result_says_what_was_verified() -> None:
    found = verify(DONE)
    assert (found.moves, found.pictures) == (len(DONE.moves), len(DONE.moves))
    assert str(Verified(1, 1, 1) + Verified(1, 0, 1_000)) == "2 moves, 1 reply and 1,001 pictures verified"


def test_doubled_moves_are_found() -> None:
    doubled = replace(DONE, moves=[DONE.moves[0], *DONE.moves])
    with pytest.raises(ReplayMismatch, match="do not match the seats that must act"):
        verify(doubled)


def test_another_game_cannot_replay_it() -> None:
    assert verify(DONE, GAME)
    with pytest.raises(ReplayMismatch, match="not of test/pebbles with these options"):
        verify(DONE, Pebbles(heap=7))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_random_tampering(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(paths(json.loads(DONE.to_json())))))
    try:
        verify(Episode.from_json(mutated(DONE, path, data.draw(VALUES))))
    except UsageError:
        return


@given(st.integers(0, 200))
def test_a_file_cut_short_is_a_bad_file(kept: int) -> None:
    with pytest.raises(BadFile):
        Episode.from_json(DONE.to_json()[: -1 - kept])


def test_parts_have_sensible_defaults() -> None:
    assert Move(0, "left", "take 1") == Move(0, "left", "take 1", "ok", [], [], 0.0)
    assert Try("hm").verdict == "ok"
    assert Usage(1, 2, 3, 4, 5) + Usage(1, 1, 1, 1, 1, 0.5) == Usage(2, 3, 4, 5, 6, 0.5)
    assert (Usage() + Usage()).cost is None
