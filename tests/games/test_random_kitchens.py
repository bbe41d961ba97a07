"""Kitchens of Overcooked that are drawn by seed, kitchens after half a turn, and pictures without words."""

from __future__ import annotations

from statistics import fmean

import pytest

import ludens
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of
from ludens.games.overcooked.bots import joint_plan
from ludens.games.overcooked.game import DISHES, FLOOR, HATCH, LAYOUTS, ONIONS, POT, SEATS, Overcooked, shared
from ludens.loop import play
from ludens.testing import Trial, check_game
from ludens.testing.views import twins_differ_only_in_pictures

OPPOSITE = {"UP": "DOWN", "DOWN": "UP", "LEFT": "RIGHT", "RIGHT": "LEFT"}


def overcooked(**options: object) -> Overcooked:
    game = make("overcooked", **options)
    assert isinstance(game, Overcooked)
    return game


def test_every_seed_has_another_kitchen_in_which_each_chef_reaches_everything() -> None:
    game = overcooked(layout="random")
    kitchens = [game.start(seed).kitchen for seed in range(60)]
    assert len({place.rows for place in kitchens}) == 60
    assert all(shared(place) for place in kitchens)
    assert game.start(7).kitchen.rows == kitchens[7].rows


def test_random_kitchens_have_the_floor_and_the_tiles_of_a_layout() -> None:
    known = {
        (len(rows), *sorted("".join(rows).replace("1", FLOOR).replace("2", FLOOR)))
        for rows in LAYOUTS.values()
    }
    for seed in range(20):
        place = overcooked(layout="random").start(seed).kitchen
        assert (len(place.rows), *sorted(place.tiles)) in known
        assert set(place.tiles) >= {POT, ONIONS, DISHES, HATCH}
        assert {place.tiles[cell] for cell in place.starts} == {FLOOR}
        edge = [*place.rows[0], *place.rows[-1], *(row[end] for row in place.rows for end in (0, -1))]
        assert FLOOR not in edge


async def test_planners_serve_a_soup_in_every_random_kitchen() -> None:
    game = overcooked(layout="random")
    for seed in range(12):
        planners = {seat: ludens.agent("bot/planner", game) for seat in SEATS}
        assert (await play(game, planners, seed)).returns["chef_0"] >= 20


def test_a_kitchen_after_half_a_turn_is_the_same_game_with_opposite_directions() -> None:
    for options in ({"layout": "random"}, {"layout": "cramped_room", "opening": "random"}):
        first, second = overcooked(**options, twins=True).pair(3)
        assert first.kitchen.rows != second.kitchen.rows
        for _ in range(50):
            plan = joint_plan(first.kitchen, first.snapshot)
            first.apply(dict(zip(SEATS, plan, strict=True)))
            second.apply(dict(zip(SEATS, [OPPOSITE.get(action, action) for action in plan], strict=True)))
            assert second.score == first.score
        assert first.score >= 20


def test_words_do_not_repeat_the_pictures_without_notes() -> None:
    game = overcooked(notes=False)
    state = game.start(0)
    state.apply({"chef_0": "UP", "chef_1": "INTERACT"})
    assert view_of(game, RenderOptions(), 0).notes(state, "chef_0") == ""
    assert view_of(overcooked(), RenderOptions(), 0).notes(state, "chef_0").startswith("You hold nothing.")


@pytest.mark.parametrize("layout", ["random", "asymmetric_advantages"])
def test_twins_keep_the_contract(layout: str) -> None:
    game = overcooked(layout=layout, notes=False, twins=True)
    twins_differ_only_in_pictures(Trial(game, seeds=range(3), views=(RenderOptions("random", 256),)))


def test_random_kitchens_keep_the_contract() -> None:
    check_game(overcooked(layout="random", notes=False, horizon=12), seeds=(1, 2))


def test_places_are_those_of_the_kitchen_that_is_shown() -> None:
    game = overcooked(layout="random")
    view = view_of(game, RenderOptions(), 0)
    middles = []
    for seed in range(12):
        state = game.start(seed)
        [place] = view.places(state, "chef_0")["STAY"]
        row, column = divmod(state.snapshot.chefs[0].cell, state.kitchen.width)
        middles.append((place.x * 512, place.y * 512, place.width * 512))
        left, top = (middles[-1][0] - column * middles[-1][2], middles[-1][1] - row * middles[-1][2])
        assert left >= 0
        assert top == pytest.approx(52, abs=1)
    assert fmean(width for _, _, width in middles) > 40
