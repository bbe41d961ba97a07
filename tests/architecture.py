"""Checks on the source text that ruff, mypy and import-linter do not make. Nothing is imported or run.

Layers and cycles are contracts of import-linter in pyproject.toml (`make lint`). Each check here takes a
`Tree` and returns one message per violation, so that the same checks run on Ludens and on small broken trees.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAX_LINES = 600


def _layers() -> dict[str, int]:
    """Top-level module to the height of its layer, from the contract in pyproject.toml."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [c for c in config["tool"]["importlinter"]["contracts"] if c["id"] == "layers"]
    bottom_up = [re.findall(r"\w+", layer) for layer in reversed(contract["layers"])]
    return {name: height for height, names in enumerate(bottom_up) for name in names}


LAYERS = _layers()

ENTRY_POINT_GROUPS = {"ludens.games", "ludens.agents", "ludens.suites"}

# What may be used of libraries whose other functions share one global generator.
RANDOM_ALLOWED = {"Random", "getstate"}
NUMPY_ALLOWED = {
    "BitGenerator", "Generator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence",
    "default_rng", "get_state",
}  # fmt: skip
NEEDS_SEED = {"random.Random", "numpy.random.default_rng", "numpy.random.SeedSequence"}
# Modules of the standard library that Windows does not have.
POSIX_ONLY = {
    "crypt", "curses", "fcntl", "grp", "nis", "ossaudiodev", "posix", "pty", "pwd", "readline", "resource",
    "spwd", "syslog", "termios", "tty",
}  # fmt: skip
# The conformance check restores the global generators after testing whether a game uses them.
TESTING_ALLOWED = {"random.setstate", "numpy.random.set_state"}


@dataclass(frozen=True)
class Module:
    path: Path
    source: str
    syntax: ast.Module

    @property
    def part(self) -> str:
        """The top-level module it belongs to: `core` for core/game.py."""
        return self.path.with_suffix("").parts[0]


class Tree:
    """All modules below `root`, the folder of the package `ludens`."""

    def __init__(self, root: Path) -> None:
        self.modules = []
        for path in sorted(root.rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            self.modules.append(Module(path.relative_to(root), source, ast.parse(source, str(path))))


def long_files(tree: Tree) -> list[str]:
    """Files of more than `MAX_LINES` lines."""
    counts = ((module.path, len(module.source.splitlines())) for module in tree.modules)
    return [f"{path}: {count} lines, at most {MAX_LINES}" for path, count in counts if count > MAX_LINES]


def names_of_higher_layers(tree: Tree) -> list[str]:
    """String literals that name a module of a higher layer: an import that import-linter cannot see."""
    violations = []
    for module in tree.modules:
        height = LAYERS.get(module.part, len(LAYERS))
        for node in ast.walk(module.syntax):
            if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
                continue
            named = re.match(r"ludens\.(\w+)", node.value)
            if named and LAYERS.get(named[1], -1) > height and node.value not in ENTRY_POINT_GROUPS:
                violations.append(f"{module.path}: names {node.value!r}, a module of a higher layer")
    return violations


def shared_randomness(tree: Tree) -> list[str]:
    """Uses of a global random generator, and of new generators without a seed."""
    violations = []
    for module in tree.modules:
        names = _library_names(module.syntax)
        allowed = TESTING_ALLOWED if module.part == "testing" else set[str]()
        for node in ast.walk(module.syntax):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                used = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Attribute):
                used = [_dotted(node, names)]
            elif isinstance(node, ast.Call) and not node.args and not node.keywords:
                called = _dotted(node.func, names)
                used = [f"{called}()"] if called in NEEDS_SEED else []
            else:
                continue
            violations += [
                f"{module.path}:{node.lineno}: {name} is not seeded; use ludens.stream"
                for name in used
                if _is_shared(name) and name not in allowed
            ]
    return violations


def posix_imports(tree: Tree) -> list[str]:
    """Imports of modules that Windows lacks, other than in a function and in a `try` that handles it."""
    violations = []
    for module in tree.modules:
        handled = {
            imported
            for function in ast.walk(module.syntax)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for attempt in ast.walk(function)
            if isinstance(attempt, ast.Try) and attempt.handlers
            for statement in attempt.body
            for imported in ast.walk(statement)
        }
        for node in ast.walk(module.syntax):
            if isinstance(node, ast.Import):
                names = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = {(node.module or "").partition(".")[0]}
            else:
                continue
            if node not in handled:
                violations += [
                    f"{module.path}:{node.lineno}: Windows has no {name}; import it in a function, in a `try`"
                    for name in sorted(names & POSIX_ONLY)
                ]
    return violations


def _is_shared(name: str) -> bool:
    library, _, member = name.rpartition(".")
    if library == "random":
        return member not in RANDOM_ALLOWED
    return library == "numpy.random" and member not in NUMPY_ALLOWED


def _library_names(syntax: ast.Module) -> dict[str, str]:
    """Local names of `random`, `numpy` and their members: {"np": "numpy"}."""
    names = {}
    for node in ast.walk(syntax):
        if isinstance(node, ast.Import):
            for alias in node.names:
                full = alias.name if alias.asname else alias.name.partition(".")[0]
                names[alias.asname or full] = full
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return {name: full for name, full in names.items() if full.split(".")[0] in ("numpy", "random")}


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """`np.random.seed` as `numpy.random.seed`; "" for anything outside the two libraries."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, names)
        return f"{base}.{node.attr}" if base else ""
    return ""
