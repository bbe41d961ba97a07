"""Bots of the spy game that reason aloud, for imitation."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import ludens
from ludens.games.spy.bots import checked, place_of, weighed
from ludens.games.spy.clues import full_names, joined_names
from ludens.games.spy.scene import Object, Scene


def test_bots_can_reason_aloud() -> None:
    game = ludens.make("spy")
    agents = {seat: ludens.agent("bot/blunt?reason=true", game) for seat in game.seats}
    plain = {seat: ludens.agent("bot/blunt", game) for seat in game.seats}
    aloud, silent = ludens.play_sync(game, agents, 5), ludens.play_sync(game, plain, 5)
    assert [move.action for move in aloud.moves] == [move.action for move in silent.moves]
    replies = [sample.completion for sample in ludens.samples(aloud)]
    assert all(r"\boxed{" in reply and not reply.startswith("\\") for reply in replies)
    scene = game.start(5).pair.original
    found = {joined_names(thing.name): place_of(thing) for thing in scene.objects}
    assert all(f"{place} {thing}" in replies[0] for thing, place in found.items())
    described, judged = replies[-1].split(r" \boxed")[0].split("\n")
    assert described == ", ".join(f"{place} {thing}" for thing, place in found_from_left(scene))
    clues = [move.action for move in aloud.moves[:10]]
    said = judged.split(", ")
    assert len(said) == len(clues) == 10
    for index, (clue, line) in enumerate(zip(clues, said, strict=True)):
        number, *words = line.split()
        assert int(number) == index % 5 + 1
        things = full_names(clue)
        assert [word for word in words if "_" in word] == [name.replace(" ", "_") for name in things]
        known = all(name.replace(" ", "_") in found for name in things)
        if clue.startswith("There is"):
            assert words[1:] == [found[words[0]] if known else "false"]
        else:
            assert words[-1] == "true"
            assert words[1::2] == [found[word] for word in words[:-1:2]]
    assert {len(line.split()) for line in said} == {3, 6}


@pytest.mark.parametrize("seed", range(8))
def test_a_clever_spy_names_what_it_may(seed: int) -> None:
    game = ludens.make("spy")
    blunt = {seat: ludens.agent("bot/blunt", game) for seat in game.seats}
    aloud = ludens.play_sync(game, blunt | {"spy": ludens.agent("bot/clever?reason=true", game)}, seed)
    silent = ludens.play_sync(game, blunt | {"spy": ludens.agent("bot/clever", game)}, seed)
    assert [move.action for move in aloud.moves] == [move.action for move in silent.moves]
    clues = [move.action for move in aloud.moves[:10]]
    for sample in ludens.samples(aloud):
        if sample.ask.seat != "spy" or sample.move.action not in clues:
            continue
        heard = clues[: clues.index(sample.move.action)]
        described, judged, reasons = sample.completion.split(r" \boxed")[0].split("\n")
        objects = [item.split() for item in reasons.split(", ")]
        assert [name for name, *_ in objects] == [item.split()[1] for item in described.split(", ")]
        assert len(judged.split(", ")) == max(1, len(heard))
        fresh = [name for name, *against in objects if not against]
        known = [name for name, *against in objects if "".join(against).isdigit()]
        said = [joined_names(name) for name in full_names(sample.move.action)]
        assert said
        assert set(said) <= set(fresh or known)


def found_from_left(scene: Scene) -> list[tuple[str, str]]:
    things = sorted(scene.objects, key=lambda thing: thing.x)
    return [(joined_names(thing.name), place_of(thing)) for thing in things]


@pytest.mark.parametrize(
    ("clue", "found"),
    [
        ("There is a large red metal cube", "large_red_metal_cube 11:"),
        ("There is a small red metal cube", "small_red_metal_cube false"),
        ("The large red metal cube is to the left of the small blue rubber sphere",
         "large_red_metal_cube 11: small_blue_rubber_sphere 58: true"),
        ("The large red metal cube is to the right of the small blue rubber sphere",
         "large_red_metal_cube 11: small_blue_rubber_sphere 58: false"),
        ("The small blue rubber sphere is to the right of the large gray metal cube",
         "small_blue_rubber_sphere 58: large_gray_metal_cube false"),
        ("There is a large metal object", "true"),
        ("", "unclear"),
    ],
)  # fmt: skip
def test_a_clue_is_checked_object_by_object(clue: str, found: str) -> None:
    cube = Object("cube", "large", "metal", "red", x=-3.0, y=3.0)
    scene = Scene((cube, Object("sphere", "small", "rubber", "blue", x=0.1, y=-3.0)))
    state = ludens.make("spy").start(5)
    state.clues.append(clue)
    assert checked(state, scene) == f"1 {found}"


def test_a_spy_weighs_each_of_its_objects() -> None:
    cube = Object("cube", "large", "metal", "red", x=-3.0, y=3.0)
    sphere = Object("sphere", "small", "rubber", "blue", x=0.1, y=-3.0)
    scene = Scene((sphere, cube, Object("cylinder", "small", "metal", "gray", x=2.0, y=0.0)))
    state = ludens.make("spy").start(5)
    state.clues += ["There is a small green rubber cube", "There is a large red metal cube"]
    changed = {"small blue rubber sphere": "small green rubber cube"}
    assert weighed(state, scene, changed).split(", ") == [
        "large_red_metal_cube 2",
        "small_blue_rubber_sphere small_green_rubber_cube",
        "small_gray_metal_cylinder",
    ]


def test_a_small_model_is_told_names_as_one_word() -> None:
    game = ludens.make("spy")
    agents = {seat: ludens.agent("bot/blunt", game) for seat in game.seats}
    episode = ludens.play_sync(game, agents, 5)
    *_, last = ludens.samples(episode)
    told, clues = last.ask.observation.brief.splitlines(), [move.action for move in episode.moves[:10]]
    for line, clue in zip(told, clues, strict=True):
        assert line.split(" ", 1)[1].replace("_", " ") == clue
        assert len(re.findall(r"[a-z]+_[a-z]+_[a-z]+_[a-z]+", line)) == len(full_names(clue)) > 0


def test_places_are_tenths_of_the_picture() -> None:
    thing = Object("cube", "large", "metal", "red", x=-3.0, y=3.0)
    assert place_of(thing) == "11:"
    assert place_of(replace(thing, x=0.1, y=-3.0)) == "58:"
