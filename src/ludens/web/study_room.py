"""A study while it is conducted: who is at which step, who waits for a partner, which games are played."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice, permutations
from pathlib import Path
from time import monotonic
from typing import Any

from ludens.core.agent import Agent
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, UsageError
from ludens.core.registry import make
from ludens.core.validation import Invalid, read_value
from ludens.run.jobs import JobRunner
from ludens.run.plan import Job
from ludens.run.store import Store
from ludens.suites.people import StudyFile, StudyTask
from ludens.suites.people.records import VOID, OpenRecords, Participant, episodes_of
from ludens.web.journal import FOLDER, Journal, JournalFolder, folder_of
from ludens.web.sessions import HUMAN, Session, Setup
from ludens.web.spending import MOST_VOID, Spending

LOG = logging.getLogger(__name__)
POLL_SECONDS = 2.0
"""How often a waiting browser asks."""
_GONE_SECONDS = 12.0
"""A participant whose browser has not asked for this long is no longer waiting; one who has waited has this
long to open the game."""


@dataclass(eq=False)
class StudyGame:
    """A game of a study, with the seats of its participants."""

    job: Job
    session: Session
    seats: dict[str, Participant]
    over: bool = False


@dataclass(frozen=True)
class StudyGameAbout:
    """What a journal says about a game of a study."""

    key: str
    attempt: int
    version: int
    participants: Mapping[str, str]
    """Seat to name."""


@dataclass(eq=False)
class Waiting:
    participant: Participant
    task: str
    since: float = field(default_factory=monotonic)
    polled: float = field(default_factory=monotonic)


class Room:
    def __init__(self, study: StudyFile, runs: Path, spending: Spending) -> None:
        self.study = study
        self.plan = study.plan()
        self._runner = JobRunner(self.plan, concurrency=64, ledger=spending.ledger)
        self._runner.check()
        self._spending = spending
        for task in study.task:
            spending.check(_opponents(task).values())
            if task.practice:
                spending.make_agents(make(task.game), _opponents(task))  # raises now for wrong specs
        folder = folder_of(runs) / study.name
        self.store = Store.create(folder, self.plan, durable=True)
        self.records = OpenRecords(folder)
        self._journals = JournalFolder(folder / FOLDER)
        self._jobs = {job.key: job for job in self.plan.jobs}
        self._names = {task.name: make(task.game).name for task in study.task}
        self.games: dict[str, StudyGame] = {}
        """Participant to the game that they see: being played, or over and still shown."""
        self.waiting: dict[str, Waiting] = {}
        """By participant, in the order in which they came."""
        self._have_waited = set[str]()
        """Participants who have waited since the server was started."""

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Read the files of the study and lock them."""
        with self.store, self.records:
            for _ in range(self.study.participants - len(self.records.participants)):
                self.records.add()
            self._restore()
            try:
                yield
            finally:
                self._journals.close()

    def _restore(self) -> None:
        """Go on with the games that were being played, and end those that cannot go on."""
        ends: dict[tuple[str, int | None], str] = {
            (key, attempt): episode.status for key, attempt, episode in episodes_of(self.store.folder)
        }
        for journal in self._journals.read():
            try:
                if not self._resume(journal, ends):
                    journal.delete()
            except (UsageError, Invalid) as error:
                LOG.error("a game cannot go on: %s (%s)", error, journal.path)
        self._end_interrupted(ends)

    def _resume(self, journal: Journal, ends: Mapping[tuple[str, int | None], str]) -> bool:
        """Go on with the game of a journal; False if it is over."""
        assert journal.record is not None
        about = read_value(StudyGameAbout, dict(journal.record.about))
        people = {seat: self.records.get(name) for seat, name in about.participants.items()}
        job = self._job(about.key)
        if journal.end is not None or (about.key, about.attempt) in ends or job is None:
            return False
        task = next(task for task in self.study.task if task.name == job.task)
        if make(task.game).version != about.version:
            raise BadFile("it was begun with another version of the game.")
        game = self._make_game(task, job, people, journal)
        game.session.resume()
        for participant in people.values():
            self.games[participant.name] = game
        return True

    def _end_interrupted(self, ends: Mapping[tuple[str, int | None], str]) -> None:
        """Record the end of games that are not being played any more."""
        cut = [
            (each, game)
            for each in self.records.participants.values()
            for game in each.games
            if not game.status and each.name not in self.games
        ]
        if not cut:
            return
        lines = [
            {"task": game.task, "key": game.key, "seat": game.seat, "status": ends.get(game.place, VOID)}
            for _, game in cut
        ]
        self.records.note_all([each for each, _ in cut], "played", lines)

    async def run(self) -> None:
        """Call `look_after` every second, until cancelled."""
        while True:
            await asyncio.sleep(1)
            try:
                self.look_after()
            except BadFile as error:
                LOG.error("the end of a game was not recorded: %s", error)

    def look_after(self) -> None:
        """Void the games of participants who have been away for too long, and match those who wait."""
        for game in self.all_games():
            for seat, person in game.session.seats.items():
                # A waiting browser learns only when it asks again that the game begins.
                limit = self.study.leave_seconds + (0 if person.joined else _GONE_SECONDS)
                if not game.over and person.away() > limit:
                    self.leave(game, seat)
        for task in self.study.task:
            self._match(task)

    def all_games(self) -> list[StudyGame]:
        return list({id(game): game for game in self.games.values()}.values())

    def leave(self, game: StudyGame, seat: str) -> None:
        begun = game.session.playing
        game.session.leave(seat)
        if not begun:
            game.over = True
            game.session.journal.delete()
            self._note(game, "not_begun")

    async def close(self) -> None:
        await asyncio.gather(*(game.session.close() for game in self.games.values()))
        await self._runner.close()

    def complete(self, participant: Participant) -> None:
        """Give a participant the completion code; exclude one who failed an attention check."""
        failed = self.study.failed_checks(participant.answers)
        if not participant.code and failed and participant.excluded is None:
            self.records.note(participant, "excluded", why=f"attention check: {', '.join(failed)}")
        self.records.complete(participant)

    # Steps

    def task_of(self, participant: Participant) -> StudyTask | None:
        """The task that comes next; None when all are done."""
        if participant.excluded is not None:
            return None
        for task in self.study.task:
            rest = task.each - len(participant.finished(task.name))
            void = sum(game.task == task.name and game.status == VOID for game in participant.games)
            over = task.name in participant.skipped or void >= MOST_VOID
            if rest > 0 and not over and self._has_unseen(task, participant):
                return task
        return None

    def step(self, participant: Participant) -> str:
        if participant.withdrawn:
            return "withdrawn"
        if not participant.consented:
            return "consent"
        if self.study.before and "before" not in participant.answers:
            return "before"
        if participant.name in self.games:
            return "game"
        if participant.name in self.waiting:
            return "waiting"
        if self.task_of(participant) is not None:
            return "task"
        if self.study.after and "after" not in participant.answers:
            return "after"
        return "done"

    # Games

    def ready(self, participant: Participant) -> None:
        task = self.task_of(participant)
        if task is None or self.step(participant) != "task":
            return
        self._spending.check(_opponents(task).values())
        self.waiting[participant.name] = Waiting(participant, task.name)
        self._have_waited.add(participant.name)
        self._match(task)

    def _match(self, task: StudyTask) -> None:
        """Begin games for those who wait, those who came first before others.

        Nobody is given what they have seen, so a group needs an episode that is new to all of it.
        """
        size = len(task.people)
        for waiting in self._waiting_for(task):
            gone = monotonic() - waiting.polled >= _GONE_SECONDS
            if gone or not self._has_unseen(task, waiting.participant):
                del self.waiting[waiting.participant.name]
        while len(queue := [waiting.participant for waiting in self._waiting_for(task)]) >= size:
            known_puzzles = [self._known_puzzles(participant) for participant in queue]
            first: Job | None = None
            group: tuple[int, ...] = (len(queue),)
            for job in self._free(task):
                able = (n for n, puzzles in enumerate(known_puzzles) if self._puzzle(job) not in puzzles)
                places = tuple(islice(able, size))
                if len(places) == size and places < group:
                    first, group = job, places
                if group == tuple(range(size)):
                    break
            if first is None:
                return
            people = [queue[place] for place in group]
            for participant in people:
                del self.waiting[participant.name]
            self._begin(task, first, people)

    def _waiting_for(self, task: StudyTask) -> list[Waiting]:
        return [waiting for waiting in self.waiting.values() if waiting.task == task.name]

    def asks(self, participant: Participant) -> float | None:
        """Note that a waiting browser asked; returns for how long it has waited, None if it does not wait."""
        if participant.name not in self._have_waited and self.step(participant) == "task":
            self.ready(participant)  # it has waited since before the server was started
        waiting = self.waiting.get(participant.name)
        if waiting is None:
            return None
        waiting.polled = monotonic()
        return waiting.polled - waiting.since

    def skip(self, participant: Participant) -> None:
        """Go on without a partner, after the time set by the study."""
        waited = self.asks(participant)
        if waited is not None and waited >= self.study.wait_minutes * 60:
            self.records.note(participant, "skipped", task=self.waiting[participant.name].task)
            del self.waiting[participant.name]

    def go_on(self, participant: Participant) -> None:
        """Stop showing a game that is over."""
        game = self.games.get(participant.name)
        if game is not None and game.over:
            del self.games[participant.name]

    def withdraw(self, participant: Participant) -> None:
        place = self.seat_of(participant)
        if place is not None and not place[0].over:
            self.leave(*place)
        self.waiting.pop(participant.name, None)
        self.records.note(participant, "withdrawn")

    def seat_of(self, participant: Participant) -> tuple[StudyGame, str] | None:
        game = self.games.get(participant.name)
        if game is None:
            return None
        return game, next(seat for seat, player in game.seats.items() if player is participant)

    def _job(self, key: str) -> Job | None:
        practice = (job for task in self.study.task if task.practice for job in _practice_jobs(task))
        return self._jobs.get(key) or next((job for job in practice if job.key == key), None)

    def _free(self, task: StudyTask) -> Iterator[Job]:
        if task.practice:
            return _practice_jobs(task)
        busy = {game.job.key for game in self.games.values() if not game.over}
        return (job for job in self.store.pending() if job.task == task.name and job.key not in busy)

    def _puzzle(self, job: Job) -> tuple[str, int]:
        """What two episodes have in common if one shows the answer to the other."""
        return self._names[job.task], job.seed

    def _known_puzzles(self, participant: Participant) -> set[tuple[str, int]]:
        """Every puzzle that the participant was shown, in any seat, also if the game was void."""
        jobs = (self._job(game.key) for game in participant.games)
        return {self._puzzle(job) for job in jobs if job is not None}

    def _has_unseen(self, task: StudyTask, participant: Participant) -> bool:
        known_puzzles = self._known_puzzles(participant)
        return any(self._puzzle(job) not in known_puzzles for job in self._free(task))

    def _begin(self, task: StudyTask, job: Job, group: list[Participant]) -> None:
        seats = dict(zip(_fairly(task, group), group, strict=True))
        game = self._make_game(task, job, seats, Journal())
        session, attempt = game.session, self.store.voids[job.key]
        session.journal = self._journals.new(session.id)
        names = {seat: participant.name for seat, participant in seats.items()}
        about = StudyGameAbout(job.key, attempt, session.setup.game.version, names)
        session.keep(asdict(about))
        for participant in group:
            self.games[participant.name] = game

    def _make_game(
        self, task: StudyTask, job: Job, seats: dict[str, Participant], journal: Journal
    ) -> StudyGame:
        specs = {**dict.fromkeys(task.seats, HUMAN), **_opponents(task)}
        limit = task.minutes and task.minutes * 60
        rules = make(task.game) if task.practice else self._runner.game(task.name)
        setup = Setup(rules, specs, job.seed, job.sample, task.config, self.plan.render, limit)

        def agents(setup: Setup) -> dict[str, Agent]:
            if task.practice:
                return self._spending.make_agents(setup.game, setup.opponents)
            return {seat: self._runner.agent(spec, task.name) for seat, spec in setup.opponents.items()}

        session = Session(
            setup,
            agents,
            lambda _, episode: self._save(game, episode),
            False,
            lambda: self._start(game),
            journal,
        )
        game = StudyGame(job, session, seats)
        return game

    def _start(self, game: StudyGame) -> None:
        """Record who sees this game, before they do."""
        try:
            self._note(game, "started", attempt=self.store.voids[game.job.key])
        except BadFile:
            game.over = True
            raise

    def _save(self, game: StudyGame, episode: Episode) -> str:
        game.over = True
        if game.job.key in self._jobs:
            self.store.save(game.job, episode)
        self._note(game, "played", status=episode.status)
        game.session.journal.delete()
        return ""

    def _note(self, game: StudyGame, event: str, **more: Any) -> None:
        line = {"task": game.job.task, "key": game.job.key}
        self.records.note_all(game.seats.values(), event, [{**line, "seat": s, **more} for s in game.seats])


def progress_of(room: Room) -> dict[str, Any]:
    done, void = Counter[str](), Counter[str]()
    for job in room.plan.jobs:
        done[job.task] += job.key in room.store.done
        void[job.task] += room.store.voids[job.key]
    playing = Counter(game.job.task for game in room.all_games() if not game.over)
    return {
        "tasks": [
            {
                "name": task.name,
                "done": done[task.name],
                "episodes": task.episodes,
                "void": void[task.name],
                "playing": playing[task.name],
                "waiting": sum(waiting.task == task.name for waiting in room.waiting.values()),
            }
            for task in room.study.tasks
        ],
        "participants": [
            {
                "name": participant.name,
                "step": room.step(participant),
                "played": len(participant.games),
                "void": sum(game.status == VOID for game in participant.games),
                "token": participant.token,
                "code": participant.code,
                "excluded": participant.excluded,
            }
            for participant in room.records.participants.values()
        ],
    }


def _opponents(task: StudyTask) -> dict[str, str]:
    """The specs of the seats that no participant has."""
    return {seat: spec for seat, spec in task.seats.items() if seat not in task.people}


def _practice_jobs(task: StudyTask) -> Iterator[Job]:
    """What everybody may practise with; no part of the plan."""
    for seed in range(task.first_seed, task.first_seed + task.episodes):
        yield Job(f"practice:{task.name}:{seed}", "people", task.name, seed, 0, 0)


def _fairly(task: StudyTask, group: list[Participant]) -> tuple[str, ...]:
    """The seats of a group, such that participants change seats."""
    if len(group) > 5:
        return task.people
    earlier = [[game.seat for game in participant.finished(task.name)] for participant in group]
    return min(
        permutations(task.people),
        key=lambda seats: sum(had.count(seat) ** 2 for had, seat in zip(earlier, seats, strict=True)),
    )
