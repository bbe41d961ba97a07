"""Forms: what a browser sends becomes an action, or one sentence that says what is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ludens.core.errors import Illegal, MoveError, Unreadable
from ludens.core.forms import (
    Choose,
    Draw,
    Fill,
    Form,
    Matrix,
    Place,
    Plan,
    Select,
    Sentence,
    keys_of,
    readable,
)
from ludens.core.reply import ActionFormat, MessageFormat
from ludens.core.state import Legal


def plan(**more: Any) -> Plan:
    def write(steps: Any, message: str) -> str:
        return json.dumps([[dict(step) for step in steps], message])

    names = ["apple", "table"]
    commands = {"Move": [("target", names)], "Push": [("box", ["apple"]), ("destination", names)]}
    return Plan({"R1": ("R1", ("Move", "Push")), "R2": ("R2", ("Move",))}, commands, write, **more)


@pytest.mark.parametrize(
    ("action", "label"),
    [
        ("cut_wire_1", "Cut wire 1"),
        ("STAY", "Stay"),
        ("A1", "A1"),
        ("X", "X"),
        ("d2d4", "d2d4"),
        ("OK?", "OK?"),
    ],
)
def test_labels(action: str, label: str) -> None:
    assert readable(action) == label


def test_keys_of_directions() -> None:
    assert keys_of(("UP", "DOWN", "STAY")) == {"ArrowUp": "UP", "ArrowDown": "DOWN", ".": "STAY", " ": "STAY"}
    assert keys_of(("LEFT", "STAY", "INTERACT"))[" "] == "INTERACT"
    assert keys_of(("PASS", "BET")) == {}


def test_choose_reads_names_labels_and_other_spellings() -> None:
    form = Choose(Legal(("a7a6", "b7b6")), {"a7a6": "a7–a6"}, format=ActionFormat(aliases={"up": "b7b6"}))
    assert [form.read(text) for text in ("a7a6", "a7-a6", "A7A6", "up")] == ["a7a6", "a7a6", "a7a6", "b7b6"]
    assert form.read("c3c4") == "c3c4"  # the game says why not
    with pytest.raises(Unreadable):
        form.read("  ")


def test_choose_that_lists_nothing() -> None:
    form = Choose(Legal(("A1",)), places={"A1": (Place(0, 0, 1, 1),)}, listed=False)
    assert "places" not in form.describe()
    assert form.read("a1") == "A1"


def test_sentence() -> None:
    form = Sentence(MessageFormat(), 10)
    assert form.read("hello") == "hello"
    for wrong in ("", " \u200b", "x" * 11):
        with pytest.raises(MoveError):
            form.read(wrong)


def test_select() -> None:
    form = Select({"a": "A", "b": "B"}, lambda names: "+".join(sorted(names)))
    assert form.read('["b","a","b"]') == "a+b"
    for wrong in ("[]", '["c"]', "a", "{}", '[["a"]]'):
        with pytest.raises(MoveError):
            form.read(wrong)


def test_fill() -> None:
    form = Fill({"serial": "serial", "wires": "wires"}, lambda fields: str(dict(fields)), longest=5)
    assert form.read('{"serial": " 1  2 ", "other": "x"}') == "{'serial': '1 2'}"
    for wrong in ("{}", '{"serial": " "}', '{"serial": 1}', '{"serial": "123456"}', "[]", "serial"):
        with pytest.raises(MoveError):
            form.read(wrong)


def test_plan() -> None:
    sent = {"steps": [{"R1": ["Move", "table"], "R2": ["Move", "apple"]}, {"R1": ["Push", "apple", "table"]}]}
    steps = [{robot: list(words) for robot, words in step.items()} for step in sent["steps"]]
    assert json.loads(plan().read(json.dumps(sent | {"message": ""}))) == [steps, ""]


@pytest.mark.parametrize(
    ("steps", "message", "reason"),
    [
        ([], "", "at least one robot"),
        ([{}], "", "at least one robot"),
        ([{"R3": ["Move", "table"]}], "", "no such robot"),
        ([{"R2": ["Push", "apple", "table"]}], "", "does not know"),
        ([{"R1": ["Push", "apple"]}], "", "choose what"),
        ([{"R1": ["Move", "moon"]}], "", "cannot move"),
        ([{"R1": "Move"}], "", "does not know"),
        (["R1"], "", "not understood"),
        ([{"R1": ["Move", "table"]}], "hi", "characters"),
    ],
)
def test_plan_says_what_is_wrong(steps: Any, message: str, reason: str) -> None:
    with pytest.raises(MoveError, match=reason):
        plan().read(json.dumps({"steps": steps, "message": message}))


def test_plan_of_one_step() -> None:
    form = plan(steps=1, waits=True, message=5)
    assert json.loads(form.read('{"steps": [], "message": "hello"}')) == [[], "hello"]
    with pytest.raises(Illegal, match="At most 1 step"):
        form.read(json.dumps({"steps": [{"R1": ["Move", "table"]}] * 2, "message": ""}))


def test_draw() -> None:
    form = Draw(("you", "partner"), 2, (100, 50), json.dumps)
    assert json.loads(form.read("[[[0, 0], [1, 1]], [[0.5, 0.5], [0.25, 1]]]")) == [
        [[0, 0], [100, 50]],
        [[50, 25], [25, 50]],
    ]
    with pytest.raises(Illegal, match="partner has 1 of 2 points"):
        form.read("[[[0, 0], [1, 1]], [[0.5, 0.5]]]")
    for wrong in (
        "[]",
        "[[[0, 0], [1, 1.1]], [[0, 0], [0, 0]]]",
        '[[[0, 0], ["a", 0]], []]',
        "nothing",
        "[1, 2]",
    ):
        with pytest.raises(MoveError):
            form.read(wrong)


def test_matrix() -> None:
    contents = {0: ("", "empty"), 1: ("X", "cross")}
    form = Matrix(("A",), ("1", "2"), contents, (Place(0, 0, 1, 1), Place(1, 0, 1, 1)), json.dumps)
    assert form.read("[0, 1]") == "[[0, 1]]"
    for wrong in ("[0]", "[0, 2]", "[0, true]", "{}", "[0, null]"):
        with pytest.raises(MoveError):
            form.read(wrong)


FORMS: list[Form] = [
    Choose(Legal(("A1",))),
    Sentence(MessageFormat(), 100),
    Select({"a": "A"}, str),
    Fill({"a": "A"}, str),
    plan(),
    Draw(("you",), 2, (1, 1), str),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.kind)
@pytest.mark.parametrize(
    "sent", ["", "null", "[" * 100_000, "\x00", '{"steps": 1, "message": 2}', "NaN", "[NaN]"]
)
def test_whatever_is_sent_gives_a_text_or_a_sentence(form: Form, sent: str) -> None:
    try:
        answer = form.read(sent)
    except MoveError as error:
        answer = str(error)
        assert answer.endswith(".")
    assert isinstance(answer, str)
