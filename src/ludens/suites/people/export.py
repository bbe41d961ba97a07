"""The tables of a study: participants, answers, episodes and moves, each with the names of participants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ludens.core.episode import Episode
from ludens.run.plan import Plan
from ludens.run.report.data import METRIC, Types, metrics_of, types_of
from ludens.run.rows import RowMaker
from ludens.run.store import read_plan
from ludens.suites.people.records import VOID, Participant, PlayedGame, Records, episodes_of

Rows = list[dict[str, Any]]
Place = tuple[str, int | None]
"""Key and attempt of an episode."""


@dataclass(frozen=True)
class ParticipantRow:
    """One participant. Times are empty for what has not happened."""

    participant: str
    excluded: bool
    why: str | None
    code: str | None
    added: str | None
    consented: str | None
    completed: str | None
    withdrawn: str | None
    games: int
    """Games that count."""
    void: int
    skipped: str
    """Tasks for which no partner came, separated by semicolons."""


@dataclass(frozen=True)
class AnswerRow:
    """One answer to one question."""

    participant: str
    excluded: bool
    part: str
    """`before` or `after` the games."""
    question: str
    answer: str | None
    number: float | None
    time: str | None


@dataclass(frozen=True)
class GameRow:
    """One episode for one of its participants; a column for each metric follows."""

    participant: str
    excluded: bool
    """Whether any participant of the episode is excluded."""
    partners: str
    """The other participants, separated by semicolons."""
    key: str
    attempt: int | None
    """Number of the episode among those of its key: all but the last were void."""
    task: str
    game: str
    seed: int
    seat: str
    status: str
    """That of the episode; empty while it is played."""
    started: str
    ended: str
    moves: int | None
    """Moves of the participant; empty where the episode was lost with the server."""
    seconds: float | None
    """Time that the participant took for them."""
    score: float | None
    error: str | None


@dataclass(frozen=True)
class MoveRow:
    """One move of any seat."""

    participant: str | None
    """Empty for a model or bot."""
    excluded: bool
    key: str
    attempt: int | None
    task: str
    game: str
    seed: int
    step: int
    seat: str
    player: str
    """`human` or the spec of a player."""
    action: str
    verdict: str
    tries: int
    text: str
    seconds: float


@dataclass(frozen=True)
class StudyTable:
    """One table."""

    types: Types
    rows: Rows


def tables(folder: Path, excluded: bool = False) -> dict[str, StudyTable]:
    """The tables of a study, by name.

    Args:
        folder: The folder of the study.
        excluded: Whether to include excluded participants in all tables; they are always among participants.
    """
    plan, people = read_plan(folder), list(Records(folder).read().participants.values())
    study = _Study(folder, plan, people)
    metrics = {METRIC + m.name: float for task in plan.chosen.values() for m in task.metrics if m.paired}
    return {
        "participants": StudyTable(types_of(ParticipantRow), [asdict(_participant(each)) for each in people]),
        "answers": StudyTable(types_of(AnswerRow), _rows(study.answers(), excluded)),
        "episodes": StudyTable({**types_of(GameRow), **metrics}, _rows(study.games(metrics), excluded)),
        "moves": StudyTable(types_of(MoveRow), _rows(study.moves(), excluded)),
    }


def _rows(rows: Iterator[dict[str, Any]], excluded: bool) -> Rows:
    return [row for row in rows if excluded or not row["excluded"]]


def _participant(who: Participant) -> ParticipantRow:
    times = who.times
    return ParticipantRow(
        participant=who.name,
        excluded=who.excluded is not None,
        why=who.excluded,
        code=who.code or None,
        added=times.get("added"),
        consented=times.get("consented"),
        completed=times.get("completed"),
        withdrawn=times.get("withdrawn"),
        games=sum(game.status not in ("", VOID) for game in who.games),
        void=sum(game.status == VOID for game in who.games),
        skipped=";".join(who.skipped),
    )


class _Study:
    """What the tables are made from."""

    def __init__(self, folder: Path, plan: Plan, people: list[Participant]) -> None:
        self._plan, self._people = plan, people
        self._jobs = {job.key: job for job in plan.jobs}
        self._maker = RowMaker.of(plan)
        self._episodes: dict[Place, Episode] = {}
        finished = dict[str, int]()
        for key, attempt, episode in episodes_of(folder):
            self._episodes[key, attempt] = episode
            if episode.status != VOID:
                finished[key] = attempt
        self._groups: dict[Place, dict[str, Participant]] = {}
        self._games: list[tuple[Participant, PlayedGame]] = []
        for who in people:
            for game in who.games:
                if game.attempt is None and game.status != VOID:
                    game.attempt = finished.get(game.key)
                if game.key not in self._jobs:
                    continue
                self._games.append((who, game))
                if game.attempt is not None:
                    self._groups.setdefault(game.place, {})[game.seat] = who

    def answers(self) -> Iterator[dict[str, Any]]:
        for who in self._people:
            for part, answers in who.answers.items():
                for question, answer in answers.items():
                    number = None if answer is None or isinstance(answer, str) else float(answer)
                    text = answer if number is None else str(number).removesuffix(".0")
                    time, excluded = who.times.get(part), who.excluded is not None
                    yield asdict(AnswerRow(who.name, excluded, part, question, text, number, time))

    def games(self, metrics: Types) -> Iterator[dict[str, Any]]:
        empty: dict[str, Any] = dict.fromkeys(metrics)
        for who, game in self._games:
            group = self._groups.get(game.place, {game.seat: who})
            episode = self._episodes.get(game.place)
            own = [move for move in episode.moves if move.seat == game.seat] if episode else []
            values = {}
            if episode is not None:
                values = metrics_of(self._maker, self._maker.make(self._jobs[game.key], episode))
            row = GameRow(
                participant=who.name,
                excluded=_excluded(group),
                partners=";".join(sorted(each.name for each in group.values() if each is not who)),
                key=game.key,
                attempt=game.attempt,
                task=game.task,
                game=self._plan.chosen[game.task].game,
                seed=self._jobs[game.key].seed,
                seat=game.seat,
                status=game.status,
                started=game.started,
                ended=game.ended,
                moves=len(own) if episode else None,
                seconds=round(sum(move.ms for move in own) / 1000, 3) if episode else None,
                score=episode.returns.get(game.seat) if episode and episode.status != VOID else None,
                error=episode.error if episode else None,
            )
            yield {**asdict(row), **empty, **values}

    def moves(self) -> Iterator[dict[str, Any]]:
        for (key, attempt), episode in self._episodes.items():
            group, job = self._groups.get((key, attempt), {}), self._jobs[key]
            for move in episode.moves:
                who = group.get(move.seat)
                row = MoveRow(
                    participant=who.name if who else None,
                    excluded=_excluded(group),
                    key=key,
                    attempt=attempt,
                    task=job.task,
                    game=self._plan.chosen[job.task].game,
                    seed=job.seed,
                    step=move.step,
                    seat=move.seat,
                    player=episode.seats[move.seat],
                    action=move.action,
                    verdict=move.verdict,
                    tries=len(move.tries),
                    text=move.said,
                    seconds=round(move.ms / 1000, 3),
                )
                yield asdict(row)


def _excluded(group: dict[str, Participant]) -> bool:
    return any(who.excluded is not None for who in group.values())
