"""The published LED arithmetic against plain code; stages and letters; random manuals; random play."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from ludens.core.random import stream
from ludens.games.comma.dialogue import advise
from ludens.games.comma.led import COLOURS, CORNERS, PUBLISHED, Led, LedManual, LedPanel, draw_manual
from tests.games.comma.common import descriptions, oracle_step, random_play

MULTIPLIERS = {"red": 2, "green": 3, "blue": 4, "yellow": 5, "purple": 6, "orange": 7}
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Row and column of every corner, in the order of the actions.
AT = {(0, 0): 0, (0, 1): 1, (1, 1): 2, (1, 0): 3}


def panel(seed: int, **options: str) -> LedPanel:
    puzzle = Led(**options).start(seed).puzzle
    assert isinstance(puzzle, LedPanel)
    return puzzle


@pytest.mark.parametrize("colour", COLOURS)
def test_a_button_is_right_when_its_product_is_on_the_diagonal(colour: str) -> None:
    random = stream(3, "letters")
    rights = Counter[int]()
    for first in ALPHABET:
        for second in ALPHABET:
            other = [random.choice(ALPHABET) for _ in range(2)]
            letters = (first, other[0], second, other[1])
            right = set()
            for (row, column), corner in AT.items():
                value, across = letters[corner], letters[AT[1 - row, 1 - column]]
                if ALPHABET.index(value) * MULTIPLIERS[colour] % 26 == ALPHABET.index(across):
                    right.add(corner)
            assert set(PUBLISHED.right(letters, colour)) == right
            rights.update(right)
    assert set(rights) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("partner", "other"),
    [
        ("diagonal", lambda row, column: (1 - row, 1 - column)),
        ("beside", lambda row, column: (row, 1 - column)),
        ("upright", lambda row, column: (1 - row, column)),
    ],
)
def test_partners_lie_where_the_manual_says(partner: str, other: object) -> None:
    manual = LedManual(PUBLISHED.multipliers, "A", partner)  # type: ignore[arg-type]
    for (row, column), corner in AT.items():
        assert manual.partner_of(corner) == AT[other(row, column)]  # type: ignore[operator]


def test_letters_count_from_the_letter_that_is_zero() -> None:
    manual = LedManual(PUBLISHED.multipliers, "K")
    assert [manual.value(letter) for letter in "KLZAJ"] == [0, 1, 15, 16, 25]
    assert manual.product("L", "red") == "M"
    assert manual.product("J", "red") == "I"


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("manual", ["standard", "random"])
def test_every_stage_has_a_right_button(variant: str, manual: str) -> None:
    repeated = 0
    for seed in range(150):
        state = Led(variant=variant, manual=manual).start(seed)
        while not state.over:
            puzzle = state.puzzle
            assert isinstance(puzzle, LedPanel)
            assert puzzle.manual.right(puzzle.letters, puzzle.lights[puzzle.stage])
            repeated += len(set(puzzle.letters)) < 4
            oracle_step(state)
        assert state.solved
    assert (repeated > 0) == (variant == "released")


def test_stages_are_two_to_five_and_lights_all_colours() -> None:
    panels = [panel(seed) for seed in range(400)]
    numbers = Counter(len(puzzle.lights) for puzzle in panels)
    assert set(numbers) == {2, 3, 4, 5}
    assert min(numbers.values()) > 70
    assert {colour for puzzle in panels for colour in puzzle.lights} == set(COLOURS)


def test_a_wrong_press_changes_nothing_and_a_right_one_the_letters() -> None:
    puzzle = panel(7)
    before = puzzle.describe()
    right = puzzle.manual.right(puzzle.letters, puzzle.lights[0])
    wrong = next(corner for corner in range(4) if corner not in right)
    assert puzzle.act(puzzle.actions[wrong]) == "mistake"
    assert puzzle.describe() == before
    assert puzzle.progress == 0
    letters = puzzle.letters
    assert puzzle.act(puzzle.actions[right[0]]) == "done"
    assert puzzle.letters != letters
    assert puzzle.progress == 1 / len(puzzle.lights)


def test_later_letters_come_from_the_seed() -> None:
    assert descriptions(Led(), 12) == descriptions(Led(), 12) != descriptions(Led(), 13)


@pytest.mark.parametrize("seed", range(20))
def test_random_manuals_have_six_other_multipliers(seed: int) -> None:
    manual = draw_manual(stream(seed, "manual"))
    assert len(set(manual.multipliers)) == 6
    assert 1 not in manual.multipliers
    assert manual != PUBLISHED


def test_an_imagined_manual_fits_the_panel() -> None:
    game = Led(manual="random")
    for seed in range(30):
        puzzle = panel(seed, manual="random")
        other = game.imagined_manual(puzzle, stream(seed, "imagined"))
        assert other != puzzle.manual
        assert other.right(puzzle.letters, puzzle.lights[puzzle.stage])


def test_the_manual_lists_every_letter_once() -> None:
    grids = [block.rows for block in draw_manual(stream(5, "m")).blocks() if hasattr(block, "rows")]
    letters = [letter for rows in grids[1:] for letter in rows[0]]
    numbers = [int(number) for rows in grids[1:] for number in rows[1]]
    assert sorted(letters) == list(ALPHABET)
    assert numbers == list(range(26))
    assert all(ALPHABET.index(b) == (ALPHABET.index(a) + 1) % 26 for a, b in pairwise(letters))


def told(light: str, letters: str) -> str:
    buttons = [f"{corner} = {letter}" for corner, letter in zip(CORNERS, letters, strict=False)]
    return "\n".join([f"light = {light}", *buttons])


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (told("Red", "bxcz"), "press = top left"),
        (told("orange", "CDBA"), "No button is right"),
        (told("pink", "BXCZ"), "A light is red, green"),
        (told("red", "BXC3"), "one letter from A to Z"),
        (told("red", "BX"), "bottom left = <the letter on the bottom left button>"),
    ],
)
def test_the_oracle_expert_answers_or_says_what_is_wrong(message: str, answer: str) -> None:
    assert answer in advise(PUBLISHED, [message])


def test_random_play_agrees_with_the_paper() -> None:
    """2,000 released episodes beside the paper's row: 14, 32, 2.76 and 2.76, within two errors."""
    mean = random_play(Led(variant="released"), 2000)
    assert abs(mean["solved"] - 0.14) < 2 * 0.035
    assert abs(mean["partial"] - 0.32) < 2 * 0.036
    assert abs(mean["mistakes"] - 2.76) < 2 * 0.1
    assert abs(mean["turns"] - 2.76) < 2 * 0.1
