"""The loop: patience, fallbacks, limits and failures; everything that happens is in the episode."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import sleep
from typing import Any, cast

import pytest

from ludens import Agent, Ask, Episode, PlayConfig, RenderOptions, Reply, agent, make, verify
from ludens.core.episode import Try, Usage
from ludens.core.errors import (
    AgentFailure,
    BadOption,
    Illegal,
    ModelRejected,
    ReplayMismatch,
    Unreadable,
    UsageError,
)
from ludens.core.reply import ActionFormat
from ludens.core.state import State
from ludens.loop import Observer, OnStep, StepEvent, play
from tests.support.pebbles import Pebbles, PebblesState, PebblesView, Talk
from tests.support.players import Meeting, Scripted, Slow
from tests.support.replaying import replaying

GAME = Pebbles()


def bots(**others: Agent) -> dict[str, Agent]:
    return {seat: others.get(seat) or agent("bot/first", GAME) for seat in GAME.seats}


async def test_an_episode_holds_everything_that_happened() -> None:
    left = Scripted(says=["I take two.\nAction: take 2"])
    episode = await play(GAME, bots(left=left), 3, render=RenderOptions("plain", 256))
    assert (episode.game, episode.version, episode.options, episode.seed) == (
        "test/pebbles",
        1,
        {"heap": 9},
        3,
    )
    assert episode.seats == {"left": "scripted", "right": "bot/first"}
    assert (episode.theme, episode.size, episode.status) == ("plain", 256, "done")
    assert episode.config == {
        "retries": 2, "fallback": "random", "listed": True, "reasons": "full", "horizon": 1000,
        "reply_limit": 100_000, "seconds": None,
    }  # fmt: skip
    first, second = episode.moves[:2]
    assert (first.step, first.seat, first.action, first.verdict) == (0, "left", "take 2", "ok")
    assert [attempt.text for attempt in first.tries] == ["I take two.\nAction: take 2"]
    assert len(first.pictures) == 1
    assert (second.step, second.seat, second.action, second.tries, second.pictures) == (
        1,
        "right",
        "take 1",
        [],
        [],
    )
    assert episode.facts["heap"] == 0
    assert set(episode.returns) == {"left", "right"}
    lefts = sum(move.seat == "left" for move in episode.moves)
    assert verify(Episode.from_json(episode.to_json()), GAME).pictures == lefts


async def test_the_ask_holds_what_an_agent_may_know() -> None:
    left = Scripted(says=["take 1"])
    await play(GAME, bots(left=left), 3)
    ask = left.asks[1]
    assert (ask.seat, ask.move, ask.state, ask.refused) == ("left", 1, None, ())
    assert ask.legal == ("take 1", "take 2", "take 3")
    assert ask.rules.startswith("You sit at left.")
    assert len(ask.observation.images) == 1
    assert ask.observation.text == ""


@pytest.mark.parametrize(
    ("sees", "images", "text", "state", "rules"),
    [("text", 0, True, False, True), ("both", 1, True, False, True), ("state", 0, False, True, False),
     ("nothing", 0, False, False, False)],
)  # fmt: skip
async def test_eyes_decide_what_is_shown(
    sees: Any, images: int, text: bool, state: bool, rules: bool
) -> None:
    left = Scripted(says=["take 1"])
    left.sees = sees
    await play(GAME, bots(left=left), 3)
    ask = left.asks[0]
    shown = len(ask.observation.images), bool(ask.observation.text), ask.state is not None, bool(ask.rules)
    assert shown == (images, text, state, rules)


async def test_a_wrong_reply_is_told_why_and_may_try_again() -> None:
    left = Scripted(says=["hm", "Action: take 9", "Action: take 3"])
    episode = await play(GAME, bots(left=left), 3)
    move = episode.moves[0]
    assert (move.action, move.verdict) == ("take 3", "retried")
    assert [(attempt.text, attempt.verdict) for attempt in move.tries] == [
        ("hm", "unreadable"), ("Action: take 9", "illegal"), ("Action: take 3", "ok"),
    ]  # fmt: skip
    assert [len(ask.refused) for ask in left.asks[:3]] == [0, 1, 2]
    assert left.asks[2].refused == (
        ("hm", "the reply has no line 'Action: ...'."),
        ("Action: take 9", "'take 9' is not a legal action now."),
    )
    assert left.asks[1].observation is left.asks[0].observation
    assert episode.verdicts() == {"ok": len(episode.moves) - 1, "retried": 1, "unreadable": 1, "illegal": 1}


async def test_a_bot_that_errs_is_told_too() -> None:
    left = Scripted(says=[Reply("take 9", "take 9"), Reply("take 1", "take 1")])
    episode = await play(GAME, bots(left=left), 3)
    assert [attempt.verdict for attempt in episode.moves[0].tries] == ["illegal", "ok"]
    assert "legal: take 1, take 2, take 3" in left.asks[1].refused[0][1]


@pytest.mark.parametrize("retries", [0, 1, 4])
async def test_patience_ends_with_the_fallback(retries: int) -> None:
    left = Scripted(says=["hm"])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(retries=retries, fallback="first"))
    moves = [move for move in episode.moves if move.seat == "left"]
    assert episode.status == "done"
    assert all(
        (move.verdict, move.action, len(move.tries)) == ("fallback", "take 1", retries + 1) for move in moves
    )
    assert len(left.asks) == len(moves) * (retries + 1)


async def test_random_fallbacks_come_from_the_seed() -> None:
    async def fallen(seed: int) -> list[str]:
        episode = await play(Pebbles(heap=60), bots(left=Scripted(says=["hm"])), seed)
        return [move.action for move in episode.moves if move.verdict == "fallback"]

    assert await fallen(3) == await fallen(3) != await fallen(4)
    assert set(await fallen(3)) == {"take 1", "take 2", "take 3"}


async def test_a_forfeit_ends_the_episode_and_is_kept() -> None:
    left = Scripted(says=["Action: take 1", "hm"])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(retries=1, fallback="forfeit"))
    assert (episode.status, episode.culprit, episode.returns["left"]) == ("forfeit", "left", -1.0)
    last = episode.moves[-1]
    assert (last.seat, last.action, last.verdict, len(last.tries)) == ("left", "", "fallback", 2)
    assert episode.facts["taken"] == {"left": 1, "right": 1}
    assert verify(Episode.from_json(episode.to_json()), GAME).pictures == 2


@pytest.mark.parametrize("kind", [Scripted, Slow])
async def test_a_forfeit_keeps_what_others_said_in_the_same_step(kind: type[Scripted]) -> None:
    config = PlayConfig(retries=0, fallback="forfeit")
    players = {"a": kind(says=["hello"]), "b": kind(says=["<think>"])}
    episode = await play(Talk(), players, 1, config=config)
    assert (episode.status, episode.culprit) == ("forfeit", "b")
    assert [(move.seat, move.action, move.verdict) for move in episode.moves] == [
        ("a", "hello", "ok"), ("b", "", "fallback"),
    ]  # fmt: skip
    verify(episode, Talk())
    again = await play(Talk(), replaying(episode), 1, config=config)
    assert replace(again, seats=episode.seats).moves[0].action == "hello"
    assert again.status == "forfeit"


@pytest.mark.parametrize("fallback", ["random", "first"])
async def test_words_fall_back_to_silence(fallback: Any) -> None:
    players = {"a": Scripted(says=["x" * 301]), "b": Scripted(says=["hello"])}
    episode = await play(Talk(rounds=1), players, 1, config=PlayConfig(retries=1, fallback=fallback))
    assert [(move.action, move.verdict) for move in episode.moves] == [("", "fallback"), ("hello", "ok")]
    assert episode.moves[0].tries[0].reason == "the message has 301 characters; at most 300 are allowed."


async def test_the_horizon_ends_any_game() -> None:
    episode = await play(Pebbles(heap=60), bots(), 3, config=PlayConfig(horizon=5))
    assert (episode.status, len(episode.moves)) == ("horizon", 5)
    assert episode.returns == {"left": episode.returns["left"], "right": episode.returns["right"]}
    verify(episode, Pebbles(heap=60))


async def test_long_replies_are_cut_before_they_are_read() -> None:
    left = Scripted(says=["Action: take 1" + " " * 100 + "\nAction: take 2"])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(reply_limit=50))
    move = episode.moves[0]
    assert move.action == "take 1"
    assert len(move.tries[0].text) == 50


async def test_halves_of_characters_do_not_reach_the_file() -> None:
    left = Scripted(says=["\ud83d hm", "Action: take 1"])
    episode = await play(GAME, bots(left=left), 3)
    assert episode.moves[0].tries[0].text == "? hm"
    assert Episode.from_json(episode.to_json()).fingerprint() == episode.fingerprint()


async def test_a_late_reply_is_a_verdict() -> None:
    left = Slow(says=["take 1"], naps=[30, 0])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(seconds=0.02))
    first = episode.moves[0].tries[0]
    assert (first.text, first.verdict, first.reason) == ("", "late", "no reply within 0.02 seconds.")
    assert episode.status == "done"


@pytest.mark.parametrize("computes", [False, True])
async def test_bots_have_no_time_limit(computes: bool) -> None:
    """Results of bots must not depend on how fast the machine is."""

    class Thinker(Scripted):
        async def act(self, ask: Ask) -> Reply:
            if computes:
                sleep(0.05)
            else:
                await asyncio.sleep(0.05)
            return await super().act(ask)

    Thinker.computes = computes
    left = Thinker(says=["Action: take 1"])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(seconds=0.001))
    assert {move.verdict for move in episode.moves} == {"ok"}
    assert not any(attempt.verdict == "late" for move in episode.moves for attempt in move.tries)


async def test_an_agents_own_timeout_is_a_failure_and_not_a_move() -> None:
    for config in (PlayConfig(), PlayConfig(seconds=30)):
        players = bots(left=Slow(says=[TimeoutError("socket")]))
        with pytest.raises(TimeoutError, match="socket"):
            await play(GAME, players, 3, config=config)
        episode = await play(GAME, players, 3, config=config, void_on_error=True)
        assert (episode.status, episode.culprit) == ("void", "left")
        assert episode.error == "slow raised TimeoutError: socket"


async def test_seats_that_move_together_are_asked_together() -> None:
    meeting = Meeting()
    async with asyncio.timeout(20):
        episode = await play(Talk(rounds=2), {"a": meeting, "b": meeting}, 1)
    assert [move.action for move in episode.moves] == ["a was here", "b was here"] * 2
    assert [move.step for move in episode.moves] == [0, 0, 1, 1]


async def test_order_at_the_table_does_not_depend_on_who_answers_first() -> None:
    players = {"a": Slow(says=["slow"], naps=[0.03]), "b": Slow(says=["fast"])}
    episode = await play(Talk(rounds=1), players, 1)
    assert [(move.seat, move.action) for move in episode.moves] == [("a", "slow"), ("b", "fast")]


async def test_many_episodes_run_at_once_and_come_out_as_one_by_one() -> None:
    players = bots(left=Slow(says=["hm", "take 1"], naps=[0.001]))
    alone = [
        (await play(GAME, bots(left=agent("bot/random", GAME)), seed)).fingerprint() for seed in range(8)
    ]
    together = await asyncio.gather(*(play(GAME, bots(left=agent("bot/random", GAME)), s) for s in range(8)))
    assert [episode.fingerprint() for episode in together] == alone
    shared = await asyncio.gather(*(play(GAME, players, seed) for seed in range(8)))
    assert all(episode.status == "done" for episode in shared)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (ValueError("no idea"), "scripted raised ValueError: no idea"),
        (AgentFailure("the provider is down."), "the provider is down."),
        (None, "scripted raised TypeError: act must return a Reply, not None"),
    ],
)
async def test_a_failing_agent_voids_the_episode_and_its_moves_are_kept(said: Any, told: str) -> None:
    left = Scripted(says=["take 1", "take 2", said])
    episode = await play(GAME, bots(left=left), 3, void_on_error=True)
    assert (episode.status, episode.culprit, episode.error) == ("void", "left", told)
    assert [move.action for move in episode.moves if move.seat == "left"] == ["take 1", "take 2"]
    assert verify(Episode.from_json(episode.to_json()), GAME).pictures == 2


@pytest.mark.parametrize("kind", [Scripted, Slow])
async def test_a_programming_error_of_an_agent_is_raised(kind: type[Scripted]) -> None:
    error = ValueError("no idea")
    error.__cause__ = KeyError("what led to it")
    with pytest.raises(ValueError, match="no idea") as raised:
        await play(GAME, bots(left=kind(says=["take 1", error])), 3)
    assert raised.value is error
    assert isinstance(error.__cause__, KeyError)
    assert error.__context__ is None
    with pytest.raises(TypeError, match="must return a Reply"):
        await play(GAME, bots(left=kind(says=[cast(Reply, None)])), 3)


async def test_a_voided_programming_error_is_logged_with_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    left = Scripted(says=["take 1", ValueError("no idea")])
    await play(GAME, bots(left=left), 3, void_on_error=True)
    assert len(caplog.records) == 1
    assert "test/pebbles with seed 3 is void" in caplog.text
    assert "ValueError: no idea" in caplog.text
    assert "in act" in caplog.text
    caplog.clear()
    await play(GAME, bots(left=Scripted(says=[AgentFailure("the provider is down.")])), 3, void_on_error=True)
    assert caplog.records == []


async def test_what_was_said_in_an_unfinished_move_is_kept_since_it_was_paid_for() -> None:
    billed = [Reply(text, usage=Usage(10, 2, cost=0.5)) for text in ("take 1", "hm", "take 9")]
    left = Scripted(says=[*billed, AgentFailure("gone.")])
    left.sees = "both"
    episode = await play(GAME, bots(left=left), 3)
    assert (episode.status, [m.action for m in episode.moves if m.seat == "left"]) == ("void", ["take 1"])
    [move] = episode.unfinished
    assert (move.seat, move.step, move.action, move.verdict) == ("left", 2, "", "void")
    assert [(t.text, t.verdict) for t in move.tries] == [("hm", "unreadable"), ("take 9", "unreadable")]
    assert all(t.reason and t.usage == Usage(10, 2, cost=0.5) for t in move.tries)
    assert (episode.usage().calls, episode.usage("left").cost, episode.usage("right").calls) == (3, 1.5, 0)
    assert episode.verdicts() == {"ok": 2}
    again = Episode.from_json(episode.to_json())
    assert again.fingerprint() == episode.fingerprint()
    assert verify(again, GAME).pictures == 2  # the picture of the unfinished move too


async def test_a_reply_beside_a_failing_one_is_kept() -> None:
    players = {"a": Slow(says=[Reply("Hello.", usage=Usage(10, 2))]), "b": Slow(says=[AgentFailure("gone.")])}
    episode = await play(Talk(), players, 1)
    assert (episode.status, episode.culprit, episode.moves) == ("void", "b", [])
    assert [(m.seat, m.action, m.verdict) for m in episode.unfinished] == [("a", "Hello.", "ok")]
    assert episode.usage().calls == 1


async def test_what_a_report_must_say_about_players_is_kept_once() -> None:
    class Noted(Scripted):
        remarks = ("it is left out.", "and more.")

    noted = Noted(says=["take 1"])
    episode = await play(GAME, {"left": noted, "right": noted}, 3)
    assert episode.remarks == ["and more.", "it is left out."]
    assert (await play(GAME, bots(), 3)).remarks == []


async def test_of_two_failures_at_once_the_first_seat_is_named() -> None:
    players = {"a": Slow(says=[AgentFailure("a")], naps=[0.02]), "b": Slow(says=[AgentFailure("b")])}
    episode = await play(Talk(), players, 1)
    assert (episode.status, episode.culprit, episode.moves) == ("void", "a", [])


@pytest.mark.parametrize("kind", [Scripted, Slow])
@pytest.mark.parametrize("error", [BadOption("no such thing."), ModelRejected("wrong key.")])
async def test_a_wrong_setup_stops_the_run(error: UsageError, kind: type[Scripted]) -> None:
    with pytest.raises(type(error)):
        await play(GAME, bots(left=kind(says=[error])), 3)


async def test_a_seat_without_agent_and_an_agent_without_seat() -> None:
    with pytest.raises(UsageError, match="no agent for right"):
        await play(GAME, {"left": agent("bot/first", GAME)}, 3)
    with pytest.raises(UsageError, match="unknown seat of test/pebbles 'middle'"):
        await play(GAME, {**bots(), "middle": agent("bot/first", GAME)}, 3)


async def test_a_seed_that_no_file_can_hold_is_refused_at_once() -> None:
    left = Scripted(says=["take 1"])
    with pytest.raises(BadOption, match="a seed is a whole number between"):
        await play(GAME, bots(left=left), 2**64)
    assert left.asks == []


async def test_an_observer_sees_every_step_as_it_happens() -> None:
    seen: list[tuple[int, list[str], int]] = []

    def hook(played: StepEvent) -> None:
        seen.append((played.step, [move.action for move in played.moves], played.state.facts["heap"]))

    episode = await play(GAME, bots(), 3, observer=OnStep(hook))
    assert [step for step, _, _ in seen] == list(range(len(episode.moves)))
    assert [actions for _, actions, _ in seen] == [[move.action] for move in episode.moves]
    assert [heap for *_, heap in seen] == sorted((heap for *_, heap in seen), reverse=True)
    assert seen[-1][2] == 0


async def test_an_observer_that_raises_ends_the_episode() -> None:
    def hook(played: StepEvent) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await play(GAME, bots(), 3, observer=OnStep(hook))


async def test_an_error_of_an_observer_never_voids_the_episode() -> None:
    def hook(played: StepEvent) -> None:
        raise BrokenPipeError("gone")

    with pytest.raises(BrokenPipeError, match="gone"):
        await play(GAME, bots(), 3, observer=OnStep(hook), void_on_error=True)


async def test_a_usage_error_keeps_its_cause() -> None:
    error = BadOption("no such thing.")
    error.__cause__ = KeyError("thing")
    with pytest.raises(BadOption, match="no such thing"):
        await play(GAME, bots(left=Scripted(says=[error])), 3)
    assert isinstance(error.__cause__, KeyError)


async def test_an_agent_may_refuse_its_own_reply() -> None:
    refused = Unreadable("the provider filtered it.")
    refused.reply = Reply("half a sen", finish="filtered", usage=Usage(output_tokens=3))
    episode = await play(GAME, bots(left=Scripted(says=[refused, "take 1"])), 3)
    first = episode.moves[0].tries[0]
    assert (first.text, first.verdict, first.reason) == (
        "half a sen",
        "unreadable",
        "the provider filtered it.",
    )
    assert (first.finish, episode.usage("left").output_tokens) == ("filtered", 3)


async def test_usage_is_added_up() -> None:
    reply = Reply("take 1", usage=Usage(input_tokens=10, output_tokens=2, images=1, cost=0.5))
    episode = await play(GAME, bots(left=Scripted(says=[reply])), 3)
    moves = sum(move.seat == "left" for move in episode.moves)
    assert episode.usage() == Usage(10 * moves, 2 * moves, 0, moves, moves, 0.5 * moves)
    assert episode.usage("right") == Usage(calls=0)


@pytest.mark.parametrize(
    "left",
    [
        Scripted(says=["hm", "Action: take 9", "take 3", "<think>take 1</think> Action: take 2"]),
        Scripted(says=[Reply("take 9", "take 9"), Reply("Action: take 1", "Action: take 1"), "hm"]),
        Slow(says=["take 2"], naps=[0, 9, 0]),
        Scripted(says=[Illegal("because."), "take 1"]),
        Scripted(says=["take 1", AgentFailure("gone")]),
        Scripted(says=["", "🙂" * 1000, "\ud83d"]),
    ],
    ids=["wrong replies", "wrong actions", "late", "refused by itself", "void", "junk"],
)
@pytest.mark.parametrize("fallback", ["random", "forfeit"])
async def test_a_replay_is_the_episode_again(left: Scripted, fallback: Any) -> None:
    left.asks.clear()
    config = PlayConfig(retries=1, fallback=fallback, seconds=0.5)
    episode = await play(GAME, bots(left=left), 5, config=config)
    again = await play(GAME, replaying(Episode.from_json(episode.to_json())), 5, config=config)
    assert again.seats == dict.fromkeys(GAME.seats, f"replay/{episode.fingerprint()}")
    sighted = replace(again, seats=episode.seats)
    for ours, theirs in zip(sighted.moves, episode.moves, strict=True):
        assert ours.pictures == []
        ours.pictures = theirs.pictures
    assert sighted.fingerprint() == episode.fingerprint()


async def test_players_may_have_to_know_the_rules() -> None:
    """A table that lists no legal actions tells its players so; readers know them all the same."""
    asked: list[Ask] = []

    @dataclass
    class Curious(Agent):
        kind = "bot/curious"
        sees = "text"

        async def act(self, ask: Ask) -> Reply:
            asked.append(ask)
            return Reply("Action: nowhere") if not ask.refused else Reply(f"Action: {ask.legal[0]}")  # type: ignore[index]

    game = make("tic_tac_toe")
    episode = await play(game, {"x": Curious(), "o": Curious()}, 1, config=PlayConfig(listed=False))
    assert not any(ask.listed for ask in asked)
    assert episode.status == "done"
    refusals = [tried.reason for move in episode.moves for tried in move.tries if tried.verdict == "illegal"]
    assert refusals
    assert not any("A1" in reason for reason in refusals)


async def test_an_error_of_a_game_voids_its_episode() -> None:
    class Broken(PebblesState):
        def _advance(self, actions: Mapping[str, str]) -> None:
            if self.heap < 6:
                raise KeyError("heap")
            super()._advance(actions)

    class BrokenGame(Pebbles):
        def start(self, seed: int) -> State:
            state = super().start(seed)
            state.__class__ = Broken
            return state

    episode = await play(BrokenGame(), bots(), 3)
    assert (episode.status, episode.culprit) == ("void", "")
    assert episode.error == "test/pebbles raised KeyError: 'heap'"
    assert episode.moves


async def test_a_reader_that_raises_makes_a_reply_unreadable(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crashing(ActionFormat):
        def read(self, text: str, legal: Any) -> str:
            raise IndexError(text)

    monkeypatch.setattr(PebblesView, "format", lambda view, state, seat: Crashing())
    episode = await play(Pebbles(heap=2), bots(left=Scripted(says=["hm"])), 3)
    assert episode.status == "done"
    assert (episode.moves[0].verdict, episode.moves[0].tries[0].verdict) == ("fallback", "unreadable")
    assert "counts as unreadable" in caplog.text


async def test_a_game_decides_what_an_unreadable_reply_becomes() -> None:
    class Kind(PebblesState):
        def fallback(self, seat: str) -> str | None:
            return "take 2"

    class KindGame(Pebbles):
        def start(self, seed: int) -> State:
            state = super().start(seed)
            state.__class__ = Kind
            return state

    for fallback in ("random", "first", "forfeit"):
        config = PlayConfig(retries=0, fallback=fallback)  # type: ignore[arg-type]
        episode = await play(KindGame(heap=4), bots(left=Scripted(says=["hm"])), 3, config=config)
        assert (episode.status, episode.moves[0].action) == ("done", "take 2")
        assert verify(episode, KindGame(heap=4)).pictures >= 0


async def test_roles_and_stages_reach_the_ask() -> None:
    class Staged(PebblesState):
        @property
        def stage(self) -> str:
            return "opening" if self.heap > 5 else "end"

        def role(self, seat: str) -> str:
            return "thief" if seat == "left" else "guard"

    class StagedGame(Pebbles):
        def start(self, seed: int) -> State:
            state = super().start(seed)
            state.__class__ = Staged
            return state

    left = Scripted(says=["take 1"])
    await play(StagedGame(), bots(left=left), 3)
    assert {ask.role for ask in left.asks} == {"thief"}
    assert (left.asks[0].stage, left.asks[-1].stage) == ("opening", "end")
    assert [ask.step for ask in left.asks] == [0, 2, 4, 6]


async def test_an_observer_is_told_of_asks_and_replies() -> None:
    class Listener(Observer):
        def __init__(self) -> None:
            self.events: list[tuple[str, str]] = []

        def asked(self, ask: Ask) -> None:
            self.events.append(("asked", ask.seat))

        def replied(self, ask: Ask, attempt: Try) -> None:
            self.events.append((attempt.verdict, ask.seat))

        def stepped(self, event: StepEvent) -> None:
            self.events.append(("stepped", event.moves[0].seat))

    listener = Listener()
    await play(GAME, bots(left=Scripted(says=["hm", "take 1"])), 3, observer=listener)
    assert listener.events[:4] == [
        ("asked", "left"), ("unreadable", "left"), ("ok", "left"), ("stepped", "left"),
    ]  # fmt: skip


async def test_an_error_of_an_observer_is_not_the_games() -> None:
    def broken(event: StepEvent) -> None:
        raise ZeroDivisionError("the screen is gone")

    with pytest.raises(ZeroDivisionError):
        await play(GAME, bots(), 3, observer=OnStep(broken))


async def test_a_person_may_mistype_any_number_of_times() -> None:
    class Typist(Scripted):
        unlimited_retries = True

    left = Typist(says=[*["hm"] * 40, "take 1"])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(retries=0))
    assert (episode.moves[0].verdict, len(episode.moves[0].tries)) == ("retried", 41)


async def test_seats_do_not_share_a_random_stream() -> None:
    class Drawing(Scripted):
        async def act(self, ask: Ask) -> Reply:
            drawn.setdefault(self.seat, []).append(self.random.below(2**32))
            return Reply("take 1", "take 1")

    drawn: dict[str, list[int]] = {}
    await play(Pebbles(heap=30), {"left": Drawing(), "right": Drawing()}, 3)
    assert not set(drawn["left"]) & set(drawn["right"])
    alone = drawn["left"]
    drawn = {}
    await play(Pebbles(heap=30), bots(left=Drawing()), 3)
    assert drawn["left"][:3] == alone[:3]  # what the other seat draws does not matter


async def test_fallbacks_of_two_seats_are_drawn_apart() -> None:
    game = make("coin_dilemma")
    silent = dict.fromkeys(game.seats, Scripted(says=["hm"]))
    episode = await play(game, silent, 1, config=PlayConfig(retries=0, horizon=40))
    chosen = {seat: [m.action for m in episode.moves if m.seat == seat] for seat in game.seats}
    one, other = chosen.values()
    assert one != other
    assert {m.verdict for m in episode.moves} == {"fallback"}


async def test_of_two_seats_that_forfeit_at_once_the_first_is_named() -> None:
    config = PlayConfig(retries=0, fallback="forfeit")
    episode = await play(Talk(), {"a": Slow(says=[""]), "b": Slow(says=[""])}, 1, config=config)
    assert (episode.status, episode.culprit) == ("forfeit", "a")


async def test_reasoning_is_recorded_and_bounded() -> None:
    left = Scripted(says=[Reply("take 1", reasoning="x" * 50 + "\ud800")])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(reply_limit=20))
    [attempt] = episode.moves[0].tries
    assert (attempt.text, attempt.reasoning) == ("take 1", "x" * 20)
    assert Episode.from_json(episode.to_json()) == episode


async def test_a_state_to_begin_with_is_not_changed() -> None:
    state = GAME.start(3)
    state.apply({"left": "take 1"})
    heap = state.heap
    episode = await play(GAME, bots(), 3, state=state)
    assert (state.heap, state.to_act) == (heap, ("right",))
    assert episode.moves[0].seat == "right"


async def test_an_opening_is_applied_before_the_first_ask() -> None:
    episode = await play(GAME, bots(), 3, opening=[{"left": "take 3"}])
    assert episode.moves[0].seat == "right"
    assert episode.facts["taken"]["left"] >= 3
    verify(episode, GAME)


async def test_returns_that_are_not_finite_void_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        PebblesState, "returns", property(lambda self: dict.fromkeys(GAME.seats, float("nan")))
    )
    episode = await play(GAME, bots(), 3)
    assert episode.status == "void"
    assert "not finite" in episode.error


async def test_samples_of_a_seed_are_played_differently() -> None:
    game = make("tic_tac_toe")
    agents = dict.fromkeys(game.seats, agent("bot/random", game))
    moves = {tuple(m.action for m in (await play(game, agents, 3, sample=n)).moves) for n in range(4)}
    assert len(moves) == 4


async def test_a_refused_reply_may_be_told_only_the_kind_of_its_fault() -> None:
    left = Scripted(says=["take 99", "Action: take 1"])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(reasons="kind"))
    refused = episode.moves[0].tries[0]
    assert refused.reason == Unreadable.kind
    verify(episode, GAME)
    refused.reason = "there are only 9 pebbles."
    with pytest.raises(ReplayMismatch, match="more than the kind"):
        verify(episode, GAME)


def _accept_twice(episode: Episode) -> None:
    """As if a reply that was accepted had been followed by another."""
    move = episode.moves[0]
    move.tries.insert(0, replace(move.tries[0]))
    move.verdict = "retried"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_accept_twice, "does not follow from its replies"),
        (lambda e: e.moves.pop(), "do not end the game"),
        (lambda e: setattr(e, "status", "horizon"), "end the game"),
        (lambda e: e.moves.pop() and setattr(e, "status", "horizon"), "horizon of 1000 was not reached"),
    ],
)
async def test_what_cannot_have_happened_is_not_verified(change: Any, problem: str) -> None:
    left = Scripted(says=["Action: take 1"])
    episode = await play(GAME, bots(left=left), 3)
    verify(episode, GAME)
    change(episode)
    with pytest.raises(ReplayMismatch, match=problem):
        verify(episode, GAME)


async def test_a_late_reply_has_no_text() -> None:
    left = Slow(says=["take 1"], naps=[30, 0])
    episode = await play(GAME, bots(left=left), 3, config=PlayConfig(seconds=0.02))
    verify(episode, GAME)
    next(move for move in episode.moves if move.seat == "left").tries[0].text = "take 1"
    with pytest.raises(ReplayMismatch, match="recorded as late"):
        verify(episode, GAME)
