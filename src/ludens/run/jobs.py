"""Plays the jobs of a plan, any number at once on one event loop. Every executor ends here."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.episode import Usage
from ludens.core.errors import UsageError
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.core.view import view_of
from ludens.loop import play
from ludens.models.chat import Answer, Model, ModelWrapper, Request
from ludens.models.ledger import Ledger, price_of
from ludens.models.probe import probe_request
from ludens.models.settings import ModelSpec, is_model
from ludens.run.plan import Job, Plan
from ludens.run.rows import Outcome, RowMaker
from ludens.run.store import Store


class Metered(ModelWrapper):
    """A model that sums up the usage of its answers, and reserves them in a ledger if there is one."""

    def __init__(self, inner: Model, ledger: Ledger | None = None) -> None:
        super().__init__(inner)
        self.usage = Usage(calls=0)
        reserves = ledger is None or inner.limit_spending(ledger)
        self._ledger = None if reserves else ledger
        self._price = None if reserves else price_of(parse_spec(inner.spec).name)

    async def answer(self, request: Request) -> Answer:
        if self._ledger is None:
            answer = await self.inner.answer(request)
        else:
            size = request.estimated_input, request.sampling.max_tokens
            async with self._ledger.request(self.spec, self._price, *size) as settle:
                answer = await self.inner.answer(request)
                settle(answer.usage)
        self.usage += answer.usage
        return answer


class Executor(ABC):
    """Plays jobs somewhere."""

    async def start(self, store: Store | None = None) -> None:
        """Get ready; called on the event loop that will call `play`. Workers store episodes in this run."""

    async def probe(self) -> None:
        """Send each network model one small request; raises what is wrong with it."""

    @abstractmethod
    async def play(self, job: Job) -> Outcome:
        """Play one job; a `UsageError` ends the run, `WorkerDied` voids the job."""

    @property
    @abstractmethod
    def usage(self) -> Usage:
        """What models have spent, as far as this process knows."""

    @property
    @abstractmethod
    def counts(self) -> Counter[str]:
        """The events of all models (`Model.counts`), as far as this process knows."""

    def stop_waiting(self) -> None:
        """Let calls fail that only wait to be sent again; requests in flight are finished."""

    async def close(self) -> None:
        """Stop everything that was started."""


class JobRunner(Executor):
    """Plays on the calling event loop.

    The games, agents and models of a plan are created once and shared by all its episodes. `workers` is the
    number of processes that share the rate limits of the models.
    """

    def __init__(
        self, plan: Plan, concurrency: int = 1, workers: int = 1, ledger: Ledger | None = None
    ) -> None:
        self.plan, self._ledger = plan, ledger
        self._concurrency, self._workers = concurrency, workers
        self._games: dict[str, Game] = {}
        self._agents: dict[tuple[str, str], Agent] = {}
        self._models: dict[str, Model] = {}
        self._metered: list[Metered] = []
        self._rows: RowMaker | None = None

    @property
    def usage(self) -> Usage:
        return sum((model.usage for model in self._metered), Usage(calls=0))

    @property
    def counts(self) -> Counter[str]:
        return sum((model.counts for model in self._metered), Counter())

    def game(self, task: str) -> Game:
        if task not in self._games:
            self._games[task] = make(self.plan.tasks_by_name[task].game)
        return self._games[task]

    def agent(self, spec: str, task: str) -> Agent:
        key = (spec, task)
        if key not in self._agents:
            self._add_model(spec)
            self._agents[key] = agent(spec, self.game(task), self._models)
        return self._agents[key]

    def _add_model(self, spec: str) -> None:
        if not is_model(spec):
            return
        parsed = ModelSpec.parse(spec)
        if (key := str(parsed.own)) not in self._models:
            model = parsed.make()
            model.share_limits(self._concurrency, self._workers)
            self._models[key] = metered = Metered(model, self._ledger)
            self._metered.append(metered)

    def problems(self) -> dict[str, list[UsageError]]:
        """Task to everything that prevents it from being played here: extras, engines, keys, templates."""
        problems = {name: list(self._problems_of(name)) for name in self.plan.tasks_by_name}
        return {name: errors for name, errors in problems.items() if errors}

    def check(self) -> None:
        if problems := self.problems():
            raise combine_errors(problems)

    def _problems_of(self, task: str) -> Iterator[UsageError]:
        messages: set[str] = set()
        checks: list[Callable[[], object]] = [partial(self._check_game, task), *self._agent_checks(task)]
        for check in checks:
            try:
                check()
            except UsageError as error:
                if str(error) not in messages:
                    messages.add(str(error))
                    yield error

    def _check_game(self, task: str) -> None:
        game = self.game(task)
        game.start(self.plan.seed + self.plan.tasks_by_name[task].first_seed)
        view = view_of(game, self.plan.render, 0)
        for seat in game.seats:
            view.rules(seat)

    def _agent_checks(self, task: str) -> Iterator[Callable[[], object]]:
        return (partial(self._check_agent, task, seat, spec) for seat, spec in self._seats(task))

    def _check_agent(self, task: str, seat: str, spec: str) -> None:
        self.agent(spec, task).sit(self.game(task), seat, stream(0, "check"))

    def _seats(self, task: str) -> Iterator[tuple[str, str]]:
        for index in range(len(self.plan.tasks_by_name[task].seatings)):
            for entrant in self.plan.playing(self.plan.tasks_by_name[task]):
                yield from self.plan.specs(Job("", entrant, task, 0, index)).items()

    async def probe(self) -> None:
        """Send each network model one small request, with a picture if it will be shown pictures.

        Raises:
            UsageError: A model can never answer: wrong name or key, or no pictures.
            AgentFailure: A model gave no answer.
        """
        pictures: dict[str, bool] = {}
        for task in self.plan.tasks_by_name:
            view = view_of(self.game(task), self.plan.render, 0)
            for seat, spec in self._seats(task):
                if is_model(spec) and (parsed := ModelSpec.parse(spec)).is_network:
                    self._add_model(spec)
                    key, modality = str(parsed.own), view.modality(seat, parsed.prompt.sees)
                    pictures[key] = pictures.get(key, False) or modality != "text"
        requests = [self._models[key].answer(probe_request(modality)) for key, modality in pictures.items()]
        replies = await asyncio.gather(*requests, return_exceptions=True)
        errors = [reply for reply in replies if isinstance(reply, BaseException)]
        if usage_errors := [error for error in errors if isinstance(error, UsageError)]:
            raise combine_errors({"": usage_errors})
        for error in errors:
            raise error

    async def play(self, job: Job) -> Outcome:
        """Play one job. A `UsageError` (bad key, unknown model) ends the run; other exceptions void the job
        and are logged."""
        game, task = self.game(job.task), self.plan.tasks_by_name[job.task]
        agents = {seat: self.agent(spec, job.task) for seat, spec in self.plan.specs(job).items()}
        episode = await play(
            game,
            agents,
            job.seed,
            render=self.plan.render,
            config=task.config,
            sample=job.sample,
            void_on_error=True,
        )
        self._rows = self._rows or RowMaker.of(self.plan)
        return Outcome(self._rows.make(job, episode), episode.to_json())

    def stop_waiting(self) -> None:
        for model in self._models.values():
            model.stop_waiting()

    async def close(self) -> None:
        for model in self._models.values():
            await model.close()


def combine_errors(problems: Mapping[str, Sequence[UsageError]]) -> UsageError:
    """One error for all problems of all tasks; each is named once, with its tasks."""
    tasks: dict[str, list[str]] = {}
    errors = {str(error): error for task_errors in problems.values() for error in task_errors}
    for task, task_errors in problems.items():
        for error in task_errors:
            tasks.setdefault(str(error), []).append(task)
    if len(errors) == 1:
        return next(iter(errors.values()))
    parts = []
    for number, message in enumerate(errors, 1):
        where = f" [{', '.join(tasks[message])}]" if any(tasks[message]) else ""
        parts.append(f"({number}) {message.rstrip('.')}{where}")
    return UsageError(f"{len(parts)} problems: {'; '.join(parts)}.")
