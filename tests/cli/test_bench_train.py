"""`ludens bench train` measures the plain and the fast way side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from benchmarks import Row
from benchmarks import train as bench_train
from benchmarks.random_vlm import SIZES, random_qwen
from benchmarks.train import MEASURED, WORK, Bench, Work
from ludens.models.chat import Tokens
from tests.cli.conftest import Run

SMALL = Work(4, 10, (2, 5), 3, samples=3, micro=2, games=2, game_tokens=1)


@pytest.mark.slow
def test_every_way_is_measured(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORK, "tiny", SMALL)
    measured = json.loads(ludens("bench", "train", "--seconds", "0.001", "--json").out)["train"]
    rows = {row["what"]: row for row in measured}
    assert list(rows) == [
        "generate 2, plain",
        "generate 2, static cache",
        "generate 5, plain",
        "update LoRA, plain",
        "games, one at a time, plain",
        "generate 5, static cache, varlen",
        "generate 5, static cache, varlen, features once",
        "update LoRA, features once",
        "update LoRA, features once, checkpointing",
        "update full, features once",
        "games, 2 at a time",
    ]
    assert all(row["value"] > 0 for row in measured)
    compared = {what for what, row in rows.items() if "times the plain way" in row["note"]}
    assert compared == {what for what in rows if "plain" not in what} - {"update full, features once"}
    assert {what for what, row in rows.items() if row["target"]} == {"games, 2 at a time"}
    engine, alone = rows["games, 2 at a time"], rows["games, one at a time, plain"]
    assert engine["target"] == pytest.approx(20 * alone["value"])


def test_figures_measured_before_have_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def row(self: Bench, what: str, work: Any, tokens: int) -> Row:
        names.append(what)
        self.answers["plain"] = [Tokens([1], [2], [0.0], 1.0, (), [])]
        return Row(what, 1.0, "tokens/s")

    monkeypatch.setitem(SIZES, "3b", SIZES["tiny"])
    monkeypatch.setattr(Bench, "_row", row)
    monkeypatch.setattr(Bench, "games", lambda *_, **__: 1.0)
    monkeypatch.setattr(bench_train, "_picture", lambda seed, side: None)
    assert len(list(bench_train.rows(0.001, "3b"))) == len(names) + 2
    assert set(MEASURED) <= set(names)


def test_prompts_are_as_long_as_in_the_measurements() -> None:
    _, processor = random_qwen(SIZES["tiny"])
    work = WORK["3b"]
    picture = (work.patches // 2) ** 2
    parts = [{"type": "image"}, {"type": "text", "text": bench_train.TEXT[: work.text]}]
    text = processor.apply_chat_template(
        [{"role": "user", "content": parts}], add_generation_prompt=True, tokenize=False
    )
    assert picture == 324
    assert len(processor.tokenizer(text)["input_ids"]) - 1 + picture == 476


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "--size", "4b"), "4b"),
        (("draw", "--size", "3b"), "--size is an option of the benchmark train"),
    ],
)
def test_wrong_sizes(ludens: Run, arguments: tuple[str, ...], message: str) -> None:
    ran = ludens("bench", *arguments)
    assert ran.code == 2
    assert message in ran.err
