"""What was sent to a model equals what is rebuilt from the episode: every suite, with its own settings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import ludens
from ludens.agents.vlm import Vlm
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode, Usage
from ludens.core.errors import AgentFailure, MissingExtra
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.templates import TemplateOverrides
from ludens.core.verify import verify
from ludens.core.view import RenderOptions
from ludens.models import MODELS
from ludens.models.chat import Answer, Message, Model, Request
from ludens.models.settings import PromptOptions
from ludens.rebuild import Sample, samples
from ludens.run.task import MODEL, SUITES, Task, suite
from tests.support.every_suite import VARIANTS
from tests.support.pebbles import Pebbles, Talk
from tests.support.players import Scripted

Flat = list[tuple[str, list[str]]]

OPTIONS: tuple[dict[str, object], ...] = (
    {},
    {"modality": "text"},
    {"modality": "both", "memory": "all"},
    {"blind": True, "memory": "last", "frames": 2},
    {"frames": 3, "style": "cot"},
    {"memory": "all", "frames": 2, "style": "explain"},
)


class Recorder(Model):
    """Answers with junk or with an action it was shown, and records every request."""

    def __init__(self, seed: int, fails_after: int = 10**9) -> None:
        super().__init__("recorded/model")
        self.requests: list[Flat] = []
        self._random = stream(seed, "recorder")
        self._fails_after = fails_after

    async def answer(self, request: Request) -> Answer:
        if len(self.requests) >= self._fails_after:
            raise AgentFailure("the server is gone.")
        self.requests.append(flat(request.messages))
        kind = self._random.below(4)
        if kind == 0:
            return Answer("Let me think.", usage=Usage(5, 3), reasoning="hm")
        if kind == 1:
            return Answer("blocked", "filtered", usage=Usage(5, 0))
        return Answer("Action: " + self._random.choice(["A1", "UP", "take 1", "PASS"]), usage=Usage(5, 3))


def flat(messages: Sequence[Message]) -> Flat:
    return [(m.role, [part if isinstance(part, str) else part.hash for part in m.parts]) for m in messages]


@pytest.fixture(autouse=True)
def recorded_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS._added, "recorded", lambda spec: Recorder(0))


async def check(
    game: Game,
    seats: Sequence[str],
    options: PromptOptions,
    *,
    seed: int = 0,
    config: PlayConfig | None = None,
    render: RenderOptions | None = None,
    fails_after: int = 10**9,
) -> tuple[Episode, list[Sample]]:
    """Play with recorded models in these seats and compare every prompt with its rebuilt twin."""
    models = {seat: Recorder(number, fails_after) for number, seat in enumerate(seats)}
    others = {seat: ludens.agent("bot/random", game) for seat in game.seats if seat not in models}
    agents = {**others, **{seat: Vlm(model, options) for seat, model in models.items()}}
    episode = await ludens.play(game, agents, seed, sample=2, config=config, render=render)
    stored = Episode.from_json(episode.to_json())
    verify(stored, game)
    rebuilt = list(samples(stored, game))
    for seat, model in models.items():
        own = [one for one in rebuilt if one.move.seat == seat]
        assert [flat(one.messages) for one in own] == model.requests
    for one in rebuilt:
        replies = [attempt.text for attempt in one.move.tries]
        assert one.completion in (*replies, one.ask.format.write(one.move.action))
        assert one.messages[-1].role == "user"
    return episode, rebuilt


def tasks_of(name: str) -> list[Task]:
    return list(suite(name).tasks)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in VARIANTS else n for n in SUITES.names()],
)
def test_prompts_of_every_suite_are_rebuilt(name: str) -> None:
    for number, task in enumerate(tasks_of(name)):
        try:
            game = ludens.make(task.game)
            game.start(0)
        except MissingExtra:
            continue
        seating = task.seatings[number % len(task.seatings)]
        seats = [seat for seat, who in seating.items() if who == MODEL]
        options = PromptOptions(**OPTIONS[number % len(OPTIONS)])  # type: ignore[arg-type]
        config = replace(task.config, horizon=4)
        asyncio.run(check(game, seats, options, seed=task.first_seed, config=config))


@pytest.mark.parametrize("number", range(len(OPTIONS)))
@pytest.mark.parametrize("listed", [True, False])
async def test_every_option_with_and_without_legal_actions(number: int, listed: bool) -> None:
    options = PromptOptions(**OPTIONS[number])  # type: ignore[arg-type]
    for game in (Pebbles(heap=30), Talk(rounds=5), ludens.make("tic_tac_toe")):
        for seed in range(3):
            config = PlayConfig(listed=listed, retries=seed)
            _, rebuilt = await check(game, game.seats, options, seed=seed, config=config)
            texts = [
                part for one in rebuilt for m in one.messages for part in m.parts if isinstance(part, str)
            ]
            told = any("Your legal actions" in text for text in texts)
            assert told == (listed and not isinstance(game, Talk))


async def test_templates_are_recorded_with_the_episode(tmp_path: Path) -> None:
    (tmp_path / "agent.md").write_text("# system\nYou are a pirate.\n\n# refused\nNo: $reason $reply\n")
    (tmp_path / "comma.wire.md").write_text("# title\nCut them all\n")
    game = ludens.make("comma/wire?turns=3")
    options = PromptOptions(templates=str(tmp_path), memory="all")
    render = RenderOptions(templates=TemplateOverrides.read(tmp_path))
    episode, _ = await check(game, ["solver"], options, render=render)
    plain, _ = await check(game, ["solver"], PromptOptions(memory="all"))
    assert episode.moves[0].pictures != plain.moves[0].pictures  # the title is drawn into the picture
    assert episode.templates["comma.wire"] == {"title": "Cut them all"}
    for file in tmp_path.iterdir():
        file.unlink()
    again = Episode.from_json(episode.to_json())
    assert verify(again).pictures > 0
    assert "pirate" in str(next(one for one in samples(again) if one.model).messages[0].parts[0])


async def test_replies_of_a_step_that_was_cut_short_are_samples_without_a_reward() -> None:
    cut_short = 0
    for calls in range(1, 8):
        game, config = Pebbles(heap=30), PlayConfig(retries=3)
        episode, rebuilt = await check(game, game.seats, PromptOptions(), fails_after=calls, config=config)
        assert episode.status == "void"
        unfinished = [one for one in rebuilt if one.move in episode.unfinished]
        assert {one.reward for one in unfinished} <= {None}
        assert len(unfinished) == sum(len(move.tries) for move in episode.unfinished)
        cut_short += len(unfinished)
    assert cut_short


async def test_a_bot_completes_in_the_asked_format() -> None:
    game = ludens.make("tic_tac_toe")
    agents = {seat: ludens.agent("bot/random", game) for seat in game.seats}
    episode = await ludens.play(game, agents, 3)
    found = list(samples(episode))
    assert [one.completion for one in found] == [f"Action: {move.action}" for move in episode.moves]
    assert [one.reward for one in found] == [episode.returns[move.seat] for move in episode.moves]
    assert all(len(one.pictures) == 1 and one.verdict == "ok" and not one.model for one in found)


async def test_rewards_come_from_the_game() -> None:
    class Scored(Pebbles):
        def rewards(self, state: object, moves: Sequence[object]) -> list[float]:
            return [float(number) for number in range(len(moves))]

    agents = {seat: ludens.agent("bot/first", Pebbles()) for seat in Pebbles().seats}
    episode = await ludens.play(Scored(), agents, 3)
    assert [one.reward for one in samples(episode, Scored())] == [float(n) for n in range(len(episode.moves))]


async def test_a_branched_episode_is_rebuilt_from_its_opening_or_its_state() -> None:
    game = Pebbles(heap=20)
    state = game.start(3)
    opening = [{"left": "take 1"}, {"right": "take 2"}]
    for actions in opening:
        state.apply(actions)
    agents = {"left": Vlm(Recorder(1)), "right": ludens.agent("bot/first", game)}
    recorded = await ludens.play(game, agents, 3, state=state, opening=opening)
    assert verify(recorded, game).pictures > 0
    assert recorded.moves[0].seat == "left"
    unrecorded = await ludens.play(game, agents, 3, state=state)
    with pytest.raises(ludens.LudensError, match="does not record"):
        verify(unrecorded, game)
    assert verify(unrecorded, game, state).pictures > 0
    assert list(samples(unrecorded, game, state=state))


async def test_rewards_of_a_forfeited_episode_are_its_returns() -> None:
    """The game is not asked: it does not know who forfeited."""

    class Scored(Pebbles):
        def rewards(self, state: object, moves: Sequence[object]) -> list[float]:
            return [99.0] * len(moves)

    game = Scored(heap=20)
    agents = {"left": Scripted(says=["Action: take 1", "hm"]), "right": Scripted(says=["Action: take 1"])}
    episode = await ludens.play(game, agents, 3, config=PlayConfig(retries=0, fallback="forfeit"))
    assert (episode.status, episode.culprit) == ("forfeit", "left")
    assert episode.returns["left"] < episode.returns["right"]
    rewards = [(one.move.seat, one.reward) for one in samples(episode, game)]
    assert rewards == [(move.seat, episode.returns[move.seat]) for move in episode.moves]
    assert len(rewards) == 3


async def test_asks_are_rebuilt_with_the_sample_of_the_episode() -> None:
    game, numbers = Pebbles(), list[int]()
    for sample in (0, 5):
        agents = {seat: Scripted(says=["Action: take 1"]) for seat in game.seats}
        episode = await ludens.play(game, agents, 3, sample=sample)
        assert {ask.sample for agent in agents.values() for ask in agent.asks} == {sample}
        numbers += {one.ask.sample for one in samples(episode, game)}
    assert numbers == [0, 5]
