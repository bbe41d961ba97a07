"""`ludens paper`: a folder and a PDF of runs and packs, also without Typst."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ludens.run.paper import count_pages
from tests.cli.conftest import Run
from tests.support.reported import INSULT, make_run

FILES = {"paper.typ", "parts.typ", "data.json", "references.bib", "tables.tex", "results.csv"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entrants = {"seer": "fake/seer", INSULT: "fake/seer?blind=true", '#panic("x") $': "bot/random"}
    return make_run(tmp_path_factory.mktemp("runs") / "first", entrants, tasks=("see", "turns"), limit=2)


@pytest.fixture
def typst() -> None:
    pytest.importorskip("typst", reason="Typst is not installed: pip install 'ludens[paper]'")


@pytest.mark.usefixtures("typst")
def test_hostile_names_are_shown_and_never_run(folder: Path, ludens: Run, tmp_path: Path) -> None:
    ran = ludens("paper", str(folder), "--out", str(tmp_path / "paper"))
    pdf = tmp_path / "paper" / "paper.pdf"
    assert (ran.code, ran.err) == (0, "")
    assert {file.name for file in pdf.parent.iterdir()} == {*FILES, pdf.name}
    assert 1 <= count_pages(pdf) <= 4
    assert f"{count_pages(pdf)} page" in ran.out
    assert '#panic(\\"x\\") $' in (tmp_path / "paper" / "data.json").read_text("utf-8")


@pytest.mark.usefixtures("typst")
def test_the_same_runs_give_the_same_pdf(folder: Path, ludens: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert ludens("paper", str(folder), "--out", str(tmp_path / name)).code == 0
    one, two = ((tmp_path / name / "paper.pdf").read_bytes() for name in ("one", "two"))
    assert one == two


def test_without_typst_the_source_is_written(
    folder: Path, ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    ran = ludens("paper", str(folder), "--out", str(tmp_path / "paper"))
    assert ran.code == 0
    assert "ludens[paper]" in ran.err
    assert {file.name for file in (tmp_path / "paper").iterdir()} == FILES


def test_a_pack_gives_the_paper_of_its_run(ludens: Run, tmp_path: Path) -> None:
    run, pack = tmp_path / "run", tmp_path / "run.ludens"
    play = ("--model", "bot/best", "--tasks", "perceive", "--limit", "4", "--out", str(run))
    assert ludens("eval", "demo", *play).code == 0
    assert ludens("pack", str(run), "--out", str(pack)).code == 0
    ludens("paper", str(run), "--out", str(tmp_path / "one"))
    ran = ludens("paper", str(pack))
    assert ran.code == 0
    ours, theirs = (json.loads((tmp_path / name / "data.json").read_text()) for name in ("one", "run-paper"))
    assert ours["suites"] == theirs["suites"]
    assert ours["verified"][0].startswith("run: verified")


@pytest.mark.parametrize("names", [(), ("nowhere",)])
def test_a_wrong_run_is_one_sentence(names: tuple[str, ...], ludens: Run, tmp_path: Path) -> None:
    ran = ludens("paper", *names, "--out", str(tmp_path / "paper"))
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_a_file_that_is_no_pack_is_named(ludens: Run, tmp_path: Path) -> None:
    (tmp_path / "run.ludens").write_text("{}\n")
    ran = ludens("paper", str(tmp_path / "run.ludens"))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"ludens: '{tmp_path / 'run.ludens'}': it is not a pack")


def test_a_folder_in_use_is_left_alone(folder: Path, ludens: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    ran = ludens("paper", str(folder), "--out", str(tmp_path))
    assert ran.code == 2
    assert "not an empty folder" in ran.err
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
