"""Plays the jobs of a plan, one at a time or many at once on one event loop. Every executor ends here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.episode import Episode, Usage
from ludens.core.errors import UsageError
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.play import play
from ludens.run.plan import Job, Plan

if TYPE_CHECKING:
    from ludens.models.chat import Model


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: the episode as JSON, and what a progress line and a budget must know of it."""

    job: Job
    data: bytes
    void: bool
    usage: Usage
    moves: int = 0
    fallbacks: int = 0
    retried: int = 0
    error: str = ""


class Player:
    """Games and agents of a plan, made once and shared by all its episodes."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._games: dict[str, Game] = {}
        self._agents: dict[tuple[str, str], Agent] = {}
        self._models: dict[str, Model] = {}

    def game(self, task: str) -> Game:
        """The game of a task."""
        if task not in self._games:
            self._games[task] = make(self.plan.chosen[task].game)
        return self._games[task]

    def agent(self, spec: str, task: str) -> Agent:
        """The agent of a spec for the game of a task."""
        key = (spec, task)
        if key not in self._agents:
            self._agents[key] = agent(spec, self.game(task), self._models)
        return self._agents[key]

    def check(self) -> None:
        """Make everything once, so that what cannot work is refused before the first episode."""
        for job in self.plan.jobs():
            for spec in self.plan.specs(job).values():
                self.agent(spec, job.task)

    async def play(self, job: Job) -> Outcome:
        """Play one job. A `UsageError` (bad key, unknown model) is for the whole run; all else is a void."""
        game, task = self.game(job.task), self.plan.chosen[job.task]
        specs = self.plan.specs(job)
        seated = {seat: self.agent(spec, job.task) for seat, spec in specs.items()}
        try:
            episode = await play(game, seated, job.seed, look=self.plan.look, table=task.table)
        except UsageError:
            raise
        except Exception as error:
            reason = f"{game.name} raised {type(error).__name__}: {error}"
            episode = Episode(
                game.name, game.version, game.options, job.seed, specs, status="void", error=reason
            )
        verdicts = episode.verdicts()
        return Outcome(
            job,
            episode.to_json(),
            episode.status == "void",
            episode.usage(),
            len(episode.moves),
            verdicts["fallback"],
            verdicts["retried"],
            episode.error,
        )

    async def close(self) -> None:
        """Let go of every model."""
        for model in self._models.values():
            await model.close()
