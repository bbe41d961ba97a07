"""The map on top of the errors file is the tree itself."""

from __future__ import annotations

import inspect
import re

import pytest

from ludens.core import errors
from ludens.core.errors import LudensError, MissingExtra, MoveError, UnknownName


def drawn() -> dict[str, str | None]:
    """Every class in the drawing with the class it hangs from, read off the indentation."""
    parents: dict[str, str | None] = {}
    trail: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([ │├└─]*)([A-Z]\w+)(\s{2,}\S|$)", line)
        if found:
            depth, name = len(found[1]), found[2]
            trail = [(d, n) for d, n in trail if d < depth]
            parents[name] = trail[-1][1] if trail else None
            trail.append((depth, name))
    return parents


def real() -> dict[str, str | None]:
    tree: dict[str, str | None] = {}
    for name, cls in inspect.getmembers(errors, inspect.isclass):
        if issubclass(cls, LudensError):
            tree[name] = None if cls is LudensError else cls.__bases__[0].__name__
    return tree


def test_the_map_is_the_territory() -> None:
    assert len(drawn()) > 10
    assert drawn() == real()


def test_every_error_explains_itself() -> None:
    for name in real():
        assert (getattr(errors, name).__doc__ or "").strip().endswith("."), name


def test_each_way_to_miss_a_move_has_its_verdict() -> None:
    ways = {cls.__name__: cls.verdict for cls in MoveError.__subclasses__()}
    assert ways == {
        "Unreadable": "unreadable",
        "Ambiguous": "unreadable",
        "Illegal": "illegal",
        "Late": "late",
    }


@pytest.mark.parametrize(
    ("name", "known", "told"),
    [
        ("clasic", ["classic", "plain"], "unknown theme 'clasic'; did you mean 'classic'?"),
        ("zzz", [], "unknown theme 'zzz'; known: none."),
        ("zzz", ["a", "b"], "unknown theme 'zzz'; known: a, b."),
        ("", ["a", "b"], "unknown theme ''; known: a, b."),
        ("q9", [f"name{i:02}" for i in range(20)], "20 known names: name00, name01"),
        ("x" * 99, ["a"], f"unknown theme '{'x' * 57}...'; known: a."),
    ],
)
def test_unknown_names_come_with_help(name: str, known: list[str], told: str) -> None:
    assert told in str(UnknownName("theme", name, known))


def test_a_missing_extra_says_how_to_get_it() -> None:
    assert str(MissingExtra("pong", "atari")) == "pong needs the extra 'atari': pip install 'ludens[atari]'."
