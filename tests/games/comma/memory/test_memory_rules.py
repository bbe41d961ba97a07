"""The published memory rules against plain code, with and without moving labels; resets; random play."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from ludens.core.random import stream
from ludens.games.comma.dialogue import advise
from ludens.games.comma.memory import PUBLISHED, Memory, MemoryPanel, MemoryRule, Pressed, draw_manual
from tests.games.comma.common import oracle_step, random_play

# A row a stage, a column a display: p position, l label, P position as in stage, L label as in stage.
TABLE = ("p2 p2 p3 p4", "l4 P1 p1 P1", "L2 L1 p3 l4", "P1 p1 P2 P2", "L1 L2 L4 L3")


def place(rule: str, labels: tuple[int, ...], places: list[int], pressed: list[int]) -> int:
    """The place to press, counted from 0; places and labels pressed so far, stage by stage."""
    number = int(rule[1])
    return {
        "p": lambda: number - 1,
        "l": lambda: labels.index(number),
        "P": lambda: places[number - 1],
        "L": lambda: labels.index(pressed[number - 1]),
    }[rule[0]]()


def start(seed: int, **options: str) -> MemoryPanel:
    puzzle = Memory(**options).start(seed).puzzle
    assert isinstance(puzzle, MemoryPanel)
    return puzzle


@pytest.mark.parametrize(("stage", "display"), list(product(range(1, 6), range(1, 5))))
def test_every_rule_of_the_table(stage: int, display: int) -> None:
    random = stream(stage, "labels", display)
    for _ in range(60):
        labels = tuple(random.sample((1, 2, 3, 4), 4))
        places = [random.below(4) for _ in range(stage - 1)]
        pressed = [random.between(1, 4) for _ in range(stage - 1)]
        before = {
            n: Pressed(at + 1, label) for n, (at, label) in enumerate(zip(places, pressed, strict=True), 1)
        }
        at = place(TABLE[stage - 1].split()[display - 1], labels, places, pressed)
        assert PUBLISHED.right(stage, display, labels, before) == Pressed(at + 1, labels[at])


def test_same_position_and_same_label_are_told_apart() -> None:
    before = {1: Pressed(2, 4)}
    assert MemoryRule("same position", 1).right((4, 3, 2, 1), before) == Pressed(2, 3)
    assert MemoryRule("same label", 1).right((4, 3, 2, 1), before) == Pressed(1, 4)


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_whole_games_follow_the_table(variant: str) -> None:
    labels_seen = set()
    for seed in range(100):
        puzzle = start(seed, variant=variant)
        places: list[int] = []
        pressed: list[int] = []
        for row in TABLE:
            assert puzzle.progress == len(places) / 5
            labels_seen.add(puzzle.labels)
            at = place(row.split()[puzzle.display - 1], puzzle.labels, places, pressed)
            places.append(at)
            pressed.append(puzzle.labels[at])
            outcome = puzzle.act(f"press_{pressed[-1]}")
        assert outcome == "solved"
    assert len(labels_seen) == (1 if variant == "released" else 24)
    assert (3, 1, 2, 4) in labels_seen


def right(puzzle: MemoryPanel) -> str:
    before = dict(enumerate(puzzle.pressed, 1))
    return f"press_{puzzle.manual.right(puzzle.stage, puzzle.display, puzzle.labels, before).label}"


def wrong(puzzle: MemoryPanel) -> str:
    return next(action for action in puzzle.actions if action != right(puzzle))


@pytest.mark.parametrize(("variant", "score"), [("paper", 0.6), ("released", 0.2)])
def test_a_wrong_press_leads_back_to_the_first_stage(variant: str, score: float) -> None:
    """Ours keeps the three stages once done; the released score is that of the latest right press."""
    puzzle = start(4, variant=variant)
    for _ in range(3):
        assert puzzle.act(right(puzzle)) == "done"
    assert (puzzle.stage, puzzle.progress) == (4, 0.6)
    assert puzzle.act(wrong(puzzle)) == "mistake"
    assert (puzzle.stage, puzzle.pressed, puzzle.progress) == (1, (), 0.6)
    assert puzzle.act(right(puzzle)) == "done"
    assert puzzle.progress == score


def test_displays_after_a_mistake_are_new_and_from_the_seed() -> None:
    def shown(seed: int) -> list[int]:
        puzzle, displays = start(seed), []
        for _ in range(20):
            puzzle.act(wrong(puzzle))
            displays.append(puzzle.display)
        return displays

    assert shown(1) == shown(1) != shown(2)
    assert set(shown(1)) == {1, 2, 3, 4}


@pytest.mark.parametrize("seed", range(20))
def test_random_rules_look_back_only_at_stages_done(seed: int) -> None:
    manual = draw_manual(stream(seed, "manual"))
    for stage, row in enumerate(manual.table, 1):
        back = [rule for rule in row if rule.kind.startswith("same")]
        assert len(row) == 4
        assert len(set(row)) > 1
        assert all(1 <= rule.number < stage for rule in back)
        assert all(1 <= rule.number <= 4 for rule in row)
        assert stage == 1 or len(back) >= 2


def test_the_manual_reads_as_its_rules_are() -> None:
    assert [rule.words() for rule in PUBLISHED.table[1]] == [
        "label 4",
        "same position as in stage 1",
        "first button",
        "same position as in stage 1",
    ]
    assert PUBLISHED.table[4][2].words() == "same label as in stage 4"


FIRST = "stage = 1\ndisplay = 3\nlabels = 4, 3, 2, 1"


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        ([FIRST], "press = 2"),
        ([FIRST, "stage = 2\ndisplay = 2\nlabels = 1,2,3,4"], "press = 3"),
        ([FIRST, "I lost count", "stage = 2\ndisplay = 2\nlabels = 1,2,3,4"], "press = 3"),
        ([FIRST, "stage = 2\ndisplay = 2\nlabels = 1,2,3,4", FIRST], "press = 2"),
        (["stage = 2\ndisplay = 2\nlabels = 1,2,3,4"], "Tell me of every stage, from the first on"),
        (["stage = 1\ndisplay = 5\nlabels = 1,2,3,4"], "Stages are 1 to 5, displays 1 to 4"),
        (["stage = 1\ndisplay = 1\nlabels = 1,2,3,3"], "Stages are 1 to 5, displays 1 to 4"),
        (["stage = 1\ndisplay = 1"], "labels = <the labels of the buttons"),
    ],
)
def test_the_oracle_expert_answers_or_says_what_is_wrong(messages: list[str], answer: str) -> None:
    assert answer in advise(PUBLISHED, messages)


def test_the_expert_remembers_across_a_mistake() -> None:
    """The oracles recover when the Solver presses something wrong on its own."""
    for seed in range(20):
        state = Memory().start(seed)
        for _ in range(4):
            oracle_step(state)
        puzzle = state.puzzle
        assert isinstance(puzzle, MemoryPanel)
        lost = puzzle.clone()
        lost.act(wrong(lost))
        facts = "\n".join(f"{name} = {value}" for name, value in lost.tell().items())
        state.apply({"solver": f"{wrong(puzzle)}\n{facts}"})
        while not state.over:
            oracle_step(state)
        assert (state.solved, state.mistakes) == (True, 1)


def test_random_play_agrees_with_the_paper() -> None:
    """2,000 released episodes beside the paper's row: 0, 15, 3.00 and 2.95, within two errors."""
    mean = random_play(Memory(variant="released"), 2000)
    assert mean["solved"] < 0.02
    assert abs(mean["partial"] - 0.15) < 2 * 0.016
    assert abs(mean["mistakes"] - 3.00) < 0.05
    assert abs(mean["turns"] - 2.95) < 2 * 0.1


def test_starts_show_every_display() -> None:
    displays = Counter(start(seed).display for seed in range(400))
    assert set(displays) == {1, 2, 3, 4}
    assert min(displays.values()) > 70
