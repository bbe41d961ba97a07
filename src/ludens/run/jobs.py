"""Plays the jobs of a plan, any number at once on one event loop. Every executor ends here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import view_of
from ludens.loop import play
from ludens.models.specs import ModelSpec, is_model
from ludens.run.meter import Meter, Metered
from ludens.run.plan import Job, Plan

if TYPE_CHECKING:
    from ludens.models.chat import Model


@dataclass(frozen=True, slots=True)
class Outcome:
    """A played job: the episode as JSON, and the numbers that progress and forecasts need."""

    job: Job
    data: bytes
    void: bool
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    fallbacks: int = 0
    error: str = ""


class JobRunner:
    """The games, agents and models of a plan, created once and shared by all its episodes.

    Args:
        plan: What is played.
        concurrency: How many episodes are played at once in this process.
        workers: How many processes share the rate limits of the models.
    """

    def __init__(self, plan: Plan, concurrency: int = 1, workers: int = 1) -> None:
        self.plan = plan
        self._concurrency, self._workers = concurrency, workers
        self._games: dict[str, Game] = {}
        self._agents: dict[tuple[str, str], Agent] = {}
        self._models: dict[str, Model] = {}
        self._meter = Meter()

    @property
    def meter(self) -> Meter:
        """What all models together have consumed so far."""
        return replace(self._meter, retries=sum(model.counts["retries"] for model in self._models.values()))

    def game(self, task: str) -> Game:
        """The game of a task."""
        if task not in self._games:
            self._games[task] = make(self.plan.chosen[task].game)
        return self._games[task]

    def agent(self, spec: str, task: str) -> Agent:
        """The agent of a spec for the game of a task."""
        key = (spec, task)
        if key not in self._agents:
            self._add_model(spec)
            self._agents[key] = agent(spec, self.game(task), self._models)
        return self._agents[key]

    def _add_model(self, spec: str) -> None:
        """Create the model of a spec, if it names one, with a meter and its share of the limits."""
        if not is_model(spec):
            return
        parsed = ModelSpec.parse(spec)
        if (key := str(parsed.own)) not in self._models:
            model = parsed.make()
            model.share_limits(self._concurrency, self._workers)
            self._models[key] = Metered(model, self._meter)

    def check(self) -> None:
        """Create every agent and render all rules once, to raise usage errors before the first episode."""
        for name, task in self.plan.chosen.items():
            view = view_of(self.game(name), self.plan.render, 0)
            for seat in self.game(name).seats:
                view.rules(seat)
            for index, seating in enumerate(task.seatings):
                for entrant in self.plan.playing(task):
                    specs = self.plan.specs(Job("", entrant, name, 0, index))
                    for seat in seating:
                        self.agent(specs[seat], name).sit(self.game(name), seat, stream(0, "check"))

    async def play(self, job: Job) -> Outcome:
        """Play one job. A `UsageError` (bad key, unknown model) ends the run; other exceptions void the job
        and are logged."""
        game, task = self.game(job.task), self.plan.chosen[job.task]
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
        return _outcome(job, episode)

    async def close(self) -> None:
        """Close every model."""
        for model in self._models.values():
            await model.close()


def _outcome(job: Job, episode: Episode) -> Outcome:
    usage = episode.usage()
    return Outcome(
        job,
        episode.to_json(),
        episode.status == "void",
        usage.calls,
        usage.tokens,
        usage.cost or 0.0,
        episode.verdicts()["fallback"],
        episode.error,
    )
