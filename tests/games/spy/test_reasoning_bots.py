"""Bots of the spy game that reason aloud, for imitation."""

from __future__ import annotations

import ludens


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
    assert replies[-1].count("true") + replies[-1].count("false") + replies[-1].count("unclear") == 10
