"""Teachers and opponents of one's own: `ludens train RECIPE --agent module:Class`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ludens.agents import AGENTS, agent_paths, import_agent
from ludens.cli import main
from ludens.train.form import form
from ludens.train.recipe import Recipe

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.train.demonstrations import processes  # noqa: E402

NAME = "teachers:Last"
TEACHERS = """
from dataclasses import dataclass
from ludens.core.agent import Bot

@dataclass
class Last(Bot):
    kind = "teachers:Last"

    def choose(self, state):
        return list(state.legal(self.seat))[-1]
"""
RECIPE = f"""
[run]
iterations = 1
algorithm = "grpo"
[model]
kind = "nano"
width = 32
heads = 2
encoder = 1
decoder = 1
side = 64
longest = 64
max_tokens = 8
device = "cpu"
[play]
game = "tic_tac_toe"
episodes = 2
samples = 2
held_out = 0
workers = 1
[[demonstrations]]
bot = "{NAME}"
episodes = 4
[[opponents]]
players = {{o = "{NAME}"}}
[advantage]
kind = "group"
[supervised]
rounds = 1
workers = 1
[monitor]
blind = 0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "teachers", raising=False)
    monkeypatch.setattr(AGENTS, "_added", dict(AGENTS._added))
    (tmp_path / "teachers.py").write_text(TEACHERS)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path


def test_they_teach_and_play_if_the_user_names_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "recipe.toml", "--out", "out"]) == 2
    assert f"name it yourself with --agent {NAME}" in capsys.readouterr().err
    assert main(["train", "recipe.toml", "--out", "out", "--agent", NAME]) == 0
    assert (folder / "out" / "step-000001").is_dir()


def test_processes_that_make_demonstrations_know_them() -> None:
    import_agent(NAME)
    with processes(2, 4) as run:
        assert set(run(agent_paths, [[NAME]] * 4)) == {(NAME,)}  # type: ignore[arg-type, list-item]


def test_their_source_decides_what_is_learnt(folder: Path) -> None:
    import_agent(NAME)
    recipe = Recipe.read(folder / "recipe.toml")
    before = form(recipe)
    (folder / "teachers.py").write_text(TEACHERS.replace("[-1]", "[-2]"))
    assert form(recipe) != before
