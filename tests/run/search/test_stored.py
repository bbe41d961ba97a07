"""Players that ship with the reference scores can be rebuilt, and reach what is stored."""

from __future__ import annotations

import pytest

from ludens.core.registry import make
from ludens.run.baselines import play_task
from ludens.run.references import definition_of, references_of
from ludens.run.search import rebuilt
from ludens.run.task import suite
from ludens.suites import CATALOGUE, TASKS_IN_OPTIONS

REFITTED = ("imitation", "model over words")
"""Kinds whose models are fitted again, which takes a while; they may be within others."""


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in TASKS_IN_OPTIONS])
def test_every_stored_player_can_be_rebuilt(name: str) -> None:
    whole = suite(name)
    for task in whole.tasks:
        known = references_of(whole, [task]).get(task.name)
        for player in known.players if known is not None else ():
            assert whole.references is not None
            definition = definition_of(whole.references, player)
            assert definition["kind"] == player.kind
            assert player.name in {score.player for score in known.scores} if known else False
            if not any(f'"{kind}"' in str(definition).replace("'", '"') for kind in REFITTED):
                assert rebuilt(task, definition).kind == player.kind


@pytest.mark.parametrize("name", ["e2e/reversi", "e2e/tic_tac_toe"])
def test_a_stored_player_is_as_good_as_stored(name: str) -> None:
    """Fixed lists and small trees of moves are never beaten in these games."""
    whole = suite("playground")
    [task] = [task for task in whole.tasks if task.name == name]
    known, metric = references_of(whole, [task])[name], task.metrics[0]
    score = known.get("blind", metric)
    assert score is not None
    assert whole.references is not None
    [player] = [player for player in known.players if player.name == score.player]
    again = rebuilt(task, definition_of(whole.references, player))
    assert metric.estimate(play_task(make(task.game), task, again, 3, {})).mean == score.mean == 1.0
