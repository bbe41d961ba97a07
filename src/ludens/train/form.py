"""The form of a recipe: a hash of what decides its figures. Figures in the documentation name the form of
which they are, and are those of an earlier one where the recipe, a game or a bot has changed since."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from ludens.agents import agent
from ludens.core.registry import make
from ludens.train.league import is_copy
from ludens.train.recipe import Recipe, names_of_players
from ludens.train.rollout import LEARNER

GAMES = "games"
"""The folder of games that are a module each; others are a package each."""
IGNORED = {"monitor": None, "server": None, "run": ("name", "seed"), "model": ("device",)}
"""Sections, or keys of a section, that do not change the result of training."""


def form(recipe: Recipe) -> str:
    """A hash of a recipe, of the versions and source of its games, and of the source of its bots.

    Options at their defaults, comments, docstrings and the layout of the code do not count. Weights from
    which a recipe starts, and the rest of the package, do not count either.
    """
    games = {spec: make(spec) for spec in (recipe.play.game, *(source.game for source in recipe.sources))}
    files = {file for game in games.values() for file in _files(type(game))}
    for player, spec in _players(recipe):
        files.update(_files(type(agent(player, games[spec]))))
    hashed = blake2b(digest_size=8)
    hashed.update(orjson.dumps(_changed(recipe), option=orjson.OPT_SORT_KEYS))
    for spec in sorted(games):
        hashed.update(f"{spec} {games[spec].version}\n".encode())
    for file in sorted(files, key=lambda file: (file.parent.name, file.name)):
        hashed.update(f"{file.parent.name}/{file.name}\n{_meaning(file)}\n".encode())
    return hashed.hexdigest()


def _changed(recipe: Recipe) -> dict[str, Any]:
    """The values that differ from the defaults."""
    defaults = Recipe().as_dict()
    changed: dict[str, Any] = {}
    for name, section in recipe.as_dict().items():
        ignored = IGNORED.get(name, ())
        if ignored is None:
            continue
        if isinstance(section, Mapping):
            values = {k: v for k, v in section.items() if k not in ignored and v != defaults[name][k]}
            changed |= {name: values} if values else {}
        elif section:
            changed[name] = [{k: v for k, v in item.items() if v not in ("", 0, False)} for item in section]
    return changed


def _players(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Every player that is not a copy of the policy, with the game that it plays."""
    for source in recipe.sources:
        if source.episodes:
            yield from ((bot, source.game) for bot in (source.bot, source.player) if bot)
    for name in sorted({*names_of_players(recipe.opponents), recipe.monitor.against} - {LEARNER, ""}):
        if not is_copy(name):
            yield name, recipe.play.game


def _files(kind: type) -> Iterator[Path]:
    """The source of a class; of a game or bot in a package of its own, all of the package."""
    for ancestor in kind.__mro__:
        root = ancestor.__module__.partition(".")[0]
        if ancestor.__module__.startswith(("ludens.games.", "ludens.agents.")):
            file = Path(inspect.getfile(ancestor))
            whole = file.parent.parent.name == GAMES
            yield from file.parent.glob("*.py") if whole else [file]
        elif root != "ludens" and root not in sys.stdlib_module_names:
            yield Path(inspect.getfile(ancestor))


def _meaning(file: Path) -> str:
    """The syntax tree of a file, without docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        # A string that is a statement is a docstring.
        statements = [each for each in body if not _is_text(each)]
        node.body = statements or [ast.Pass()]  # type: ignore[attr-defined]
    return _dump(tree)


def _dump(value: object) -> str:
    """A part of a syntax tree without its empty fields: newer versions of Python have more of them."""
    if isinstance(value, ast.AST):
        fields = ((name, part) for name, part in ast.iter_fields(value) if part is not None and part != [])
        return f"{type(value).__name__}({', '.join(f'{name}={_dump(part)}' for name, part in fields)})"
    return f"[{', '.join(map(_dump, value))}]" if isinstance(value, list) else repr(value)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
