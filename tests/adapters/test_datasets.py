"""Datasets for other tools: written, read back with their own readers, and graded as the games grade."""

from __future__ import annotations

import base64
import csv
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

datasets = pytest.importorskip("datasets", reason="datasets: runs with `make adapters`")

import ludens  # noqa: E402
from ludens.adapters.datasets import grade, question_rows, question_task, reply_rows, write_tsv  # noqa: E402
from ludens.cli import main  # noqa: E402
from ludens.draw import Picture  # noqa: E402
from ludens.evaluation import evaluate  # noqa: E402
from ludens.run.results import load_results  # noqa: E402
from ludens.suites.files import read_rows  # noqa: E402

TASKS = (
    "playground-mini/qa/chess",
    "vs-bench-mini/reason/hanabi",
    "viki/activate",
    "perceive?board=reversi",
    "vs-bench/predict?game=hanabi",
)
"""Of three suites, and a game; three kinds of format."""

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def write_answer(row: dict[str, Any], action: str) -> str:
    """A reply with this action, in the form that the question asks for."""
    game = ludens.make(row["game"])
    state = game.start(row["seed"])
    return game.view(ludens.RenderOptions(), row["seed"]).format(state, row["seat"]).write(action)


def test_the_version() -> None:
    assert datasets.__version__ >= "5.2"


@pytest.mark.parametrize("name", TASKS)
def test_questions_come_back_with_their_pictures_and_are_graded(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["export", name, "--to", "datasets", "--out", str(out), "-n", "5", "--seed", "3"]) == 0
    read = datasets.load_dataset(
        "parquet", data_files=str(out / "samples.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    expected = list(question_rows(question_task(name), 5, 3))
    assert len(read) == 5
    for row, question in zip(read, expected, strict=True):
        assert row["question"] == question["question"]
        assert [Picture.from_bytes(_png(image)).hash for image in row["images"]] == [
            picture.hash for picture in question["images"]
        ]
        right = grade(row, write_answer(row, row["answer"]))
        assert (right.verdict, right.action, right.reward) == ("ok", row["answer"], 1.0)
        for option in row["options"] or ():
            state = ludens.make(row["game"]).start(row["seed"])
            state.apply({row["seat"]: option})
            assert grade(row, write_answer(row, option)).reward == state.returns[row["seat"]]
        assert grade(row, "I cannot say.").verdict in ("unreadable", "illegal")


def _png(image: Any) -> bytes:
    from io import BytesIO

    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def test_the_tsv_is_read_by_the_files_suite_and_by_hand(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["export", "qa?board=chess", "--to", "vlmevalkit", "--out", str(out), "-n", "4"]) == 0
    [file] = out.glob("*.tsv")
    csv.field_size_limit(2**27)
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t"))
    expected = list(question_rows(question_task("qa?board=chess"), 4))
    for row, question, again in zip(rows, expected, read_rows(file), strict=True):
        picture = Picture.from_bytes(base64.b64decode(row["image"]))
        assert picture.hash == question["images"][0].hash
        assert again.pictures == (base64.b64decode(row["image"]),)
        assert again.answers == (question["answer"],)
        assert question["question"] in row["question"]
        assert grade(row, f"Answer: {row['answer']}").reward == 1.0


def test_several_pictures_in_a_tsv(tmp_path: Path) -> None:
    [row] = question_rows(question_task("qa?board=chess"), 1)
    picture = row["images"][0]
    write_tsv([{**row, "images": [picture, picture.blank()]}], tmp_path / "two.tsv")
    [again] = read_rows(tmp_path / "two.tsv")
    assert [Picture.from_bytes(data).hash for data in again.pictures] == [picture.hash, picture.blank().hash]


def test_the_task_file_of_lmms_eval(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="runs with `make adapters`")
    out = tmp_path / "out"
    assert main(["export", "qa?board=reversi", "--to", "lmms-eval", "--out", str(out), "-n", "3"]) == 0
    [file] = out.glob("*.yaml")
    spec = importlib.util.spec_from_file_location("lmms_utils", out / "utils.py")
    assert spec
    assert spec.loader
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """What lmms-eval does with `!function`."""

    Loader.add_constructor(
        "!function", lambda loader, node: getattr(utils, node.value.removeprefix("utils."))
    )
    task = yaml.load(file.read_text(), Loader)
    read = datasets.load_dataset(
        task["dataset_path"], **task["dataset_kwargs"], cache_dir=str(tmp_path / "cache")
    )
    for row in read[task["test_split"]]:
        assert task["doc_to_visual"](row)[0].size == (512, 512)
        assert row["question"] in task["doc_to_text"](row)
        right = task["process_results"](row, [f"Answer: {row[task['doc_to_target']]}"])
        assert right == {task["metric_list"][0]["metric"]: 1.0}
        assert task["process_results"](row, ["no idea"]) == {"ludens_reward": 0.0}
    assert "lmms_utils" not in sys.modules


def test_replies_of_a_run_are_graded_as_they_were_judged(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    evaluate("demo", ["bot/best"], tasks=["tic_tac_toe"], limit=2, out=run)
    assert main(["export", str(run), "--to", "datasets", "--out", str(out)]) == 0
    read = datasets.load_dataset(
        "parquet", data_files=str(out / "samples.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    expected = list(reply_rows(load_results([run])))
    assert len(read) == len(expected) > 4
    for row in read:
        graded = grade(row, row["completion"])
        assert (graded.verdict, graded.action) == (row["verdict"], row["answer"])
    assert float(read[0]["reward"]) in (-1.0, 0.0, 1.0)


def test_what_cannot_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for source, to, words in [
        ("tic_tac_toe", "datasets", "not a question"),
        ("demo/tic_tac_to", "datasets", "tic_tac_toe"),
        ("qa?board=chess", "inspect", "not the folder of a run"),
    ]:
        assert main(["export", source, "--to", to, "--out", str(tmp_path / "out")]) == 2
        assert words in capsys.readouterr().err
