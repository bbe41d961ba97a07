"""Ludens keeps its architectural rules, and every rule can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import grimp
import pytest

from tests import mutants
from tests.architecture import (
    LAYERS,
    MAX_LINES,
    ROOT,
    Tree,
    long_files,
    names_of_higher_layers,
    posix_imports,
    shared_randomness,
)

Check = Callable[[Tree], list[str]]

SOUND = {
    "__init__.py": "from ludens.core import Game\nfrom ludens.loop import play\n__version__ = ''",
    "__main__.py": "from ludens.cli import main",
    "core/__init__.py": "from ludens.core.game import Game",
    "core/game.py": "from . import errors\nfrom .random import stream\nclass Game: ...",
    "core/agent.py": "class Agent: ...",
    "core/errors.py": "",
    "core/random.py": "import numpy as np\ndef stream(seed): return np.random.default_rng(seed)",
    "core/files.py": "def lock():\n    try:\n        import fcntl\n    except ImportError:\n        return",
    "draw/__init__.py": "import random\nfrom ludens.core import Game\nDICE = random.Random(3)",
    "pictures/__init__.py": "import ludens.draw",
    "agents/__init__.py": "from .bots import Bot",
    "agents/bots.py": "from ludens.core.agent import Agent\nclass Bot(Agent): ...",
    "models/__init__.py": "GROUP = 'ludens.suites'",
    "games/__init__.py": "CHESS = 'ludens.games.chess.bots:Bot'",
    "games/chess/__init__.py": "",
    "games/chess/bots.py": "import ludens.core.agent\nfrom ludens.games import chess",
    "loop.py": "from ludens.agents import Bot\nfrom ludens.games.chess import bots\ndef play(): ...",
    "attempts.py": "",
    "concurrent.py": "from ludens.loop import play",
    "rebuild.py": "",
    "testing.py": "import random\nimport ludens.loop\nrandom.setstate(random.getstate())",
    "run/__init__.py": "",
    "suites/__init__.py": "from ludens.run import task",
    "evaluation.py": "from ludens.run import task",
    "cli/__init__.py": "from ludens import __version__, loop\ndef main(): ...",
    "web/__init__.py": "",
    "cli/check.py": "from ludens import __version__",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    root = folder / "ludens"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def lint(folder: Path) -> tuple[int, str]:
    """Check the contracts of pyproject.toml on the package in this folder."""
    code = "import sys; from importlinter.cli import lint_imports_command as run; run()"
    argv = ["--no-logo", "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    done = subprocess.run(
        [sys.executable, "-c", code, *argv],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def package_cycles(root: str) -> list[str]:
    """Modules that import their own package while it imports them: import-linter only compares siblings."""
    graph = grimp.build_graph(root, cache_dir=None)
    return [
        f"{module} imports {package}, which imports it"
        for module in graph.modules
        for package in graph.find_modules_directly_imported_by(module)
        if module.startswith(f"{package}.") and graph.chain_exists(importer=package, imported=module)
    ]


@pytest.fixture(scope="module")
def source() -> Tree:
    return Tree(ROOT / "src" / "ludens")


def test_ludens_has_no_long_files(source: Tree) -> None:
    assert long_files(source) == []


def test_ludens_uses_seeded_randomness_only(source: Tree) -> None:
    assert shared_randomness(source) == []


def test_ludens_can_be_imported_on_windows(source: Tree) -> None:
    assert posix_imports(source) == []


def test_ludens_names_no_higher_layer(source: Tree) -> None:
    assert not list(names_of_higher_layers(source))


def test_ludens_has_no_cycle_through_a_package() -> None:
    assert package_cycles("ludens") == []


@pytest.mark.parametrize("check", [long_files, names_of_higher_layers, posix_imports, shared_randomness])
def test_a_sound_tree_passes(check: Check, tmp_path: Path) -> None:
    assert check(Tree(write(tmp_path, SOUND))) == []


def test_a_sound_tree_keeps_the_contracts(tmp_path: Path) -> None:
    write(tmp_path, SOUND)
    code, output = lint(tmp_path)
    assert code == 0, output


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("core/game.py", "import ludens.draw", "ludens.core.game -> ludens.draw"),
        ("core/game.py", "from ludens import make", "ludens.core.game -> ludens"),
        ("core/game.py", "def late():\n    from ludens.cli import main", "ludens.core.game -> ludens.cli"),
        ("core/game.py", "if TYPE_CHECKING:\n    import ludens.run", "ludens.core.game -> ludens.run"),
        ("agents/bots.py", "from ..loop import play", "ludens.agents.bots -> ludens.loop"),
        ("attic/__init__.py", "", "attic"),
        ("core/errors.py", "from .game import Game", "No cycles are allowed in ludens.core"),
        ("core/errors.py", "def late():\n    from .game import Game", "No cycles are allowed in ludens.core"),
    ],
)  # fmt: skip
def test_a_broken_contract_is_found(file: str, text: str, message: str, tmp_path: Path) -> None:
    write(tmp_path, {**SOUND, file: text})
    code, output = lint(tmp_path)
    assert code == 1
    assert message in output


def test_a_cycle_through_a_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {"__init__.py": "from .child import x", "child.py": "from broken_tree import y"}
    write(tmp_path, broken).rename(tmp_path / "broken_tree")
    monkeypatch.syspath_prepend(tmp_path)
    assert package_cycles("broken_tree") == ["broken_tree.child imports broken_tree, which imports it"]


def test_the_name_of_a_higher_layer_is_found(tmp_path: Path) -> None:
    files = {**SOUND, "core/game.py": "VIEW = 'ludens.draw:Canvas'"}
    assert names_of_higher_layers(Tree(write(tmp_path, files))) == [
        "core/game.py: names 'ludens.draw:Canvas', a module of a higher layer"
    ]
    assert LAYERS["core"] < LAYERS["agents"] == LAYERS["models"] < LAYERS["cli"]


def test_a_long_file_is_found(tmp_path: Path) -> None:
    files = {"core/short.py": "pass\n" * MAX_LINES, "core/long.py": "pass\n" * (MAX_LINES + 1)}
    assert long_files(Tree(write(tmp_path, files))) == ["core/long.py: 601 lines, at most 600"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import random\nrandom.seed(1)", "random.seed"),
        ("import random as dice\ndice.choice([1])", "random.choice"),
        ("import random\npick = random.choice", "random.choice"),
        ("from random import shuffle", "random.shuffle"),
        ("import random\nrandom.setstate(())", "random.setstate"),
        ("import random\nrandom.SystemRandom()", "random.SystemRandom"),
        ("import random\nrandom.Random()", "random.Random()"),
        ("import numpy as np\nnp.random.seed(1)", "numpy.random.seed"),
        ("import numpy\nnumpy.random.rand(3)", "numpy.random.rand"),
        ("import numpy.random\nnumpy.random.shuffle([])", "numpy.random.shuffle"),
        ("import numpy.random as npr\nnpr.normal()", "numpy.random.normal"),
        ("from numpy import random\nrandom.permutation(3)", "numpy.random.permutation"),
        ("from numpy.random import randint", "numpy.random.randint"),
        ("import numpy as np\nnp.random.default_rng()", "numpy.random.default_rng()"),
        ("from numpy.random import default_rng\ndefault_rng()", "numpy.random.default_rng()"),
    ],
)
def test_shared_randomness_is_found(text: str, name: str, tmp_path: Path) -> None:
    line = text.count("\n") + 1
    [found] = shared_randomness(Tree(write(tmp_path, {"core/dice.py": text})))
    assert found.startswith(f"core/dice.py:{line}: {name} is not seeded")


@pytest.mark.parametrize(
    "text",
    [
        "import fcntl",
        "from resource import getrlimit",
        "try:\n    import termios\nexcept ImportError:\n    termios = None",
        "def lock():\n    import fcntl",
        "def lock():\n    try:\n        pass\n    except OSError:\n        import pwd",
    ],
)
def test_imports_that_windows_lacks_are_found(text: str, tmp_path: Path) -> None:
    [message] = posix_imports(Tree(write(tmp_path, {"core/files.py": text})))
    assert "Windows has no" in message


def test_faults_of_the_mutation_check_fit_the_source() -> None:
    faults = mutants.read_faults()
    assert len(faults) > 100
    assert [problem for fault in faults if (problem := fault.problem(mutants.ROOT / "src"))] == []
    assert {
        test for fault in faults for test in fault.tests if not (mutants.ROOT / test.split("::")[0]).exists()
    } == {test for fault in faults for test in fault.tests if test.startswith("--")}
