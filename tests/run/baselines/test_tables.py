"""Tables over words find what the words give away, and nothing where they give nothing away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ludens.core.random import stream
from ludens.run.baselines.questions import best_table
from ludens.run.baselines.words import Example, Words

LETTERS = ("A", "B", "C", "D")
Right = Callable[[int, list[str]], str]


def questions(count: int, right: Right, first: int = 0) -> list[Example]:
    """Questions with four shuffled numbers as options, of which one is right."""
    made = []
    for number in range(first, first + count):
        dice = stream(number, "test")
        values = [str(dice.between(0, 9) * 10 + place) for place in range(4)]
        dice.shuffle(values)
        hint = dice.choice(["left", "right"])
        options = "\n".join(f"{letter}. {value}" for letter, value in zip(LETTERS, values, strict=True))
        words = Words(f"A ball is {hint} of the cup.\nHow many are there?\n{options}", LETTERS, True)
        answer = right(number, [hint, *values])
        made.append(Example(words, {letter: float(letter == answer) for letter in LETTERS}))
    return made


def score(right: Right) -> tuple[str, float]:
    """The name of the best table, and how often it is right on other questions."""
    table = best_table(questions(200, right))
    others = questions(200, right, first=10_000)
    return table.name, sum(one.rewards[table.answer(one.words)] for one in others) / len(others)


def of_largest(number: int, told: list[str]) -> str:
    return LETTERS[max(range(4), key=lambda place: int(told[1 + place]))]


@pytest.mark.parametrize(
    ("right", "named", "least"),
    [
        (lambda number, told: "C", "one answer", 1.0),
        (of_largest, "rank of the number by question", 1.0),
        (lambda number, told: "A" if told[0] == "left" else "D", "words at 1 place", 1.0),
    ],
)
def test_what_words_give_away_is_found(right: Right, named: str, least: float) -> None:
    name, share = score(right)
    assert (name, share >= least) == (named, True)


def test_nothing_is_found_where_nothing_is_given_away() -> None:
    _, share = score(lambda number, told: stream(number, "answer").choice(LETTERS))
    # Four standard deviations of 200 guesses at 25%.
    assert abs(share - 0.25) < 4 * (0.25 * 0.75 / 200) ** 0.5


def test_a_table_validates_on_questions_it_did_not_see() -> None:
    """A table over all words remembers every question; it must not be credited for that."""
    examples = questions(80, lambda number, told: stream(number, "answer").choice(LETTERS))
    assert best_table(examples).validated(examples) < 0.5
