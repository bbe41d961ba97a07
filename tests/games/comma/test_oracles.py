"""Every puzzle can be solved: the oracle pair does it on every seed, with either manual, without mistakes."""

from __future__ import annotations

import pytest

from ludens.core.random import stream
from ludens.games.comma.dialogue import advise
from tests.games.comma.common import MANUALS, PUZZLES, make, oracle_pair, random_solver

pytestmark = pytest.mark.parametrize("name", PUZZLES)


@pytest.mark.parametrize("manual", MANUALS)
@pytest.mark.parametrize("variant", ["paper", "released"])
def test_the_oracles_solve_it(name: str, manual: str, variant: str) -> None:
    check(name, range(60), manual=manual, variant=variant)


@pytest.mark.slow
@pytest.mark.parametrize("manual", MANUALS)
def test_the_oracles_solve_a_thousand(name: str, manual: str) -> None:
    check(name, range(1000), manual=manual)


def check(name: str, seeds: range, **options: object) -> None:
    game = make(name, **options)
    for seed in seeds:
        state = oracle_pair(game.start(seed))
        facts = state.facts
        assert (facts["solved"], facts["mistakes"]) == (True, 0), f"seed {seed}: {state.heard}"
        assert facts["partials"] == sorted(facts["partials"])
        assert facts["partial"] == 1.0
        for fact, value in facts["private"].items():
            assert not any(value in words for _, words in state.heard), f"seed {seed} gives away {fact}"


@pytest.mark.parametrize("manual", MANUALS)
def test_the_oracle_expert_asks_when_told_nothing(name: str, manual: str) -> None:
    state = make(name, manual=manual).start(0)
    assert advise(state.manual, []).strip()
    assert advise(state.manual, ["hello", "\x00 = ", "serial = x"]).strip()


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_partial_scores_stay_in_bounds_and_ours_never_fall(name: str, variant: str) -> None:
    game = make(name, variant=variant)
    for seed in range(100):
        facts = random_solver(game.start(seed), stream(seed, "random solver")).facts
        partials = facts["partials"]
        assert partials[-1] == 1.0 or not facts["solved"]
        assert min(partials) >= 0
        if variant == "paper":
            assert (partials[-1] == 1.0) == facts["solved"]
            assert max(partials) <= 1
            assert partials == sorted(partials)


def test_random_manuals_differ_from_the_published_one(name: str) -> None:
    standard, random = make(name), make(name, manual="random")
    published = standard.start(0).manual.blocks()
    assert standard.start(1).manual.blocks() == published
    assert random.start(3).manual.blocks() == random.start(3).manual.blocks()
    assert len({repr(random.start(seed).manual.blocks()) for seed in range(10)} | {repr(published)}) == 11


def test_skills_are_declared(name: str) -> None:
    game = make(name)
    assert set(game.skills) <= {"memory", "grounding", "multi-step", "private"}
    assert game.skills
    assert ("private" in game.skills) == bool(game.start(0).puzzle.private)
    assert game.start(0).puzzle.hidden <= set(game.start(0).puzzle.actions)
