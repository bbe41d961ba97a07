"""A file must not decide where a key is sent, which program is started or which file is written."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import quote

import pytest

from ludens.core.options import Touch
from ludens.run.plan import make_plan
from ludens.run.store import Store, read_plan
from ludens.run.trust import plan_accesses, to_confirm
from tests.cli.conftest import Run

SOME = ("--tasks", "tic_tac_toe", "--limit", "2")


def _forged(folder: Path, spec: str) -> Path:
    """A run without episodes whose entrant was replaced."""
    suite, task, limit = ("playground", "e2e/chess", 1) if "uci" in spec else ("demo", "tic_tac_toe", 2)
    with Store.create(folder, make_plan(suite, {"bot/random": "bot/random"}, tasks=[task], limit=limit)):
        plan = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**plan, "entrants": {"bot/random": spec}}))
    return folder


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("openai/gpt-4.1@https://evil.example/v1", "https://evil.example/v1"),
        ("openai/gpt-4.1@http://127.0.0.1.evil.example/v1", "http://127.0.0.1.evil.example/v1"),
        ("openai/gpt-4.1@http://127.0.0.1:4444/v1", "http://127.0.0.1:4444/v1"),
        ("vllm/x@http://127.0.0.1:4444/v1", "http://127.0.0.1:4444/v1"),
        ("google/gemini-x@http://localhost:4444", "http://localhost:4444"),
        ("anthropic/claude-x@http://localhost:4444", "http://localhost:4444"),
        ("compat/x@http://127.0.0.1:1/v1?key_env=AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY"),
        ("openai/gpt-4.1?cache={}/mark", "{}/mark"),
        ("bot/uci?engine={}/program", "{}/program"),
        ("human?pictures={}/mark", "{}/mark"),
    ],
)
def test_resume_asks_the_user_to_name_it(
    spec: str, named: str, ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "VLLM", "GOOGLE", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {quote(str(tmp_path / 'mark'))}\n")
    program.chmod(0o755)
    run = _forged(tmp_path / "run", spec.format(tmp_path))
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
    assert [(access.touch, access.value) for access in plan_accesses(plan)] == [(Touch.RUN, str(program))]
    usual = make_plan("playground?opponent=bot/uci", {"bot/first": "bot/first"}, tasks=["e2e/chess"])
    assert not to_confirm(usual)


def test_what_the_user_names_is_used(ludens: Run, tmp_path: Path) -> None:
    run = _forged(tmp_path / "run", "bot/uci?engine=/no/such/engine")
    ran = ludens("resume", str(run), "--allow", "/no/such/engine")
    assert ran.code == 2
    assert "--allow" not in ran.err


def test_local_servers_and_ordinary_bots_need_nothing(ludens: Run, tmp_path: Path) -> None:
    run = _forged(tmp_path / "run", "bot/first")
    assert ludens("resume", str(run)).code == 0

    for spec in (
        "vllm/x@http://localhost:8000/v1",
        "vllm/x@http://[::1]:8000/v1",
        "bot/uci?engine=stockfish",
    ):
        assert not to_confirm(read_plan(_forged(tmp_path / spec.replace("/", "_"), spec)))


def test_the_users_own_address_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:4444/v1")

    def asked(spec: str) -> list[str]:
        plan = make_plan("demo", {"m": spec}, tasks=["tic_tac_toe"])
        return to_confirm(plan)

    assert asked("vllm/x@http://127.0.0.1:8000/v1") == []
    assert asked("openai/x@http://127.0.0.1:4444/v1/") == []
    assert asked("vllm/x@http://localhost:8000/v1") == ["http://localhost:8000/v1"]
    monkeypatch.delenv("VLLM_API_KEY")
    assert asked("vllm/x@http://localhost:8000/v1") == []  # nothing secret is sent


@pytest.mark.parametrize("command", ["report", "resume"])
def test_an_edited_plan_is_a_usage_error(command: str, ludens: Run, tmp_path: Path) -> None:
    assert ludens("eval", "demo", "-m", "bot/random", *SOME, "--out", str(tmp_path / "run")).code == 0
    file = tmp_path / "run" / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "seed": 1}))
    ran = ludens(command, str(tmp_path / "run"))
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert "run.json' was edited" in line


def test_a_recipe_asks_the_user_too(ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "recipe.toml"
    for text, named in (
        ('[server]\nurl = "https://evil.example"', "https://evil.example"),
        ('[server]\nfolder = "/somewhere"', "/somewhere"),
        ('[monitor]\ntrack = "wandb:games"', "wandb:games"),
        ('[[opponents]]\nplayers = {x = "bot/uci?engine=/bin/sh"}', "/bin/sh"),
        ('[[opponents]]\nplayers = {x = "compat/x@https://evil.example/v1"}', "https://evil.example/v1"),
        ('[[demonstrations]]\ngame = "chess"\nbot = "bot/uci?engine=/bin/sh"\nepisodes = 1', "/bin/sh"),
        ('[monitor]\nagainst = "openai/x?cache=/somewhere"', "/somewhere"),
    ):
        game = "chess" if "uci" in text else "tic_tac_toe"
        file.write_text(f'[play]\ngame = "{game}"\n{text}\n')
        ran = ludens("train", str(file))
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.endswith(f"add --allow {named}\n"), ran.err
        assert "--allow" not in ludens("train", str(file), "--allow", named, "--set", "model.path=no").err
    file.write_text('[run]\nname = "../outside"')
    assert "run.name" in ludens("train", str(file)).err
    file.write_text('[server]\nurl = "http://127.0.0.1:1"')
    assert "--allow" not in ludens("train", str(file)).err
    typed = ludens("train", str(file), "--set", "server.url=https://mine.example")
    assert "--allow" not in typed.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recipe.toml"]


def test_a_study_asks_the_user_too(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    player = "compat/x@https://evil.example/v1"
    file.write_text(
        f'name = "s"\n[[task]]\nname = "t"\ngame = "tic_tac_toe"\nepisodes = 1\n'
        f'seats = {{x = "participant", o = "{player}"}}\n'
    )
    ran = ludens("web", str(tmp_path / "runs"), "--study", str(file), "--port", "0", "--no-open")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("add --allow https://evil.example/v1\n")
