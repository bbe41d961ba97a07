"""Offline sets: the same bytes from the same seed, readable by others, refused when off their targets."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption, MissingExtra, UnknownName
from ludens.core.view import RenderOptions
from ludens.run import dataset as files
from ludens.run.dataset import DatasetOrder, build_dataset, write
from ludens.suites.vs_bench import samples
from ludens.suites.vs_bench.predict import STRIDE, build, check_shares, distribution
from ludens.suites.vs_bench.samples import sample
from tests.support.runs import plan_of, played

pytest.importorskip("pyarrow")

SMALL = RenderOptions(size=256)


def made(folder: Path, what: str = "coin_dilemma", **order: object) -> Path:
    write(build_dataset("vs-bench", DatasetOrder(what, **{"n": 32, "render": SMALL, **order})), folder)  # type: ignore[arg-type]
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    first, again, other = (made(tmp_path / n, seed=s) for n, s in (("a", 4), ("b", 4), ("c", 5)))
    assert contents(first) == contents(again)
    assert contents(first)["samples.parquet"] != contents(other)["samples.parquet"]


def test_the_manifest_names_every_file_and_its_hash(tmp_path: Path) -> None:
    there = contents(made(tmp_path / "set"))
    manifest = json.loads(there.pop("manifest.json"))
    assert manifest["sha256"] == {name: sha256(data).hexdigest() for name, data in there.items()}
    assert manifest["samples"] == 32
    assert manifest["made_from"]["game"] == "coin_dilemma"
    assert {"ludens", "numpy", "pyarrow", "python"} <= manifest["made_with"].keys()
    counts = {(d["of"], d["value"]): d["samples"] for d in manifest["distribution"]}
    assert counts["target", "red"] == counts["target", "blue"] == 16


def test_rows_hold_what_the_suite_asks_with_the_same_seed(tmp_path: Path) -> None:
    import pyarrow.parquet as pq
    from PIL import Image

    folder = made(tmp_path / "set", "overcooked", n=8)
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    for number, row in enumerate(rows):
        asked = sample("overcooked", number)
        assert (row["answer"], row["options"]) == (asked.done, list(asked.options))
        assert row["answers"] == sorted(asked.truth)
        assert f"What will {asked.target} do" in row["notes"]
        assert len(row["images"]) == min(4, asked.step + 1)
        for image in row["images"]:
            assert image["bytes"] == (folder / image["path"]).read_bytes()
            assert Image.open(io.BytesIO(image["bytes"])).size == (256, 256)


def test_the_papers_rule_can_be_asked_for(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = pq.read_table(made(tmp_path / "set", "kuhn_poker?rule=paper", n=8) / "samples.parquet").to_pylist()
    assert [row["answer"] for row in rows] == [sample("kuhn_poker", n, "paper").done for n in range(8)]
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text())
    assert manifest["made_from"]["rule"] == "paper"
    with pytest.raises(UnknownName, match="known: paper, single"):
        build_dataset("vs-bench", DatasetOrder("kuhn_poker?rule=x", 1))


def test_hugging_face_finds_its_features_in_the_file(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    schema = pq.read_schema(made(tmp_path / "set") / "samples.parquet")
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == schema.names
    assert features["images"] == {"feature": {"_type": "Image"}, "_type": "List"}


def test_hugging_face_reads_the_file(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="Hugging Face's datasets is not installed")
    folder = made(tmp_path / "set")
    read = datasets.load_dataset(
        "parquet", data_files=str(folder / "samples.parquet"), cache_dir=str(tmp_path / "cache")
    )["train"]
    assert len(read) == 32
    assert read[0]["images"][0].size == (256, 256)


@pytest.mark.parametrize("n", [1, 7, 33, 101])
def test_any_number_of_samples_is_right_but_for_rounding(n: int) -> None:
    asked = [sample("kuhn_poker", number) for number in range(STRIDE, STRIDE + n)]
    check_shares("kuhn_poker", asked, distribution("kuhn_poker", asked))


def test_a_set_that_misses_its_targets_is_refused() -> None:
    one_sided = [sample("coin_dilemma", number) for number in range(0, 64, 2)]
    with pytest.raises(BadOption, match=r"32 of 32 samples have the target|the dataset misses its target"):
        check_shares("coin_dilemma", one_sided, distribution("coin_dilemma", one_sided))
    lazy = [replace(s, kind="STAY", done="STAY") for s in (sample("overcooked", n) for n in range(16))]
    with pytest.raises(BadOption, match=r"kind 'STAY', and 1\.6 are wanted"):
        check_shares("overcooked", lazy, distribution("overcooked", lazy))


def test_a_set_that_repeats_itself_is_refused() -> None:
    same = [sample("coin_dilemma", number) for number in range(16)] * 2
    with pytest.raises(BadOption, match="16 of 32 samples look like an earlier one; at most 2 are allowed"):
        check_shares("coin_dilemma", same, distribution("coin_dilemma", same))


def test_a_recipe_that_cannot_be_met_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "ATTEMPTS", 2)
    monkeypatch.setitem(
        samples.RECIPES, "kuhn_poker", replace(samples.RECIPES["kuhn_poker"], classes={"FOLD": 1})
    )
    with pytest.raises(RuntimeError, match="no match of kuhn_poker shows first doing FOLD"):
        sample("kuhn_poker", 0)


def test_wrong_orders_get_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for order, kind, says in (
        (DatasetOrder("hanaby", 4), UnknownName, "did you mean 'hanabi'"),
        (DatasetOrder("hanabi", 0), BadOption, "at least 1"),
        (DatasetOrder("hanabi", 4, seed=-1), BadOption, "a seed from 0"),
        (DatasetOrder("hanabi", 4, run=tmp_path), BadFile, "no run.json"),
    ):
        with pytest.raises(kind, match=says):
            build_dataset("vs-bench", order)
    with pytest.raises(UnknownName, match="unknown dataset"):
        build_dataset("vs-banch-x", DatasetOrder("hanabi", 4))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(BadOption, match="is not an empty folder"):
        made(tmp_path / "full", n=1)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"ludens\[data\]"):
        files.check_folder(tmp_path / "new")


async def recorded_run(folder: Path, episodes: int = 6) -> Path:
    plan = plan_of(
        "bot/random", suite="vs-bench", tasks=("decide/coin_dilemma", "decide/overcooked"), limit=episodes
    )
    await played(folder, plan)
    return folder


async def test_a_recorded_run_becomes_a_set(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    run = await recorded_run(tmp_path / "run")
    order = {"n": 40, "run": run, "seed": 2}
    first, again = made(tmp_path / "a", **order), made(tmp_path / "b", **order)
    assert contents(first) == contents(again)
    rows = pq.read_table(first / "samples.parquet").to_pylist()
    assert {row["match"] for row in rows} == {"bot/random v bot/random"}
    assert Counter(row["target"] for row in rows) == {"red": 20, "blue": 20}
    assert len({(row["text"], row["target"]) for row in rows}) > 35
    cooks = pq.read_table(made(tmp_path / "c", "overcooked", **order) / "samples.parquet").to_pylist()
    assert Counter(row["kind"] for row in cooks) == {"act": 36, "stay": 4}
    assert str(tmp_path) not in (first / "manifest.json").read_text()


async def test_a_run_with_too_little_is_refused(tmp_path: Path) -> None:
    run = await recorded_run(tmp_path / "run", 1)
    with pytest.raises(BadOption, match="too few moves by red in coin_dilemma: they last for 100 samples"):
        build_dataset("vs-bench", DatasetOrder("coin_dilemma", 101, run=run))
    with pytest.raises(BadOption, match="holds no finished episode of hanabi"):
        build_dataset("vs-bench", DatasetOrder("hanabi", 4, run=run))


def test_builders_can_be_brought_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.DATASETS, "_added", {"mine": build})
    assert build_dataset("mine", DatasetOrder("kuhn", 4)).name == "vs-bench/kuhn_poker"
