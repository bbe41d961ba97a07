"""Games in real time: who is late stays, and replays do not need the clock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ludens.agents.bots import Random
from ludens.cli import main
from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask
from ludens.core.clock import Clock, read_interval
from ludens.core.episode import Episode
from ludens.core.errors import BadOption, ReplayMismatch
from ludens.core.registry import make
from ludens.core.sync import run_sync
from ludens.core.verify import verify
from ludens.core.view import RenderOptions, view_of
from ludens.loop import play
from ludens.rebuild import samples
from tests.support.model_server import ModelServer


class HandClock(Clock):
    """Ends a step when everybody who will act in it has acted."""

    def __init__(self) -> None:
        super().__init__(1.0)
        self.over: asyncio.Future[None] | None = None
        self.steps = 0

    def start_step(self) -> asyncio.Future[None]:
        self.steps += 1
        self.over = asyncio.get_running_loop().create_future()
        return self.over

    def end_step(self) -> None:
        assert self.over is not None
        if not self.over.done():
            self.over.set_result(None)


@dataclass
class Slow(Agent):
    """Acts in time in every second step, and then ends the step; else it lets the step end without it."""

    clock: HandClock | None = None
    waits = True
    cancelled = 0

    async def act(self, ask: Ask) -> Reply:
        assert self.clock is not None
        asyncio.get_running_loop().call_soon(self.clock.end_step)
        if ask.step % 2:
            return Reply("UP" if not ask.refused else "DOWN", "UP")
        try:
            await asyncio.Event().wait()
        finally:
            type(self).cancelled += 1
        return Reply("never")


@dataclass
class Careless(Agent):
    """Names an action that does not exist, until the step is over."""

    clock: HandClock | None = None
    waits = True
    unlimited_retries = True

    async def act(self, ask: Ask) -> Reply:
        assert self.clock is not None
        if len(ask.refused) == 2:
            self.clock.end_step()
            await asyncio.sleep(0)
        return Reply(action="JUMP")


async def timed(agent: type[Slow] | type[Careless], game: str, seat: str) -> tuple[Episode, HandClock]:
    clock, made = HandClock(), make(game)
    agents: dict[str, Agent] = {each: Random() for each in made.seats}
    return await play(made, {**agents, seat: agent(clock)}, 1, clock=clock), clock


@pytest.mark.parametrize(
    ("game", "seat"),
    [("overcooked?realtime=250ms&horizon=8", "chef_0"), ("pong?realtime=100ms&decisions=8", "player")],
)
async def test_who_is_late_stays(game: str, seat: str) -> None:
    Slow.cancelled = 0
    episode, clock = await timed(Slow, game, seat)
    own = [move for move in episode.moves if move.seat == seat]
    assert [(move.action, move.verdict) for move in own] == [("STAY", "fallback"), ("UP", "ok")] * 4
    assert [[tried.verdict for tried in move.tries] for move in own[::2]] == [["late"]] * 4
    assert (clock.steps, Slow.cancelled, episode.status) == (8, 4, "done")
    assert episode.options["realtime"]
    verify(episode)
    assert list(samples(episode)) is not None


async def test_refused_replies_end_with_the_step() -> None:
    episode, _ = await timed(Careless, "overcooked?realtime=250ms&horizon=2", "chef_1")
    own = [move for move in episode.moves if move.seat == "chef_1"]
    assert {(move.action, move.verdict) for move in own} == {("STAY", "fallback")}
    assert all({tried.verdict for tried in move.tries} <= {"illegal", "late"} for move in own)
    verify(episode)


async def test_late_move_needs_a_clock() -> None:
    """Somebody who is late in a game without a clock was not late."""
    episode, _ = await timed(Slow, "overcooked?realtime=250ms&horizon=4", "chef_0")
    without = replace(episode, options={**episode.options, "realtime": ""})
    with pytest.raises(ReplayMismatch):
        verify(without)
    late = next(move for move in episode.moves if move.verdict == "fallback")
    late.action = "UP"
    with pytest.raises(ReplayMismatch, match="not the fallback action"):
        verify(episode)


async def test_clock_of_the_event_loop() -> None:
    """Steps end by themselves; a step that begins late has its whole time."""
    clock, loop = Clock(0.02), asyncio.get_running_loop()
    begun = loop.time()
    for _ in range(2):
        over = clock.start_step()
        assert over is not None
        await over
    assert loop.time() - begun >= 0.039
    clock._end = begun - 100
    over, now = clock.start_step(), loop.time()
    assert over is not None
    await over
    assert loop.time() - now >= 0.015


def test_bots_alone_need_no_clock_and_play_as_ever() -> None:
    timed_game, usual = make("overcooked?realtime=60s&horizon=20"), make("overcooked?horizon=20")
    with_clock, without = (
        run_sync(play(game, dict.fromkeys(game.seats, Random()), 3)) for game in (timed_game, usual)
    )
    assert [move.action for move in with_clock.moves] == [move.action for move in without.moves]
    assert with_clock.returns == without.returns


def test_rules_tell_about_the_clock() -> None:
    for game, words in (
        ("overcooked?realtime=250ms", "250 milliseconds"),
        ("pong?realtime=2s", "2 seconds"),
    ):
        made = make(game)
        seat = made.seats[0]
        assert words in view_of(made, RenderOptions(), 0).rules(seat)
        assert "clock" not in view_of(make(made.name), RenderOptions(), 0).rules(seat)


@pytest.mark.parametrize("text", ["250", "fast", "5ms", "61s", "-1s", "1e3ms"])
def test_wrong_intervals(text: str) -> None:
    with pytest.raises(BadOption, match="20ms to 60s"):
        make("overcooked", realtime=text)


def test_intervals() -> None:
    assert [read_interval(text, "") for text in ("", "250ms", "1.5s", "60 S")] == [None, 0.25, 1.5, 60.0]


def test_episodes_without_the_option_can_still_be_replayed() -> None:
    game = make("overcooked?horizon=4")
    episode = run_sync(play(game, dict.fromkeys(game.seats, Random()), 3))
    del episode.options["realtime"]
    verify(episode)


async def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that does not answer in time stays, and the game goes on."""
    out, game = tmp_path / "episode.json", "overcooked?realtime=20ms&horizon=3"
    async with ModelServer(latency=3600) as models:
        players = ["--seat", "chef_0=bot/greedy", "--seat", f"chef_1=compat/slow@{models.url}"]
        words = ["play", game, *players, "--out", str(out)]
        assert await asyncio.to_thread(main, words) == 0, capsys.readouterr().err
    episode = Episode.from_json(out.read_bytes())
    own = [move for move in episode.moves if move.seat == "chef_1"]
    assert [(move.action, move.tries[0].verdict) for move in own] == [("STAY", "late")] * 3
    verify(episode)
    assert main(["play", "overcooked?realtime=now"]) == 2
    assert "20ms to 60s" in capsys.readouterr().err
