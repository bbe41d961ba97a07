"""A study with scripted participants: what its files and its report look like, before anybody is invited.

Every participant has a skill: the share of moves that the best bot of the game would make; the others are
random. One in ten answers an attention check wrongly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ludens.agents import BEST, agent
from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask, build_ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import UnknownName
from ludens.core.game import Game
from ludens.core.random import Stream, stream
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of
from ludens.loop import play
from ludens.run.jobs import JobRunner
from ludens.run.plan import Job
from ludens.run.store import Store
from ludens.suites.people import PARTICIPANT, StudyFile, StudyQuestion, StudyTask
from ludens.suites.people.records import OpenRecords, Participant

_ORACLE, _RANDOM = "bot/oracle", "bot/random"
_CARELESS = 0.1


def best_bot(game: Game) -> Agent:
    """The best bot of a game; one that knows the answer, or a random one, where there is none."""
    for spec in (BEST, _ORACLE):
        try:
            return agent(spec, game)
        except UnknownName:
            continue
    return agent(_RANDOM, game)


@dataclass
class ScriptedPerson(Agent):
    """Plays like the best bot as often as its skill says, and is recorded as a person."""

    state: State | None = field(default=None, repr=False)
    skill: float = 1.0
    script: Stream | None = field(default=None, repr=False)
    kind = "human"
    sees = "both"
    unlimited_retries = True

    def begin(self) -> None:
        best, usual = best_bot(self.game), agent(_RANDOM, self.game)
        self._bots = tuple(bot.sit(self.game, self.seat, self.random) for bot in (best, usual))
        self._view = view_of(self.game, RenderOptions(), 0)

    async def act(self, ask: Ask) -> Reply:
        assert self.state is not None
        assert self.script is not None
        bot = self._bots[self.script.random() >= self.skill]
        bot_ask = build_ask(self._view, self.state, self.seat, bot.sees, PlayConfig(), step=ask.step)
        reply = await bot.act(bot_ask)
        return Reply(reply.text, reply.action)


class DryRun:
    def __init__(self, study: StudyFile, folder: Path, seed: int = 0) -> None:
        self.study, self._seed = study, seed
        self.plan = study.plan()
        self._runner = JobRunner(self.plan, concurrency=1)
        self._runner.check()
        self.store, self.records = Store.create(folder, self.plan), OpenRecords(folder)
        self._skills: dict[str, float] = {}

    def run(self, participants: int) -> None:
        """Let so many people take part, one group after the other."""
        with self.store, self.records:
            people = [self.records.add() for _ in range(participants)]
            for person in people:
                self._skills[person.name] = 0.4 + 0.6 * stream(self._seed, "skill", person.name).random()
                self.records.note(person, "consented")
                self._answer(person, "before", self.study.before)
            for task in self.study.tasks:
                for _ in range(task.each):
                    for group in _groups(people, len(task.people)):
                        self._play(task, group)
            for person in people:
                self._answer(person, "after", self.study.after)
                failed = self.study.failed_checks(person.answers)
                if failed:
                    why = f"attention check: {', '.join(failed)}"
                    self.records.note(person, "excluded", why=why)
                self.records.complete(person)

    def _answer(self, person: Participant, part: str, questions: tuple[StudyQuestion, ...]) -> None:
        if not questions:
            return
        random = stream(self._seed, "answers", person.name, part)
        answers = {question.name: question.read(_typed(question, random)) for question in questions}
        self.records.note(person, part, answers=answers)

    def _play(self, task: StudyTask, group: list[Participant]) -> None:
        keys = {game.key for person in group for game in person.games}
        job = next(
            (job for job in self.store.pending() if job.task == task.name and job.key not in keys), None
        )
        if job is None:
            return
        turn = sum(game.task == task.name for game in group[0].games) % len(group)
        people = dict(zip(task.people, [*group[turn:], *group[:turn]], strict=True))
        line = {"task": task.name, "key": job.key}
        seats = [{**line, "seat": seat} for seat in people]
        attempt = self.store.voids[job.key]
        self.records.note_all(people.values(), "started", [{**each, "attempt": attempt} for each in seats])
        episode = asyncio.run(self._episode(task, job, people))
        self.store.save(job, episode)
        self.records.note_all(
            people.values(), "played", [{**each, "status": episode.status} for each in seats]
        )

    async def _episode(self, task: StudyTask, job: Job, people: dict[str, Participant]) -> Episode:
        game = self._runner.game(task.name)
        state = game.start(job.seed)
        agents: dict[str, Agent] = {}
        for seat, player in task.seats.items():
            if player != PARTICIPANT:
                agents[seat] = self._runner.agent(player, task.name)
                continue
            name = people[seat].name
            script = stream(self._seed, "moves", name, job.key)
            agents[seat] = ScriptedPerson(state=state, skill=self._skills[name], script=script)
        return await play(
            game,
            agents,
            job.seed,
            sample=job.sample,
            first=state,
            render=self.plan.render,
            config=task.config,
        )


def _groups(people: list[Participant], size: int) -> Iterator[list[Participant]]:
    for start in range(0, len(people) - size + 1, size):
        yield people[start : start + size]


def _typed(question: StudyQuestion, random: Stream) -> str:
    if question.right:
        wrong = [option for option in question.options if option != question.right]
        return random.choice(wrong) if random.random() < _CARELESS else question.right
    if question.options:
        return random.choice(question.options)
    return str(random.between(18, 70)) if question.kind == "number" else "(scripted)"
