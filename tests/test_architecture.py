"""The rules of the house that can be read off the source, and the proof that each of them can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import LINES, Tree, cycles, long_files, misplaced, shared_randomness

SOURCE = Path(__file__).parent.parent / "src" / "ludens"
CHECKS = (misplaced, cycles, long_files, shared_randomness)

Check = Callable[[Tree], list[str]]

SOUND = {
    "__init__.py": "from ludens.core import Game\nfrom ludens.loop import play",
    "core/__init__.py": "from ludens.core.game import Game",
    "core/game.py": "from . import errors\nfrom .random import stream\nclass Game: ...",
    "core/agent.py": "class Agent: ...",
    "core/errors.py": "",
    "core/random.py": "import numpy as np\ndef stream(seed): return np.random.default_rng(seed)",
    "draw/__init__.py": "import random\nfrom ludens.core import Game\nDICE = random.Random(3)",
    "agents/__init__.py": "from .bots import Bot",
    "agents/bots.py": "from ludens.core.agent import Agent\nclass Bot(Agent): ...",
    "games/chess/__init__.py": "def bots():\n    from ludens.games.chess import bots",
    "games/chess/bots.py": "import ludens.core.agent\nfrom ludens.games import chess",
    "loop.py": "from ludens.agents import Bot\nfrom ludens.games.chess import bots\ndef play(): ...",
    "testing.py": "import random\nimport ludens.loop\nrandom.setstate(random.getstate())",
    "cli.py": "from ludens import loop",
}


def tree(folder: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Tree(folder)


@pytest.mark.parametrize("check", CHECKS)
def test_ludens_keeps_the_rule(check: Check) -> None:
    ludens = Tree(SOURCE)
    assert ludens.modules, f"no source found in {SOURCE}"
    assert check(ludens) == []


@pytest.mark.parametrize("check", CHECKS)
def test_a_sound_tree_passes(check: Check, tmp_path: Path) -> None:
    assert check(tree(tmp_path, SOUND)) == []


@pytest.mark.parametrize(
    ("file", "text", "target"),
    [
        ("core/game.py", "import ludens.draw", "ludens.draw"),
        ("core/game.py", "from ludens.draw import canvas", "ludens.draw"),
        ("core/game.py", "from .. import loop", "ludens.loop"),
        ("core/game.py", "from ludens import make", "ludens"),
        ("core/__init__.py", "from ..games.chess import rules", "ludens.games.chess"),
        ("core/game.py", "def late():\n    from ludens.cli import main", "ludens.cli"),
        ("core/game.py", "if TYPE_CHECKING:\n    from ludens.run import Store", "ludens.run"),
        ("games/chess/bots.py", "from ludens.agents import Bot", "ludens.agents"),
        ("games/chess/bots.py", "from ludens.agents.bots import Bot", "ludens.agents.bots"),
        ("agents/bots.py", "from ludens.loop import play", "ludens.loop"),
        ("loop.py", "from ludens.testing import check_game", "ludens.testing"),
        ("suites/vs_bench/__init__.py", "from ludens.train import grpo", "ludens.train"),
        ("train/grpo.py", "import ludens.web.app", "ludens.web.app"),
    ],
)
def test_an_import_from_a_floor_above_is_found(file: str, text: str, target: str, tmp_path: Path) -> None:
    line = text.count("\n") + 1
    assert misplaced(tree(tmp_path, {**SOUND, file: text})) == [
        f"{file}:{line}: imports {target} from a floor above"
    ]


def test_a_path_to_a_floor_above_is_found(tmp_path: Path) -> None:
    files = {
        **SOUND,
        "games/chess/bots.py": 'BOT = "ludens.agents.bots:Bot"\nOWN = "ludens.core.agent:Agent"',
    }
    assert misplaced(tree(tmp_path, files)) == [
        "games/chess/bots.py:1: names ludens.agents.bots:Bot from a floor above"
    ]


def test_a_module_without_a_floor_is_found(tmp_path: Path) -> None:
    assert misplaced(tree(tmp_path, {**SOUND, "attic/old.py": ""})) == [
        "attic/old.py: has no floor; give it one in FLOORS"
    ]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"core/errors.py": "from ludens.core.game import Game"}, id="two modules"),
        pytest.param({"core/errors.py": "from ludens.core import Game"}, id="through the package"),
        pytest.param({"core/errors.py": "from .game import Game"}, id="relative"),
        pytest.param({"core/errors.py": "try:\n    from .game import Game\nfinally: ..."}, id="in a block"),
        pytest.param({"core/errors.py": "import ludens.core.errors"}, id="itself"),
        pytest.param(
            {
                "agents/__init__.py": "import ludens.games.chess",
                "games/chess/__init__.py": "import ludens.agents.bots",
            },
            id="through the package of what is imported",
        ),
    ],
)
def test_a_cycle_is_found(files: dict[str, str], tmp_path: Path) -> None:
    breaches = cycles(tree(tmp_path, {**SOUND, **files}))
    assert len(breaches) == 1
    assert breaches[0].startswith("cycle: ludens.")


@pytest.mark.parametrize(
    "text",
    ["def late():\n    from .game import Game", "if TYPE_CHECKING:\n    from .game import Game"],
)
def test_what_is_not_needed_to_load_makes_no_cycle(text: str, tmp_path: Path) -> None:
    assert cycles(tree(tmp_path, {**SOUND, "core/errors.py": text})) == []


def test_a_long_file_is_found(tmp_path: Path) -> None:
    files = {"core/short.py": "pass\n" * LINES, "core/long.py": "pass\n" * (LINES + 1)}
    assert long_files(tree(tmp_path, files)) == ["core/long.py: 401 lines, 400 at most"]


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
    assert shared_randomness(tree(tmp_path, {"core/dice.py": text})) == [
        f"core/dice.py:{line}: {name} is not a stream of the state's own"
    ]
