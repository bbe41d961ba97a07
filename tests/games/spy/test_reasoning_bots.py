"""Bots of the spy game that reason aloud, for imitation."""

from __future__ import annotations

import re
from dataclasses import replace

import ludens
from ludens.games.spy.bots import place_of
from ludens.games.spy.scene import Object


def test_bots_can_reason_aloud() -> None:
    game = ludens.make("spy")
    agents = {seat: ludens.agent("bot/blunt?reason=true", game) for seat in game.seats}
    plain = {seat: ludens.agent("bot/blunt", game) for seat in game.seats}
    aloud, silent = ludens.play_sync(game, agents, 5), ludens.play_sync(game, plain, 5)
    assert [move.action for move in aloud.moves] == [move.action for move in silent.moves]
    replies = [sample.completion for sample in ludens.samples(aloud)]
    assert all(r"\boxed{" in reply and not reply.startswith("\\") for reply in replies)
    scene = game.start(5).pair.original
    assert all(thing.name in replies[0] for thing in scene.objects)
    described, judged = replies[-1].split("\n")
    places = dict(re.findall(r"(\d\d:) ([a-z ]+)", described))
    assert places == {place_of(thing): thing.name for thing in scene.objects}
    clues = [move.action for move in aloud.moves[:10]]
    said = re.findall(r"\d (\d\d:|true|false|unclear)", judged)
    assert len(said) == len(clues) == 10
    for clue, verdict in zip(clues, said, strict=True):
        if verdict in places:
            assert clue == f"There is a {places[verdict]}"
        else:
            assert clue.removeprefix("There is a ") not in places.values()
    assert sum(verdict in places for verdict in said) > 4


def test_places_are_tenths_of_the_picture() -> None:
    thing = Object("cube", "large", "metal", "red", x=-3.0, y=3.0)
    assert place_of(thing) == "11:"
    assert place_of(replace(thing, x=0.1, y=-3.0)) == "58:"
