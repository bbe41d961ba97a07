"""`ludens agents`, agents as module:Class, and suggestions for model names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ludens.agents import AGENTS, agent, import_agent
from ludens.core.errors import BadFile, UnknownName
from ludens.core.registry import make
from ludens.models import provider_spec
from tests.cli.conftest import Run
from tests.support.runs import found

SOME = ("--tasks", "tic_tac_toe", "--limit", "4")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AGENTS, "_added", dict(AGENTS._added))


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the module `last_bots`, and the current folder."""
    (tmp_path / "last_bots.py").write_text(
        "from dataclasses import dataclass\n"
        "import ludens\n"
        "@dataclass\n"
        "class Last(ludens.Agent):\n"
        "    '''Plays the last legal action.'''\n"
        "    kind = 'last_bots:Last'\n"
        "    sees = 'nothing'\n"
        "    step: int = ludens.option(1, low=1, high=3, help='from the end')\n"
        "    async def act(self, ask):\n"
        "        action = ask.legal[-min(self.step, len(ask.legal))]\n"
        "        return ludens.Reply(action, action)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_list_says_what_bots_can_play(ludens: Run) -> None:
    listed = json.loads(ludens("agents", "--json").out)
    by_name = {(info["name"], game): info for info in listed for game in info["games"]}
    assert ("bot/random", "hanabi") in by_name
    assert ("bot/oracle", "sudoku") in by_name
    assert ("bot/mcts", "breakthrough") in by_name
    assert ("bot/strong", "hanabi") in by_name
    for name, game in (
        ("bot/oracle", "chess"),
        ("bot/mcts", "overcooked"),
        ("bot/alphabeta", "coin_dilemma"),
        ("bot/strong", "chess"),
    ):
        assert (name, game) not in by_name
    assert by_name["bot/mcts", "chess"]["options"]["simulations"]["value"] == 100
    assert by_name["bot/first", "chess"]["sees"] == "nothing"
    assert "bot/alphabeta" in ludens("agents").out


def test_describe_one(ludens: Run, bots: Path) -> None:
    described = ludens("agents", "last_bots:Last").out
    assert "Plays the last legal action." in described
    assert "1 to 3" in described
    assert "tic_tac_toe" in described
    unknown = ludens("agents", "bot/randm")
    assert (unknown.code, "bot/random" in unknown.err) == (2, True)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_own_class_is_evaluated_and_resumed(workers: str, ludens: Run, bots: Path) -> None:
    models = ("-m", "last_bots:Last", "-m", "last_bots:Last?step=2")
    ran = ludens("eval", "demo", *models, *SOME, "--workers", workers, "--out", "run")
    assert ran.code == 0, ran.err
    before = found(bots / "run")
    assert len(before) == 8
    AGENTS._added.clear()
    lines = (bots / "run" / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (bots / "run" / "episodes.jsonl").write_bytes(b"".join(lines[:3]))
    refused = ludens("resume", "run")
    assert refused.code == 2
    assert "--agent last_bots:Last" in refused.err
    assert ludens("report", "run").code == 0
    assert ludens("resume", "run", "--agent", "last_bots:Last", "--workers", workers).code == 0
    assert found(bots / "run") == before


def test_file_does_not_choose_what_is_imported(ludens: Run, tmp_path: Path) -> None:
    folder, mark = tmp_path / "run", tmp_path / "mark"
    assert ludens("eval", "demo", "-m", "bot/random", *SOME, "--out", str(folder)).code == 0
    (tmp_path / "evil.py").write_text(f"open({str(mark)!r}, 'w')\nclass Bot: ...\n")
    plan = json.loads((folder / "run.json").read_text())
    plan["entrants"] = {"bot/random": "evil:Bot"}
    (folder / "run.json").write_text(json.dumps(plan))
    (folder / "episodes.jsonl").unlink()
    ran = ludens("resume", str(folder))
    assert ran.code == 2
    assert "not registered" in ran.err
    assert not mark.exists()


@pytest.mark.parametrize("wrong", ["no_such_module:Bot", "json:NoSuchClass", "json:JSONDecoder", ":x"])
def test_what_is_no_agent(wrong: str) -> None:
    with pytest.raises(BadFile, match=r"cannot be loaded|not a subclass of"):
        import_agent(wrong)


def test_model_names_with_colons_are_not_imported() -> None:
    before = AGENTS.names()
    import_agent("openrouter/vendor/model:free")
    import_agent("compat/llama3:8b@http://127.0.0.1:1/v1")
    assert AGENTS.names() == before


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("gpt-4.1", "openai/gpt-4.1"),
        ("o3", "openai/o3"),
        ("o4-mini", "openai/o4-mini"),
        ("claude-sonnet-4", "anthropic/claude-sonnet-4"),
        ("gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("llama3", "vllm/llama3@http://HOST:PORT/v1"),
        ("Qwen/Qwen2.5-VL-7B", "vllm/Qwen/Qwen2.5-VL-7B@http://HOST:PORT/v1"),
    ],
)
def test_model_names_without_provider(name: str, suggested: str, ludens: Run) -> None:
    with pytest.raises(UnknownName) as error:
        agent(name, make("tic_tac_toe"))
    assert error.value.nearest == suggested
    for command in (("eval", "demo", "-m", name), ("eval", "demo", "-m", name, "--style", "cot")):
        ran = ludens(*command)
        assert (ran.code, f"did you mean {suggested!r}?" in ran.err) == (2, True)
    assert suggested in ludens("models", "test", name).err


@pytest.mark.parametrize("name", ["bot/random", "oracle", "human", "o", "random"])
def test_other_names_suggest_no_provider(name: str) -> None:
    assert provider_spec(name) is None


def test_completion_is_installed(ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ran = ludens("--install-completion", "--shell", "bash")
    assert ran.code == 0, ran.err
    scripts = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert any("agents" in script and "eval" in script for script in scripts)
