"""Models over words: each finds what it can express, none what is not there."""

from __future__ import annotations

import pytest

from ludens.core.random import stream
from ludens.run.baselines.words import Example, Words
from ludens.run.search.models import MODELS, fit, traits, validated

LETTERS = ("A", "B", "C")


def questions(count: int, kind: str, first: int = 0) -> list[Example]:
    made = []
    for number in range(first, first + count):
        dice = stream(number, "model")
        page, place, weather = dice.between(0, 99), dice.below(3), dice.choice(["sun", "rain", "fog"])
        texts = ["x" * (3 + dice.below(4)) for _ in LETTERS]
        if kind == "word":
            place = ["sun", "rain", "fog"].index(weather)
        elif kind == "length":
            texts[place] += "xxxx"
        elif kind == "threshold":
            place = 0 if page < 40 else 2
        options = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=True))
        words = Words(f"Page {page}: {weather} today.\nWhich one?\n{options}", LETTERS, True)
        made.append(Example(words, {letter: float(letter == LETTERS[place]) for letter in LETTERS}))
    return made


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["word", "length"])
def test_a_leak_is_learned(model: str, kind: str) -> None:
    made, others = fit(model, questions(90, kind)), questions(60, kind, 1000)
    assert sum(one.rewards[made.answer(one.words)] for one in others) >= 54


def test_trees_find_thresholds() -> None:
    assert validated("boosted trees", questions(90, "threshold")) > 0.9


def test_answers_that_are_only_remembered_do_not_count() -> None:
    """Guesses at a third; four standard deviations."""
    examples = questions(90, "none")
    for model in MODELS:
        assert validated(model, examples) < 1 / 3 + 4 * (2 / 9 / 90) ** 0.5


def test_what_is_said_about_an_answer() -> None:
    text = 'player 1: "a red cube"\nplayer 2: "a red cube"\nplayer 3: "one green ball on a box"\nWho?'
    known = traits(Words(text, ("player 1", "player 2", "player 3"), False))
    assert known["player 1"].shared > 0.7 > known["player 3"].shared
    assert [one.mentions for one in known.values()] == [1, 1, 1]
    assert known["player 3"].last_mention < known["player 1"].last_mention


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown model"):
        fit("a guess", [])
