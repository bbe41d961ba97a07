"""Answers in tags, the reward for their form, and points read from text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.errors import MoveError
from ludens.games.viki.replies import answer_in, combined, points_of, read_points, well_formed

FIVE = [[10, 20], [30, 40], [50, 60], [70, 80], [90, 100]]
GOOD = json.dumps([FIVE, FIVE])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think><answer>b</answer>", "b"),
        ("<answer> b </answer>", "b"),
        ("b", "b"),
        ("<think>maybe <answer>c</answer></think> <answer>b</answer>", "b"),
        ("<answer>b", "b"),
    ],
)
def test_answer_in(text: str, answer: str) -> None:
    assert answer_in(text) == answer


@pytest.mark.parametrize(
    "text", ["", "<think>a</think>", "<answer></answer>", "<answer>a</answer><answer>b</answer>"]
)
def test_no_answer(text: str) -> None:
    with pytest.raises(MoveError):
        answer_in(text)


@pytest.mark.parametrize(
    ("text", "formed"),
    [
        ("<think>a</think><answer>b</answer>", True),
        ("  <think>a</think>\n\n<answer>b</answer>\n", True),
        ("hello <think>a</think><answer>b</answer>", False),
        ("<think>a</think><answer>b</answer> bye", False),
        ("<answer>b</answer>", False),
        ("<answer>b</answer><think>a</think>", False),
        ("<think>a</think><answer>b</answer><answer>c</answer>", False),
        ("<think><think>a</think><answer>b</answer>", False),
        ("b", False),
        ("<think>a</think><answer></answer>", False),
        ("<think>a</think><answer> \n</answer>", False),
    ],
)
def test_form(text: str, formed: bool) -> None:
    assert well_formed(text) is formed
    assert combined(text, 1.0) == pytest.approx(0.9 + 0.1 * formed)
    assert combined(text, 0.0) == pytest.approx(0.1 * formed)


@pytest.mark.parametrize(
    "text",
    [GOOD, f"```json\n{GOOD}\n```", GOOD.replace("[", "(").replace("]", ")"), GOOD.replace("]]]", "],],]")],
)
def test_points_are_read(text: str) -> None:
    assert points_of(read_points(text, 512, 512)) == (tuple(map(tuple, FIVE)),) * 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (GOOD.replace("10", "NaN", 1), "finite"),
        (GOOD.replace("10", "-Infinity", 1), "finite"),
        (GOOD.replace("10", "1e400", 1), "pair of numbers"),
        (GOOD.replace("10", "9" * 400, 1), "pair of numbers"),
        (GOOD.replace("10", "513", 1), "outside"),
        (GOOD.replace("10", "-1", 1), "outside"),
        (json.dumps([FIVE[:4], FIVE]), "4 points"),
        (json.dumps([FIVE, [*FIVE, [1, 1]]]), "6 points"),
        (json.dumps([FIVE]), "not 1"),
        (json.dumps([FIVE, FIVE, FIVE]), "not 3"),
        (json.dumps(FIVE), "not 5"),
        (json.dumps([FIVE, [*FIVE[:4], [1, 2, 3]]]), "pair"),
        ("[" * 1000 + "]" * 1000, "nested"),
        ("7", "not 0"),
        ("I go left", "neither"),
        ("__import__('os')", "neither"),
        ("[[1,2", "not a list"),
        ("[1]" * 100_000, "characters"),
    ],
)
def test_points_are_refused(text: str, reason: str) -> None:
    with pytest.raises(MoveError, match=reason):
        read_points(text, 512, 512)


def test_points_outside_the_picture_are_read_by_the_released_rules() -> None:
    outside = GOOD.replace("10", "-700", 1)
    assert points_of(read_points(outside, 512, 512, "released"))[0][0] == (-700.0, 20.0)


@given(st.text(max_size=200) | st.text("0123456789[](),.-eE ", max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        action = read_points(text, 512, 512)
    except MoveError:
        return
    assert [len(trajectory) for trajectory in points_of(action)] == [5, 5]
