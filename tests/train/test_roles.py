"""model.roles: weights of their own for every role."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

import ludens  # noqa: E402
from ludens.agents import agent  # noqa: E402
from ludens.cli import main  # noqa: E402
from ludens.concurrent import play_sync  # noqa: E402
from ludens.core.errors import BadOption  # noqa: E402
from ludens.core.view import Picture  # noqa: E402
from ludens.models import model  # noqa: E402
from ludens.train.checks import check  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.nano.model import LivePolicy  # noqa: E402
from ludens.train.nano.roles import RolePolicy  # noqa: E402
from ludens.train.policy import Player, TokenSample  # noqa: E402
from tests.support.nano import questions  # noqa: E402
from tests.support.tiny_training import policy, recipe  # noqa: E402

GAME = ludens.make("tic_tac_toe")
ROLES = recipe(model={"roles": True}, opponents=[{"players": {"o": "frozen"}}], run={"iterations": 2})


def split() -> RolePolicy:
    """Two roles, of which o has other weights than x."""
    made = RolePolicy.split(policy(), GAME)
    made.samplers["o"].network.load_state_dict(policy(seed=1).network.state_dict())
    return made


def prompts(made: RolePolicy) -> list[list[int]]:
    return [made.encode(f"tic_tac_toe {role}\n") for role in ("o", "x", "x", "o")]


def test_each_prompt_is_answered_and_scored_by_its_role() -> None:
    made = split()
    asked, pictures = prompts(made), [list[Picture]()] * 4
    seeds = [11, 12, 13, 14]
    replies = made.sample(questions(asked, pictures, seeds))
    for role, places in {"x": (1, 2), "o": (0, 3)}.items():
        alone = made.samplers[role].sample(
            questions([asked[p] for p in places], [pictures[p] for p in places], [seeds[p] for p in places])
        )
        assert [replies[p].completion_ids for p in places] == [reply.completion_ids for reply in alone]
    samples = [TokenSample(reply.prompt_ids, reply.completion_ids, reply.logprobs) for reply in replies]
    scores = made.score(samples, entropy=True, state=True)
    for row, sample in enumerate(samples):
        own = torch.tensor(sample.logprobs)
        assert torch.allclose(scores.logprobs[row, : len(own)], own, atol=1e-4)
        assert scores.mask[row].sum() == len(own)
    assert scores.entropy is not None
    assert scores.entropy.shape == scores.mask.shape
    assert scores.state is not None
    assert len(scores.state) == 4


@pytest.mark.parametrize("made", [policy, split], ids=["one", "roles"])
def test_players_share_a_model_and_those_of_a_copy_have_another(made: Callable[[], LivePolicy]) -> None:
    learner = made()
    players = learner.agent(), learner.agent(), learner.explorer(0.5)
    frozen = learner.frozen()
    one, same, explorer, other = (cast(Player, player).model for player in (*players, frozen.agent()))
    assert one is same
    assert (one.sampler, explorer.sampler, other.sampler) == (learner, learner, frozen)  # type: ignore[attr-defined]
    assert (one.explore, explorer.explore) == (0.0, 0.5)  # type: ignore[attr-defined]


def test_only_the_role_that_plays_learns(tmp_path: Path) -> None:
    check(ROLES)
    learner = split()
    trainer = Trainer(ROLES, learner, tmp_path)
    before = {role: own.network.state_dict() for role, own in learner.frozen().samplers.items()}
    asyncio.run(trainer.run())
    for role, own in learner.samplers.items():
        same = all(torch.equal(weight, before[role][n]) for n, weight in own.network.state_dict().items())
        assert same == (role == "o"), f"{role} was trained in vain, or without playing"


def test_a_stored_model_plays_and_goes_on(tmp_path: Path) -> None:
    trainer = Trainer(ROLES, split(), tmp_path / "run")
    asyncio.run(trainer.run())
    [checkpoint] = trainer.checkpoints.all()
    read = RolePolicy.read(checkpoint, device="cpu")
    again = Trainer(replace(ROLES, run=replace(ROLES.run, iterations=3)), read, tmp_path / "run")
    again.resume(checkpoint)
    assert again.iteration == 2
    for one, other in zip(trainer.policy.parameters(), read.parameters(), strict=True):
        assert torch.equal(one, other)
    policy(seed=2).save(tmp_path)
    read.load(tmp_path)  # one that has not been split, such as the policy before play
    assert torch.equal(*(own.parameters()[0] for own in read.samplers.values()))
    assert main(["train", "export", str(checkpoint), "--out", str(tmp_path / "small")]) == 0
    for folder in (checkpoint, tmp_path / "small"):
        episode = play_sync(GAME, {seat: agent(f"nano/{folder}", GAME) for seat in GAME.seats}, 0)
        assert episode.status != "void"
        assert model(f"nano/{folder}").trained_on == {"tic_tac_toe"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rehearsal": {"share": 0.5}}, "rehearsal"),
        ({"model": {"roles": True, "kind": "hf", "path": "x"}}, 'kind = "nano"'),
        ({"play": {"game": "sudoku"}}, "several seats"),
    ],
)
def test_what_roles_cannot_be_combined_with(changes: dict[str, dict[str, object]], reason: str) -> None:
    chosen = recipe(**{"model": {"roles": True}, **changes})
    with pytest.raises(BadOption, match=reason):
        check(chosen)
