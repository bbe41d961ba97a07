"""Losses, updates, ranks and resuming, on a model small enough for a CPU."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.core.errors import UsageError  # noqa: E402
from ludens.train.batches import CALM, chunks  # noqa: E402
from ludens.train.checkpoint import Checkpoints  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.nano.inputs import pieces  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.policy import TokenSample  # noqa: E402
from ludens.train.recipe import (  # noqa: E402
    LossOptions,
    OptimizerOptions,
    Recipe,
)
from ludens.train.update import Diverged, Updater, policy_loss  # noqa: E402
from tests.support.tiny_training import VOCABULARY, policy, recipe  # noqa: E402

EVALUATED = {"against": "bot/random", "evaluate": 2, "evaluation_games": 1}


def batch(count: int = 12) -> list[TokenSample]:
    """Fixed replies of unlike lengths, half of them good."""
    replies = [VOCABULARY.encode(("Action: C3", "Action: A1")[n % 2])[: 3 + n // 2 % 2] for n in range(count)]
    samples = [
        TokenSample(VOCABULARY.encode("tic_tac_toe x\n"), [*r, 1], [0.0] * (len(r) + 1)) for r in replies
    ]
    values, mask = policy().logprobs(samples)
    for number, (sample, row, real) in enumerate(zip(samples, values.tolist(), mask.tolist(), strict=True)):
        sample.logprobs = row[: int(sum(real))]
        sample.advantage = 1.0 if number % 2 else -1.0
    return samples


def gradient(learner: NanoPolicy) -> Any:
    """Of the last step; weights would not do, because Adam turns tiny differences into whole steps."""
    return torch.cat([p.grad.flatten() for p in learner.parameters() if p.grad is not None])


def test_loss_by_hand() -> None:
    new, old = torch.tensor([[-1.0, -2.0], [-1.0, 0.0]]), torch.tensor([[-1.5, -2.0], [-1.0, 0.0]])
    mask, advantages = torch.tensor([[1.0, 1.0], [1.0, 0.0]]), torch.tensor([1.0, -2.0])
    ratio = float(torch.tensor(0.5).exp())
    loss, _ = policy_loss(new, old, mask, advantages, None, LossOptions(clip=0.0, norm="sum", kl=0.0))
    assert loss.tolist() == pytest.approx([-(ratio + 1), 2.0])
    loss, _ = policy_loss(new, old, mask, advantages, None, LossOptions(clip=0.2, norm="sum", kl=0.0))
    assert loss.tolist() == pytest.approx([-(1.2 + 1), 2.0])
    loss, _ = policy_loss(new, old, mask, -advantages, None, LossOptions(clip=0.2, norm="sum", kl=0.0))
    assert loss.tolist() == pytest.approx([ratio + 1, -2.0]), "a loss is not clipped"
    loss, _ = policy_loss(new, old, mask, advantages, None, LossOptions(clip=0.0, norm="sequence", kl=0.0))
    assert loss.tolist() == pytest.approx([-(ratio + 1) / 2, 2.0])
    reference = torch.tensor([[-1.0, -1.0], [-1.0, 5.0]])
    options = LossOptions(clip=0.0, norm="sum", kl=0.5)
    loss, kl = policy_loss(new, old, mask, advantages, reference, options)
    expected = float(torch.tensor(1.0).exp()) - 1 - 1
    assert kl.tolist() == pytest.approx([expected, 0.0])
    assert loss.tolist() == pytest.approx([-(ratio + 1) + 0.5 * expected, 2.0])
    options = LossOptions(clip=0.0, norm="sum", kl=0.5, keep=3.0)
    loss, _ = policy_loss(new, old, mask, advantages * 0, reference, options, torch.tensor([1.0, 0.0]))
    assert loss.tolist() == pytest.approx([3.0 * 1.0**2 / 2, 0.0]), "half the square of the only gap"


def test_batches_of_limited_tokens_have_the_gradient_of_single_samples() -> None:
    samples = batch()
    for number, sample in enumerate(samples):  # prompts of unlike lengths too
        sample.prompt_ids = sample.prompt_ids * (1 + 5 * (number % 3))
    longest = max(len(sample.prompt_ids) for sample in samples)
    gradients, sizes = [], []
    for micro, tokens in ((1, 0), (64, 2 * longest)):
        learner = policy()
        loss = LossOptions(kl=0.0, norm="token")
        Updater(learner, OptimizerOptions(micro=micro, tokens=tokens, grad_norm=0.0), loss, 10).update(
            samples, None
        )
        gradients.append(gradient(learner))
        sizes.append([len(chunk) for chunk in chunks(samples, micro, tokens)])
    assert max(float((one - gradients[0]).abs().max()) for one in gradients) < 1e-6
    assert float(gradients[0].abs().max()) > 1e-3
    assert sizes[0] == [1] * 12
    # Short ones are many in a batch, long ones few, and one beyond the limit is alone.
    assert max(sizes[1]) >= 4 > 1 == sizes[1][-1]
    for chunk in chunks(samples, 64, 2 * longest):
        rows = max(len(s.prompt_ids) for s in chunk) + max(len(s.completion_ids) for s in chunk)
        assert len(chunk) == 1 or len(chunk) * rows <= 2 * longest
    assert sorted(map(id, samples)) == sorted(id(s) for c in chunks(samples, 64, 2 * longest) for s in c)


def test_an_update_raises_what_was_good_and_lowers_what_was_not() -> None:
    learner, samples = policy(), batch()
    updater = Updater(learner, OptimizerOptions(lr=1e-2, warmup=0.0, micro=5), LossOptions(kl=0.0), 20)
    for step in range(5):
        measured = updater.update(samples, None, seed=step)
    with torch.no_grad():
        after = learner.logprobs(samples)[0].sum(1)
        before = policy().logprobs(samples)[0].sum(1)
    gained = (after - before).tolist()
    assert min(gained[1::2]) > max(gained[::2])
    assert measured["grad"] > 0


def test_kept_samples_hold_the_policy_where_the_reference_is() -> None:
    """They have no advantage: what pulls is the KL, with a weight of its own."""

    def drift(keep: float) -> float:
        learner, start = policy(), policy().frozen()
        trained, kept = batch()[:6], batch()[6:]
        for sample in kept:
            sample.advantage, sample.keep = 0.0, True
        updater = Updater(learner, OptimizerOptions(lr=1e-2, warmup=0.0), LossOptions(kl=0.0, keep=keep), 50)
        for step in range(8):
            updater.update([*trained, *kept], start, seed=step)
        with torch.no_grad():
            return float((learner.logprobs(kept)[0] - start.logprobs(kept)[0]).abs().max())

    assert drift(10.0) < 0.5 * drift(0.0)


def test_kept_samples_do_not_dilute_those_that_are_trained() -> None:
    gradients = []
    for kept in (0, 6):
        learner, samples = policy(), batch()
        for sample in samples[6:]:
            sample.advantage, sample.keep = 0.0, True
        options = OptimizerOptions(lr=0.0, grad_norm=0.0)
        Updater(learner, options, LossOptions(kl=0.0), 10).update(samples[: 6 + kept], None)
        gradients.append(gradient(learner))
    assert torch.allclose(*gradients, atol=1e-6)


def test_batches_of_any_size_give_the_same_gradient() -> None:
    gradients = []
    for micro in (1, 5, 64):
        learner = policy()
        options = OptimizerOptions(micro=micro, grad_norm=0.0)
        Updater(learner, options, LossOptions(kl=0.04, norm="token"), 10).update(batch(), policy(1).frozen())
        gradients.append(gradient(learner))
    assert gradients[0].norm() > 0.01
    assert (gradients[0] - gradients[1]).norm() < 1e-5 * gradients[0].norm()
    assert (gradients[1] - gradients[2]).norm() < 1e-5 * gradients[0].norm()


def test_a_reference_holds_the_policy_back() -> None:
    moved = []
    for kl in (0.0, 5.0):
        learner, samples = policy(), batch()
        start = learner.frozen()
        updater = Updater(learner, OptimizerOptions(lr=1e-2, warmup=0.0), LossOptions(kl=kl), 50)
        for step in range(6):
            updater.update(samples, start, seed=step)
        with torch.no_grad():
            moved.append(float((learner.logprobs(samples)[0] - start.logprobs(samples)[0]).abs().mean()))
    assert moved[1] < 0.7 * moved[0]


def test_a_loss_that_is_not_finite_changes_nothing() -> None:
    learner, samples = policy(), batch()
    samples[0].advantage = float("nan")
    updater = Updater(learner, OptimizerOptions(), LossOptions(kl=0.0), 10)
    before = [p.detach().clone() for p in learner.parameters()]
    with pytest.raises(Diverged, match="loss is not finite"):
        updater.update(samples, None)
    assert all(torch.equal(a, b) for a, b in zip(before, learner.parameters(), strict=True))


def test_weights_from_which_nothing_can_be_drawn_stop_the_training() -> None:
    updater = Updater(policy(), OptimizerOptions(lr=1e30, warmup=0.0), LossOptions(kl=0.0), 10)
    with pytest.raises(Diverged, match="probability of replies is not finite"):
        updater.update(batch(), None)


def test_batches_are_halved_where_memory_is_short(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    options, loss = OptimizerOptions(micro=8, grad_norm=0.0), LossOptions(kl=0.0, norm="token")
    whole, halved = policy(), policy()
    Updater(whole, options, loss, 10).update(batch(), None)
    most, score = [3], NanoPolicy.score
    shortages = cycle(
        [torch.cuda.OutOfMemoryError("CUDA out of memory"), RuntimeError("Expected mha_graph.execute(...)")]
    )

    def scarce(self: NanoPolicy, samples: Sequence[TokenSample], **asked: bool) -> Any:
        if len(samples) > most[0]:
            raise next(shortages)
        return score(self, samples, **asked)

    samples, updater = batch(), Updater(halved, options, loss, 10)
    monkeypatch.setattr(NanoPolicy, "score", scarce)
    updater.update(samples, None)
    assert updater.limits.micro == 2
    assert "starting the step again with micro=4" in caplog.text
    assert "starting the step again with micro=2" in caplog.text
    assert (gradient(whole) - gradient(halved)).norm() < 1e-5 * gradient(whole).norm()
    most[0] = 8
    sizes = [updater.limits.micro for _ in range(CALM + 3) if updater.update(samples, None)]
    assert sizes == [*[2] * CALM, 4, 8, 8], "the other run on the GPU has ended"
    most[0] = 0
    with pytest.raises(UsageError, match="memory does not hold the update of a single reply"):
        updater.update(samples, None)


def test_replies_of_an_earlier_policy_are_read_again_in_smaller_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their log-probabilities are computed again before the update, which needs memory too."""
    options, loss, score = OptimizerOptions(lr=0.0, micro=8), LossOptions(kl=0.0), NanoPolicy.score
    plenty, samples = batch(), batch()
    expected = Updater(policy(), options, loss, 10).update(plenty, None, staleness=1)

    def scarce(self: NanoPolicy, some: Sequence[TokenSample], **asked: bool) -> Any:
        if len(some) > 3:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return score(self, some, **asked)

    monkeypatch.setattr(NanoPolicy, "score", scarce)
    measures = Updater(policy(), options, loss, 10).update(samples, None, staleness=1)
    assert [s.logprobs for s in samples] == [pytest.approx(s.logprobs, abs=1e-5) for s in plenty]
    assert measures == pytest.approx(expected, abs=1e-5)


def test_learning_rate_rises_and_falls() -> None:
    options = OptimizerOptions(lr=1.0, warmup=0.1)
    rates = [options.rate(step, 100) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[9] == 1.0
    assert rates[99] < 0.001
    assert OptimizerOptions(lr=1.0, schedule="constant").rate(99, 100) == 1.0


class Killed(Exception):
    pass


def run(folder: Path, stop: int | None = None, trained: Recipe | None = None) -> Trainer:
    """Train; `stop` ends the run as a kill would, after so many iterations."""
    trainer = Trainer(trained or recipe(), policy(), folder)
    if (latest := Checkpoints(folder).latest()) is not None:
        trainer.resume(latest)

    def report(measured: dict[str, float]) -> None:
        if measured["iteration"] == stop:
            raise Killed

    with suppress(Killed):
        asyncio.run(trainer.run(report))
    return trainer


def curve(trainer: Trainer) -> list[dict[str, float]]:
    return [{k: v for k, v in m.items() if not k.endswith("_s") and k != "s"} for m in trainer.history]


@pytest.mark.parametrize("against", [pytest.param((), marks=pytest.mark.slow), ("frozen", "previous")])
def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path: Path, against: tuple[str, ...]) -> None:
    trained = recipe(monitor=EVALUATED, opponents=[{"players": {"o": player}} for player in against])
    whole = run(tmp_path / "whole", trained=trained)
    run(tmp_path / "parts", stop=3, trained=trained)  # one iteration after its last checkpoint
    parts = run(tmp_path / "parts", trained=trained)
    assert curve(whole) == curve(parts)
    assert [m["iteration"] for m in whole.history] == [0, 1, 2, 3, 4]
    for a, b in zip(whole.policy.parameters(), parts.policy.parameters(), strict=True):
        assert torch.equal(a, b)
    assert "blind x" in whole.history[1]
    assert "blind won" in whole.history[2]


def test_old_checkpoints_are_removed(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for iteration in (1, 2, 3):
        checkpoints.write(iteration, policy(), None, {}, {"iteration": iteration})
    assert [path.name for path in checkpoints.all()] == ["step-000002", "step-000003"]


def test_opponents_play_their_seats(tmp_path: Path) -> None:
    opponents = [{"players": {"o": "bot/best"}}, {"players": {"x": "frozen"}}]
    trainer = Trainer(recipe(opponents=opponents), policy(), tmp_path)

    async def go() -> Any:
        try:
            return await trainer.rollouts.play(trainer.jobs())
        finally:
            await trainer.close()

    trajectories = asyncio.run(go())
    for trajectory in trajectories:
        seats = {sample.seat for sample in trajectory.samples}
        assert seats in ({"x"}, {"o"})
        assert (trajectory.episode.seats["o"] == "bot/minimax") == (seats == {"x"}) or seats == {"o"}


RANKS = """
import sys, torch
torch.set_num_threads(1)
sys.path.insert(0, sys.argv[2])
from tests.train.test_update import gradient_of_share
from ludens.train import ranks
ranks.start()
rank, size = ranks.world()
assert size == 2
gradient = gradient_of_share(slice(9) if rank == 0 else slice(9, None))
if rank == 0:
    torch.save(gradient, sys.argv[1])
ranks.wait()
ranks.stop()
"""


def gradient_of_share(share: slice) -> Any:
    """The gradient after an update with these samples of the batch, and with those of the other ranks."""
    learner, options = policy(), OptimizerOptions(micro=4, grad_norm=0.0)
    Updater(learner, options, LossOptions(norm="token"), 10).update(batch()[share], policy(1).frozen())
    return gradient(learner)


@pytest.mark.slow
def test_two_ranks_with_unequal_shares_equal_one(tmp_path: Path) -> None:
    script = tmp_path / "ranks.py"
    script.write_text(RANKS)
    root = str(Path(__file__).parents[2])
    two = tmp_path / "two.pt"
    launcher = [sys.executable, "-m", "tests.support.launch", "2"]
    subprocess.run([*launcher, str(script), str(two), root], check=True, cwd=root)
    first, second = gradient_of_share(slice(None)), torch.load(two)
    assert (first - second).norm() < 1e-5 * first.norm()


def test_pieces_of_a_text() -> None:
    for text in ("[[1, 2], [-3, 4]]", "There is a large red cube.\n\\boxed{12} n/a", "Ünïcode §"):
        assert "".join(pieces(text)) == text
    assert pieces("[[1, 2], [3, 4]]") == ["[[", "1, ", "2", "], [", "3, ", "4", "]]"]
    assert VOCABULARY.decode(VOCABULARY.encode("Action: B2")) == "Action: B2"
    assert VOCABULARY.decode([VOCABULARY.unknown, VOCABULARY.end, 5]) == "?"
