"""The published wire rules against the table written down again; random manuals; the random baseline."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from ludens.core.random import stream
from ludens.games.comma.dialogue import advise
from ludens.games.comma.wire import COLOURS, PUBLISHED, Wire, WireManual, draw_manual
from tests.games.comma.common import random_play


def published(wires: tuple[str, ...], odd: bool) -> int:
    """The wire to cut by the published tables, in plain code."""
    n, last, count = len(wires), wires[-1], wires.count

    def last_of(colour: str) -> int:
        return max(i for i, wire in enumerate(wires, 1) if wire == colour)

    if n == 3:
        if not count("red"):
            return 2
        if last == "white":
            return 3
        return last_of("blue") if count("blue") > 1 else 3
    if n == 4:
        if count("red") > 1 and odd:
            return last_of("red")
        if (last == "yellow" and not count("red")) or count("blue") == 1:
            return 1
        return 4 if count("yellow") > 1 else 2
    if n == 5:
        if last == "black" and odd:
            return 4
        if count("red") == 1 and count("yellow") > 1:
            return 1
        return 2 if not count("black") else 1
    if not count("yellow") and odd:
        return 3
    if count("yellow") == 1 and count("white") > 1:
        return 4
    return 6 if not count("red") else 4


@pytest.mark.parametrize("number", [3, 4, 5, 6])
def test_the_published_rules(number: int) -> None:
    for wires in product(COLOURS, repeat=number):
        for serial in ("100000", "999999"):
            assert PUBLISHED.right(wires, serial) == published(wires, serial[-1] == "9")


def cases(manual: WireManual, number: int, seed: int) -> Counter[int]:
    """Which rule counts how often on random panels."""
    random, counts = stream(seed, "cases"), Counter[int]()
    for _ in range(4000):
        wires, odd = tuple(random.choice(COLOURS) for _ in range(number)), random.below(2) == 1
        holding = [i for i, rule in enumerate(manual.tables[number - 3]) if rule.holds(wires, odd)]
        counts[holding[0]] += 1
        assert 1 <= manual.right(wires, "11111" + "01"[odd]) <= number
    return counts


@pytest.mark.parametrize("seed", range(6))
def test_random_rules_always_answer_and_most_rules_come_to_count(seed: int) -> None:
    manual = draw_manual(stream(seed, "manual"))
    for number in (3, 4, 5, 6):
        rules = manual.tables[number - 3]
        assert 4 <= len(rules) <= 5
        assert len(set(rules)) == len(rules)
        assert len(cases(manual, number, seed)) >= len(rules) - 1


def test_the_manual_reads_as_its_rules_are() -> None:
    words = [rule.words() for rule in PUBLISHED.tables[1]]
    assert (
        words[0] == "If there is more than one red wire and the serial number is odd, cut the last red wire."
    )
    assert words[1] == "If the last wire is yellow and there are no red wires, cut the first wire."
    assert words[4] == "Otherwise, cut the second wire."


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("wires = Red, blue,WHITE\nserial = 123456", "cut = 3"),
        ("wires = red, blue\nserial = 1", "I know panels of 3 to 6 wires"),
        ("wires = red, blue, pink\nserial = 1", "I know panels of 3 to 6 wires"),
        ("wires = red, blue, red\nserial = ½", "A serial number has digits only"),
        ("wires = red, blue, red", "serial = <the serial number>"),
    ],
)
def test_the_oracle_expert_answers_or_says_what_is_wrong(told: str, answer: str) -> None:
    assert answer in advise(PUBLISHED, [told])


def test_panels_come_in_all_numbers_and_colours() -> None:
    panels = [Wire().start(seed).puzzle for seed in range(400)]
    numbers = Counter(len(panel.actions) for panel in panels)
    assert set(numbers) == {3, 4, 5, 6}
    assert min(numbers.values()) > 60


def test_random_play_agrees_with_the_paper() -> None:
    """2,000 released episodes: the exact odds for 3 to 6 wires, and the paper's row within two errors."""
    episodes = 2000
    mean = random_play(Wire(variant="released"), episodes)
    odds = sum(1 - (1 - 1 / n) ** 3 for n in (3, 4, 5, 6)) / 4
    slips = sum(sum((1 - 1 / n) ** k for k in (1, 2, 3)) for n in (3, 4, 5, 6)) / 4
    assert abs(mean["solved"] - odds) < 3.3 * 0.5 / episodes**0.5
    assert abs(mean["mistakes"] - slips) < 3.3 * 1.3 / episodes**0.5
    assert mean["partial"] == mean["solved"]
    assert abs(mean["solved"] - 0.57) < 2 * 0.05
    assert abs(mean["mistakes"] - 1.70) < 2 * 0.1
    assert abs(mean["turns"] - 1.27) < 2 * 0.1


def test_balanced_panels_make_no_wire_a_good_guess() -> None:
    often = {}
    for balanced in (False, True):
        game, hits, count = Wire(manual="random", balanced=balanced), 0, 0
        for number in range(20):
            manual = draw_manual(stream(number, "manual"))
            panels = [game.panel(manual, stream(seed, "panel")) for seed in range(120)]
            rights = Counter((len(p.wires), manual.right(p.wires, p.serial)) for p in panels)
            hits += sum(max(n for (size, _), n in rights.items() if size == wires) for wires in range(3, 7))
            count += len(panels)
        often[balanced] = hits / count
    assert often[False] > 0.5
    assert often[True] < 0.42
