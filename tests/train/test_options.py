"""Options of the update against losses written here sample by sample, and differentiated by autograd."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.core.ask import Ask  # noqa: E402
from ludens.core.episode import Episode  # noqa: E402
from ludens.core.errors import BadOption  # noqa: E402
from ludens.core.reply import ActionFormat  # noqa: E402
from ludens.core.state import Legal  # noqa: E402
from ludens.models.chat import Request, Sampling  # noqa: E402
from ludens.train.algorithms import Grpo, IterativeSpo, turn_advantages  # noqa: E402
from ludens.train.checks import check  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.nano.network import TokenBatch  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.policy import TokenSample, Trajectory  # noqa: E402
from ludens.train.recipe import AdvantageOptions, LossOptions, OptimizerOptions, Recipe  # noqa: E402
from ludens.train.update import Updater, policy_loss  # noqa: E402
from tests.support.nano import questions  # noqa: E402
from tests.support.tiny_training import policy, recipe  # noqa: E402
from tests.train.test_update import batch, gradient  # noqa: E402

RECIPES = Path(__file__).parents[2] / "recipes"
Term = Callable[[Any, TokenSample], Any]
"""The loss of one sample, given the log-probabilities of all tokens at each place of its reply."""


def moved() -> NanoPolicy:
    """A policy near the one that drew the samples: some ratios are clipped, others are not."""
    made = policy()
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(8)
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.01)
    return made


def distributions(learner: NanoPolicy, sample: TokenSample) -> Any:
    """Log-probabilities of all tokens at each place of a reply, computed by themselves."""
    ids = torch.tensor([sample.prompt_ids + sample.completion_ids])
    tokens = TokenBatch.of(ids[:, :-1], torch.zeros(1, dtype=torch.long), learner._marks)
    seen = learner._features([sample])
    logits = learner.network.logits(seen, tokens, len(sample.completion_ids))[0].float()
    never = [learner.vocabulary.pad, learner.vocabulary.unknown]
    return logits.index_fill(-1, torch.tensor(never), -torch.inf).log_softmax(-1)


def drawn(distribution: Any, sample: TokenSample) -> Any:
    return distribution[range(len(sample.completion_ids)), sample.completion_ids]


def expected_gradient(samples: list[TokenSample], term: Term) -> Any:
    learner = moved()
    losses = [term(distributions(learner, sample), sample) for sample in samples]
    (sum(losses) / len(samples)).backward()
    return gradient(learner)


def made_gradient(samples: list[TokenSample], loss: LossOptions, reference: NanoPolicy | None = None) -> Any:
    """Of the update, with weights that are not those that drew the samples."""
    learner = moved()
    Updater(learner, OptimizerOptions(lr=0.0, grad_norm=0.0, micro=5), loss, 10).update(samples, reference)
    return gradient(learner)


def agree(first: Any, second: Any) -> bool:
    return bool((first - second).norm() < 1e-5 * second.norm()) and bool(second.norm() > 1e-3)


def clipped(low: float, high: float) -> Term:
    def term(distribution: Any, sample: TokenSample) -> Any:
        total = 0.0
        for new, old in zip(drawn(distribution, sample), sample.logprobs, strict=True):
            ratio = (new - old).exp()
            bounded = min(max(ratio, torch.tensor(1 - low)), torch.tensor(1 + high))
            total = total - min(ratio * sample.advantage, bounded * sample.advantage)
        return total

    return term


def test_asymmetric_clipping() -> None:
    made = made_gradient(batch(), LossOptions(kl=0.0, norm="sum", clip=0.05, clip_high=0.4))
    assert agree(made, expected_gradient(batch(), clipped(0.05, 0.4)))
    assert not agree(made, expected_gradient(batch(), clipped(0.05, 0.05)))
    same = made_gradient(batch(), LossOptions(kl=0.0, norm="sum", clip=0.2))
    assert agree(same, expected_gradient(batch(), clipped(0.2, 0.2)))


def test_an_entropy_bonus() -> None:
    def term(distribution: Any, sample: TokenSample) -> Any:
        possible = distribution[:, torch.isfinite(distribution[0])]
        bonus = torch.distributions.Categorical(logits=possible).entropy().sum()
        return -(
            (drawn(distribution, sample) - torch.tensor(sample.logprobs)).exp() * sample.advantage
        ).sum() - (0.3 * bonus)

    made = made_gradient(batch(), LossOptions(clip=0.0, kl=0.0, norm="sum", entropy=0.3))
    assert agree(made, expected_gradient(batch(), term))


def test_estimators_have_the_gradients_that_are_documented() -> None:
    """Summed over all tokens with their probabilities, a gradient is that of a divergence."""
    generator = torch.Generator().manual_seed(3)
    reference = torch.randn(7, generator=generator).log_softmax(-1)
    weights = torch.randn(7, generator=generator)

    def estimated(estimator: str) -> Any:
        logits = weights.clone().requires_grad_()
        new = logits.log_softmax(-1)
        options = LossOptions(clip=0.0, norm="sum", kl=1.0, kl_estimator=estimator)
        columns = new[:, None], new.detach()[:, None], torch.ones(7, 1)
        losses, _ = policy_loss(*columns, torch.zeros(7), reference[:, None], options)
        (losses * new.detach().exp()).sum().backward()
        return logits.grad

    def exact(divergence: Callable[[Any], Any]) -> Any:
        logits = weights.clone().requires_grad_()
        divergence(logits.log_softmax(-1)).backward()
        return logits.grad

    forward = exact(lambda new: (new.exp() * (new - reference)).sum())
    backward = exact(lambda new: (reference.exp() * (reference - new)).sum())
    assert torch.allclose(estimated("k2"), forward, atol=1e-6)
    assert torch.allclose(estimated("k3"), backward, atol=1e-6)
    assert not torch.allclose(forward, backward, atol=1e-2)


def test_the_recipe_of_the_paper_has_its_loss() -> None:
    """Equations 3 and 6: advantages times log-likelihoods, and the KL; one step an iteration."""
    paper, reference = Recipe.read(RECIPES / "spy-flat-paper.toml"), policy(3)

    def term(distribution: Any, sample: TokenSample) -> Any:
        new = drawn(distribution, sample)
        expected = drawn(distributions(reference, sample), sample).detach()
        # The gradient of the KL by the score function: E[grad log p * (log p - log q)].
        return -sample.advantage * new.sum() + 0.04 * ((new - expected).detach() * new).sum()

    samples, learner = batch(), moved()
    for sample in samples:  # drawn by the policy as it is
        sample.logprobs = drawn(distributions(learner, sample), sample).tolist()
    assert agree(made_gradient(samples, paper.loss, reference.frozen()), expected_gradient(samples, term))
    assert (paper.optimizer.minibatches, paper.optimizer.epochs) == (1, 1)
    assert paper.reference.anchor == "start"
    assert not paper.advantage.from_first


def test_truncated_replies_can_be_left_out(tmp_path: Path) -> None:
    def trained(mask: bool) -> tuple[list[TokenSample], dict[str, float]]:
        trainer = Trainer(recipe(loss={"mask_truncated": mask}), policy(), tmp_path)

        async def go() -> list[Trajectory]:
            try:
                return await trainer.rollouts.play(trainer.jobs())
            finally:
                await trainer.close()

        games = asyncio.run(go())
        return trainer._samples(games), {}

    every, some = trained(False)[0], trained(True)[0]
    ended = [sample for sample in every if sample.completion_ids[-1] == policy().vocabulary.end]
    assert 0 < len(ended) < len(every)
    assert [s.completion_ids for s in some] == [s.completion_ids for s in ended]
    # Groups are compared with all of their replies, as if nothing had been left out.
    assert [s.advantage for s in some] == [s.advantage for s in ended]


def test_groups_without_signal_are_drawn_again(tmp_path: Path) -> None:
    redrawn = recipe(
        play={"episodes": 4, "samples": 2, "redraws": 2, "held_out": 0},
        advantage={"unreadable": 0.0},
        monitor={"blind": 0},
    )
    trainer, played = Trainer(redrawn, policy(), tmp_path), list[tuple[int, int]]()
    rollouts = trainer.rollouts

    class Fixed:
        """Every reward is 0, except in one seed of the first draw and one of the second."""

        async def play(self, jobs: Any) -> list[Trajectory]:
            games = await rollouts.play(jobs)
            for game in games:
                played.append((game.number, game.episode.seed))
                for place, sample in enumerate(game.samples):
                    sample.reward = (
                        float(game.number % 2) if len(played) in (1, 2, 9, 10) and not place else 0.0
                    )
            return games

    trainer.rollouts = Fixed()  # type: ignore[assignment]
    measured = asyncio.run(_iterated(trainer))
    first, second, third = played[:8], played[8:14], played[14:]
    assert [seed - 1_000_000 for _, seed in first] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [number for number, _ in second] == [2, 3, 4, 5, 6, 7]
    assert [number for number, _ in third] == [4, 5, 6, 7], "bounded by redraws"
    seeds = [seed for _, seed in played]
    assert len(set(seeds)) == len(seeds) // 2, "no seed twice"
    assert min(seeds[8:]) >= 1_000_000 + 4 * 4, "not those of later iterations"
    assert measured["redrawn"] == len(second) + len(third)
    assert measured["episodes"] == len(played)


async def _iterated(trainer: Trainer) -> dict[str, float]:
    try:
        return await trainer.iterate()
    finally:
        await trainer.close()


def turn(step: int, reward: float, value: float, seat: str = "x", **more: Any) -> TokenSample:
    return TokenSample([], [], [], step=step, seat=seat, reward=reward, value=value, **more)


def test_turn_advantages_by_hand() -> None:
    """Discount 0.9, lambda 0.5; x has three turns and wins 1, o has two and loses."""
    own = [turn(4, 1.0, 0.6), turn(0, 1.0, 0.2), turn(2, 1.0, 0.5)]
    other = [turn(1, -1.0, 0.0, "o"), turn(3, -1.0, -0.4, "o")]
    options = AdvantageOptions(kind="gae", discount=0.9, trace=0.5)
    turn_advantages([Trajectory(None, samples=[*own, *other])], options)  # type: ignore[arg-type]
    last = 1.0 - 0.6
    middle = 0.9 * 0.6 - 0.5 + 0.45 * last
    first = 0.9 * 0.5 - 0.2 + 0.45 * middle
    assert [s.advantage for s in own] == pytest.approx([last, first, middle])
    assert [s.target for s in own] == pytest.approx([1.0, first + 0.2, middle + 0.5])
    assert [s.advantage for s in other] == pytest.approx([0.9 * -0.4 + 0.45 * -0.6, -0.6])
    # Without bootstrapping (lambda 1, discount 1) it is the outcome less the value.
    turn_advantages([Trajectory(None, samples=own)], replace(options, discount=1.0, trace=1.0))  # type: ignore[arg-type]
    assert [s.advantage for s in own] == pytest.approx([0.4, 0.8, 0.5])


def test_a_refused_reply_is_charged_in_its_own_turn() -> None:
    refused, played = turn(0, 1.0, 0.0, readable=False), turn(0, 1.0, 0.0, attempt=1)
    game = Trajectory(None, samples=[refused, played])  # type: ignore[arg-type]
    Grpo(AdvantageOptions(kind="gae", trace=0.0, scale=False)).samples([game])
    assert [refused.advantage, played.advantage] == pytest.approx([-1.0, 1.0])


def test_values_learn_what_turns_earn(tmp_path: Path) -> None:
    """Games that are always won by x and lost by o: values approach 1 and -1, and the policy is not moved."""
    options = {"kind": "gae", "value_lr": 0.02, "value_epochs": 50, "scale": False, "unreadable": 0.0}
    settings = recipe(play={"episodes": 8, "held_out": 0}, advantage=options, optimizer={"lr": 0.0})
    trainer = Trainer(settings, policy(), tmp_path)

    async def go() -> list[Trajectory]:
        try:
            return await trainer.rollouts.play(trainer.jobs())
        finally:
            await trainer.close()

    games, errors = asyncio.run(go()), list[float]()
    for game in games:
        for sample in game.samples:
            sample.reward = 1.0 if sample.seat == "x" else -1.0
    for _ in range(12):
        samples = trainer._samples(games)
        assert trainer.values is not None
        errors.append(trainer.values.learn())
    assert errors[-1] < 0.2 * errors[0]
    for sample in samples:
        assert (sample.value > 0) == (sample.seat == "x")
    # Its state is in checkpoints.
    stored = trainer.values.state()
    fresh = Trainer(settings, policy(), tmp_path)
    assert fresh.values is not None
    fresh.values.restore(stored)
    fresh.values.expect(samples)
    values = [sample.value for sample in samples]
    trainer.values.expect(samples)
    assert values == [sample.value for sample in samples]


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"play": {"redraws": 1}, "advantage": {"kind": "role"}}, "play.redraws needs"),
        ({"play": {"redraws": 1, "samples": 2, "seeds": 200}}, "would play a seed twice"),
        ({"advantage": {"kind": "gae"}, "play": {"discount": 0.9}}, "advantage.discount"),
        ({"advantage": {"kind": "gae"}, "play": {"game": "spy"}}, "rewards each move by itself"),
        ({"model": {"lora_targets": "q (v"}}, "names of projections"),
    ],
)
def test_options_that_do_not_fit(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(BadOption, match=message):
        check(Recipe.of(sections))


def test_explored_answers_have_the_log_probabilities_of_free_ones() -> None:
    """They are drawn by the option, and learnt from as if the policy had drawn them."""
    learner = policy()
    count, answer = 400, learner.vocabulary.answer("2: B3")  # this policy often says "2:"
    prompts = [learner.encode("tic_tac_toe x\n")] * count
    records = learner.sample(questions(prompts, [[]] * count, range(count), answers=[("2: B3",)] * count))
    samples = [TokenSample(r.prompt_ids, r.completion_ids, r.logprobs) for r in records]
    said = {tuple(sample.completion_ids) for sample in samples}
    assert {reply for reply in said if reply[:2] == answer[:2]} == {answer}
    assert len(said) > 100
    free, mask = learner.logprobs(samples)
    assert agree(free[mask.bool()], torch.tensor([value for s in samples for value in s.logprobs]))


def test_some_choices_are_explored_in_training_alone(tmp_path: Path) -> None:
    trainer = Trainer(recipe(play={"explore": 0.3}), policy(), tmp_path)
    assert all(job.explores for job in trainer.jobs())
    assert not any(job.explores for job in trainer.held_out_jobs())
    model = trainer.rollouts.explorer.model  # type: ignore[union-attr]
    ask = Ask("x", Legal(("A1", "B2")), ActionFormat())
    requests = [Request((), Sampling(seed=seed), ask=ask) for seed in range(1000)]
    offers = Counter(model.offer(request) for request in requests)
    assert set(offers) == {(), ("Action: A1",), ("Action: B2",)}
    assert 600 < offers[()] < 800
    assert 100 < offers["Action: A1",] < 200
    texts = replace(ask, legal=Legal.text())
    assert not any(model.offer(replace(request, ask=texts)) for request in requests)
    asyncio.run(trainer.close())


def test_replies_say_whether_their_choice_was_explored(tmp_path: Path) -> None:
    trainer = Trainer(recipe(play={"explore": 0.3, "episodes": 40}), policy(), tmp_path)
    games = asyncio.run(trainer.rollouts.play(trainer.jobs()))
    explored = [sample.explored for game in games for sample in game.samples]
    assert 0.2 < explored.count(True) / len(explored) < 0.4
    held_out = asyncio.run(trainer.rollouts.play(trainer.held_out_jobs()))
    assert not any(sample.explored for game in held_out for sample in game.samples)
    asyncio.run(trainer.close())


def test_explored_choices_are_not_charged() -> None:
    """Most of them are worse than what the policy prefers: it would learn to prefer nothing else."""
    rewards = [1.0, -1.0, -1.0, -0.5]
    explored = [True, True, False, False]
    samples = [
        TokenSample([], [], [], seat=str(number), reward=reward, explored=was)
        for number, (reward, was) in enumerate(zip(rewards, explored, strict=True))
    ]
    options = AdvantageOptions(scale=False, group="seed")
    [*trained] = Grpo(options).samples([Trajectory(Episode("tic_tac_toe", 1, {}, 0, {}), samples=samples)])
    assert [sample.advantage for sample in trained] == [1.375, 0.0, -0.625, -0.125]


def test_spo_explores_decisions_while_it_trains_them() -> None:
    algorithm = IterativeSpo(Recipe.read(RECIPES / "spy-flat-past-explore.toml"))
    assert (algorithm.stage, algorithm.explores) == ("clue", False)
    algorithm.switch.stage = algorithm.switch.decision
    assert algorithm.explores
    with pytest.raises(BadOption, match=r"play\.explore needs kind"):
        check(recipe(model={"kind": "hf", "path": "some/model"}, play={"explore": 0.1}))
