"""Which lines act, which are reported, which are talk; and what is withheld from the Expert."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.games.comma.dialogue import WITHHELD, read_actions, withhold

ACTIONS = ("cut_wire_1", "cut_wire_2", "press_0", "submit")


def done(message: str, released: bool = False) -> list[str]:
    return [read.action for read in read_actions(message, ACTIONS, released) if read.acts]


@pytest.mark.parametrize(
    "line",
    ["cut_wire_1", "  cut_wire_1  ", "CUT_WIRE_1", "`cut_wire_1`", "**cut_wire_1**", "cut_wire_1.",
     '"cut_wire_1"', "ACTION: cut_wire_1", "action: cut_wire_1", "**Action:** `cut_wire_1`"],
)  # fmt: skip
def test_a_line_that_is_an_action_acts(line: str) -> None:
    assert done(line) == ["cut_wire_1"]


@pytest.mark.parametrize(
    "line",
    ["I will cut_wire_1", "cut_wire_1?", "cut_wire_1 or cut_wire_2", "Then cut_wire_1, cut_wire_2?",
     "Shall I submit", "then submit", "not cut_wire_1", "the ACTION: cut_wire_1", "cut_wire_1 " + "x" * 300],
)  # fmt: skip
def test_prose_that_mentions_an_action_is_talk(line: str) -> None:
    assert read_actions(line, ACTIONS) == []


@pytest.mark.parametrize(
    "line",
    ["- cut_wire_1", "1. cut_wire_1", "> cut_wire_1", "cut wire 1", "ACTION: cut wire 1",
     "SOLVER: cut_wire_1", "cut_wire_1 cut_wire_2", "cut_wire_1, press_0 and then submit",
     "<action>cut_wire_1</action>", "ACTION: cut_wire_1, cut_wire_2"],
)  # fmt: skip
def test_a_failed_attempt_is_reported_and_not_done(line: str) -> None:
    [read] = read_actions(line, ACTIONS)
    assert (read.action, read.acts) == ("cut_wire_1", False)


@pytest.mark.parametrize(
    "line", ["ACTION: cut_wire_9", "cut_wire_9", "cut_wire_12", "cut_wire_3, cut_wire_4"]
)
def test_an_unknown_action_is_reported(line: str) -> None:
    assert read_actions(line, ACTIONS) == [(line, "", False)]


def test_several_actions_keep_their_order() -> None:
    assert done("cut_wire_2\nthen\ncut_wire_1\ncut_wire_2") == ["cut_wire_2", "cut_wire_1", "cut_wire_2"]


def test_released_reads_any_line_that_holds_a_name() -> None:
    message = "Should I CUT_WIRE_2 or cut_wire_1?\n<think>\nmaybe submit\n</think>\nnothing here"
    assert done(message, released=True) == ["cut_wire_1", "submit"]


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for read in read_actions(text, ACTIONS):
        assert read.line in text.splitlines()
        assert read.action in (*ACTIONS, "")
    read_actions(text, ACTIONS, released=True)


@given(
    st.lists(
        st.sampled_from(
            [
                "press_0",
                "ACTION: press_0",
                "- press_0",
                "`PRESS_0`",
                "cut_wire_1, press_0",
                "ACTION: press_0 press_0",
                "hello",
                "cut_wire_1",
            ]
        )
    )
)
def test_hidden_keys_are_withheld_and_nothing_else(lines: list[str]) -> None:
    heard = withhold("\n".join(lines), frozenset({"press_0"})).splitlines()
    assert heard == [WITHHELD if "press" in line.lower() else line for line in lines]


def test_nothing_is_withheld_where_nothing_is_hidden() -> None:
    assert withhold("press_0\r\ncut_wire_1", frozenset()) == "press_0\r\ncut_wire_1"
