"""Reads the source tree as text and says where it breaks the rules of the house. Nothing is imported or run.

Each check takes a `Tree` and returns one sentence per breach, so that the same checks judge the real tree and
the deliberately broken ones in `test_architecture.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "ludens"
_PATH = re.compile(r"ludens(\.\w+)+:\w+")
LINES = 400

# Bottom to top: a module imports from its own floor and from those below it.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("draw",),
    ("games",),
    ("agents", "models"),
    ("loop",),
    ("testing",),
    ("run",),
    ("suites",),
    ("train",),
    ("adapters", "bench", "cli", "demo", "web", "__main__", ""),  # "" is `ludens` itself, the public face
)
FLOOR = {name: height for height, names in enumerate(FLOORS) for name in names}

# What a module may take from a library whose other functions share one hidden, global generator.
RANDOM_ALLOWED = {"Random", "getstate"}
NUMPY_ALLOWED = {
    "BitGenerator",
    "Generator",
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "SFC64",
    "SeedSequence",
    "default_rng",
    "get_state",
}
# The conformance check puts the global generators aside to see whether a game uses them.
PUT_BACK = {"random.setstate", "numpy.random.set_state"}
NEEDS_SEED = {"random.Random", "numpy.random.default_rng", "numpy.random.SeedSequence"}


@dataclass(frozen=True)
class Import:
    """One import: the module it names, its line, and whether it happens as soon as its file is loaded."""

    target: str
    line: int
    at_load: bool


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    source: str
    syntax: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


class Tree:
    """Every module below `root`, the folder of the package."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[str, Module] = {}
        for path in sorted(root.rglob("*.py")):
            parts = [PACKAGE, *path.relative_to(root).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            source = path.read_text(encoding="utf-8")
            self.modules[name] = Module(name, path.relative_to(root), source, ast.parse(source, str(path)))

    def imports(self, module: Module) -> Iterator[Import]:
        """The imports of our own modules, wherever in the file they stand."""
        for node, at_load in _walk(module.syntax, at_load=True):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = _absolute(module, node)
                # `from ludens.core import errors` names a module, `from ludens.core import Game` does not.
                targets = [
                    name if (name := f"{base}.{alias.name}") in self.modules else base for alias in node.names
                ]
            else:
                continue
            for target in dict.fromkeys(targets):
                if target == PACKAGE or target.startswith(PACKAGE + "."):
                    yield Import(target, node.lineno, at_load)


def misplaced(tree: Tree) -> list[str]:
    """Modules with no floor; imports (late and type-only too) and "module:attribute" that reach upwards."""
    breaches = []
    for module in tree.modules.values():
        floor = _floor(module.name)
        if floor is None:
            breaches.append(f"{module.path}: has no floor; give it one in FLOORS")
            continue
        for found in tree.imports(module):
            above = _floor(found.target)
            if above is not None and above > floor:
                breaches.append(f"{module.path}:{found.line}: imports {found.target} from a floor above")
        for node in ast.walk(module.syntax):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _PATH.fullmatch(node.value):
                above = _floor(node.value.partition(":")[0])
                if above is not None and above > floor:
                    breaches.append(f"{module.path}:{node.lineno}: names {node.value} from a floor above")
    return breaches


def cycles(tree: Tree) -> list[str]:
    """Modules that need one another in order to load."""
    needs: dict[str, list[str]] = {}
    for module in tree.modules.values():
        edges: dict[str, None] = {}
        for found in tree.imports(module):
            if not found.at_load:
                continue
            edges[found.target] = None
            # Loading a.b.c loads a and a.b first; the importer's own packages are being loaded already.
            edges.update(
                (parent, None)
                for parent in _parents(found.target)
                if not f"{module.name}.".startswith(f"{parent}.")
            )
        needs[module.name] = [name for name in edges if name in tree.modules]

    breaches, finished = [], set[str]()

    def visit(name: str, trail: list[str]) -> None:
        if name in trail:
            breaches.append("cycle: " + " -> ".join([*trail[trail.index(name) :], name]))
        elif name not in finished:
            for needed in needs[name]:
                visit(needed, [*trail, name])
            finished.add(name)

    for name in needs:
        visit(name, [])
    return breaches


def long_files(tree: Tree) -> list[str]:
    """Files that nobody reads to the end."""
    counts = ((module.path, len(module.source.splitlines())) for module in tree.modules.values())
    return [f"{path}: {count} lines, {LINES} at most" for path, count in counts if count > LINES]


def shared_randomness(tree: Tree) -> list[str]:
    """Uses of a generator that a state does not own: the global ones, and new ones that nobody seeded."""
    breaches = []
    for module in tree.modules.values():
        names = _library_names(module.syntax)
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
            breaches += [
                f"{module.path}:{node.lineno}: {name} is not a stream of the state's own"
                for name in used
                if _is_shared(name)
                and not (name in PUT_BACK and f"{module.name}.".startswith("ludens.testing."))
            ]
    return breaches


def _is_shared(name: str) -> bool:
    library, _, member = name.rpartition(".")
    if library == "random":
        return member not in RANDOM_ALLOWED
    return library == "numpy.random" and member not in NUMPY_ALLOWED


def _library_names(syntax: ast.Module) -> dict[str, str]:
    """What this file calls the two libraries and what it took from them: {"np": "numpy"}."""
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
    """`np.random.seed` as `numpy.random.seed`; "" for what is not a plain name of the two libraries."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value, names)
        return f"{base}.{node.attr}" if base else ""
    return ""


def _walk(node: ast.AST, at_load: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Every node, and whether it runs as soon as the file is loaded."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            types_only = isinstance(node, ast.If) and field == "body" and _is_type_checking(node.test)
            runs = at_load and not later and not types_only
            yield child, runs
            yield from _walk(child, runs)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    """The module an import takes from, its leading dots resolved."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    up = node.level - module.is_package
    parts = parts[: len(parts) - up]
    return ".".join([*parts, node.module] if node.module else parts)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _floor(name: str) -> int | None:
    """How high a module stands: as high as the part of Ludens it belongs to."""
    part = name.removeprefix(PACKAGE).removeprefix(".").partition(".")[0]
    return FLOOR.get(part)
