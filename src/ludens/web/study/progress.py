"""What the organiser of a study sees."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ludens.suites.people import StudyTask
from ludens.suites.people.records import VOID
from ludens.web.study.room import Room


def progress_of(room: Room) -> dict[str, Any]:
    """Tasks with their episodes, and participants with their steps."""
    done, void = Counter[str](), Counter[str]()
    for job in room.plan.jobs:
        done[job.task] += job.key in room.store.done
        void[job.task] += room.store.voids[job.key]
    return {
        "tasks": [_task(room, task, done[task.name], void[task.name]) for task in room.study.task],
        "participants": [
            {
                "name": one.name,
                "step": room.step(one),
                "played": len(one.games),
                "void": sum(game.status == VOID for game in one.games),
                "token": one.token,
                "code": one.code,
                "excluded": one.excluded,
            }
            for one in room.records.participants.values()
        ],
    }


def _task(room: Room, task: StudyTask, done: int, void: int) -> dict[str, Any]:
    games = {game.job.key for game in room.games.values() if game.job.task == task.name and not game.done}
    return {
        "name": task.name,
        "done": done,
        "episodes": task.episodes,
        "void": void,
        "playing": len(games),
        "waiting": len(room.waiting[task.name]),
    }
