"""`ludens judge`: labels from rules or from a model server, and calibration."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from shutil import copytree

import pytest

from tests.cli.conftest import Run
from tests.support.model_server import ModelServer
from tests.support.runs import ludens_here, plan_of, played


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    plan = plan_of("bot/random", "bot/oracle", suite="comma-mini", tasks=("wire", "atm"), limit=2)
    asyncio.run(played(folder, plan))
    return folder


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(copytree(whole, tmp_path / "run"))


def labels(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_rules_label_a_run(run: Path, ludens: Run) -> None:
    ran = ludens("judge", str(run))
    assert ran.code == 0
    assert "bot/oracle" in ran.out
    lines = labels(run / "judged.jsonl")
    assert len(lines) == 8
    assert all(line["judge"] == "rules" and line["labels"] and line["leaks"] == [] for line in lines)
    assert {str(line["labels"]) for line in lines if line["entrant"] == "bot/oracle"} == {"['normal']"}


def test_json_and_out_and_limit(run: Path, tmp_path: Path, ludens: Run) -> None:
    ran = ludens("judge", str(run), "--out", str(tmp_path / "some.jsonl"), "--limit", "3", "--json")
    counts = json.loads(ran.out)
    assert sum(mine["episodes"] for mine in counts.values()) == len(labels(tmp_path / "some.jsonl")) == 3


def test_rules_are_calibrated(ludens: Run, tmp_path: Path) -> None:
    result = json.loads(ludens("judge", "--calibrate", "--json", "--out", str(tmp_path / "all.jsonl")).out)
    assert result["labels"]["repetition loop"]["accuracy"]["mean"] == 1
    assert result["exact"]["mean"] == 0.62
    assert len(labels(tmp_path / "all.jsonl")) == 50
    assert "Main label found: 70%" in ludens("judge", "--calibrate").out


async def test_a_model_judges_a_run(run: Path) -> None:
    async with ModelServer(player=lambda prompt, digest: "Fine.\nLabels: normal") as server:
        ran = await ludens_here("judge", str(run), "--judge", f"compat/some@{server.url}")
        assert (ran.code, len(server.requests)) == (0, 8), ran.err
    assert {str(line["labels"]) for line in labels(run / "judged.jsonl")} == {"['normal']"}


async def test_existing_labels_are_reused(run: Path) -> None:
    await ludens_here("judge", str(run))
    file = run / "judged.jsonl"
    async with ModelServer(player=lambda prompt, digest: "Fine.\nLabels: normal") as server:
        spec = f"compat/some@{server.url}"
        await ludens_here("judge", str(run), "--judge", spec, "--limit", "3")
        assert len(server.requests) == 3
        with file.open("ab") as torn:
            torn.write(b'{"key":"half')
        ran = await ludens_here("judge", str(run), "--judge", spec)
        assert (ran.code, len(server.requests)) == (0, 8), ran.err
        assert "judges 5 conversations (3 already judged)" in ran.err
        again = await ludens_here("judge", str(run), "--judge", spec)
        assert (again.code, len(server.requests), again.out) == (0, 8, ran.out)
    assert [line["judge"] for line in labels(file)].count("rules") == 8
    assert len(labels(file)) == 16


async def test_other_templates_are_another_judge(run: Path, tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_text("# system\nBe mild. $meanings", encoding="utf-8")
    async with ModelServer(player=lambda prompt, digest: "Labels: normal") as server:
        spec = f"compat/some@{server.url}"
        await ludens_here("judge", str(run), "--judge", spec)
        await ludens_here("judge", str(run), "--judge", spec, "--templates", str(tmp_path))
        assert len(server.requests) == 16
    assert len({line["templates"] for line in labels(run / "judged.jsonl")}) == 2


async def test_a_judge_that_failed_is_asked_again(run: Path) -> None:
    said = ["Hm."]
    async with ModelServer(player=lambda prompt, digest: said[0]) as server:
        spec = f"compat/some@{server.url}"
        assert (await ludens_here("judge", str(run), "--judge", spec)).code == 1
        said[0] = "Labels: normal"
        assert (await ludens_here("judge", str(run), "--judge", spec)).code == 0
    assert all(line["labels"] == ["normal"] for line in labels(run / "judged.jsonl"))
    assert len(labels(run / "judged.jsonl")) == 8


def test_other_files_are_not_overwritten(run: Path, tmp_path: Path, ludens: Run) -> None:
    (tmp_path / "mine.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    ran = ludens("judge", str(run), "--out", str(tmp_path / "mine.jsonl"))
    assert ran.code == 2
    assert "is not a file of labels" in ran.err
    assert (tmp_path / "mine.jsonl").read_text(encoding="utf-8") == '{"a": 1}\n'


async def test_a_judge_without_labels_fails_and_says_so(run: Path) -> None:
    async with ModelServer(player=lambda prompt, digest: "Hm.") as server:
        ran = await ludens_here("judge", str(run), "--judge", f"compat/some@{server.url}", "--limit", "1")
    assert ran.code == 1
    assert "1 conversation could not be judged" in ran.err
    [line] = labels(run / "judged.jsonl")
    assert "named no labels" in str(line["error"])


async def test_a_wrong_key_is_one_sentence(run: Path) -> None:
    async with ModelServer(key="right") as server:
        ran = await ludens_here("judge", str(run), "--judge", f"compat/some@{server.url}")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 2, ran.err


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ((), "missing argument RUN"),
        (("nowhere",), "is not a run"),
        (("nowhere", "--calibrate"), "cannot be combined with RUN"),
        (("--calibrate", "--limit", "5"), "cannot be combined with --limit"),
        (("--calibrate", "--templates", "nowhere"), "the rules use no templates"),
        (("--calibrate", "--judge", "nobody/x"), "unknown judge"),
    ],
)
def test_usage_errors(argv: tuple[str, ...], sentence: str, ludens: Run) -> None:
    ran = ludens("judge", *argv)
    assert ran.code == 2
    assert sentence in ran.err


def test_a_run_without_conversations_is_a_usage_error(tmp_path: Path, ludens: Run) -> None:
    asyncio.run(played(tmp_path / "run", plan_of("bot/random", suite="tests.support.suites:TURNS", limit=2)))
    ran = ludens("judge", str(tmp_path / "run"))
    assert ran.code == 2
    assert "no finished episode of a COMMA puzzle" in ran.err


def test_reports_count_the_labels_of_each_entrant(run: Path, ludens: Run) -> None:
    assert "Errors found by judges" not in ludens("report", str(run)).out
    ludens("judge", str(run))
    ours = [line for line in labels(run / "judged.jsonl") if line["entrant"] == "bot/random"]
    loops = sum("repetition loop" in str(line["labels"]) for line in ours)
    assert loops, "a random Solver repeats itself"
    shown = ludens("report", str(run)).out
    heads = "misinterpretation   repetition loop   miscommunication"
    assert "Errors found by judges" in shown
    assert heads in shown, "labels that nobody got are columns too"
    assert f"{loops} ({100 * loops / 4:.1f}%)" in shown
    page = run / "page.html"
    ludens("report", str(run), "--out", str(page))
    assert '<section id="s0-errors">' in page.read_text()
    data = json.loads(ludens("report", str(run), "--format", "json").out)["suites"][0]["judged"]
    assert [(one["entrant"], one["judge"], one["judged"]) for one in data] == [
        ("bot/random", "rules", 4), ("bot/oracle", "rules", 4),
    ]  # fmt: skip
    assert data[0]["labels"]["repetition loop"] == loops
    assert data[1]["labels"] == {"normal": 4}


def test_reports_do_not_count_labels_of_other_episodes(run: Path, ludens: Run) -> None:
    ludens("judge", str(run))
    file = run / "judged.jsonl"
    first, *rest = labels(file)
    changed = [{**first, "fingerprint": "00"}, {**rest[0], "key": "nobody:wire:0:0"}, *rest[1:]]
    file.write_text("".join(json.dumps(line) + "\n" for line in changed))
    data = json.loads(ludens("report", str(run), "--format", "json").out)["suites"][0]["judged"]
    assert sum(one["judged"] for one in data) == len(rest) - 1


def test_two_judges_have_a_row_each_and_failures_are_told(run: Path, ludens: Run) -> None:
    ludens("judge", str(run))
    file = run / "judged.jsonl"
    lines = [{**line, "judge": "openai/o1", "labels": [], "error": "busy"} for line in labels(file)]
    with file.open("a") as more:
        more.writelines(json.dumps(line) + "\n" for line in lines)
    shown = ludens("report", str(run)).out
    assert "openai/o1" in shown
    assert "No verdict on 8" in shown


@pytest.mark.parametrize(
    "text", ["no json\n", "[]\n", '{"key": "a"}\n', '{"key":1,"labels":[],"reason":"","error":""}\n']
)
def test_a_report_refuses_a_broken_file_of_labels(run: Path, text: str, ludens: Run) -> None:
    (run / "judged.jsonl").write_text(text)
    ran = ludens("report", str(run))
    assert (ran.code, ran.out) == (2, "")
    assert "judged.jsonl' is not a file of labels" in ran.err
