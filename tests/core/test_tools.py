"""Replies through tool calls: every format reads the same actions with the same verdicts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.errors import Ambiguous, Illegal, MoveError, Unreadable
from ludens.core.registry import GAMES, make
from ludens.core.reply import ActionFormat, MessageFormat, read_action
from ludens.core.state import Legal
from ludens.core.tools import ToolFormat, acts_by_tools, parse_arguments, read_calls, with_calls, write_call
from ludens.core.view import RenderOptions, view_of

LEGAL = Legal(("a1", "b2", "pass"))
FORMAT = ToolFormat(ActionFormat())


@given(st.sampled_from(sorted(LEGAL)), st.text())
def test_an_action_is_read_beside_any_text(action: str, words: str) -> None:
    if "<tool_call>" in words or "<" in words:
        return
    assert FORMAT.read(f"{words}\n{FORMAT.write(action)}", LEGAL) == action


@given(st.text())
def test_a_message_is_read_as_it_was_called(words: str) -> None:
    format = ToolFormat(MessageFormat())
    try:
        expected = MessageFormat().read(words, Legal.text())
    except Unreadable:
        return
    assert format.read(format.write(words), Legal.text()) == expected


@pytest.mark.parametrize("tag", ["</tool_call>", "<think>", "<tool_call>"])
def test_tags_in_an_argument_are_only_text(tag: str) -> None:
    [call] = read_calls(write_call("say", {"message": f"x{tag}y"}))
    assert call["arguments"] == {"message": f"x{tag}y"}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", Unreadable),
        ("Action: a1", Unreadable),
        (write_call("move", {"action": "a1"}), Unreadable),
        (write_call("act", {}), Unreadable),
        (write_call("act", "a1"), Unreadable),
        ("<tool_call>not JSON</tool_call>", Unreadable),
        ("<tool_call>" + json.dumps({"name": "act", "arguments": {"action": "a1"}}), Unreadable),
        (f"<think>{write_call('act', {'action': 'a1'})}</think>", Unreadable),
        (write_call("act", {"action": "z9"}), Illegal),
        (write_call("act", {"action": "a1"}) + write_call("act", {"action": "b2"}), Ambiguous),
    ],
)
def test_verdicts(reply: str, kind: type[MoveError]) -> None:
    with pytest.raises(kind):
        read_action(FORMAT, reply, LEGAL)


def test_equal_calls_are_one() -> None:
    assert FORMAT.read(write_call("act", {"action": "a1"}) * 2, LEGAL) == "a1"


def test_numbers_and_spellings_are_read_as_in_text() -> None:
    assert FORMAT.read(write_call("act", {"action": 7}), Legal(("7", "8"))) == "7"
    assert FORMAT.read(write_call("act", {"action": " PASS "}), LEGAL) == "pass"


def test_arguments_that_cannot_be_parsed_stay_text() -> None:
    assert parse_arguments("{") == "{"
    deep = "[" * 100_000
    assert parse_arguments(deep) == deep


def test_the_schema_lists_legal_actions_where_they_are_shown() -> None:
    assert FORMAT.tool(LEGAL, True).schema["properties"]["action"]["enum"] == list(LEGAL)
    assert "enum" not in FORMAT.tool(LEGAL, False).schema["properties"]["action"]
    assert with_calls("hm", [{"name": "act", "arguments": {"action": "a1"}}]) == "hm\n" + FORMAT.write("a1")


def test_which_players_act_by_tools() -> None:
    assert acts_by_tools("openai/gpt-4.1?act=tools&style=cot")
    assert not acts_by_tools("openai/gpt-4.1")


@pytest.mark.parametrize(
    "name",
    [
        "tic_tac_toe",
        "chess",
        "sudoku",
        "minesweeper",
        "hanabi",
        "kuhn_poker",
        "perceive",
        "viki/activate",
        "spy",
    ],
)
def test_every_kind_of_format_reads_what_it_writes(name: str) -> None:
    if name not in GAMES.names():
        pytest.fail(f"{name} is not a game any more: choose another")
    game = make(name)
    state = game.start(0)
    view = view_of(game, RenderOptions(), 0)
    for seat in state.to_act:
        format, legal = view.format(state, seat), state.legal(seat)
        action = state.solution(seat) or (legal[0] if legal else "A red circle.")
        assert format.read(format.write(action), legal) == action
        assert ToolFormat(format).read(ToolFormat(format).write(action), legal) == action
