"""Seats that the user gives to players of their own (`--seat`), in place of whom the suite seats there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ludens.core.errors import BadOption, UnknownName
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.core.view import RenderOptions, view_of
from ludens.run.task import MODEL, Task


def given_seats(players: Mapping[str, str]) -> dict[str, str]:
    if seat := next((seat for seat, spec in players.items() if spec == MODEL), None):
        raise BadOption(f"--seat {seat} needs the spec of a player, such as bot/oracle; {MODEL} is not one.")
    return {seat: str(parse_spec(spec)) for seat, spec in players.items()}


def reseat(suite: str, tasks: Mapping[str, Task], players: Mapping[str, str]) -> dict[str, Task]:
    """The tasks with these players in their seats.

    A seating in which no seat is left for the model is not played; the others are played on the same seeds.
    """
    if any(task.motive for task in tasks.values()):
        raise BadOption(f"all seats of {suite} belong to entrants: drop --seat.")
    for seat in players:
        having = [name for name, task in tasks.items() if seat in task.seatings[0]]
        if not having:
            seats = dict.fromkeys(seat for task in tasks.values() for seat in task.seatings[0])
            raise UnknownName(f"seat of {suite}", seat, seats)
        if missing := [name for name in tasks if name not in having]:
            raise BadOption(
                f"{', '.join(missing)} of {suite} {'has' if len(missing) == 1 else 'have'} no seat {seat!r}: "
                f"choose tasks that have it with --tasks {','.join(having)}."
            )
    return {name: _reseat(task, players) for name, task in tasks.items()}


def _reseat(task: Task, players: Mapping[str, str]) -> Task:
    seatings = [{**seating, **players} for seating in task.seatings]
    indices = [index for index, seating in enumerate(seatings) if MODEL in seating.values()]
    if not indices:
        flags = " and ".join(f"--seat {seat}" for seat in players)
        raise BadOption(f"with {flags} no seat of {task.name!r} is left for the model: leave it a seat.")
    view = view_of(make(task.game), RenderOptions(), 0)
    own = {seat for index in indices for seat, who in seatings[index].items() if who == MODEL}
    return replace(
        task,
        seatings=tuple(seatings[index] for index in indices),
        episodes=sum(len(range(index, task.episodes, len(seatings))) for index in indices),
        blindable=task.blindable and any(view.offers(seat) != "text" for seat in own),
    )
