"""Guesses of the next tokens from earlier replies."""

from itertools import islice

from ludens.train.nano.onnx_player import SEQUENCES, Guesses

PROMPT = [1, 2, 3, 4, 5, 6, 7, 8, 9]


def after(known: Guesses, prompt: list[int], said: list[int], most: int = 9) -> list[int]:
    return [*islice(known.after(prompt, said), most)]


def test_what_followed_the_same_words() -> None:
    known = Guesses()
    assert after(known, PROMPT, []) == []
    known.learn(PROMPT, [20, 21, 22, 23, 21, 22, 24])
    assert after(known, PROMPT, []) == [20, 21, 22, 23, 21, 22, 24]
    assert after(known, [*PROMPT[:8], 40], [41, 22, 23], 2) == [21, 22]
    known.learn(PROMPT, [21, 22, 25])
    assert after(known, PROMPT, [50, 21, 22]) == [25]


def test_without_known_words_the_latest_reply_at_this_place() -> None:
    known = Guesses()
    known.learn(PROMPT, [20, 21, 22, 23])
    assert after(known, PROMPT, [30]) == [21, 22, 23]
    assert after(known, PROMPT, [30, 31, 32, 33, 34]) == []


def test_other_kinds_of_questions_are_told_apart() -> None:
    known = Guesses()
    known.learn(PROMPT, [20, 21])
    assert after(known, [99, *PROMPT], []) == []


def test_no_more_is_kept_than_allowed() -> None:
    known = Guesses()
    for number in range(SEQUENCES // 40):
        known.learn([*PROMPT[:8], number], range(100 * number, 100 * number + 20))
    assert sum(map(len, known._followed.values())) < SEQUENCES + 200
