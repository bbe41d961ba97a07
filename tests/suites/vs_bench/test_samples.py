"""Samples: the same whenever and wherever they are made, in the shares of appendix D, true and fair."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.agents import agent
from ludens.core.random import stream
from ludens.core.view import RenderOptions
from ludens.games.breakthrough.bots import _name, position_of
from ludens.games.grid.bots import Walker
from ludens.games.grid.cells import AFTER
from ludens.games.grid.rules import SEATS, GridState
from ludens.games.hanabi.bots import Strong
from ludens.games.kuhn_poker.bots import equilibrium
from ludens.games.overcooked.bots import joint_plan
from ludens.suites.vs_bench.dataset import STRIDE, chance, repeats
from ludens.suites.vs_bench.predict import SEAT, Predict, Prediction
from ludens.suites.vs_bench.recipes import RECIPES
from ludens.suites.vs_bench.samples import Sample, game_of, sample, slots, spread, wanted_kind

GRIDS = ("coin_dilemma", "monster_hunt", "battle_of_colors")
QUICK = ("overcooked", "kuhn_poker", *GRIDS)
SLOW = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in RECIPES
    if name != "pong"
]

_LOOK = RenderOptions(size=256)


def look(asked: Sample) -> tuple[object, ...]:
    """Everything there is to see of a sample."""
    view, state = Predict(game=asked.name).view(_LOOK), Prediction(asked)
    hashes = tuple(picture.hash for picture in view.images(state, SEAT))
    return (
        hashes, view.text(state, SEAT), view.notes(state, SEAT), asked.options, sorted(asked.truth),
        asked.done, asked.match, asked.step, asked.kind, asked.observer, asked.target,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["hanabi", *QUICK])
def test_a_sample_is_a_function_of_its_number(name: str) -> None:
    numbers = (0, 1, 5, 11)
    forwards = [look(sample(name, number)) for number in numbers]
    assert [look(sample(name, number)) for number in reversed(numbers)] == forwards[::-1]
    assert len(set(map(str, forwards))) == len(forwards)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["breakthrough", "pong"])
def test_samples_that_share_a_match_do_not_depend_on_which_came_first(name: str) -> None:
    from ludens.suites.vs_bench import samples

    first = look(sample(name, 1)), look(sample(name, 13))
    samples._shared.cache_clear()
    assert (look(sample(name, 13)), look(sample(name, 1))) == first[::-1]


IN_A_PROCESS = """
import sys
from ludens.suites.vs_bench.samples import sample
for name in ("coin_dilemma", "overcooked", "kuhn_poker", "hanabi"):
    for number in (7, 2):
        asked = sample(name, number)
        print(name, number, asked.options, sorted(asked.truth), asked.match, asked.step, asked.state.facts)
"""


def test_samples_do_not_depend_on_the_process() -> None:
    root = Path(__file__).parents[3]

    def told(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root / "src")}
        command = [sys.executable, "-c", IN_A_PROCESS]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert told("1") == told("2") != ""


def _planned(name: str, numbers: Iterable[int]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Matches, targets and kinds that numbers stand for, without playing anything."""
    recipe, cycle = RECIPES[name], slots(name)
    chosen = [(cycle[number % len(cycle)], wanted_kind(name, number)) for number in numbers]
    return (
        Counter(str(recipe.matches[slot.match]) for slot, _ in chosen),
        Counter(slot.target for slot, _ in chosen),
        Counter(kind for _, kind in chosen),
    )


def test_four_hundred_samples_have_the_papers_shares() -> None:
    coin = _planned("coin_dilemma", range(400))
    assert sorted(coin[0].values(), reverse=True) == [100, 100, 50, 50, 50, 50]
    hunt = _planned("monster_hunt", range(400))
    assert sorted(hunt[0].values(), reverse=True) == [80, 80, 80, 80, 40, 40]
    battle = _planned("battle_of_colors", range(400))
    assert sorted(battle[0].values(), reverse=True) == [100, 100, 50, 50, 50, 50]
    hanabi = _planned("hanabi", range(400))
    assert hanabi[0]["bot/strong v bot/strong"] == 360
    assert hanabi[2] == {"play": 89, "discard": 133, "reveal": 178}
    assert _planned("overcooked", range(400))[2] == {"stay": 40, "act": 360}
    assert set(_planned("breakthrough", range(396))[0].values()) == {66}
    assert len(_planned("kuhn_poker", range(396))[0]) == 9
    assert set(_planned("kuhn_poker", range(396))[0].values()) == {44}
    for name in RECIPES:
        assert len(set(_planned(name, range(400))[1].values())) == 1, name


@pytest.mark.parametrize("name", RECIPES)
def test_full_cycles_hold_shares_exactly_and_every_seed_begins_one(name: str) -> None:
    recipe, cycle = RECIPES[name], slots(name)
    kinds = max(1, sum(recipe.classes.values()))
    whole = len(cycle) * kinds
    matches, targets, seen = _planned(name, range(whole))
    total = sum(match.share for match in recipe.matches)
    assert matches == {str(m): whole * m.share // total for m in recipe.matches}
    assert len(set(targets.values())) == 1
    if recipe.classes:
        assert seen == {kind: whole * share // kinds for kind, share in recipe.classes.items()}
    assert STRIDE % (whole * recipe.per_episode) == 0


def test_every_kind_of_action_is_asked_of_every_target_in_every_match() -> None:
    for name in ("hanabi", "overcooked"):
        cycle, kinds = slots(name), sum(RECIPES[name].classes.values())
        met = {(cycle[n % len(cycle)][:2], wanted_kind(name, n)) for n in range(len(cycle) * kinds)}
        assert len(met) == len({slot[:2] for slot in cycle}) * len(RECIPES[name].classes)


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 20), min_size=1, max_size=8))
def test_spreading_keeps_shares(shares: dict[str, int]) -> None:
    cycle = spread(shares)
    assert Counter(cycle) == shares
    total = len(cycle)
    for place in range(total):
        counts = Counter(cycle[:place])
        assert all(abs(counts[key] - share * place / total) < len(shares) for key, share in shares.items())


def test_nobody_is_asked_to_foresee_chance_or_a_weak_player() -> None:
    for recipe in RECIPES.values():
        for match in recipe.matches:
            foreseen = {match.agents[target] for target in match.targets}
            assert not foreseen & {"bot/random", "bot/literal"}


@pytest.mark.parametrize("name", SLOW)
def test_the_truth_is_what_the_named_player_does(name: str) -> None:
    for number in range(40):
        asked = sample(name, number)
        slot = slots(name)[number % len(slots(name))]
        spec = RECIPES[name].matches[slot.match].agents[slot.target]
        assert slot.target == asked.target
        assert asked.done in _would_do(asked, spec), (number, spec)
        assert asked.done in asked.truth <= set(asked.options)
        assert asked.kind == RECIPES[name].kind_of(asked.done)


def _would_do(asked: Sample, spec: str) -> set[str]:
    """What a fresh player in the target's seat may do; drawn lots aside, one thing."""
    game, state = game_of(asked.name), asked.state
    player = agent(spec, game).sit(game, asked.target, stream(0, "fresh"))
    if isinstance(player, Walker) and isinstance(state, GridState):
        return set(player.choices(state))
    if isinstance(player, Strong):
        return {player._thinker.choose(state.sight(asked.target))}  # type: ignore[attr-defined]
    if asked.name == "kuhn_poker":
        bets = equilibrium(player.alpha)[state.infoset(asked.target)]  # type: ignore[attr-defined]
        return {action for action, p in (("BET", bets), ("PASS", 1 - bets)) if p > 0}
    if asked.name == "breakthrough":
        depth = player.depth  # type: ignore[attr-defined]
        moves = position_of(state, game).best(asked.target == "black", depth)  # type: ignore[arg-type]
        return {_name(start, game) + _name(end, game) for start, end in moves}  # type: ignore[arg-type]
    if spec == "bot/planner":
        both = joint_plan(state.kitchen, state.snapshot)  # type: ignore[attr-defined]
        return {both[game.seats.index(asked.target)]}
    return set(asked.options)


@pytest.mark.parametrize("name", GRIDS)
def test_on_the_grids_every_action_with_the_same_outcome_is_right(name: str) -> None:
    several = 0
    for number in range(60):
        asked = sample(name, number)
        assert isinstance(asked.state, GridState)
        here = asked.state.cells[SEATS.index(asked.target)]
        there = AFTER[asked.done][here]
        assert asked.truth == {action for action in asked.options if AFTER[action][here] == there}
        several += len(asked.truth) > 1
    assert several or name == "coin_dilemma"


def test_hanabis_options_tell_the_observer_nothing_about_its_own_cards() -> None:
    seen = 0
    for number in range(12):
        asked = sample("hanabi", number)
        state = Prediction(asked)
        for other in range(4):
            twin = state.resample_hidden(SEAT, stream(number, "other", other))
            assert twin.sample.options == asked.options
            theirs, ours = set(twin.sample.state.legal(asked.seat)), set(asked.state.legal(asked.seat))  # type: ignore[arg-type]
            seen += theirs != ours
            assert theirs | ours <= set(asked.options)
    assert seen > 10, "other hands would have told the observer something by their legal hints"


@pytest.mark.parametrize("name", QUICK)
def test_guessing_is_as_good_as_the_docs_say(name: str) -> None:
    samples = [sample(name, number) for number in range(400)]
    found = 100 * chance(samples)
    told = _describe(name)
    assert found == pytest.approx(told, abs=0.06)
    assert repeats(name, samples) <= RECIPES[name].repeats * 400


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(RECIPES) - set(QUICK)))
def test_guessing_is_as_good_as_the_docs_say_in_slow_games(name: str) -> None:
    test_guessing_is_as_good_as_the_docs_say(name)


def _describe(name: str) -> float:
    """The column "guessing %" of the table in docs/vs-bench.md."""
    page = (Path(__file__).parents[3] / "docs" / "vs-bench.md").read_text("utf-8")
    table = page.split("### Guessing")[1].splitlines()
    row = next(line for line in table if line.startswith(f"| {name} |"))
    return float(row.split("|")[2])
