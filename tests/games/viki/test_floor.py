"""The floor plan: everything that can be seen has a place of its own, and pictures and words agree on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from ludens.core.random import stream
from ludens.core.view import RenderOptions
from ludens.draw import THEMES, sprite_sheet
from ludens.games.viki.art import SPRITES, sprite
from ludens.games.viki.closed_loop import Act, ActState
from ludens.games.viki.floor import BOTTOM, SIDE, STRIP, Box, FloorItem, FloorPlan, arrange, own_box
from ludens.games.viki.replies import write_step
from ludens.games.viki.rules import World
from ludens.games.viki.sources import SEAT, SceneSetup
from ludens.games.viki.views import Map, describe
from ludens.games.viki.world import COUNT, KINDS, ROBOTS, STYLES, Asset, Scene, layout
from tests.games.viki.hand_kitchen import SCENE

FLOOR = FloorPlan(SCENE)
THINGS = [name for name, kind in KINDS.items() if not kind.fixture]


def changed(closed: Sequence[str] = ("cabinet",), **places: str) -> FloorPlan:
    """The kitchen with robots and things at other places, and with these things closed."""
    return FloorPlan(
        replace(
            SCENE,
            robots=tuple(replace(one, place=places.get(one.id, one.place)) for one in SCENE.robots),
            assets=tuple(
                replace(one, place=places.get(one.name, one.place), closed=one.name in closed)
                for one in SCENE.assets
            ),
        )
    )


def flat(items: tuple[FloorItem, ...]) -> list[FloorItem]:
    return [one for item in items for one in (item, *flat(item.inside))]


def overlap(a: Box, b: Box) -> bool:
    return (
        a.x < b.x + b.w - 1e-6
        and b.x < a.x + a.w - 1e-6
        and a.y < b.y + b.h - 1e-6
        and b.y < a.y + a.h - 1e-6
    )


def scattered(seed: int) -> Scene:
    """The kitchen with many things at random places."""
    random = stream(seed, "scattered")
    fixed = [asset for asset in SCENE.assets if KINDS[asset.kind].fixture]
    places = [*(area.name for area in SCENE.areas), "drawer", "plate", "sink"]
    kinds = random.sample([kind for kind in sorted(THINGS) if kind != "plate"], 17)
    loose = [Asset(kind, kind, random.choice(places)) for kind in kinds]
    return replace(SCENE, assets=(*fixed, Asset("plate", "plate", "table"), *loose))


@pytest.mark.parametrize("seed", range(12))
def test_everything_seen_has_a_place_of_its_own(seed: int) -> None:
    scene = scattered(seed)
    floor = FloorPlan(scene)
    drawn = {area: flat(items) for area, items in floor.items.items()}
    names = sorted(item.asset.name for items in drawn.values() for item in items)
    assert names == sorted(asset.name for asset in scene.assets)
    for area, items in drawn.items():
        surface = floor.surfaces[area]
        for item in items:
            box = own_box(item)
            assert box.w > 8
            assert surface.x - 1e-6 <= box.x
            assert box.x + box.w <= surface.x + surface.w + 1e-6
            assert surface.y <= box.y
            assert box.y + box.h <= surface.y + surface.h + 1e-6
        assert not any(overlap(own_box(a), own_box(b)) for a, b in combinations(items, 2))


def test_surfaces_and_robots_are_apart() -> None:
    assert len(FLOOR.surfaces) == len(SCENE.areas)
    assert not any(overlap(a, b) for a, b in combinations(FLOOR.surfaces.values(), 2))
    for name, (x, y) in FLOOR.robots.items():
        area = FLOOR.surfaces[FLOOR.places[name]]
        assert area.x < x < area.x + area.w
        assert area.y + area.h < y < BOTTOM <= SIDE


def test_layouts_and_styles_change_what_is_drawn() -> None:
    plans = [tuple(sorted((box.x, box.y, box.w, box.h) for box in arrange(layout(n).areas).values()))
             for n in range(COUNT)]  # fmt: skip
    assert len(set(plans)) > COUNT / 2
    for number in range(COUNT):
        areas = layout(number).areas
        boxes = arrange(areas)
        assert not any(overlap(a, b) for a, b in combinations(boxes.values(), 2))
        assert all(box.y + box.h + STRIP <= BOTTOM and box.x + box.w <= SIDE for box in boxes.values())
        left, right = min(areas, key=lambda a: a.x), max(areas, key=lambda a: a.x)
        assert boxes[left.name].x < boxes[right.name].x
    drawn = Map(RenderOptions())
    pictures = {drawn.picture(FloorPlan(replace(SCENE, style=style))).hash for style in range(STYLES)}
    assert len(pictures) == STYLES


def test_the_state_of_the_rules_is_shown() -> None:
    world = World(SCENE)
    state = world.start()
    assert world.scene_at(state) == SCENE
    for action in (("Reach", "apple"), ("Grasp", "apple")):
        state = world.step(state, {"R1": action})
    assert FloorPlan(world.scene_at(state)).places == {**FLOOR.places, "apple": "R1"}
    act = ActState(Act(), SceneSetup(0, SCENE))
    act.apply({SEAT: write_step({"R1": ("Reach", "apple")})})
    assert act.floor.reached == {"R1": ("apple",)}


def test_words_tell_what_is_seen_and_no_more() -> None:
    said = describe(FLOOR)
    assert "table (0.75 m high): apple; plate with pear" in said
    assert "cabinet (closed, 1.4 m high inside)" in said
    assert "bread" not in said
    assert "R1: fetch at table" in said
    opened = describe(changed(closed=()))
    assert "cabinet (open, 1.4 m high inside) with bread" in opened


CHANGES = {
    "a robot elsewhere": changed(R1="rack"),
    "a thing elsewhere": changed(apple="rack"),
    "a thing in a hand": changed(apple="R1"),
    "a thing on a plate": changed(apple="plate"),
    "an open cabinet": changed(closed=()),
    "a closed drawer": changed(closed=("cabinet", "drawer")),
    "a running sink": FloorPlan(SCENE, active=frozenset({"sink"})),
    "a stretched arm": FloorPlan(SCENE, reached={"R1": ("apple",)}),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("theme", ["classic", "plain"])
def test_every_change_shows_in_picture_and_words(change: str, theme: str) -> None:
    after = CHANGES[change]
    drawn = Map(RenderOptions(theme))
    assert drawn.picture(after).hash != drawn.picture(FLOOR).hash
    assert describe(after) != describe(FLOOR)


def test_what_is_hidden_changes_nothing() -> None:
    both = ("cabinet", "drawer")
    same = changed(closed=both, fork="cabinet", bread="drawer")
    closed = changed(closed=both, fork="cabinet", bread="cabinet")
    drawn = Map(RenderOptions())
    assert drawn.picture(closed).hash == drawn.picture(same).hash
    assert describe(closed) == describe(same)


def test_a_robot_sees_its_own_area() -> None:
    said = describe(FloorPlan(SCENE, view_from="room"), "R3")
    assert "apple" not in said
    assert "R1" not in said
    assert "table (0.75 m high): not in view" in said
    assert "room (0.9 m high): sink" in said
    assert "R3 (you): stompy at room" in said


def test_robots_elsewhere_are_not_drawn_when_they_reach() -> None:
    still = FloorPlan(SCENE, view_from="room")
    reaching = replace(still, reached={"R1": ("apple",)})
    drawn = Map(RenderOptions())
    before, after = (drawn.picture(floor) for floor in (still, reaching))
    assert before.hash == after.hash


@pytest.mark.parametrize("theme", THEMES)
def test_robot_types_differ_in_shape(theme: str) -> None:
    sheet = sprite_sheet(theme, 512, 5)
    masks = {kind: sprite(sheet, kind, 42, "light").mask for kind in ROBOTS}
    for a, b in combinations(masks.values(), 2):
        assert np.mean(a != b) > 0.1


def test_every_kind_has_a_sprite() -> None:
    opening = {name for name, kind in KINDS.items() if kind.opens}
    states = {f"{name} {state}" for name in opening for state in ("open", "closed")}
    assert set(SPRITES) == {*KINDS, *ROBOTS, *states} - opening


@pytest.mark.parametrize("size", [256, 512, 1024])
@pytest.mark.parametrize("theme", THEMES)
def test_sizes_and_themes(theme: str, size: int) -> None:
    picture = Map(RenderOptions(theme, size), 3).picture(FLOOR)
    assert (picture.width, picture.height) == (size, size)
    assert picture.hash == Map(RenderOptions(theme, size), 3).picture(FLOOR).hash
