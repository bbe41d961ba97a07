"""Help of every command, shown without importing heavy packages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ludens import __version__
from ludens.cli import COMMANDS
from tests.cli.conftest import Run

HEAVY = {"numpy", "pyspiel", "PIL", "pydantic", "aiohttp", "scipy", "ludens.draw", "ludens.loop"}


def test_without_a_command_the_most_useful_ones_are_shown(ludens: Run) -> None:
    ran = ludens()
    assert (ran.code, ran.err) == (0, "")
    shown = [line.split()[1] for line in ran.out.splitlines() if line.startswith("  ludens ")]
    assert shown == ["demo", "play", "web", "eval", "train"]
    assert set(shown) <= set(COMMANDS)


@pytest.mark.parametrize("argv", [("--help",), ("-h",)])
def test_help_names_every_command_in_order(argv: tuple[str, ...], ludens: Run) -> None:
    ran = ludens(*argv)
    assert (ran.code, ran.err) == (0, "")
    first_words = [line.strip("│ ").split(" ")[0] for line in ran.out.partition("Commands")[2].splitlines()]
    assert [word for word in first_words if word in COMMANDS] == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_its_line(command: str, ludens: Run) -> None:
    ran = ludens(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"ludens {command}" in ran.out
    assert COMMANDS[command][1].split(";")[0].rstrip(".")[:40] in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("games", ["--json"]),
        ("show", ["--seed", "--moves", "--seat", "--theme", "--size", "--out", "--option", "-o", "--json"]),
        ("play", ["--seat", "--seed", "--theme", "--size", "--out", "--option", "--json"]),
        ("bench", ["--seconds", "--against", "--json"]),
        ("check", ["--json"]),
        ("demo", ["--out", "--seed"]),
    ],
)
def test_help_shows_the_flags(command: str, flags: list[str], ludens: Run) -> None:
    shown = ludens(command, "--help").out
    assert [flag for flag in flags if flag not in shown] == []
    assert "--no-" not in shown


def test_version(ludens: Run) -> None:
    assert ludens("--version").out.strip() == __version__


def test_help_imports_nothing_heavy() -> None:
    code = "import sys\nfrom ludens.cli import main\nmain(['--help'])\nprint(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(ran.stderr.split()) == set()


def test_the_module_is_the_command(process: Run) -> None:
    ran = process("--version")
    assert (ran.code, ran.out.strip(), ran.err) == (0, __version__, "")
