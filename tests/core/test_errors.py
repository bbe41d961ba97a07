"""The map on top of the errors file is the tree itself."""

from __future__ import annotations

import inspect
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core import errors
from ludens.core.errors import BadFile, BadOption, Illegal, LudensError, MissingExtra, MoveError, UnknownName


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
        ("bot/nosuch", ["bot/uci", "nano"], "unknown theme 'bot/nosuch'; known: bot/uci, nano."),
        ("bot/rondom", ["bot/uci", "bot/random"], "did you mean 'bot/random'?"),
        ("coma/wire", ["chess", "comma/wire"], "did you mean 'comma/wire'?"),
        ("--model", ["--help", "--suite"], "unknown theme '--model'; known: --help, --suite."),
        ("--modle", ["--help", "--model"], "did you mean '--model'?"),
        ("x" * 99, ["a"], f"unknown theme '{'x' * 57}...'; known: a."),
    ],
)
def test_unknown_names_come_with_help(name: str, known: list[str], told: str) -> None:
    assert told in str(UnknownName("theme", name, known))


def test_a_missing_extra_says_how_to_get_it() -> None:
    assert str(MissingExtra("pong", "atari")) == "pong needs the extra 'atari': pip install 'ludens[atari]'."


LONG = st.one_of(
    st.text(min_size=1, max_size=8).map(lambda part: (part * 10_000)[:10_000]),
    st.text(alphabet="ab'\"\\ \n=/", min_size=200, max_size=1000).map(lambda part: part * 10),
)


@given(LONG)
def test_long_values_lose_their_middle(value: str) -> None:
    for wrong in (
        BadOption(f"option 'rows' must be a whole number, not {value!r}."),
        BadFile(f"cannot read {value!r}, line 3 (part={value!r}): no such file."),
        Illegal(f"({value!r}) is not legal; the seat's own moves are 'a' and 'b'."),
    ):
        assert len(str(wrong)) <= 600
        assert str(type(wrong)(*wrong.args)) == str(wrong)
    assert len(str(BadFile(f"{value} isn't '{value}'"))) <= 1500
    assert str(wrong).endswith(" is not legal; the seat's own moves are 'a' and 'b'.")


def test_usual_values_are_shown_whole() -> None:
    path = "/home/somebody/a long folder name/" + "x" * 100
    assert repr(path) in str(BadFile(f"cannot read {path!r}: it's a folder, and " + "must be a file " * 20))
