"""Plays the jobs of a plan, one at a time or many at once on one event loop. Every executor ends here."""

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
from ludens.run.meter import Meter, Metered, paced
from ludens.run.plan import Job, Plan

if TYPE_CHECKING:
    from ludens.models.chat import Model


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: the episode as JSON, and what a progress line and a forecast must know of it."""

    job: Job
    data: bytes
    void: bool
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    moves: int = 0
    fallbacks: int = 0
    retried: int = 0
    error: str = ""


class JobRunner:
    """Games and agents of a plan, made once and shared by all its episodes.

    Args:
        plan: What is played.
        concurrency: How many episodes will be played here at once.
        processes: How many players share the limits of the models.
    """

    def __init__(self, plan: Plan, concurrency: int = 1, processes: int = 1) -> None:
        self.plan = plan
        self._concurrency, self._processes = concurrency, processes
        self._games: dict[str, Game] = {}
        self._agents: dict[tuple[str, str], Agent] = {}
        self._models: dict[str, Model] = {}
        self._meter = Meter()

    @property
    def meter(self) -> Meter:
        """What all models together have consumed until now."""
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
            self._reach(spec)
            self._agents[key] = agent(spec, self.game(task), self._models)
        return self._agents[key]

    def _reach(self, spec: str) -> None:
        """Make the model of a seat, counted and paced, before the seat is filled."""
        if is_model(spec):
            parsed = ModelSpec.parse(spec)
            if (key := str(parsed.own)) not in self._models:
                made = paced(parsed.make(), parsed.own.options, self._concurrency, self._processes)
                self._models[key] = Metered(made, self._meter)

    def check(self) -> None:
        """Seat everybody and say the rules once: what cannot work is refused before the first episode."""
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
        """Play one job. A `UsageError` (bad key, unknown model) is for the whole run; all else is a void."""
        game, task, render = self.game(job.task), self.plan.chosen[job.task], self.plan.render
        specs = self.plan.specs(job)
        seated = {seat: self.agent(spec, job.task) for seat, spec in specs.items()}
        return _outcome(job, await play(game, seated, job.seed, render=render, config=task.config))

    async def close(self) -> None:
        """Let go of every model."""
        for model in self._models.values():
            await model.close()


def _outcome(job: Job, episode: Episode) -> Outcome:
    verdicts, usage = episode.verdicts(), episode.usage()
    return Outcome(
        job,
        episode.to_json(),
        episode.status == "void",
        usage.calls,
        usage.input_tokens + usage.output_tokens,
        usage.cost or 0.0,
        len(episode.moves),
        verdicts["fallback"],
        verdicts["retried"],
        episode.error,
    )
