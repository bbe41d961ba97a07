"""Qa: one question, one letter; examples that need no picture; a reader that takes letters only."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

import ludens
from ludens.core.errors import BadOption, MoveError, UnknownName
from ludens.core.random import stream
from ludens.core.view import RenderOptions
from ludens.games.perceive import board_of
from ludens.games.qa.boards import QUESTIONS
from ludens.games.qa.questions import QaGrid
from ludens.loop import play

PLACE = r"(?:\d\d){1,2}:"


@pytest.mark.parametrize("board", QUESTIONS)
async def test_the_oracle_is_right_and_guessing_is_not(board: str) -> None:
    game = ludens.make("qa", board=board)
    oracle, guess = ludens.agent("bot/oracle", game), ludens.agent("bot/random", game)
    chance, right = 0.0, 0.0
    for seed in range(150):
        assert (await play(game, {"viewer": oracle}, seed)).returns == {"viewer": 1.0}
        episode = await play(game, {"viewer": guess}, seed)
        chance, right = chance + 1 / episode.facts["options"], right + episode.returns["viewer"]
    assert right / 150 == pytest.approx(chance / 150, abs=0.12)


def test_letters_are_all_as_likely_and_every_type_is_asked() -> None:
    game = ludens.make("qa", board="chess")
    asked = [game.start(seed) for seed in range(600)]
    four = Counter(q.item.answer for q in asked if len(q.item.options) == 4)  # type: ignore[attr-defined]
    assert set(four) == set("ABCD")
    assert max(four.values()) < 1.4 * min(four.values())
    assert {q.facts["kind"] for q in asked} == set(QUESTIONS["chess"])


def test_a_type_can_be_fixed_and_asks_the_same_as_when_drawn() -> None:
    mixed, fixed = ludens.make("qa", board="gomoku"), ludens.make("qa", board="gomoku", kind="adjacent")
    seed = next(s for s in range(200) if mixed.start(s).facts["kind"] == "adjacent")
    assert mixed.start(seed).item == fixed.start(seed).item  # type: ignore[attr-defined]


@pytest.mark.parametrize("board", QUESTIONS)
def test_the_prompt_has_three_examples_with_their_letters(board: str) -> None:
    game = ludens.make("qa", board=board)
    view = game.view(RenderOptions())
    letters: Counter[str] = Counter()
    for seed in range(40):
        state = game.start(seed)
        told = view.notes(state, "viewer")
        answers = [line for line in told.splitlines() if line.startswith("Answer: ")]
        assert len(answers) == 3
        assert told.count("Question: ") == 4
        assert told.endswith(state.item.prompt())  # type: ignore[attr-defined]
        letters.update(line[-1] for line in answers)
    assert len(letters) == 4


def test_there_may_be_no_examples() -> None:
    game = ludens.make("qa", board="chess", examples=0)
    state = game.start(4)
    assert game.view(RenderOptions()).notes(state, "viewer") == state.item.prompt()  # type: ignore[attr-defined]
    usual = ludens.make("qa", board="chess").start(4)
    assert state.item == usual.item  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B", "B"),
        ("b.", "B"),
        ("Answer: B", "B"),
        ("I count four.\n**Answer:** (B)", "B"),
        ("Answer: {B}", "B"),
        ("Final answer: B", "B"),
        ("I count four.\n**Final Answer:** B) {option}", "B"),
        ("Answer: B\n\nFinal answer: B", "B"),
        ("Answer: B) {option}", "B"),
        ("Answer: B. {option}", "B"),
        ("Answer: B\nExplanation: A and C are too few, and D is too many.", "B"),
    ],
)
def test_a_letter_is_read_with_or_without_its_option(reply: str, letter: str) -> None:
    game = ludens.make("qa", board="gomoku", kind="count_stones")
    state = game.start(1)
    text = reply.replace("{option}", state.item.options[1])  # type: ignore[attr-defined]
    assert game.view(RenderOptions()).format(state, "viewer").read(text, state.legal("viewer")) == letter


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "E",
        "Answer: E",
        "It is B, I think.",
        "Answer: A or B",
        "Answer: B. none",
        "Answer: A\nFinal answer: B",
        "My final answer: B",
    ],
)
def test_other_replies_are_rejected(reply: str) -> None:
    game = ludens.make("qa", board="gomoku", kind="count_stones")
    state = game.start(1)
    with pytest.raises(MoveError):
        game.view(RenderOptions()).format(state, "viewer").read(reply, state.legal("viewer"))


def test_facts_tell_what_was_answered() -> None:
    state = ludens.make("qa", board="reversi", kind="more_discs").start(3)
    state.apply({"viewer": "A"})
    facts = state.facts
    assert facts["kind"] == "more_discs"
    assert facts["right"] == (facts["correct"] == "A") == (facts["truth"] == facts["said"])
    assert state.returns == {"viewer": float(facts["right"])}


def test_only_boards_with_questions_can_be_asked_about() -> None:
    with pytest.raises(BadOption):
        ludens.make("qa", board="breakthrough")
    with pytest.raises(UnknownName):
        ludens.make("qa", board="chess", kind="winner")


@pytest.mark.parametrize("board", QUESTIONS)
@pytest.mark.parametrize("size", [256, 1024])
def test_no_two_cells_have_the_same_place(board: str, size: int) -> None:
    grid = QaGrid(board_of(board, RenderOptions(size=size)), stream(0))
    places = [grid.at([cell]) for cell in grid.all]
    assert len(set(places)) == len(places)
    assert all(re.fullmatch(PLACE, place) for place in places)


@pytest.mark.parametrize("board", QUESTIONS)
async def test_a_bot_that_shows_how_it_counts(board: str) -> None:
    """Numbers add up to the right option; other questions are answered by the option itself."""
    counted = 0
    for kind in QUESTIONS[board]:
        game = ludens.make("qa", board=board, kind=kind)
        bot = ludens.agent("bot/working", game)
        for seed in range(4):
            episode = await play(game, {"viewer": bot}, seed)
            assert episode.facts["right"]
            *work, option, answer = episode.moves[0].said.splitlines()
            letter, truth = episode.facts["correct"], episode.facts["truth"].replace(" ", "_")
            assert (option, answer) == (f"= {truth} {letter}", f"Answer: {letter}")
            if len(work) == 3:  # which of two is more
                totals = {line.split(":")[0]: line.split()[-1] for line in work[:2]}
                assert max(totals, key=lambda name: int(totals[name])) == truth
                assert work[2] == " ".join(totals.values())
            elif kind == "contains":
                assert truth == ("yes" if int(work[0].split()[-1]) else "no")
            elif kind == "fullest_row":
                counts = list(map(int, work[0].split()[1::2]))
                assert [
                    f"row_{row}"
                    for row, count in zip("ABCDEFGH", counts, strict=True)
                    if count == max(counts)
                ] == [truth]
            elif kind == "longest_in_row":
                lengths = list(map(int, work[0].split()[1::2]))
                assert max(lengths) == int(truth)
                assert all(now in (0, before + 1) for before, now in pairwise([0, *lengths]))
            elif kind == "longest_diagonal":
                assert max(map(int, work[0].split()[1::2])) == int(truth)
            elif kind == "winning_line":
                assert truth == ("yes" if max(map(int, work[0].split()[1::2])) >= 5 else "no")
            elif work:
                assert re.fullmatch(rf"({PLACE} \d+ )*({PLACE} )?{re.escape(truth)}", work[0])
            counted += bool(work)
    assert counted > 8


def test_runs_are_counted_where_they_end() -> None:
    grid = QaGrid(board_of("gomoku", RenderOptions()), stream(0))
    grid.codes = [0] * 225
    for row, column in ((0, 4), (1, 3), (2, 2), (2, 6), (2, 7)):
        grid.codes[15 * row + column] = 1
    grid.codes[15 * 3 + 1] = 2  # of the other colour, on the same diagonal
    diagonals = list(grid.lines(((1, 1), (1, -1))))
    assert numbers(grid.lengths_by_row(diagonals, [1])) == [1, 2, 3, *[0] * 12]
    assert numbers(grid.lengths_by_row(diagonals, [1, 2])) == [1, 2, 3, 1, *[0] * 11]
    assert numbers(grid.lengths_by_row(grid.lines(((0, 1),)), [1])) == [1, 1, 2, *[0] * 12]


def numbers(work: str) -> list[int]:
    return list(map(int, work.split()[1::2]))
