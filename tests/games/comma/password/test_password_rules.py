"""The published list written down again; turning, submitting, scores; random lists; the random baseline."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.core.random import stream
from ludens.games.comma.dialogue import advise
from ludens.games.comma.pages import write
from ludens.games.comma.password import PUBLISHED, STOCK, Password, PasswordManual, PasswordPanel, draw_manual
from tests.games.comma.common import SEEDS, oracle_pair, random_play

TABLE = """
about, after, again, below, could, every, first, found, great, house, large, learn, never, other, place,
plant, point, right, small, sound, spell, still, study, their, there, these, thing, think, three, water,
where, which, world, would, write
"""


def near(a: str, b: str) -> bool:
    """Whether the slots made for one word can spell the other."""
    return all((ord(x) - ord(y)) % 26 in (0, 1, 25) for x, y in zip(a, b, strict=True))


def panel(seed: int, **options: object) -> PasswordPanel:
    puzzle = Password(**options).start(seed).puzzle  # type: ignore[arg-type]
    assert isinstance(puzzle, PasswordPanel)
    return puzzle


def find(answer: str, **options: object) -> PasswordPanel:
    return next(p for p in (panel(seed, **options) for seed in range(2000)) if p.answer == answer)


def test_the_published_list() -> None:
    assert PUBLISHED.words == tuple(TABLE.replace(",", "").split())
    assert [pair for pair in combinations(PUBLISHED.words, 2) if near(*pair)] == [("there", "these")]


def test_the_stock_is_five_letter_words_found_once() -> None:
    assert all(len(word) == 5 and word.isascii() and word.islower() and word.isalpha() for word in STOCK)
    assert len(set(STOCK) | set(PUBLISHED.words)) == len(STOCK) + 35 > 300


def test_slots_hold_a_letter_and_its_neighbours_and_turn_round() -> None:
    puzzle = find("about")
    assert puzzle.rings[0] == ("z", "a", "b")
    shown = []
    for action in ("up_button_1", "up_button_1", "up_button_1", "down_button_1"):
        assert puzzle.act(action) == "done"
        shown.append(puzzle.word[0])
    first = "zab".index(shown[2])
    assert shown == ["zab"[(first + step) % 3] for step in (1, 2, 0, 2)]


def test_actions_are_in_the_released_order() -> None:
    """It decides which action a line with two of them executes in the released variant."""
    up_and_down = [f"{way}_button_{slot}" for slot in range(1, 6) for way in ("up", "down")]
    assert PasswordPanel.actions == (*up_and_down, "submit")
    state = Password(variant="released").start(0)
    state.apply({"solver": "up_button_2 or rather down_button_1"})
    assert [words for _, words, _ in state.facts["log"]] == ["down_button_1"]


@given(seed=SEEDS, actions=st.lists(st.sampled_from(PasswordPanel.actions[:-1]), max_size=30))
@settings(max_examples=60, deadline=None)
def test_only_the_turned_slot_changes_and_the_score_stays_in_bounds(seed: int, actions: list[str]) -> None:
    puzzle = panel(seed)
    for action in actions:
        before = puzzle.word
        puzzle.act(action)
        changed = [slot for slot in range(5) if puzzle.word[slot] != before[slot]]
        assert changed == [int(action[-1]) - 1]
        assert 0 <= puzzle.progress < 1


def test_panels_are_never_solved_at_the_start() -> None:
    wrong = Counter(panel(seed).wrong for seed in range(600))
    assert set(wrong) == {1, 2, 3, 4, 5}
    assert 150 < wrong[3] < 260


@pytest.mark.parametrize("manual", ["standard", "random"])
@pytest.mark.parametrize(("variant", "said"), [("paper", "any of them"), ("released", "only one of them")])
def test_the_manual_says_whether_every_word_that_can_be_spelt_opens_the_lock(
    manual: str, variant: str, said: str
) -> None:
    game = Password(manual=manual, variant=variant)
    for manual_read in (game.start(3).manual, game.start(3).resample_hidden("solver", stream(3)).manual):
        assert f"If several can, {said} opens the lock." in write(manual_read.blocks())


@pytest.mark.parametrize(("variant", "outcome"), [("paper", "solved"), ("released", "mistake")])
def test_both_words_open_the_lock_that_can_spell_them(variant: str, outcome: str) -> None:
    for answer, other in (("there", "these"), ("these", "there")):
        puzzle = find(answer, variant=variant)
        assert [puzzle.act(action) for action in puzzle._spell(other)][-1] == outcome
        puzzle = find(answer, variant=variant)
        assert [puzzle.act(action) for action in puzzle._spell(answer)][-1] == "solved"


def test_a_listed_word_that_cannot_be_spelt_is_not_asked_for() -> None:
    puzzle = find("about")
    assert puzzle.follow({"words": "write"}) == ()
    assert puzzle.follow({"words": "write, about"})[-1] == "submit"


def test_a_wrong_word_is_a_mistake_and_changes_nothing() -> None:
    puzzle = panel(3)
    shown = puzzle.word
    assert (puzzle.act("submit"), puzzle.word, puzzle.refused) == ("mistake", shown, (shown,))


def test_the_score_counts_letters_from_the_start_and_the_submitting() -> None:
    puzzle = find("great")
    far, scores = puzzle.wrong, []
    for action in puzzle._spell("great")[:-1]:
        puzzle.act(action)
        scores.append(puzzle.progress)
    assert scores == [step / (far + 1) for step in range(1, far + 1)]
    puzzle.act("up_button_1")
    assert puzzle.progress == (far - 1) / (far + 1), "the panel counts as it is after a message"
    assert find("great", variant="released").progress == 0


@pytest.mark.parametrize("seed", range(20))
def test_random_lists_are_as_long_and_imagined_ones_fit(seed: int) -> None:
    manual = draw_manual(stream(seed, "manual"))
    assert len(set(manual.words)) == len(manual.words) == 35
    assert len(set(manual.words) & set(PUBLISHED.words)) < 12
    other = draw_manual(stream(seed, "manual"), "great", manual.words[:3])
    assert len(set(other.words)) == 35
    assert "great" in other.words
    assert not set(other.words) & set(manual.words[:3])


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        (["letters = H, r, e, a, T"], "turn = up"),
        (["letters = g,q,d,z,s", "hello", "letters = H,r,e,a,T", "letters = f,s,f,b,u"], "words = great"),
        (["letters = s,g,d,q,d", "letters = t,h,e,r,e", "letters = u,i,f,s,f"], "words = there, these"),
        (["letters = q,q,q,q,q", "letters = j,j,j,j,j", "letters = z,z,z,z,z"], "None of my words"),
        (["letters = g, r, e, a"], "A lock shows 5 letters"),
        (["letters = g, r, e, a, ß"], "A lock shows 5 letters"),
        (["letters = g, r, e, a, ab"], "A lock shows 5 letters"),
        (["hello"], "letters = <"),
    ],
)  # fmt: skip
def test_the_oracle_expert_answers_or_says_what_is_wrong(told: list[str], answer: str) -> None:
    assert answer in advise(PUBLISHED, told)


def test_a_list_may_be_asked_what_it_spells() -> None:
    manual = PasswordManual(("great", "house"))
    assert manual.spelt([*"great"]) == ("great",)


def test_four_turns_suffice() -> None:
    assert {oracle_pair(Password(manual="random").start(seed)).facts["turns"] for seed in range(50)} == {4}


def test_random_play_agrees_with_the_paper() -> None:
    """2,000 released episodes beside the paper's row: 0, 0, 0.94 (error 0.1) and 9.92."""
    mean = random_play(Password(variant="released"), 2000)
    assert mean["partial"] == mean["solved"] < 0.01
    assert abs(mean["mistakes"] - 0.94) < 2 * 0.1
    assert abs(mean["turns"] - 9.92) < 0.25
