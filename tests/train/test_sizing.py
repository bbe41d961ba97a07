"""The sizing estimates reproduce what was measured, and the table in the documentation is computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.train.sizing import GPU_GIB, LARGEST, MEASURED, MODELS, SERVED, SHARED, Load, estimate, plan

DOCS = Path(__file__).parents[2] / "docs" / "train.md"
SCALE = DOCS.with_name("train-at-scale.md")


def test_games_an_hour_of_the_measured_model() -> None:
    # By hand: 14 x 256 tokens at 256 x 256 / 13.7 s take 0.749 s, 10 x 732 at 128 x 732 / 6.94 s 0.542 s.
    made = estimate(MEASURED, "lora")
    assert made.games == pytest.approx(3600 / (0.74922 + 0.54219), rel=1e-3)
    # In a prototype, a hundred iterations of 128 games were put at about five hours.
    assert 100 * 128 / made.games == pytest.approx(5, abs=0.5)


def test_memory_by_hand() -> None:
    made = estimate(MEASURED, "lora")
    cache = 256 * 732 * 36 * 2 * 2 * 128 * 2 / 2**30
    assert cache == pytest.approx(6.43, abs=0.01)
    assert made.gib == pytest.approx(16.4 + cache, abs=0.01)
    assert made.gpus == 1
    full = estimate(MEASURED, "full")
    assert full.gib == pytest.approx(82.5 + 2 * 3.75e9 / 2**30 + cache, abs=0.01)


def test_larger_models_are_slower_and_need_more() -> None:
    for training in ("lora", "full"):
        small, middle, large = (estimate(model, training) for model in MODELS)
        assert small.games > middle.games > large.games
        assert small.gib < middle.gib < large.gib
    twice = estimate(MEASURED, "lora", Load(replies=28, learned=20))
    assert twice.games == pytest.approx(estimate(MEASURED, "lora").games / 2)


def test_the_batch_fits_one_gpu_where_it_can() -> None:
    small, _, large = (estimate(model, "lora") for model in MODELS)
    assert (small.batch, small.gpus) == (256, 1)
    assert (large.batch, large.gpus) == (64, 1)
    assert large.gib < GPU_GIB
    assert estimate(MODELS[2], "full").gpus > 1


def test_the_table_in_the_documentation_is_computed() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for model in MODELS:
        for training, name in (("lora", "LoRA r16"), ("full", "all weights")):
            made = estimate(model, training)
            cells = (model.name, name, made.gpus, made.batch, f"{made.gib:,.0f} GiB", f"{made.games:,.0f}")
            row = " | ".join(map(str, cells))
            assert row in text, row


def test_weights_that_are_shared_out_by_hand() -> None:
    """7B on two GPUs: 4 bytes each of weights and reference, 12 of gradient and moments, 2 for play."""
    made = plan(MODELS[1], "full", 2)
    shared = (8 * 8.29e9 + 12 * 7.62e9) / 2
    cache = 64 * 732 * 28 * 4 * 2 * 128 * 2
    assert made.gib == pytest.approx((shared + 2 * 8.29e9 + cache) / 2**30, abs=0.01)
    assert made.engine == SHARED
    assert made.generated == pytest.approx(2 * 662 * 3.75 / 8.29)
    # 72B in bfloat16 is larger than a GPU: a server plays. Fewer GPUs do not hold it at all.
    assert plan(LARGEST, "lora", 2).engine == SERVED
    assert plan(LARGEST, "full", 8).engine == ""


def test_the_table_of_scale_is_computed() -> None:
    text = SCALE.read_text(encoding="utf-8")
    rows = [row.strip("| ").split(" | ") for row in text.splitlines() if row.startswith("| Qwen")]
    models = {model.name: model for model in (*MODELS, LARGEST)}
    assert {row[0] for row in rows} == set(models)
    for name, training, gpus, *cells in rows:
        made = plan(models[name], {"LoRA r16": "lora", "all weights": "full"}[training], int(gpus))
        generated = f"{made.generated:,.0f}" if made.generated else "by the server"
        assert cells == [made.engine, f"{made.gib:,.0f} GiB", generated, f"{made.learned:,.0f}"]
