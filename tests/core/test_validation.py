"""Plain data is read into dataclasses, and what does not fit is named with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from ludens.core.validation import Invalid, read_json, read_value


@dataclass
class Part:
    name: str
    weight: float = 1.0
    grade: Literal["good", "bad"] = "good"


@dataclass
class Assembly:
    part: Part
    number: int
    parts: tuple[Part, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    rest: Any = None
    spare: Part | None = None
    done: bool = False


def problem(kind: Any, data: Any) -> str:
    with pytest.raises(Invalid) as caught:
        read_value(kind, data)
    return str(caught.value)


def test_data_becomes_dataclasses() -> None:
    part = {"name": "a", "weight": 2, "grade": "bad"}
    assert read_value(Assembly, {"number": 3, "part": dict(part)}) == Assembly(Part("a", 2.0, "bad"), 3)
    every = {
        "part": part, "number": 3, "parts": [{"name": "b"}], "notes": {"x": "y"}, "rest": [1, None],
        "spare": None, "done": True,
    }  # fmt: skip
    made = read_value(Assembly, every)
    assert made == Assembly(Part("a", 2.0, "bad"), 3, (Part("b"),), {"x": "y"}, [1, None], None, True)
    assert type(made.part.weight) is float
    assert read_json(list[int], b"[1, 2]") == [1, 2]


def test_the_first_error_is_named_with_its_place() -> None:
    assert problem(dict[str, list[int]], {"a": [1, 2], "b": [3, "four"], "c": 5}) == (
        "at b.1: must be a whole number, not 'four'"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": True}, "at number: must be a whole number"),
        ({"number": 1.0}, "at number: must be a whole number"),
        ({"done": 1}, "at done: must be true or false"),
        ({"part": {}}, "at part.name: is missing"),
        ({"part": []}, "at part: must have names"),
        ({"part": {"name": "a", "weight": "1"}}, "at part.weight: must be a number"),
        ({"part": {"name": "a", "weight": 10**400}}, "at part.weight: is too large"),
        (
            {"part": {"name": "a", "weight": 1.0, "grade": ["good"]}},
            "at part.grade: must be one of good, bad",
        ),
        ({"parts": {}}, "at parts: must be a list"),
        ({"parts": [{"name": "a"}, {"name": None}]}, "at parts.1.name: must be text"),
        ({"notes": {"x": 1}}, "at notes.x: must be text"),
        ({"spare": 1}, "at spare: must have names"),
        ({"colour": "red"}, "at colour: is not one of the fields part, number"),
    ],
)
def test_what_does_not_fit(change: dict[str, Any], message: str) -> None:
    assert message in problem(Assembly, {"part": {"name": "a"}, "number": 1, **change})


def test_unknown_fields_are_ignored_where_that_is_wanted() -> None:
    data = b'{"part": {"name": "a", "colour": "red"}, "number": 1, "price": 2}'
    assert read_json(Assembly, data, extra=True) == Assembly(Part("a"), 1)
    with pytest.raises(Invalid, match="price"):
        read_json(Assembly, data)


def test_an_error_of_the_whole_has_a_place_too() -> None:
    assert problem(dict[str, list[int]], []).startswith("at the start: must have names and values")
    with pytest.raises(Invalid, match="at the start: not JSON"):
        read_json(Assembly, b"{")


def test_a_long_name_is_cut_off() -> None:
    assert problem(dict[str, list[int]], {"x" * 10_000: 1}) == "at " + "x" * 197
