"""What a plan names outside of Ludens: files, programs, addresses and keys of its suite, games and players.

`ludens eval` takes a plan from the command line. `ludens resume` reads it from a file that may come from
somebody else, so the person must confirm what `ludens.core.policy` does not leave to files.
"""

from __future__ import annotations

from collections.abc import Iterator

from ludens.agents import player_accesses
from ludens.core.options import Touch
from ludens.core.policy import Access, Setter, game_accesses, option_accesses
from ludens.core.registry import GAMES
from ludens.core.spec import parse_spec
from ludens.run.plan import Plan
from ludens.run.task import MODEL, RIVAL, suite_options


def plan_accesses(plan: Plan) -> Iterator[Access]:
    """What a plan names: in options of its suite, in those of games, in players of all seats."""
    suite = parse_spec(plan.suite)
    for access in option_accesses(suite_options(plan.suite), suite.options, suite.name):
        if access.touch is not Touch.PLAYER:  # it sits in a task below
            yield access
    games = {task.game: GAMES.get(parse_spec(task.game).name) for task in plan.chosen.values()}
    for task in plan.chosen.values():
        yield from game_accesses(task.game)
        opponents = {who for seating in task.seatings for who in seating.values()} - {MODEL, RIVAL}
        for spec in sorted({*opponents, *plan.players}):
            yield from player_accesses(spec, games[task.game])


def to_confirm(plan: Plan) -> list[str]:
    """The values in a plan that a person must allow when it is read from a file."""
    accesses = plan_accesses(plan)
    return list(dict.fromkeys(access.value for access in accesses if not access.is_free(Setter.FILE)))
