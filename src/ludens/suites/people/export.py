"""The tables of a study: participants, answers, episodes and moves, each with the names of participants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludens.core.episode import Episode
from ludens.run.plan import Plan
from ludens.run.report.data import METRIC, Types, metrics_of
from ludens.run.rows import RowMaker
from ludens.run.store import read_plan
from ludens.suites.people.records import VOID, Participant, PlayedGame, Records, episodes_of

Rows = list[dict[str, Any]]
Place = tuple[str, int | None]
"""Key and attempt of an episode."""


def _columns(listed: str) -> Types:
    """The columns of a table: text unless another type follows the name."""
    kinds: dict[str, type] = {"": str, "int": int, "float": float, "bool": bool}
    columns = (column.partition(":") for column in listed.split())
    return {name: kinds[kind] for name, _, kind in columns}


# Times are empty for what has not happened; games are those that count; lists are separated by semicolons.
PARTICIPANTS = _columns(
    "participant excluded:bool why code added consented completed withdrawn games:int void:int skipped"
)
# A part is `before` or `after` the games; a number is an answer that is one.
ANSWERS = _columns("participant excluded:bool part question answer number:float time")
# One episode for one of its participants, excluded if any of them is; a column for each metric follows.
# Attempts count the episodes of a key, all but the last of which were void; a running game has no status.
# Moves and seconds are those of the participant, empty where the episode was lost with the server.
EPISODES = _columns(
    "participant excluded:bool partners key attempt:int task game seed:int seat status started ended "
    "moves:int seconds:float score:float error"
)
# One move of any seat, without a participant for a model or bot; a player is `human` or a spec, the text the
# last reply.
MOVES = _columns(
    "participant excluded:bool key attempt:int task game seed:int step:int seat player action verdict "
    "tries:int text seconds:float"
)


@dataclass(frozen=True)
class StudyTable:
    """The rows of a table, and the types of its columns."""

    types: Types
    rows: Rows


def tables(folder: Path, excluded: bool = False) -> dict[str, StudyTable]:
    """The tables of a study, by name; with `excluded`, all of them include excluded participants."""
    plan, people = read_plan(folder), list(Records(folder).read().participants.values())
    study = _Study(folder, plan, people)
    tasks = plan.tasks_by_name.values()
    metrics = {METRIC + m.name: float for task in tasks for m in task.metrics if m.paired}
    return {
        "participants": StudyTable(PARTICIPANTS, list(map(_participant, people))),
        "answers": StudyTable(ANSWERS, _rows(study.answers(), excluded)),
        "episodes": StudyTable({**EPISODES, **metrics}, _rows(study.games(metrics), excluded)),
        "moves": StudyTable(MOVES, _rows(study.moves(), excluded)),
    }


def _rows(rows: Iterator[dict[str, Any]], excluded: bool) -> Rows:
    return [row for row in rows if excluded or not row["excluded"]]


def _participant(person: Participant) -> dict[str, Any]:
    return {
        "participant": person.name,
        "excluded": person.excluded is not None,
        "why": person.excluded,
        "code": person.code or None,
        **{event: person.times.get(event) for event in ("added", "consented", "completed", "withdrawn")},
        "games": sum(game.status not in ("", VOID) for game in person.games),
        "void": sum(game.status == VOID for game in person.games),
        "skipped": ";".join(person.skipped),
    }


class _Study:
    """What the tables are made from."""

    def __init__(self, folder: Path, plan: Plan, people: list[Participant]) -> None:
        self._plan, self._people = plan, people
        self._jobs = {job.key: job for job in plan.jobs}
        self._maker = RowMaker.of(plan)
        self._episodes: dict[Place, Episode] = {}
        attempts = dict[str, int]()
        for key, attempt, episode in episodes_of(folder):
            self._episodes[key, attempt] = episode
            if episode.status != VOID:
                attempts[key] = attempt
        self._groups: dict[Place, dict[str, Participant]] = {}
        self._games: list[tuple[Participant, PlayedGame]] = []
        for person in people:
            for game in person.games:
                if game.attempt is None and game.status != VOID:
                    game.attempt = attempts.get(game.key)
                if game.key not in self._jobs:
                    continue
                self._games.append((person, game))
                if game.attempt is not None:
                    self._groups.setdefault(game.place, {})[game.seat] = person

    def answers(self) -> Iterator[dict[str, Any]]:
        for person in self._people:
            for part, answers in person.answers.items():
                for question, answer in answers.items():
                    number = None if answer is None or isinstance(answer, str) else float(answer)
                    text = answer if number is None else str(number).removesuffix(".0")
                    values = (person.name, person.excluded is not None, part, question, text, number)
                    yield dict(zip(ANSWERS, (*values, person.times.get(part)), strict=True))

    def games(self, metrics: Types) -> Iterator[dict[str, Any]]:
        empty: dict[str, Any] = dict.fromkeys(metrics)
        for person, game in self._games:
            group = self._groups.get(game.place, {game.seat: person})
            episode = self._episodes.get(game.place)
            own = [move for move in episode.moves if move.seat == game.seat] if episode else []
            values = {}
            if episode is not None:
                values = metrics_of(self._maker, self._maker.make(self._jobs[game.key], episode))
            yield {
                "participant": person.name,
                "excluded": _excluded(group),
                "partners": ";".join(sorted(each.name for each in group.values() if each is not person)),
                **{name: getattr(game, name) for name in ("key", "attempt", "task", "seat", "status")},
                "game": self._plan.tasks_by_name[game.task].game,
                "seed": self._jobs[game.key].seed,
                "started": game.started,
                "ended": game.ended,
                "moves": len(own) if episode else None,
                "seconds": round(sum(move.ms for move in own) / 1000, 3) if episode else None,
                "score": episode.returns.get(game.seat) if episode and episode.status != VOID else None,
                "error": episode.error if episode else None,
                **empty,
                **values,
            }

    def moves(self) -> Iterator[dict[str, Any]]:
        for (key, attempt), episode in self._episodes.items():
            group, job = self._groups.get((key, attempt), {}), self._jobs[key]
            for move in episode.moves:
                person = group.get(move.seat)
                yield {
                    "participant": person.name if person else None,
                    "excluded": _excluded(group),
                    "key": key,
                    "attempt": attempt,
                    "task": job.task,
                    "game": self._plan.tasks_by_name[job.task].game,
                    "seed": job.seed,
                    **{name: getattr(move, name) for name in ("step", "seat", "action", "verdict")},
                    "player": episode.seats[move.seat],
                    "tries": len(move.tries),
                    "text": move.said,
                    "seconds": round(move.ms / 1000, 3),
                }


def _excluded(group: dict[str, Participant]) -> bool:
    return any(person.excluded is not None for person in group.values())
