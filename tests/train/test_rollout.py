"""Games of training are started once and never replayed; samples name the stage of the game."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

import ludens
from ludens import Agent, Ask, Game, Reply
from ludens.core.state import State
from ludens.models.chat import Tokens
from ludens.train.recipe import PlayOptions, Recipe
from ludens.train.rollout import RolloutJob, Rollouts, rollouts_of
from tests.support.players import Scripted


@dataclass
class Learner(Agent):
    """Plays like a bot and reports tokens."""

    bot: Agent = field(kw_only=True)
    kind = "learner"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees, self.waits = self.bot.sees, self.bot.waits

    def begin(self) -> None:
        self.bot = self.bot.sit(self.game, self.seat, self.random)

    async def act(self, ask: Ask) -> Reply:
        reply = await self.bot.act(ask)
        reply.tokens = Tokens([1], [2], [-0.5], 1.0, (), ())
        return reply


def rollouts(game: Game, bot: str) -> Rollouts:
    return Rollouts(game, Learner(bot=ludens.agent(bot, game)))


@pytest.mark.parametrize(
    ("name", "bot"), [("tic_tac_toe", "bot/random"), ("spy", "bot/blunt"), ("comma/wire", "bot/patient")]
)
async def test_a_game_is_started_once_and_not_replayed(
    name: str, bot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, seeds, applied = ludens.make(name), list[int](), list[int]()
    players = rollouts(game, bot)
    start, apply = type(game).start, State.apply

    def counted_start(self: Game, seed: int) -> State:
        seeds.append(seed)
        return start(self, seed)

    def counted_apply(self: State, actions: dict[str, str]) -> None:
        applied.append(len(actions))
        apply(self, actions)

    monkeypatch.setattr(type(game), "start", counted_start)
    monkeypatch.setattr(State, "apply", counted_apply)
    trajectories = await players.play([RolloutJob(seed) for seed in range(3)])
    assert seeds == [0, 1, 2]
    assert sum(applied) == sum(len(trajectory.episode.moves) for trajectory in trajectories)
    monkeypatch.undo()
    for trajectory in trajectories:
        *_, last = ludens.replay(trajectory.episode, game)
        moves = trajectory.episode.moves
        expected = dict(zip([(m.step, m.seat) for m in moves], game.rewards(last.state, moves), strict=True))
        assert {(s.step, s.seat): s.reward for s in trajectory.samples} == expected
        assert trajectory.measures == game.measures(last.state)


async def test_samples_name_the_stage_that_the_game_declares() -> None:
    [trajectory] = await rollouts(ludens.make("comma/wire"), "bot/oracle").play([RolloutJob(0)])
    stages = [(sample.seat, sample.stage) for sample in sorted(trajectory.samples, key=lambda s: s.step)]
    assert stages == [("solver", "solve"), ("expert", "advise"), ("solver", "solve")]
    assert trajectory.decision == (1.0, 0.0)
    [trajectory] = await rollouts(ludens.make("spy"), "bot/blunt").play([RolloutJob(0)])
    assert {sample.stage for sample in trajectory.samples} == {"clue", "decision"}


async def test_a_solver_that_never_acts_abstains() -> None:
    game = ludens.make("comma/wire", turns=3)
    [trajectory] = await Rollouts(game, Learner(bot=Scripted(says=["hm"]))).play([RolloutJob(0)])
    assert trajectory.decision == (0.0, 1.0)


@dataclass
class Watcher(Learner):
    """Notes whether it is shown the legal moves."""

    shown: list[bool] = field(kw_only=True)

    async def act(self, ask: Ask) -> Reply:
        self.shown.append(ask.listed)
        return await super().act(ask)


@pytest.mark.parametrize("listed", [True, False])
async def test_legal_moves_can_be_left_out_of_prompts(listed: bool) -> None:
    game, shown = ludens.make("tic_tac_toe"), list[bool]()
    policy: Any = SimpleNamespace(
        agent=lambda blind: Watcher(bot=ludens.agent("bot/random", game), shown=shown)
    )
    await rollouts_of(Recipe(play=PlayOptions(listed=listed)), game, policy, {}).play([RolloutJob(0)])
    assert len(shown) >= 5
    assert set(shown) == {listed}
