"""Packed attention of vision towers equals attention window by window."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from ludens.models.vision import NAME, _each_window, use_varlen, varlen_attention  # noqa: E402
from tests.support.tiny_vlm import tiny  # noqa: E402

BOUNDS = (0, 3, 7, 12)


def tensors(device: str = "cpu", dtype: Any = None, bounds: tuple[int, ...] = BOUNDS) -> list[Any]:
    torch.manual_seed(0)
    shape = (1, 4, bounds[-1], 16)
    return [torch.randn(shape, device=device, dtype=dtype or torch.float32) for _ in range(3)]


def block_diagonal(query: Any, key: Any, value: Any, bounds: tuple[int, ...], scaling: float) -> Any:
    """Attention over all tokens with a mask of blocks."""
    window = torch.bucketize(torch.arange(bounds[-1]), torch.tensor(bounds[1:]), right=True).to(query.device)
    scores = query @ key.transpose(2, 3) * scaling
    scores = scores.masked_fill(window[:, None] != window[None, :], -torch.inf)
    return (scores.softmax(-1) @ value).transpose(1, 2)


@pytest.mark.parametrize("scaling", [16**-0.5, 0.7])
def test_windows_are_blocks_of_a_mask(scaling: float) -> None:
    query, key, value = tensors()
    expected = block_diagonal(query, key, value, BOUNDS, scaling)
    bounds = torch.tensor(BOUNDS, dtype=torch.int32)
    made, weights = varlen_attention(None, query, key, value, None, cu_seq_lens_q=bounds, scaling=scaling)
    assert weights is None
    assert made.shape == (1, 12, 4, 16)
    assert (made - expected).abs().max() < 1e-6
    shifted = block_diagonal(query, key, value, (0, 4, 7, 12), scaling)
    assert (made - shifted).abs().max() > 0.1


def test_only_towers_with_windows_are_switched() -> None:
    model, _ = tiny("qwen")
    assert not use_varlen(model), "there is no kernel for CPUs"
    assert model.config.vision_config._attn_implementation == "sdpa"
    grid = torch.tensor([[1, 4, 6], [1, 6, 4]])
    pixels = torch.randn(48, 1176)
    with torch.no_grad():
        before = model.model.visual(pixels, grid).pooler_output
        assert use_varlen(model, anywhere=True)
        after = model.model.visual(pixels, grid).pooler_output
    assert model.config.vision_config._attn_implementation == NAME
    assert model.config.text_config._attn_implementation == "sdpa"
    assert (before - after).abs().max() < 1e-6
    assert NAME not in model.config.to_json_string(), "other programs do not know it"
    assert not use_varlen(tiny("llava")[0], anywhere=True)


@pytest.mark.cuda
def test_the_kernel_is_as_exact_as_attention_window_by_window() -> None:
    bounds = (*range(0, 64 * 40 + 1, 64), 64 * 40 + 17)
    exact = tensors("cuda", bounds=bounds)
    short = [tensor.bfloat16() for tensor in exact]
    expected = block_diagonal(*(tensor.float() for tensor in short), bounds, 16**-0.5)
    ends = torch.tensor(bounds, dtype=torch.int32, device="cuda")
    packed, _ = varlen_attention(None, *short, None, cu_seq_lens_q=ends, scaling=16**-0.5)
    windows = _each_window(*short, ends, 16**-0.5)
    error, usual = (float((made.float() - expected).abs().max()) for made in (packed, windows))
    assert 0 < error < 1.5 * usual + 1e-3


@pytest.mark.cuda
def test_a_whole_tower_on_the_kernel() -> None:
    model, _ = tiny("qwen", dtype="bfloat16")
    model = model.cuda()
    grid = torch.tensor([[1, 4, 6], [1, 6, 4]], device="cuda")
    pixels = torch.randn(48, 1176, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        before = model.model.visual(pixels, grid).pooler_output.float()
        assert use_varlen(model)
        after = model.model.visual(pixels, grid).pooler_output.float()
    assert (before - after).abs().max() < 0.02 * before.abs().max()
