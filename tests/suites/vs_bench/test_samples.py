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
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.breakthrough import best_actions
from ludens.games.grid import SEATS, WALLS, GridState, Walker
from ludens.games.hanabi.bots import Visible, visible
from ludens.games.kuhn_poker import KuhnState, equilibrium
from ludens.games.overcooked.bots import joint_plan
from ludens.suites.vs_bench.predict import SEAT, STRIDE, Predict, Prediction, repeats
from ludens.suites.vs_bench.recipes import RECIPES, RULES, recipe_of
from ludens.suites.vs_bench.samples import (
    PredictionSample,
    Scripted,
    content,
    forecast,
    game_of,
    sample,
    slots,
    spread,
    wanted_kind,
)

GRIDS = ("coin_dilemma", "monster_hunt", "battle_of_colors")
QUICK = ("overcooked", "kuhn_poker", *GRIDS)
SLOW = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in RECIPES
    if name != "pong"
]

_LOOK = RenderOptions(size=256)


def look(asked: PredictionSample) -> tuple[object, ...]:
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


def _planned(
    name: str, numbers: Iterable[int], rule: str = "single"
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Matches, targets and kinds that numbers stand for, without playing anything."""
    recipe, cycle = recipe_of(name, rule), slots(name, rule)
    chosen = [(cycle[number % len(cycle)], wanted_kind(name, number, rule)) for number in numbers]
    return (
        Counter(str(recipe.matches[slot.match]) for slot, _ in chosen),
        Counter(slot.target for slot, _ in chosen),
        Counter(kind for _, kind in chosen),
    )


def test_four_hundred_samples_have_the_papers_shares() -> None:
    for rule in RULES:
        coin = _planned("coin_dilemma", range(400), rule)
        assert sorted(coin[0].values(), reverse=True) == [100, 100, 50, 50, 50, 50]
        battle = _planned("battle_of_colors", range(400), rule)
        assert sorted(battle[0].values(), reverse=True) == [100, 100, 50, 50, 50, 50]
        assert _planned("hanabi", range(400), rule)[0]["bot/visible v bot/visible"] == 360
        assert set(_planned("breakthrough", range(396), rule)[0].values()) == {66}
        assert set(_planned("kuhn_poker", range(396), rule)[0].values()) == {44}
        assert len(_planned("kuhn_poker", range(396), rule)[0]) == 9
        for name in RECIPES:
            assert len(set(_planned(name, range(400), rule)[1].values())) == 1, name
    hunt = _planned("monster_hunt", range(400), "paper")
    assert sorted(hunt[0].values(), reverse=True) == [80, 80, 80, 80, 40, 40]
    assert _planned("hanabi", range(400), "paper")[2] == {"play": 89, "discard": 133, "reveal": 178}
    assert _planned("overcooked", range(400), "paper")[2] == {"stay": 40, "act": 360}


def test_the_rule_single_asks_for_all_kinds_of_action_equally_often() -> None:
    hunt = _planned("monster_hunt", range(400))
    assert sorted(hunt[0].values(), reverse=True) == [80, 80, 80, 40, 40, 20, 20, 20, 20]
    assert set(_planned("kuhn_poker", range(400))[2].values()) == {200}
    cooks = _planned("overcooked", range(400))[2]
    assert cooks.pop("STAY") == 40
    assert set(cooks.values()) == {72}
    assert set(_planned("hanabi", range(360))[2].values()) == {40}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", RECIPES)
def test_full_cycles_hold_shares_exactly_and_every_seed_begins_one(name: str, rule: str) -> None:
    recipe, cycle = recipe_of(name, rule), slots(name, rule)
    kinds = max(1, sum(recipe.classes.values()))
    whole = len(cycle) * kinds
    matches, targets, seen = _planned(name, range(whole), rule)
    total = sum(match.share for match in recipe.matches)
    assert matches == {str(m): whole * m.share // total for m in recipe.matches}
    assert len(set(targets.values())) == 1
    if recipe.classes:
        assert seen == {kind: whole * share // kinds for kind, share in recipe.classes.items()}
    assert STRIDE % (whole * recipe.per_episode) == 0


def test_every_kind_of_action_is_asked_of_every_target_in_every_match() -> None:
    for name in ("hanabi", "overcooked", "kuhn_poker", "coin_dilemma", "battle_of_colors"):
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


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SLOW)
def test_the_truth_is_what_the_named_player_does(name: str, rule: str) -> None:
    for number in range(30):
        asked = sample(name, number, rule)
        slot = slots(name, rule)[number % len(slots(name, rule))]
        recipe = recipe_of(name, rule)
        spec = recipe.matches[slot.match].agents[slot.target]
        assert slot.target == asked.target
        may = _would_do(asked, spec)
        assert asked.done in may, (number, spec)
        assert asked.done in asked.truth <= set(asked.options)
        assert asked.kind == recipe.kind_of(asked.done)
        if rule == "single":
            assert len(asked.truth) == 1
            assert len(may) == 1 or name == "kuhn_poker", "a decision with several best actions was asked for"


def _would_do(asked: PredictionSample, spec: str) -> set[str]:
    """What a fresh player in the target's seat may do; drawn lots aside, one thing."""
    game, state = game_of(asked.name), asked.state
    player = agent(spec, game).sit(game, asked.target, stream(0, "fresh"))
    if isinstance(player, Walker) and isinstance(state, GridState):
        return set(player.choices(state))
    if isinstance(player, Visible):
        return {visible(state.sight(asked.target))}  # type: ignore[attr-defined]
    if asked.name == "kuhn_poker":
        bets = equilibrium(player.alpha)[state.infoset(asked.target)]  # type: ignore[attr-defined]
        return {action for action, p in (("BET", bets), ("PASS", 1 - bets)) if p > 0}
    if asked.name == "breakthrough":
        depth = player.depth  # type: ignore[attr-defined]
        black = asked.target == "black"
        return set(best_actions(str(state.spiel), game, black, depth))  # type: ignore[arg-type, attr-defined]
    if spec == "bot/planner":
        both = joint_plan(state.kitchen, state.snapshot)  # type: ignore[attr-defined]
        return {both[game.seats.index(asked.target)]}
    return set(player.choices(state))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", GRIDS)
def test_on_the_grids_every_action_with_the_same_outcome_is_right(name: str) -> None:
    several = 0
    for number in range(60):
        asked = sample(name, number, "paper")
        assert isinstance(asked.state, GridState)
        here = asked.state.cells[SEATS.index(asked.target)]
        there = WALLS.after[asked.done][here]
        assert asked.truth == {action for action in asked.options if WALLS.after[action][here] == there}
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


@pytest.mark.parametrize("name", ["kuhn_poker", "coin_dilemma", "monster_hunt"])
def test_guessing_and_knowing_are_as_good_as_the_docs_say(name: str) -> None:
    """Who does not look is no better than chance, who knows the target's strategy is right."""
    samples = [sample(name, number) for number in range(400)]
    told = _describe(name)
    constant = Counter(asked.done for asked in samples).most_common(1)[0][1] / 4
    known = sum(asked.likeliest in asked.truth for asked in samples) / 4
    chance = sum(len(asked.truth) / len(asked.options) for asked in samples) / 4
    assert (chance, constant, known) == pytest.approx(told, abs=0.06)
    assert constant <= chance + 7
    assert known > 95 or name == "kuhn_poker"
    assert repeats(name, samples) <= RECIPES[name].repeats * 400
    if name != "kuhn_poker":
        others = {content(asked.state, asked.observer) for asked in samples}
        again = [sample(name, number) for number in range(STRIDE, STRIDE + 100)]
        assert sum(content(asked.state, asked.observer) in others for asked in again) < 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hanabi", "overcooked", "pong", "battle_of_colors"])
def test_guessing_and_knowing_are_as_good_as_the_docs_say_in_slow_games(name: str) -> None:
    test_guessing_and_knowing_are_as_good_as_the_docs_say(name)


def _describe(name: str) -> tuple[float, ...]:
    """The columns "chance", "constant" and "upper bound" of the table in docs/vs-bench.md."""
    page = (Path(__file__).parents[3] / "docs" / "vs-bench.md").read_text("utf-8")
    table = page.split("### Baseline and upper bound")[1].splitlines()
    row = next(line for line in table if line.startswith(f"| {name} |"))
    return tuple(float(cell) for cell in row.split("|")[2:5])


def test_a_word_of_overcookeds_picture_is_not_told_to_the_blind() -> None:
    view, told = Predict(game="overcooked").view(_LOOK), set()
    for number in range(8):
        state = Prediction(sample("overcooked", number))
        told.add(view.notes(state, SEAT).replace(state.sample.observer, "").replace(state.sample.target, ""))
        assert "did lately" in Predict(game="overcooked", rule="paper").view(_LOOK).notes(state, SEAT)
    assert not any("did lately" in notes for notes in told)


def test_kuhns_forecast_is_the_share_of_bets() -> None:
    """By hand: behind a queen the second player holds J (bets a third) or K (bets); after a bet J or K."""
    game = make("kuhn_poker")
    player = agent("bot/equilibrium", game).sit(game, "second", stream(0, "test"))
    for own, history, bet in (("Q", "p", 2 / 3), ("K", "p", 1 / 6), ("J", "b", 2 / 3), ("Q", "b", 1 / 2)):
        hand = next(
            state
            for seed in range(99)
            if isinstance(state := game.start(seed), KuhnState) and state.cards[0] == own
        )
        hand.apply({"first": {"p": "PASS", "b": "BET"}[history]})
        assert isinstance(player, Scripted)
        assert forecast(player, hand, "first", stream(0, "test"))["BET"] == pytest.approx(bet)
