"""Log-probabilities recomputed for training equal those recorded while sampling; wrong variants do not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ludens
from ludens.core.config import PlayConfig
from ludens.core.templates import TemplateOverrides
from ludens.core.view import RenderOptions
from ludens.train.policy import TokenSample
from ludens.train.rollout import RolloutJob, Rollouts

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from ludens.train.batches import left_padded, mask_of, right_padded  # noqa: E402
from ludens.train.nano.inputs import Vocabulary, shrink  # noqa: E402
from ludens.train.nano.policy import NanoPolicy, pictures_in_batch  # noqa: E402
from ludens.train.nano.weights import NanoSize  # noqa: E402
from ludens.train.policy import Policy  # noqa: E402
from ludens.train.recipe import ModelOptions  # noqa: E402
from ludens.train.transformers_policy import TransformersPolicy  # noqa: E402
from tests.support.nano import questions  # noqa: E402
from tests.support.tiny_policy import replies, tiny_policy  # noqa: E402


def nano_policy(temperature: float = 0.7) -> NanoPolicy:
    vocabulary = Vocabulary.of(["coin_dilemma tic_tac_toe x o red blue Action: A1 B2 C3 UP DOWN\n"])
    size = NanoSize(width=32, heads=2, encoder=1, decoder=2, side=64, longest=64)
    policy = NanoPolicy(size, vocabulary, temperature=temperature, max_tokens=8, device="cpu")
    disturb(policy, 0.1)
    return policy


def transformers_policy(folder: Path, lora: int = 0, temperature: float = 0.7) -> TransformersPolicy:
    options = ModelOptions(
        kind="hf", lora=lora, temperature=temperature, max_tokens=12, batch=16, device="cpu"
    )
    return TransformersPolicy.read(str(folder), options)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("llava", marks=pytest.mark.slow),
        pytest.param("qwen", marks=pytest.mark.torchvision),
    ],
)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.support.tiny_vlm import build

    return build(tmp_path_factory.mktemp("tiny"), family=request.param)


@pytest.fixture(scope="module")
def samples(folder: Path) -> list[TokenSample]:
    """Drawn from the model as it is."""
    return drawn(transformers_policy(folder))


def disturb(policy: Policy, scale: float = 0.3) -> None:
    """Give the policy other weights, the same in every run."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * scale)


def recorded(policy: Policy, samples: list[TokenSample]) -> list[TokenSample]:
    """The samples as if this policy had drawn them."""
    with torch.no_grad():
        rows = policy.logprobs(samples)[0].tolist()
    return [replace(s, logprobs=row[: len(s.completion_ids)]) for s, row in zip(samples, rows, strict=True)]


def drawn(policy: Policy) -> list[TokenSample]:
    """Samples of unlike lengths with unlike pictures, some of them retries."""
    samples: list[TokenSample] = []
    for name, horizon in (("tic_tac_toe", 3), ("coin_dilemma", 1)):
        config = PlayConfig(retries=1, horizon=horizon, listed=False)
        render = RenderOptions(size=256, templates=TemplateOverrides.of({name: {"rules": "Play."}}))
        rollouts = Rollouts(ludens.make(name), policy.agent(), render=render, config=config)

        async def play(rollouts: Rollouts = rollouts) -> Any:
            try:
                return await rollouts.play([RolloutJob(0)])
            finally:
                await policy.agent().close()

        samples += [s for trajectory in asyncio.run(play()) for s in trajectory.samples]
    samples = [shortened(s, number % 4) for number, s in enumerate(samples)]
    assert len({len(s.completion_ids) for s in samples}) > 1
    assert len({picture.hash for s in samples for picture in s.pictures}) > 2
    return samples


def shortened(sample: TokenSample, tokens: int) -> TokenSample:
    """Without the last tokens of the completion, but one: a prefix keeps its log-probabilities."""
    length = max(1, len(sample.completion_ids) - tokens)
    return replace(sample, completion_ids=sample.completion_ids[:length], logprobs=sample.logprobs[:length])


def gap(policy: Policy, samples: list[TokenSample], size: int = 5) -> float:
    """The largest difference between recorded and recomputed log-probabilities."""
    worst = 0.0
    for start in range(0, len(samples), size):
        chunk = samples[start : start + size]
        with torch.no_grad():
            new, mask = policy.logprobs(chunk)
        old = right_padded([s.logprobs for s in chunk], 0.0)
        worst = max(worst, float(((new - old) * mask).abs().max()))
    return worst


def test_nano_model() -> None:
    policy = nano_policy()
    samples = drawn(policy)
    assert gap(policy, samples) < 1e-4
    assert gap(policy, samples, size=1) < 1e-4
    assert gap(policy, [replace(s, temperature=1.0) for s in samples]) > 0.05
    assert gap(policy, [replace(s, pictures=()) for s in samples]) > 1e-3
    shuffled = [replace(s, pictures=o.pictures) for s, o in zip(samples, reversed(samples), strict=True)]
    assert gap(policy, shuffled) > 1e-3
    policy._never = torch.tensor([], dtype=torch.long)
    assert gap(policy, samples) > 1e-3


def test_batches_of_few_shapes_change_nothing() -> None:
    """On a GPU, batches are padded: nothing else tells `aligned` policies from others."""
    plain, aligned = nano_policy(), nano_policy()
    aligned.aligned, shapes = True, list[tuple[int, int]]()

    def noted(pictures: Any, shown: Any, tokens: Any, last: int) -> Any:
        shapes.append((len(pictures), tokens.ids.shape[1]))
        return forward(pictures, shown, tokens, last)

    samples, forward = drawn(plain), aligned.network.forward
    aligned.network.forward = noted  # type: ignore[method-assign]
    assert len(samples) > 5
    for size in (1, 3, len(samples)):
        chunk, scores = samples[:size], list[Any]()
        for policy in (plain, aligned):
            score = policy.score(chunk, entropy=True, state=True)
            loss: Any = (score.logprobs * score.mask).sum()
            loss.backward()
            gradients = torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None])
            scores.append((score.logprobs, score.mask, score.entropy, score.state, gradients))
        for one, other in zip(*scores, strict=True):
            assert one.shape == other.shape
            assert torch.allclose(one, other, atol=1e-4)
    assert all(tokens % 16 == 0 and pictures == pictures_in_batch(pictures) for pictures, tokens in shapes)
    seeds = range(len(samples))
    asked = [s.prompt_ids for s in samples], [s.pictures for s in samples], seeds
    for one, other in zip(plain.sample(questions(*asked)), aligned.sample(questions(*asked)), strict=True):
        assert one.completion_ids == other.completion_ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


def test_numbers_of_pictures_are_rounded_up_to_a_few() -> None:
    counts = [pictures_in_batch(count) for count in range(1, 513)]
    assert all(count <= room < 2 * count for count, room in enumerate(counts, 1))
    assert all(room - count < 64 for count, room in enumerate(counts, 1))
    assert len(set(counts)) == 14


def wrong_variants(policy: TransformersPolicy, samples: list[TokenSample], patch: pytest.MonkeyPatch) -> None:
    """Mistakes that raise no error and are seen in the numbers alone."""
    assert gap(policy, [replace(s, temperature=1.0) for s in samples]) > 0.05
    shuffled = [replace(s, pictures=o.pictures) for s, o in zip(samples, reversed(samples), strict=True)]
    assert gap(policy, shuffled) > 1e-4
    with patch.context() as changed:
        changed.setattr(policy, "_suppressed", ())
        assert gap(policy, samples) > 1e-3
    if policy._takes_kinds:
        with patch.context() as changed:
            changed.setattr(policy, "_takes_kinds", False)
            assert gap(policy, samples) > 1e-2


def test_transformers_model(
    folder: Path, samples: list[TokenSample], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = transformers_policy(folder)
    assert gap(policy, samples) < 1e-4
    assert gap(policy, samples, size=1) < 1e-4
    wrong_variants(policy, samples, monkeypatch)


def test_adapters(folder: Path, samples: list[TokenSample], monkeypatch: pytest.MonkeyPatch) -> None:
    policy = transformers_policy(folder, lora=4)
    assert gap(policy, samples) < 1e-4, "new adapters change nothing"
    disturb(policy)
    own = drawn(policy)
    assert gap(policy, own) < 1e-4
    wrong_variants(policy, own, monkeypatch)


def test_frozen_copies_do_not_change(folder: Path, samples: list[TokenSample]) -> None:
    for policy in (nano_policy(), transformers_policy(folder), transformers_policy(folder, lora=4)):
        shown = drawn(policy) if isinstance(policy, NanoPolicy) else samples
        frozen = policy.frozen()
        assert frozen.parameters() == []
        assert gap(frozen, shown) < 1e-4
        disturb(policy)
        assert gap(policy, shown) > 1e-3
        assert gap(frozen, shown) < 1e-4


def test_saved_models_are_the_same(folder: Path, samples: list[TokenSample], tmp_path: Path) -> None:
    policy = transformers_policy(folder)
    disturb(policy)
    policy.save(tmp_path)
    assert gap(transformers_policy(folder), recorded(policy, samples)) > 1e-3
    assert gap(transformers_policy(tmp_path), recorded(policy, samples)) < 1e-4


def test_weights_of_towers_are_saved_by_the_names_that_vllm_reads(folder: Path, tmp_path: Path) -> None:
    """vLLM 0.32 refuses LLaVA with the names that transformers writes since 5.17."""
    from safetensors import safe_open

    for number, policy in enumerate((transformers_policy(folder), transformers_policy(folder, lora=4))):
        policy.save(tmp_path / str(number))
        with safe_open(tmp_path / str(number) / "model.safetensors", "pt") as file:
            names = [name for name in file.keys() if "vision_tower." in name]  # noqa: SIM118
        assert bool(names) == (policy.base.config.model_type == "llava")
        assert all("vision_tower.vision_model." in name for name in names)


def test_saved_models_of_ours_are_the_same(tmp_path: Path) -> None:
    policy = nano_policy()
    policy.save(tmp_path)
    assert gap(NanoPolicy.read(tmp_path, device="cpu"), drawn(policy)) < 1e-4


def test_adapters_are_merged_when_saved(folder: Path, samples: list[TokenSample], tmp_path: Path) -> None:
    policy = transformers_policy(folder, lora=4)
    disturb(policy)
    own = recorded(policy, samples)
    policy.save(tmp_path)
    assert gap(transformers_policy(tmp_path), own) < 1e-3
    resumed = transformers_policy(folder, lora=4)
    assert gap(resumed, own) > 1e-3
    resumed.load(tmp_path)
    assert gap(resumed, own) < 1e-4


@pytest.mark.parametrize("family", ["llava", "qwen"])
def test_static_cache_with_adapters(family: str) -> None:
    policy = tiny_policy(family, lora=2, kv_cache="static")
    frozen = policy.frozen()
    assert isinstance(frozen, TransformersPolicy)
    disturb(policy)
    samples = replies(policy)
    assert gap(policy, samples) < 1e-4
    assert gap(frozen, samples) > 1e-3
    assert gap(frozen, replies(frozen)) < 1e-4
    assert policy._caches is not None
    assert policy.sampler._static is frozen.sampler._static is policy._caches
    assert len(policy._caches._caches) == 1


@pytest.mark.parametrize("family", ["llava", "qwen"])
def test_loaded_weights_are_those_saved(family: str, tmp_path: Path) -> None:
    policy, other = tiny_policy(family), tiny_policy(family)
    disturb(policy, 0.1)
    samples = replies(policy)
    policy.model.save_pretrained(tmp_path)
    assert gap(other, samples) > 1e-2
    other.load(tmp_path)
    assert gap(other, samples) < 1e-4


def test_rows_are_padded_at_one_end() -> None:
    rows = [[5, 6], [], [7, 8, 9]]
    assert left_padded(rows, 1).tolist() == [[1, 5, 6], [1, 1, 1], [7, 8, 9]]
    assert right_padded(rows, 1, int).tolist() == [[5, 6, 1], [1, 1, 1], [7, 8, 9]]
    assert mask_of(rows).tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, 1]]
    assert mask_of(rows, left=True).tolist() == [[0, 1, 1], [0, 0, 0], [1, 1, 1]]
    logprobs = [[-0.1], [-0.2, -1e-9]]
    assert torch.equal(right_padded(logprobs, 0.0), torch.tensor([[-0.1, 0.0], [-0.2, -1e-9]]))


def test_pictures_are_shrunk_once_and_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    policy, shrunk = nano_policy(), list[str]()
    samples = drawn(policy)
    unlike = list({sample.pictures[-1].hash: sample for sample in samples}.values())
    assert len(unlike) > 3

    def counted(picture: Any, side: int) -> Any:
        shrunk.append(picture.hash)
        return shrink(picture, side)

    monkeypatch.setattr("ludens.train.nano.policy.shrink", counted)
    monkeypatch.setattr("ludens.train.nano.policy.PICTURES", 3 * 3 * policy.size.side**2)
    policy._pictures.clear()
    with torch.no_grad():
        first = policy.logprobs(unlike[:3])[0]
        assert torch.equal(policy.logprobs(unlike[:3])[0], first)
        assert sorted(shrunk) == sorted(sample.pictures[-1].hash for sample in unlike[:3])
        policy.logprobs(unlike[:1])
        policy.logprobs(unlike[3:4])
    kept = [sample.pictures[-1].hash for sample in (unlike[2], unlike[0], unlike[3])]
    assert list(policy._pictures) == kept
