"""Overcooked: its rules case by case, its pictures and words, its chefs."""

from __future__ import annotations

import asyncio
from statistics import mean, stdev
from typing import Any

import pytest

import ludens
from ludens.agents import agent
from ludens.core.errors import BadOption
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES
from ludens.games.overcooked.bots import Greedy
from ludens.games.overcooked.game import (
    COOK_STEPS,
    DISH,
    ONION,
    SEATS,
    SOUPS,
    Chef,
    KitchenFrame,
    KitchenSnapshot,
    Overcooked,
    OvercookedState,
    Pot,
    kitchen,
    opening,
)
from ludens.games.overcooked.view import OvercookedView
from ludens.loop import OnStep, play

HATCH_FLOOR, RACK_FLOOR = 13, 11
"""Cells of the cramped room: the floor above the hatch (C4) and above the dish rack (C2)."""


EMPTY = Pot()


def state(chefs: tuple[Chef, Chef], pot: Pot = EMPTY, counters: Any = (), **options: Any) -> OvercookedState:
    """The cramped room at some snapshot."""
    made = Overcooked(**options).start(0)
    made.frames = (KitchenFrame(0, 0, KitchenSnapshot(chefs, (pot,), counters)),)
    return made


def after(made: OvercookedState, one: str, other: str = "STAY") -> KitchenSnapshot:
    made.apply({"chef_0": one, "chef_1": other})
    return made.snapshot


AWAY = Chef(12, "UP")


def test_moving_turns_and_stops_at_counters() -> None:
    made = Overcooked().start(0)
    assert made.snapshot.chefs == (Chef(11, "UP"), Chef(8, "UP"))
    assert after(made, "LEFT", "UP").chefs == (Chef(11, "LEFT"), Chef(8, "UP"))
    assert after(made, "RIGHT", "LEFT").chefs == (Chef(12, "RIGHT"), Chef(7, "LEFT"))
    assert after(made, "STAY", "INTERACT").chefs == (Chef(12, "RIGHT"), Chef(7, "LEFT"))


@pytest.mark.parametrize(
    ("chefs", "actions"),
    [
        ((Chef(6, "UP"), Chef(8, "UP")), ("RIGHT", "LEFT")),  # one cell
        ((Chef(6, "UP"), Chef(7, "UP")), ("RIGHT", "LEFT")),  # changed places
        ((Chef(6, "UP"), Chef(7, "UP")), ("RIGHT", "STAY")),  # into one who stays
    ],
)
def test_chefs_who_would_meet_both_stay_and_turn(chefs: tuple[Chef, Chef], actions: tuple[str, str]) -> None:
    snapshot = after(state(chefs), *actions)
    assert [chef.cell for chef in snapshot.chefs] == [chef.cell for chef in chefs]
    turned = [
        action if action != "STAY" else chef.facing for chef, action in zip(chefs, actions, strict=True)
    ]
    assert [chef.facing for chef in snapshot.chefs] == turned


def test_a_soup_from_box_to_hatch_earns_twenty() -> None:
    made = state((Chef(6, "LEFT"), AWAY))
    earned = []
    for actions in (
        *["INTERACT", "RIGHT", "UP", "INTERACT", "LEFT"] * 3,  # three onions, and back to the box
        *["RIGHT", "UP", "INTERACT", *["STAY"] * 4],  # start the pot
        "LEFT", "DOWN", "DOWN", "INTERACT", "UP", "RIGHT", "UP", "INTERACT",  # plate it
        "RIGHT", "DOWN", "DOWN", "INTERACT",
    ):  # fmt: skip
        before = made.score
        after(made, actions)
        earned.append(made.score - before)
    assert [points for points in earned if points] == [2, 2, 2, 2, 2, 10]
    assert made.returns == {"chef_0": 20.0, "chef_1": 20.0}
    assert made.facts["chef_0_points"] == 20
    assert made.facts["soups_delivered"] == made.facts["chef_0_soups_delivered"] == 1
    assert made.facts["onions_potted"] == 3
    assert made.snapshot.pots == (Pot(),)


def test_a_pot_cooks_five_steps_and_the_one_that_starts_it_counts() -> None:
    made = state((Chef(7, "UP"), AWAY), Pot(3))
    assert after(made, "INTERACT").pots == (Pot(3, 1),)
    for cooked in range(2, COOK_STEPS + 1):
        assert after(made, "STAY").pots == (Pot(3, cooked),)
    assert after(made, "STAY").pots == (Pot(3, COOK_STEPS),)


@pytest.mark.parametrize(
    ("holds", "pot", "expected_holds", "expected_pot", "earned"),
    [
        ("onion", Pot(0), "", Pot(1), 2),
        ("onion", Pot(2), "", Pot(3), 2),
        ("onion", Pot(3), "onion", Pot(3), 0),
        ("onion", Pot(1, 2), "onion", Pot(1, 3), 0),
        ("", Pot(0), "", Pot(0), 0),
        ("", Pot(1), "", Pot(1, 1), 0),
        ("", Pot(3, 4), "", Pot(3, 5), 0),
        ("", Pot(3, 5), "", Pot(3, 5), 0),
        ("dish", Pot(3), "dish", Pot(3), 0),
        ("dish", Pot(3, 4), "dish", Pot(3, 5), 0),
        ("dish", Pot(3, 5), SOUPS[2], Pot(0), 2),
        ("dish", Pot(1, 5), SOUPS[0], Pot(0), 2),
        (SOUPS[2], Pot(0), SOUPS[2], Pot(0), 0),
    ],
)
def test_interacting_with_a_pot(
    holds: str, pot: Pot, expected_holds: str, expected_pot: Pot, earned: int
) -> None:
    made = state((Chef(7, "UP", holds), AWAY), pot)
    snapshot = after(made, "INTERACT")
    assert (snapshot.chefs[0].holds, snapshot.pots[0], made.score) == (expected_holds, expected_pot, earned)


@pytest.mark.parametrize(
    ("cell", "facing", "holds", "counters", "expected_holds", "expected_counters"),
    [
        (6, "UP", "onion", (), "", ((1, "onion"),)),
        (6, "UP", "", ((1, "dish"),), "dish", ()),
        (6, "UP", "onion", ((1, "dish"),), "onion", ((1, "dish"),)),
        (6, "UP", "", (), "", ()),
        (6, "LEFT", "", (), "onion", ()),
        (6, "LEFT", "dish", (), "dish", ()),
        (RACK_FLOOR, "DOWN", "", (), "dish", ()),
        (RACK_FLOOR, "DOWN", "onion", (), "onion", ()),
        (HATCH_FLOOR, "DOWN", "onion", (), "onion", ()),
        (HATCH_FLOOR, "DOWN", SOUPS[0], (), "", ()),
        (6, "RIGHT", "onion", (), "onion", ()),
    ],
)
def test_interacting_with_everything_else(
    cell: int, facing: str, holds: str, counters: Any, expected_holds: str, expected_counters: Any
) -> None:
    made = state((Chef(cell, facing, holds), AWAY), counters=counters)
    snapshot = after(made, "INTERACT")
    assert (snapshot.chefs[0].holds, snapshot.counters, made.score) == (expected_holds, expected_counters, 0)


def test_only_a_soup_of_three_onions_earns_when_delivered() -> None:
    for number, soup in enumerate(SOUPS, start=1):
        made = state((Chef(HATCH_FLOOR, "DOWN", soup), AWAY))
        after(made, "INTERACT")
        assert made.score == (10 if number == 3 else 0)
        assert made.facts["weak_soups_delivered"] == (number < 3)


@pytest.mark.parametrize(
    ("pot", "counters", "other", "paper", "released"),
    [
        (Pot(0), (), "", 0, 0),
        (Pot(1), (), "", 2, 3),
        (Pot(3), (), "", 2, 0),  # full and not started: the released rule forgets it
        (Pot(3, 2), (), "", 2, 3),
        (Pot(3, 5), (), "", 2, 3),
        (Pot(2, 2), (), "dish", 2, 0),
        (Pot(2, 2), ((1, "dish"),), "", 2, 0),
        (Pot(2, 2), ((1, "onion"),), "onion", 2, 3),
    ],
)
def test_when_a_dish_earns(pot: Pot, counters: Any, other: str, paper: int, released: int) -> None:
    for variant, earned in (("paper", paper), ("released", released)):
        chefs = (Chef(RACK_FLOOR, "DOWN"), Chef(7, "DOWN", other))
        made = state(chefs, pot, counters, variant=variant)
        after(made, "INTERACT")
        assert made.score == earned


def test_the_first_chef_is_served_first_and_dishes_are_judged_by_the_pots_before_the_step() -> None:
    made = state((Chef(7, "UP", "onion"), Chef(RACK_FLOOR, "DOWN")))
    after(made, "INTERACT", "INTERACT")
    assert (made.score, made.snapshot.chefs[1].holds) == (2, "dish")
    two = Overcooked(layout="coordination_ring").start(0)
    box_floor = two.kitchen.width * 3 + 1
    two.frames = (KitchenFrame(0, 0, KitchenSnapshot((Chef(box_floor, "DOWN"), AWAY), (Pot(), Pot()), ())),)
    assert after(two, "INTERACT").chefs[0].holds == "onion"


def test_released_points_make_a_soup_worth_27() -> None:
    both = asyncio.run(_played("bot/optimal", 0, variant="released"))
    assert both["score"] == 54
    assert both["soups_delivered"] == 2


# --- what is seen ----------------------------------------------------------------------------------------


def test_the_four_latest_frames_are_shown_with_what_led_to_them() -> None:
    made = Overcooked().start(0)
    view = view_of(made.game, RenderOptions("classic", 256), 0)
    assert len(view.images(made, "chef_0")) == 1
    assert view.notes(made, "chef_0").endswith("nothing yet.")
    shown = [view.image(made, "chef_0").hash]
    for action in ("LEFT", "UP", "INTERACT", "RIGHT", "DOWN"):
        after(made, action)
        shown.append(view.image(made, "chef_0").hash)
    assert [picture.hash for picture in view.images(made, "chef_0")] == shown[-4:]
    notes = view.notes(made, "chef_0").splitlines()
    assert notes[1:] == [
        "step 2: chef_0 UP, chef_1 STAY",
        "step 3: chef_0 INTERACT, chef_1 STAY",
        "step 4: chef_0 RIGHT, chef_1 STAY",
        "step 5: chef_0 DOWN, chef_1 STAY",
    ]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [256, 512])
def test_only_the_chef_who_looks_is_framed(theme: str, size: int) -> None:
    made = Overcooked().start(0)
    view = view_of(made.game, RenderOptions(theme, size), 3)
    assert isinstance(view, OvercookedView)
    drawing = view._drawing(made.kitchen)
    ink, px = view._sheet.index("ink"), drawing.px
    for number, seat in enumerate(made.game.seats):
        pixels, framed = view.image(made, seat).pixels, []
        for chef in made.snapshot.chefs:
            x, y = drawing.corner(chef.cell)
            framed.append(bool((pixels[y : y + 2, x : x + px] == ink).all()))
        assert framed == [number == 0, number == 1]
        assert view.text(made, seat).count("you") == 1


def test_words_say_what_each_seat_holds_and_what_the_kitchen_holds() -> None:
    made = state((Chef(6, "LEFT", "onion"), Chef(8, "DOWN", SOUPS[2])), Pot(2, 3), ((9, "dish"),))
    view = view_of(made.game, RenderOptions(), 0)
    assert view.notes(made, "chef_0").startswith("You hold an onion.")
    assert view.notes(made, "chef_1").startswith("You hold a soup of 3 onions.")
    told = view.text(made, "chef_0")
    for part in (
        "chef_0 (blue, you) at B2 facing left, holding an onion",
        "chef_1 (green) at B4 facing down, holding a soup of 3 onions",
        "pot A3: 2 onions, cooked 3 steps",
        "dish on B5",
    ):
        assert part in told


def test_rules_name_the_points_of_the_variant() -> None:
    paper, released = (
        view_of(Overcooked(variant=variant), RenderOptions(), 0).rules("chef_1")
        for variant in ("paper", "released")
    )
    assert "+2 for a soup plated" in paper
    assert "+5 for a soup plated" in released
    assert "no dish lies on a counter" in released
    assert "You are chef_1, in green" in paper


@pytest.mark.parametrize(
    "change",
    [
        {"chefs": (Chef(6, "UP", "onion"), AWAY)},
        {"chefs": (Chef(6, "UP", "dish"), AWAY)},
        {"chefs": (Chef(6, "UP", SOUPS[0]), AWAY)},
        {"chefs": (Chef(6, "UP", SOUPS[2]), AWAY)},
        {"chefs": (Chef(6, "DOWN"), AWAY)},
        {"chefs": (Chef(12, "UP"), Chef(6, "UP"))},
        {"pots": (Pot(1),)},
        {"pots": (Pot(3),)},
        {"pots": (Pot(3, 1),)},
        {"pots": (Pot(3, 5),)},
        {"pots": (Pot(2, 5),)},
        {"counters": ((0, "dish"),)},
        {"counters": ((0, SOUPS[1]),)},
    ],
)
@pytest.mark.parametrize("theme", ["classic", "plain"])
def test_every_difference_shows(change: dict[str, Any], theme: str) -> None:
    base = KitchenSnapshot((Chef(6, "UP"), AWAY), (Pot(),))
    view = view_of(Overcooked(), RenderOptions(theme, 256), 0)
    pictures = []
    for snapshot in (base, base._replace(**change)):
        made = state((AWAY, AWAY))
        made.frames = (KitchenFrame(0, 0, snapshot),)
        pictures.append(view.image(made, "chef_0").hash)
    assert pictures[0] != pictures[1]


# --- chefs -----------------------------------------------------------------------------------------------


async def _played(bot: str, seed: int, other: str | None = None, **options: Any) -> dict[str, Any]:
    game = ludens.make("overcooked", **options)
    seats = dict(zip(SEATS, (bot, other or bot), strict=True))
    episode = await play(game, {seat: ludens.agent(spec, game) for seat, spec in seats.items()}, seed)
    return episode.facts


def _scores(bot: str, episodes: int, other: str | None = None) -> list[int]:
    async def every() -> list[int]:
        return [(await _played(bot, seed, other))["score"] for seed in range(episodes)]

    return asyncio.run(every())


async def test_the_planners_deliver_two_soups_in_fifty_steps() -> None:
    facts = await _played("bot/planner", 0)
    assert facts["soups_delivered"] == 2
    assert facts["score"] == 50


async def test_the_optimal_pair_earns_what_the_paper_calls_optimal() -> None:
    assert (await _played("bot/optimal", 0))["score"] == 40


@pytest.mark.parametrize("layout", ["asymmetric_advantages", "coordination_ring", "counter_circuit"])
async def test_the_planners_find_their_way_in_other_kitchens(layout: str) -> None:
    facts = await _played("bot/planner", 0, layout=layout, horizon=100)
    assert facts["soups_delivered"] >= 2
    assert facts["weak_soups_delivered"] == 0


async def test_planner_rejects_kitchens_that_need_handovers() -> None:
    with pytest.raises(BadOption, match="forced_coordination"):
        await _played("bot/planner", 0, layout="forced_coordination")


def test_random_chefs_earn_almost_nothing() -> None:
    """0.39 over 2,000 episodes; the paper's 0.2 must lie within what its ten episodes scatter."""
    scores = _scores("bot/random", 300)
    assert abs(mean(scores) - 0.39) < 3 * stdev(scores) / 300**0.5
    assert abs(mean(scores) - 0.2) < 2 * stdev(scores) / 10**0.5


@pytest.mark.parametrize("others", [("bot/greedy", "bot/planner"), ("bot/planner", "bot/greedy")])
def test_a_greedy_chef_and_a_planner_do_not_block_each_other(others: tuple[str, str]) -> None:
    game = Overcooked(opening="random")
    for seed in range(10):
        seen: list[object] = []
        players = dict(zip(game.seats, (agent(spec, game) for spec in others), strict=True))
        watch = OnStep(lambda event, seen=seen: seen.append(event.state.snapshot))  # type: ignore[misc]
        asyncio.run(play(game, players, seed, observer=watch))
        assert len(set(seen[-10:])) > 1, f"nothing moves at the end with seed {seed}"


def _choices(spec: str, made: OvercookedState) -> set[str]:
    player = agent(spec, made.game).sit(made.game, "chef_0", stream(0, "test"))
    assert isinstance(player, Greedy)
    return set(player.choices(made))


def test_a_greedy_chef_without_an_errand_steps_anywhere_free_or_waits() -> None:
    """With a dish at C2 while nothing cooks: a counter, the dish rack and the other chef are around it."""
    made = state((Chef(RACK_FLOOR, "UP", DISH), AWAY))
    assert _choices("bot/greedy", made) == {"UP", "STAY"}


def test_a_greedy_chef_steps_aside_after_a_collision() -> None:
    """With an onion at B2 it goes right, below the pot; from B4 the other wants the same cell."""
    made = state((Chef(6, "RIGHT", ONION), Chef(8, "LEFT")))
    assert _choices("bot/greedy", made) == {"RIGHT"}
    assert [chef.cell for chef in after(made, "RIGHT", "LEFT").chefs] == [6, 8]
    assert _choices("bot/greedy", made) == {"RIGHT", "DOWN", "STAY"}


def test_random_openings_are_possible_and_hardly_ever_the_same() -> None:
    place, found = kitchen("cramped_room"), set()
    for seed in range(200):
        first = Overcooked(opening="random").start(seed).snapshot
        cells = [chef.cell for chef in first.chefs]
        assert len(set(cells)) == 2
        assert all(place.tiles[cell] == "." for cell in cells)
        assert all(place.tiles[cell] == "X" for cell, _ in first.counters)
        found.add(first)
    assert len(found) >= 198
    assert Overcooked().start(1).snapshot == opening(place)


def test_greedy_chefs_deliver_soups() -> None:
    assert mean(_scores("bot/greedy?slips=0.1", 15)) > 15
    assert mean(_scores("bot/planner", 15, "bot/greedy?slips=0.1")) > 15
    assert mean(_scores("bot/greedy?role=cook&slips=0.1", 15, "bot/greedy?role=waiter&slips=0.1")) > 15
