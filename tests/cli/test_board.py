"""`ludens board`, and the template repository of a leaderboard."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from shutil import copytree

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.cli.conftest import Run

TEMPLATE = Path(__file__).parents[2] / "examples" / "leaderboard"
EVAL = ("eval", "demo", "--tasks", "tic_tac_toe", "--limit", "2", "--model", "bot/random", "--yes")


@pytest.fixture
def repository(tmp_path: Path, ludens: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the template with one submission, as its README says."""
    folder = Path(copytree(TEMPLATE, tmp_path / "repository"))
    monkeypatch.chdir(folder)
    private = Ed25519PrivateKey.from_private_bytes(bytes([3] * 32))
    Path("key.pem").write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    assert ludens(*EVAL, "--out", "runs/mine").code == 0
    Path("submissions/me").mkdir()
    out = "submissions/me/random.ludens"
    made = json.loads(ludens("pack", "runs/mine", "--key", "key.pem", "--out", out, "--json").out)
    with Path("keys.toml").open("a") as file:
        file.write(f'me = "{made["key"]}"\n')
    return folder


def commands(text: str) -> list[list[str]]:
    """The words of every command `ludens board` in a text."""
    lines = [line.strip() for line in re.findall(r"(?:^|run: )(\s*ludens board .*)$", text, re.MULTILINE)]
    return [[word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)][1:] for line in lines]


def test_the_commands_of_the_template_make_a_board(repository: Path, ludens: Run) -> None:
    workflow = (repository / ".github" / "workflows" / "verify.yml").read_text()
    [words], [same] = commands(workflow), commands((repository / "README.md").read_text())
    assert words == same
    ran = ludens(*words, "--workers", "0")
    assert (ran.code, ran.err) == (0, "")
    assert "1 pack, 1 row in site/index.html" in ran.out
    index = (repository / "site" / "index.html").read_text()
    assert "Our leaderboard" in index
    assert '<td class="word">me</td>' in index
    (repository / "keys.toml").write_text(f'you = "{"0" * 64}"\n')
    ran = ludens(*words, "--workers", "0")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "'submissions/me/random.ludens': it is signed with a foreign key" in ran.err


def test_the_workflow_and_the_keys_are_valid() -> None:
    workflow = yaml.safe_load((TEMPLATE / ".github" / "workflows" / "verify.yml").read_text())
    assert set(workflow[True]) == {"pull_request", "push"}  # YAML reads `on` as true
    assert workflow["permissions"] == {"contents": "read"}
    verify, publish = workflow["jobs"]["verify"], workflow["jobs"]["publish"]
    assert verify["timeout-minutes"] <= 60
    assert "permissions" not in verify  # replays files of strangers
    assert (publish["needs"], publish["if"]) == ("verify", "github.event_name == 'push'")
    assert all(("uses" in step) != ("run" in step) for job in (verify, publish) for step in job["steps"])
    assert tomllib.loads((TEMPLATE / "keys.toml").read_text()) == {}
    version = tomllib.loads((TEMPLATE.parents[1] / "pyproject.toml").read_text())["project"]["version"]
    assert f"ludens[sign]=={version}" in (TEMPLATE / "requirements.txt").read_text()


def test_refused_packs_are_named_and_can_be_skipped(repository: Path, ludens: Run) -> None:
    file = repository / "submissions" / "me" / "random.ludens"
    (file.parent / "cut.ludens").write_bytes(file.read_bytes()[:-300])
    ran = ludens("board", "submissions", "--out", "site", "--workers", "0")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "'submissions/me/cut.ludens': line" in ran.err
    assert "--skip" in ran.err
    assert not (repository / "site").exists()
    ran = ludens("board", "submissions", "--out", "site", "--workers", "0", "--skip")
    assert ran.code == 0
    assert ran.err.startswith("refused: me/cut.ludens: line")
    assert "me/cut.ludens</code>: line" in (repository / "site" / "index.html").read_text()


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("nowhere", "--out", "site"), "there is no folder 'nowhere'"),
        ((".", "--out", "site"), "contains no packs"),
        (("full", "--out", "full"), "contains no leaderboard"),
        ((".", "--out", "full/file"), "is not a folder"),
        ((".",), "missing option --out"),
        ((".", "--out", "site", "--episodes", "-1"), "--episodes must be at least 0"),
        ((".", "--out", "site", "--keys", "nowhere.toml"), "cannot read"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    argv: tuple[str, ...], reason: str, ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    ran = ludens("board", *argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert reason in ran.err
