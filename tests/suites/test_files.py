"""A user's own benchmark file as a task: what is read, how answers are judged, and the controls."""

from __future__ import annotations

import base64
import csv
from pathlib import Path
from typing import Any

import pytest

import ludens
from ludens.cli import main
from ludens.core.errors import BadFile
from ludens.draw import Picture
from ludens.run.results import load_results
from ludens.suites.files import read_rows, same_answer
from tests.support.model_server import ModelServer

PICTURES = [question.pictures[0] for question in ludens.make("files").rows]  # type: ignore[attr-defined]


def tsv(path: Path, rows: list[dict[str, Any]]) -> Path:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return path


def rows() -> list[dict[str, Any]]:
    images = [base64.b64encode(picture).decode() for picture in PICTURES]
    return [
        {"index": 0, "image": images[0], "question": "Which?", "answer": "B", "A": "one", "B": "two"},
        {"index": 1, "image": images[1], "question": "How many?", "answer": "1.50", "category": "count"},
        {"index": 2, "image": "0", "question": "Colour?", "answer": "red", "choices": "['red', 'blue']"},
        {"index": 3, "image": "", "question": "Say it.", "answer": "Paris", "hint": "A city."},
    ]


def test_rows_of_a_tsv(tmp_path: Path) -> None:
    lettered, number, listed, words = read_rows(tsv(tmp_path / "a.tsv", rows()))
    assert (lettered.options, lettered.answers) == (("one", "two"), ("B",))
    assert (number.options, number.answers, number.category) == ((), ("1.50",), "count")
    assert (listed.options, listed.answers) == (("red", "blue"), ("A",))
    assert listed.pictures == lettered.pictures == (PICTURES[0],)
    assert (words.pictures, words.hint) == ((), "A city.")


def test_rows_of_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra data")
    import pyarrow.parquet as pq

    table = {
        "question": ["Which?", "How many?"],
        "answer": ["two", "7"],
        "options": [["one", "two"], None],
        "image": [{"bytes": PICTURES[0], "path": None}, {"bytes": PICTURES[1], "path": None}],
    }
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    first, second = read_rows(tmp_path / "a.parquet")
    assert (first.options, first.answers, first.pictures) == (("one", "two"), ("B",), (PICTURES[0],))
    assert (second.options, second.answers, second.index) == ((), ("7",), "1")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"question": "?", "answer": ""}, "no answer"),
        ({"question": "", "answer": "A"}, "no question"),
        ({"question": "?", "answer": "C", "A": "x", "B": "y"}, "not one of its options"),
        ({"question": "?", "answer": "x", "image": base64.b64encode(b"no picture" * 9).decode()}, "picture"),
    ],
)
def test_faults_of_a_file(wrong: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=words):
        read_rows(tsv(tmp_path / "a.tsv", [wrong]))


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "files", "--data", str(tmp_path / "none.tsv"), "--model", "bot/oracle"]) == 2
    assert "none.tsv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "right", "same"),
    [
        ("1.5", "1.50", True),
        ("1.498", "1.50", True),
        ("1.4", "1.50", False),
        ("1,200", "1200", True),
        ("12%", "12", True),
        ("PARIS.", "Paris", True),
        ("Paris, France", "Paris", False),
        ("two", "2", False),
        ("", "0", False),
        ("-", "0", False),
    ],
)
def test_answers_are_compared(said: str, right: str, same: bool) -> None:
    assert same_answer(said, right) == same


def test_letters_are_listed_where_no_row_asks_for_a_text(tmp_path: Path) -> None:
    lettered = rows()[0]
    assert ludens.make("files", data=str(tsv(tmp_path / "a.tsv", rows()))).actions("reader") is None
    assert ludens.make("files", data=str(tsv(tmp_path / "b.tsv", [lettered]))).actions("reader") == ("A", "B")


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    file = tsv(tmp_path / "a.tsv", rows())
    with pytest.raises(BadFile, match="another hash"):
        ludens.make("files", data=str(file), hash="0" * 24).start(0)


async def test_a_model_and_its_blind_control(tmp_path: Path) -> None:
    import asyncio

    file, out = tsv(tmp_path / "bench.tsv", rows()[:2] * 3), tmp_path / "run"
    seen: list[int] = []

    def player(prompt: str, digest: bytes) -> str:
        seen.append(len(prompt))
        return "Answer: B" if "Which?" in prompt else "Answer: 1.5"

    async with ModelServer(player=player) as server:
        words = ["eval", "files", "--data", str(file), "--model", f"compat/m@{server.url}", "--out", str(out)]
        assert await asyncio.to_thread(main, words) == 0
        images = [part for body in server.requests for part in body["messages"][-1]["content"]]
    model, blind = load_results([out]).suites[0].rows
    assert model.cells["bench"].metrics["accuracy"].mean == 1.0
    assert blind.blind
    assert blind.cells["bench"].metrics["accuracy"].n == 6
    urls = {part["image_url"]["url"] for part in images if part["type"] == "image_url"}
    shown = {Picture.from_bytes(base64.b64decode(url.partition(",")[2])).hash for url in urls}
    blanks = {Picture.from_bytes(picture).blank().hash for picture in PICTURES[:2]}
    assert shown == {Picture.from_bytes(picture).hash for picture in PICTURES[:2]} | blanks
    assert await asyncio.to_thread(main, ["verify", str(out)]) == 0
