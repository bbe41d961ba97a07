"""What replies are read as: boxes, seats above 9, abstentions, and everything that is not an answer."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.errors import Ambiguous, Illegal, MoveError, Unreadable
from ludens.core.state import Legal
from ludens.games.spy.game import CLUE_LIMIT, ClueFormat, VoteFormat, boxes, clean_clue, quoted

CLUE, VOTE = ClueFormat("clue"), VoteFormat("vote")
TEXT, BALLOT = Legal.text(CLUE_LIMIT), Legal([*map(str, range(1, 14)), "n/a"])

CLUES = {
    "The left one is red, so\n\\boxed{The cube is red}": "The cube is red",
    "\\boxed {The cube is red}": "The cube is red",
    "\\\\boxed{The cube is red}.": "The cube is red",
    "$\\boxed{\\text{The cube is red}}$": "The cube is red",
    "boxed{The cube is red}": "The cube is red",
    "**\\boxed{The cube is red}** because it fits.": "The cube is red",
    "\\boxed{\\boxed{The cube is red}}": "The cube is red",
    "\\boxed{The \\boxed{cube} is red}": "The cube is red",
    "\\boxed{The set {red, blue} is complete}": "The set {red, blue} is complete",
    "\\boxed{The cube\nis   red}": "The cube is red",
    "\\boxed{A}... and again \\boxed{A}": "A",
    "<think>\\boxed{a secret}</think>\\boxed{The cube is red}": "The cube is red",
    "<|begin_of_box|>The cube is red<|end_of_box|>": "The cube is red",
    "'\\boxed{The cube is red}'": "The cube is red",
    "I was told to write '\\boxed{one sentence}' at the end. \\boxed{The cube is red}": "The cube is red",
}


@pytest.mark.parametrize(("reply", "clue"), CLUES.items())
def test_clues(reply: str, clue: str) -> None:
    assert CLUE.read(reply, TEXT) == clue


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("", Unreadable),
        ("The cube is red", Unreadable),
        ("\\boxed{}", Unreadable),
        ("\\boxed{ \u200b }", Unreadable),
        ("\\boxed{The cube is red", Unreadable),
        ("<think>\\boxed{The cube is red}</think>", Unreadable),
        ("\\boxed{The cube is red} or \\boxed{The cube is blue}", Ambiguous),
        ("\\boxed{" + "x" * (CLUE_LIMIT + 1) + "}", Illegal),
        ("\\boxed{" + "red " * 25_000 + "}", Illegal),
    ],
)
def test_what_is_no_clue(reply: str, error: type[MoveError]) -> None:
    with pytest.raises(error):
        CLUE.read(reply, TEXT)


VOTES = {
    "\\boxed{2}": "2",
    "\\boxed{12}": "12",
    "\\boxed{Player 13}": "13",
    "\\boxed{player_3}": "3",
    "\\boxed{\\text{Player 3}}": "3",
    "\\boxed{#3}": "3",
    "\\boxed{ 03 }": "3",
    "It is player 4. $\\boxed{3}$.": "3",
    "\\boxed{N/A}": "n/a",
    "\\boxed{\\text{N/A}}": "n/a",
    "\\boxed{NA}": "n/a",
    "\\boxed{\\boxed{N/A}}": "n/a",
    "3": "3",
    "Player 3.": "3",
    "n/a": "n/a",
    "\\boxed{3}, finally \\boxed{Player 3}": "3",
}


@pytest.mark.parametrize(("reply", "vote"), VOTES.items())
def test_votes(reply: str, vote: str) -> None:
    assert VOTE.read(reply, BALLOT) == vote


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("", Unreadable),
        ("I vote for player 3 because of the clue.", Unreadable),
        ("\\boxed{the spy is 3}", Unreadable),
        ("\\boxed{2 or 3}", Unreadable),
        ("\\boxed{2, 3}", Unreadable),
        ("\\boxed{two}", Unreadable),
        ("\\boxed{-3}", Unreadable),
        ("\\boxed{3.5}", Unreadable),
        ("\\boxed{unreadable}", Unreadable),
        ("\\boxed{}", Unreadable),
        ("\\boxed{3", Unreadable),
        ("\\boxed{3} or \\boxed{4}", Ambiguous),
        ("\\boxed{3} or \\boxed{N/A}", Ambiguous),
        ("\\boxed{0}", Illegal),
        ("\\boxed{14}", Illegal),
        ("\\boxed{99999}", Illegal),
    ],
)
def test_what_is_no_vote(reply: str, error: type[MoveError]) -> None:
    with pytest.raises(error):
        VOTE.read(reply, BALLOT)


@pytest.mark.parametrize(
    "reply",
    [
        "\\boxed{" * 14_000,
        "\\boxed{" * 7_000 + "a" + "}" * 7_000,
        "\\" * 100_000,
        "boxed" * 20_000,
        "boxed " + " " * 100_000,
        "{" * 100_000,
        "\\text{" * 16_000,
        "\\boxed{" + "\\text{" * 14_000 + "}",
        "'\\boxed{a}' b" * 7_000,
        "\\boxed{" + "9" * 90_000 + "}",
        "<|begin_of_box|>" * 6_000,
    ],
)
def test_long_replies_are_read_in_linear_time(reply: str) -> None:
    started = process_time()
    for reader, legal in ((CLUE, TEXT), (VOTE, BALLOT)):
        try:
            reader.read(reply, legal)
        except MoveError:
            pass
    assert process_time() - started < 2


@given(st.text(alphabet=st.sampled_from("\\boxed{}12n/a <>think\n'\""), max_size=60))
def test_readers_raise_nothing_but_move_errors(reply: str) -> None:
    for reader, legal in ((CLUE, TEXT), (VOTE, BALLOT)):
        try:
            read = reader.read(reply, legal)
        except MoveError:
            continue
        assert read
        assert legal.refusal(read, "seat") is None


@given(st.text(max_size=200))
def test_a_clue_is_one_line_and_cannot_leave_its_quotation_marks(text: str) -> None:
    shown = quoted(clean_clue(text))
    assert len(shown.splitlines()) == 1
    assert shown.count('"') == 2
    assert clean_clue(clean_clue(text)) == clean_clue(text)


def test_boxes_are_outermost_and_balanced() -> None:
    assert list(boxes("\\boxed{a \\boxed{b} c} and \\boxed{d}")) == ["a \\boxed{b} c", "d"]


def test_formats_write_what_they_read() -> None:
    assert VOTE.read(VOTE.write("n/a"), BALLOT) == "n/a"
    assert VOTE.write("n/a") == "\\boxed{N/A}"
    assert CLUE.read(CLUE.write("The cube is red"), TEXT) == "The cube is red"
