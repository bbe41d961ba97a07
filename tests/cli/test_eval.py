"""`ludens eval` and `ludens resume` with bots: flags, folders, exit codes, messages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ludens.cli.eval import default_folder
from ludens.run.lines import read_records
from ludens.run.plan import Entrants
from ludens.run.store import read_plan
from tests.cli.conftest import Run
from tests.support.runs import QUICK, ROOT, TURNS, found

BOTS = ["eval", TURNS, "-m", "bot/random", "--limit", "2"]
TINY = "vllm/tiny@http://127.0.0.1:1/v1"


def test_eval_prints_a_table_and_writes_a_report(ludens: Run, tmp_path: Path) -> None:
    ran = ludens(*BOTS, "-m", "bot/first", "--out", str(tmp_path / "run"))
    assert ran.code == 0
    assert f"Open {tmp_path / 'run' / 'report.html'}" in ran.out
    assert re.search(r"bot/random +\d+\.\d", ran.out)
    assert ran.err.startswith(f"playing, saving to {tmp_path / 'run'}\n4/4 episodes")
    assert len(found(tmp_path / "run")) == 4


def test_same_command_again_plays_nothing_twice(ludens: Run, tmp_path: Path) -> None:
    words = [*BOTS, "--out", str(tmp_path / "run")]
    first = ludens(*words)
    before = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    again = ludens(*words)
    assert (again.code, again.out, again.err) == (0, first.out, "")
    resumed = ludens("resume", str(tmp_path / "run"))
    assert (resumed.code, resumed.out) == (0, first.out)
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == before


def test_flags_reach_the_plan(ludens: Run, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    ran = ludens(
        "eval", QUICK, "--model", "bot/random", "--model", "bot/first", "--name", "one", "--name", "two",
        "--tasks", "question, turns", "--limit", "1", "--samples", "2", "--seed", "7",
        "--theme", "plain", "--size", "256",
        "--templates", str(tmp_path / "templates"), "--workers", "1", "--concurrency", "2",
        "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    plan = read_plan(tmp_path / "run")
    assert plan.entrants == {"one": "bot/random", "two": "bot/first"}
    assert (plan.tasks, plan.limit, plan.samples, plan.seed) == (("question", "turns"), 1, 2, 7)
    assert (plan.theme, plan.size) == ("plain", 256)
    assert plan.templates == str(tmp_path / "templates")
    assert {(r.episode.seed, r.episode.theme, r.episode.size) for r in read_records(tmp_path / "run")} == {
        (7, "plain", 256)
    }


def test_limit_above_the_episodes_of_a_task_is_named(ludens: Run, tmp_path: Path) -> None:
    ran = ludens("eval", TURNS, "-m", "bot/random", "--limit", "8000", "--out", str(tmp_path / "run"))
    assert ran.code == 0
    first = ran.err.splitlines()[0]
    assert first.startswith("ludens: limit 8,000 is above the number of episodes of ")
    assert "no more are played" in first


def test_run_without_out_gets_a_new_folder(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ludens(*BOTS).code == 0
    assert ludens(*BOTS).code == 0
    first, second = sorted((tmp_path / "runs").iterdir())
    assert re.fullmatch(r"tests\.support\.suites-TURNS-bot-random-\d{8}-\d{6}", first.name)
    assert found(first) == found(second)


def test_default_folder_needs_no_quoting() -> None:
    name = default_folder("mine:SUITE?a=1", Entrants(dict.fromkeys(["gpt 4/x & (blind)", "b"], ""))).name
    assert re.fullmatch(r"[A-Za-z0-9._-]+", name)
    assert name.startswith("mine-SUITE-a-1-gpt-4-x-blind-and-1-more-")


def test_suite_in_the_current_folder(ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    [code] = re.findall(r'^```python title="my_suite\.py"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    (tmp_path / "my_suite.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    ran = ludens("eval", "my_suite:SUITE", "-m", "bot/random", "--limit", "2", "--out", "run")
    assert ran.code == 0, ran.err
    assert "mine" in ran.out
    assert len(found(tmp_path / "run")) == 2


WRONG = {
    "no model": (["eval", "demo"], "give at least one --model"),
    "suite": (["eval", "dmo", "-m", "bot/random"], "did you mean 'demo'?"),
    "suite missing": (["eval"], "missing argument SUITE"),
    "module": (["eval", "no.such:SUITE", "-m", "bot/random"], "cannot be loaded"),
    "task": (["eval", "demo", "-m", "bot/random", "--tasks", "keypd"], "did you mean 'keypad'?"),
    "model": (["eval", "demo", "-m", "opnai/x"], "did you mean 'openai/...'"),
    "bot": (["eval", "demo", "-m", "bot/randm"], "did you mean 'bot/random'?"),
    "unsuitable bot": (["eval", "demo", "-m", "bot/mcts"], "bot/mcts plays OpenSpiel games only"),
    "option": (["eval", "demo", "-m", f"{TINY}?temprature=1"], "did you mean 'temperature'?"),
    "key": (["eval", "demo", "-m", "openai/gpt-4.1"], "set the environment variable OPENAI_API_KEY"),
    "blind bot": (["eval", "demo", "-m", "bot/random", "--blind"], "is not a model and takes no --blind"),
    "blind reader": (["eval", "demo", "-m", TINY, "--blind", "--modality", "text"], "cannot be combined"),
    "control of bots": (["eval", "demo", "-m", "bot/first", "--blind-control"], "needs a model"),
    "style": (["eval", "demo", "-m", TINY, "--style", "loud"], "style"),
    "frames": (["eval", "demo", "-m", TINY, "--frames", "0"], "must be at least 1"),
    "words": (["eval", "demo", "-m", TINY, "--templates", "no-such-folder"], "does not exist"),
    "theme": (["eval", "demo", "-m", "bot/random", "--theme", "plane"], "did you mean 'plain'?"),
    "size": (["eval", "demo", "-m", "bot/random", "--size", "9"], "64 to 1024"),
    "limit": (["eval", "demo", "-m", "bot/random", "--limit", "-1"], "at least 0, not -1"),
    "samples": (["eval", "demo", "-m", "bot/random", "--samples", "0"], "--samples must be 1 to"),
    "concurrency": (["eval", "demo", "-m", "bot/random", "--concurrency", "0"], "at least 1, not 0"),
    "workers": (["eval", "demo", "-m", "bot/random", "--workers", "-2"], "at least 0, not -2"),
    "too many workers": (["eval", "demo", "-m", "bot/random", "--workers", "1000000"], "at most"),
    "too many nodes": (["eval", "demo", "-m", TINY, "--ray", "x", "--workers", "10001"], "most 10000"),
    "seeds held back": (["eval", "demo", "-m", "bot/random", "--seed", str(2**41 + 2)], "give --held-back"),
    "two seeds": (["eval", "demo", "-m", "bot/random", "--held-back", "--seed", "4"], "not both"),
    "no tasks": (["eval", "demo", "-m", "bot/random", "--tasks", ", "], "--tasks names no task"),
    "modality": (["eval", "demo", "-m", TINY, "--modality", "imag"], "'imag'; did you mean 'image'?"),
    "seeds beyond 64 bits": (["eval", "demo", "-m", "bot/random", "--seed", str(2**63 - 1)], "64 bits"),
    "calls": (["eval", "demo", "-m", "bot/random", "--max-calls", "0"], "--max-calls must be above 0"),
    "cost without price": (["eval", "demo", "-m", TINY, "--max-cost", "1"], "needs a price for vllm/tiny"),
    "names": (["eval", "demo", "-m", "bot/random", "--name", "a", "--name", "b"], "1 entrants but 2 names"),
    "no run": (["resume", "no-such-folder"], "is not a run"),
}  # fmt: skip


@pytest.mark.parametrize(("argv", "hint"), WRONG.values(), ids=WRONG)
def test_usage_errors_are_found_before_anything_is_written(
    argv: list[str], hint: str, ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "LUDENS_PRICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    ran = ludens(*argv)
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert line.startswith("ludens: ")
    assert hint in line
    assert list(tmp_path.iterdir()) == []


def test_folder_of_another_run_is_rejected(ludens: Run, tmp_path: Path) -> None:
    ludens(*BOTS, "--out", str(tmp_path / "run"))
    before = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    ran = ludens(*BOTS, "--seed", "1", "--out", str(tmp_path / "run"))
    assert (ran.code, ran.out) == (2, "")
    assert "contains another run" in ran.err
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == before


def test_large_run_needs_yes(ludens: Run, tmp_path: Path) -> None:
    ran = ludens("eval", "tests.support.suites:MANY", "-m", TINY, "--out", str(tmp_path / "run"))
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("ludens: this is a large run: add --yes")
    assert "10,000 episodes: about " in ran.err
    assert not (tmp_path / "run").exists()


def test_large_run_asks_on_a_terminal(ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return "no\n"

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ran = ludens("eval", "tests.support.suites:MANY", "-m", TINY, "--out", str(tmp_path / "run"))
    assert ran.code == 2
    assert ran.err.endswith("Start it? [y/N] ludens: the run was not started.\n")
    assert not (tmp_path / "run").exists()


def test_missing_ray_is_found_before_anything_is_written(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ludens.cli.eval.find_spec", lambda name: None)
    ran = ludens("eval", "demo", "-m", "bot/random", "--ray", "local", "--out", str(tmp_path / "run"))
    assert (ran.code, list(tmp_path.iterdir())) == (2, [])
    assert "pip install 'ludens[ray]'" in ran.err


def test_no_more_workers_than_episodes(ludens: Run, tmp_path: Path) -> None:
    ran = ludens(
        "eval", "demo", "-m", "bot/random", "--tasks", "perceive", "--limit", "1", "--workers", "9",
        "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert ran.code == 0
    assert f"playing in 1 process, saving to {tmp_path / 'run'}\n" in ran.err


def test_seeds_of_training_are_named_and_those_held_back_are_played(ludens: Run, tmp_path: Path) -> None:
    words = ("eval", "demo", "-m", "bot/random", "--tasks", "perceive", "--limit", "2", "--out")
    trained = ludens(*words, str(tmp_path / "trained"), "--seed", "1000000")
    assert "ludens: seeds from 500,000 are those of training" in trained.err
    last = ludens(*words, str(tmp_path / "last"), "--held-back")
    assert (last.code, "of training" in last.err) == (0, False)
    assert {record.episode.seed for record in read_records(tmp_path / "last")} == {2**41, 2**41 + 1}


def test_person_plays_one_game_at_a_time(process: Run, tmp_path: Path) -> None:
    ran = process(
        "eval", "demo", "-m", "human", "--tasks", "tic_tac_toe", "--limit", "2",
        "--out", str(tmp_path / "run"),
        typed="\n".join(f"{row}{column}" for row in "ABC" for column in "123") * 9,
    )  # fmt: skip
    assert "episodes, " not in ran.err
    moves = [line.split()[-1] for line in ran.err.splitlines() if line.endswith(("move 1", "move 2"))]
    assert re.fullmatch("(12?){2}", "".join(moves))


def test_failed_episodes_stop_early_and_can_be_resumed(ludens: Run, tmp_path: Path) -> None:
    from tests.support.suites import Flaky

    Flaky.failed.clear()
    run = str(tmp_path / "run")
    ran = ludens("eval", TURNS, "-m", "test/flaky?times=99", "--limit", "1", "--out", run)
    assert ran.code == 3
    assert "stopped early: 2 episodes failed after all retries; last error: no answer today. Fin" in ran.err
    assert f"ludens resume {run}" in ran.err
    Flaky.failed["test/flaky?times=99"] = 99
    again = ludens("resume", run)
    assert again.code == 0
    assert len(found(tmp_path / "run")) == 2


def test_usage_error_during_a_run_keeps_finished_episodes(ludens: Run, tmp_path: Path) -> None:
    from tests.support.suites import Fussy

    Fussy.made.clear()
    run = tmp_path / "run"
    ran = ludens("eval", TURNS, "-m", "test/fussy?moves=10", "--out", str(run), "--concurrency", "2")
    assert (ran.code, ran.out) == (2, "")
    lines = ran.err.splitlines()
    assert lines[-2] == "ludens: the key is not taken any more."
    assert (
        lines[-1]
        == f"Finished episodes are saved; to continue: ludens resume {run} --suite {TURNS} --concurrency 2"
    )
    assert 1 <= len(found(run)) < 8


def test_closed_pipe_loses_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    asked = f"{sys.executable} -m ludens eval {TURNS} -m bot/random --limit 2 --out {run} | true"
    subprocess.run(["bash", "-c", asked], cwd=ROOT, capture_output=True, timeout=60)
    assert len(found(run)) == 2
    assert (run / "report.html").stat().st_size > 10_000


def test_table_is_printed_if_the_report_cannot_be_written(ludens: Run, tmp_path: Path) -> None:
    run = tmp_path / "run"
    argv = ("eval", TURNS, "-m", "bot/random", "--limit", "2", "--out", str(run))
    assert ludens(*argv).code == 0
    (run / "report.html").unlink()
    (run / "report.html").mkdir()
    ran = ludens("resume", str(run))
    assert ran.code == 2
    assert "95% intervals" in ran.out
    assert ran.err.splitlines()[-1].startswith(f"ludens: cannot write {str(run / 'report.html')!r}: ")
