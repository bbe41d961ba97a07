"""model.packing: the replies of a batch in one row have the values and gradients that they have alone."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from ludens.core.errors import BadOption  # noqa: E402
from ludens.train.policy import TokenSample  # noqa: E402
from tests.support.tiny_policy import replies, tiny_policy  # noqa: E402


def unlike(family: str) -> list[TokenSample]:
    """Replies of unlike lengths and temperatures; one is to a question without a picture."""
    samples = replies(tiny_policy(family))
    samples[1].temperature = 1.3
    return samples


@pytest.mark.parametrize("lora", [0, 2])
@pytest.mark.parametrize("family", ["llava", "qwen"])
def test_a_row_of_replies_has_the_gradient_of_single_ones(family: str, lora: int) -> None:
    samples, found = unlike(family), list[Any]()
    for packing in (False, True):
        policy = tiny_policy(family, lora=lora, packing=packing)
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(1)
            for parameter in policy.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.05)
        widths: list[int] = []
        embeddings = policy.base.get_input_embeddings()
        embeddings.register_forward_hook(lambda _, given, __, widths=widths: widths.append(given[0].numel()))
        batches = [samples] if packing else [[sample] for sample in samples]
        scores = [policy.score(batch, entropy=True, state=True) for batch in batches]
        total = sum(score.logprobs.sum() + 0.1 * score.entropy.sum() for score in scores)
        total.backward()
        rows = [row[mask.bool()] for s in scores for row, mask in zip(s.logprobs, s.mask, strict=True)]
        gradient = torch.cat([p.grad.flatten() for p in policy.parameters() if p.grad is not None])
        found.append((torch.cat(rows).detach(), torch.cat([s.state for s in scores]).detach(), gradient))
        if packing:
            assert widths[0] == sum(len(s.prompt_ids) + len(s.completion_ids) for s in samples)
    for alone, packed in zip(*found, strict=True):
        assert float(alone.abs().max()) > 1e-3
        assert float((alone - packed).norm()) < 1e-6 * float(alone.norm())


def test_a_model_that_mixes_replies_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.masking_utils.find_packed_sequence_indices", lambda positions: None)
    policy = tiny_policy("llava", packing=True)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(4)
    with pytest.raises(BadOption, match="does not keep the replies of a row apart"):
        policy.logprobs(unlike("llava"))


@pytest.mark.parametrize("family", ["llava", "qwen"])
def test_a_row_may_have_no_picture(family: str) -> None:
    [words] = [sample for sample in unlike(family) if not sample.pictures]
    policy = tiny_policy(family, packing=True)
    with torch.no_grad():
        together, [alone] = policy.logprobs([words, words])[0], policy.logprobs([words])[0]
    assert float((together - alone).abs().max()) < 1e-5
