"""A run folder must not decide where a key is sent, which program is started or which file is written."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote

import pytest

from ludens.run.plan import make_plan
from ludens.run.store import read_plan
from ludens.run.trust import accesses
from tests.cli.conftest import Run

SOME = ("--tasks", "tic_tac_toe", "--limit", "2")


def _forged(ludens: Run, folder: Path, spec: str) -> Path:
    """A run without episodes whose entrant was replaced."""
    assert ludens("eval", "demo", "-m", "bot/random", *SOME, "--out", str(folder)).code == 0
    plan = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**plan, "entrants": {"bot/random": spec}}))
    (folder / "episodes.jsonl").unlink()
    return folder


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("openai/gpt-4.1@https://evil.example/v1", "https://evil.example/v1"),
        ("openai/gpt-4.1@http://127.0.0.1.evil.example/v1", "http://127.0.0.1.evil.example/v1"),
        ("compat/x@http://127.0.0.1:1/v1?key_env=AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY"),
        ("openai/gpt-4.1?cache={}/mark", "{}/mark"),
        ("bot/uci?engine={}/program", "{}/program"),
        ("human?pictures={}/mark", "{}/mark"),
    ],
)
def test_resume_asks_the_user_to_name_it(
    spec: str, named: str, ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {quote(str(tmp_path / 'mark'))}\n")
    program.chmod(0o755)
    run = _forged(ludens, tmp_path / "run", spec.format(tmp_path))
    ran = ludens("resume", str(run), "--yes")
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert line.endswith(f"add --allow {named.format(tmp_path)}")
    assert not (tmp_path / "mark").exists()
    other = ludens("resume", str(run), "--yes", "--allow", "https://other.example/v1")
    assert (other.code, other.err) == (2, ran.err)


def test_an_opponent_named_in_a_suite_is_asked_about_too(tmp_path: Path) -> None:
    mark, program = tmp_path / "mark", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {quote(str(mark))}\n")
    program.chmod(0o755)
    suite = f"playground?opponent=bot/uci?engine={program}"
    plan = make_plan(suite, {"bot/first": "bot/first"}, tasks=["e2e/chess"])
    assert [(access.verb, access.value) for access in accesses(plan)] == [
        ("starts the program", str(program))
    ]
    usual = make_plan("playground?opponent=bot/uci", {"bot/first": "bot/first"}, tasks=["e2e/chess"])
    assert not list(accesses(usual))


def test_what_the_user_names_is_used(ludens: Run, tmp_path: Path) -> None:
    run = _forged(ludens, tmp_path / "run", "bot/uci?engine=/no/such/engine")
    ran = ludens("resume", str(run), "--allow", "/no/such/engine")
    assert ran.code == 2
    assert "--allow" not in ran.err


def test_local_servers_and_ordinary_bots_need_nothing(ludens: Run, tmp_path: Path) -> None:
    run = _forged(ludens, tmp_path / "run", "bot/first")
    assert ludens("resume", str(run)).code == 0

    for spec in (
        "vllm/x@http://localhost:8000/v1",
        "vllm/x@http://[::1]:8000/v1",
        "bot/uci?engine=stockfish",
    ):
        assert not list(accesses(read_plan(_forged(ludens, tmp_path / spec.replace("/", "_"), spec))))


@pytest.mark.parametrize("command", ["report", "resume"])
def test_an_edited_plan_is_a_usage_error(command: str, ludens: Run, tmp_path: Path) -> None:
    assert ludens("eval", "demo", "-m", "bot/random", *SOME, "--out", str(tmp_path / "run")).code == 0
    file = tmp_path / "run" / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "seed": 1}))
    ran = ludens(command, str(tmp_path / "run"))
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert "run.json' was edited" in line
