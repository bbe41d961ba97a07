"""Repetition by meaning: what a clue adds to earlier ones, whatever its words are."""

from __future__ import annotations

import pytest

import ludens
from ludens.games.spy.bots import Clever
from ludens.games.spy.clues import named
from ludens.games.spy.scene import Object, Scene
from ludens.games.spy.worlds import first_told, left_open, repetitions, replacements, untold, variations

CUBE = Object("cube", "large", "metal", "red", x=-2.0, y=2.0)
SPHERE = Object("sphere", "small", "rubber", "blue", x=-1.0, y=-2.0)
CYLINDER = Object("cylinder", "small", "metal", "gray", x=1.0, y=0.5)
BALL = Object("sphere", "large", "rubber", "green", x=2.0, y=-1.0)
SCENE = Scene((CUBE, SPHERE, CYLINDER, BALL))
NAMED = (named(CUBE), named(SPHERE))


@pytest.mark.parametrize(
    "clue",
    [
        "There is a large red metal cube",
        "I can see a big shiny red block",
        "There is a red cube and a small blue ball",
        "A small blue rubber sphere and a large red metal cube are in my picture",
        "There is a blue sphere made of rubber, and it is small",
        "There is a red object",
        "There are at least two objects",
        "There are more than three objects",
    ],
)
def test_other_words_for_what_is_known_add_nothing(clue: str) -> None:
    assert repetitions([*NAMED, clue], SCENE) == [False, False, True]


@pytest.mark.parametrize(
    "clue",
    [
        "There is a gray cylinder",
        "The large red metal cube is to the left of the small blue rubber sphere",
        "There are two spheres",
        "There are exactly four objects",
        "The large red metal cube is in the back",
        "There is a yellow cube",  # false: that weighs on its own
        "What a lovely picture",
    ],
)
def test_what_is_new_false_or_unclear_is_no_repetition(clue: str) -> None:
    assert repetitions([*NAMED, clue], SCENE) == [False, False, False]


def test_nobody_repeats_when_all_is_told() -> None:
    told = [named(thing) for thing in SCENE.objects]
    assert repetitions([*told, told[0]], SCENE)[-1] is False
    assert untold(tuple(told), SCENE) == ()
    assert left_open(tuple(told), SCENE)  # places are still open


def test_an_object_is_told_piece_by_piece() -> None:
    clues = ["There is a red cube", "There is a large metal cube", named(SPHERE)]
    assert first_told(clues, SCENE) == {CUBE.name: 1, SPHERE.name: 2}
    assert untold(tuple(clues), SCENE) == (CYLINDER, BALL)


def test_objects_that_are_alike_are_told_at_once() -> None:
    twin = Object("cube", "large", "metal", "red", x=0.0, y=0.0)
    scene = Scene((CUBE, twin, SPHERE, BALL))
    assert untold((), scene) == scene.objects
    assert untold((named(CUBE),), scene) == (SPHERE, BALL)
    assert repetitions([named(CUBE), "There are two large red metal cubes"], scene) == [False, False]


def test_variations_are_scenes_that_the_game_has() -> None:
    worlds = variations(SCENE)
    assert SCENE not in worlds
    assert {len(world.objects) for world in worlds} == {4, 5}
    # 11 other values of attributes per object, 6 swaps, and 3 objects that may be added
    assert len(worlds) == len(set(worlds)) == 4 * 11 + 6 + 3


def test_a_spy_reads_what_has_changed_from_any_wording() -> None:
    change = ("color", "shape")
    for clue in ("There is a small cyan rubber cube", "I see a little turquoise block, and it is matte"):
        assert replacements([clue], SCENE, change) == {SPHERE.name: "small cyan rubber cube"}
    assert replacements(["There is a purple object"], SCENE, change) == {}, "any of them may have been purple"
    assert replacements(["There is a large purple object"], SCENE, change).keys() == {CUBE.name, BALL.name}


def test_voters_find_a_spy_that_rephrases() -> None:
    """A spy that names two known objects in full, in another order of words, without looking."""
    game = ludens.make("spy?rounds=1")
    state = game.start(3)
    while state.table[-1] != "spy":  # the spy speaks last
        state.table = (*state.table[1:], state.table[0])
    scene = state.pair.original
    names = [thing.name for thing in scene.objects]
    state.clues = [named(thing) for thing in scene.objects[:4]]
    size, color, material, shape = names[0].split()
    state.clues.append(f"There is a {color} {size} {shape} made of {material} and a {names[1]}")
    assert len(names) > 4, "something must be left to say"
    suspicion = Clever().suspicion(state, scene)
    assert suspicion.index(max(suspicion)) == 4


def test_civilians_do_not_repeat_a_model_in_their_own_words() -> None:
    game = ludens.make("spy?rounds=1")
    state = game.start(3)
    scene = state.pair.original
    told = scene.objects[:-1]
    state.clues = [f"I can see a {t.color} {t.size} {t.shape} made of {t.material}" for t in told]
    agent = ludens.agent("bot/clever", game)
    assert agent.fresh(state, scene) == [scene.objects[-1]]  # type: ignore[attr-defined]
