"""Playing for training: many episodes at once with the tokens of every reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from ludens.concurrent import run_many
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.ask import History
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadOption
from ludens.core.game import DecisionScore, Game
from ludens.core.state import State
from ludens.core.templates import Sections
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.rebuild import move_rewards
from ludens.train.algorithms import return_to_go
from ludens.train.policy import Policy, TokenSample, Trajectory
from ludens.train.recipe import Recipe


@dataclass
class Recorder(Agent):
    """Plays like another agent and keeps what it was asked and what it replied, for one episode."""

    inner: Agent
    records: list[tuple[Ask, Reply]] = field(default_factory=list)
    kind = "recorder"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees, self.waits = self.inner.sees, self.inner.waits

    @property
    def spec(self) -> str:
        return self.inner.spec

    @property
    def remarks(self) -> Sequence[str]:
        return self.inner.remarks

    @property
    def templates(self) -> Sections:
        return self.inner.templates

    def history(self) -> History:
        return self.inner.history()

    def begin(self) -> None:
        self.inner = self.inner.sit(self.game, self.seat, self.random)

    async def act(self, ask: Ask) -> Reply:
        reply = await self.inner.act(ask)
        self.records.append((ask, reply))
        return reply


@dataclass(frozen=True)
class RolloutJob:
    seed: int
    sample: int = 0
    players: Mapping[str, str] = field(default_factory=dict)
    """Role or seat to the name of its player; those not named are played by the learner."""
    number: int | None = None
    """Its place among the jobs of all ranks; that among those played here by default."""
    explores: bool = False


LEARNER = "learner"


@dataclass
class Rollouts:
    """Plays jobs of one game.

    Args:
        players: The other players by name, where jobs name any.
        discount: Of later rewards, where each move earns its return-to-go; None for the move's own reward.
        explorer: The learner in jobs that explore, where it plays otherwise there.
    """

    game: Game
    learner: Agent
    players: Mapping[str, Agent] = field(default_factory=dict)
    render: RenderOptions = field(default_factory=RenderOptions)
    config: PlayConfig = field(default_factory=PlayConfig)
    concurrency: int = 256
    discount: float | None = None
    explorer: Agent | None = None

    async def play(self, jobs: Iterable[RolloutJob]) -> list[Trajectory]:
        """Play all jobs. Void episodes are left out; the order is that of the jobs."""

        async def start(numbered_job: tuple[int, RolloutJob]) -> tuple[int, Trajectory | None]:
            place, job = numbered_job
            return place, await self._episode(place if job.number is None else job.number, job)

        games = run_many(start, list(enumerate(jobs)), self.concurrency)
        trajectories = {place: trajectory async for place, trajectory in games if trajectory is not None}
        return [trajectories[place] for place in sorted(trajectories)]

    async def _episode(self, number: int, job: RolloutJob) -> Trajectory | None:
        game = self.game
        state = game.start(job.seed)
        roles = {seat: state.role(seat) or seat for seat in game.seats}
        names = {seat: player_of(job.players, seat, role) for seat, role in roles.items()}
        learner = self.explorer if job.explores and self.explorer else self.learner
        recorders = {seat: Recorder(learner) for seat, name in names.items() if name == LEARNER}
        agents = {seat: recorders.get(seat) or self.players[name] for seat, name in names.items()}
        # Playing changes the state: afterwards it is the last one, and nothing need be replayed.
        episode = await play(
            game, agents, job.seed, sample=job.sample, first=state, render=self.render, config=self.config
        )
        if episode.status == "void":
            return None
        return Trajectory(
            episode,
            number,
            self._samples(number, episode, recorders, self._rewards(episode, state)),
            {seat: roles[seat] for seat in recorders},
            {} if episode.status == "forfeit" else game.measures(state),
            game.decision_score(state) if any(stage.decision for stage in game.stages) else DecisionScore(),
        )

    def _samples(
        self,
        number: int,
        episode: Episode,
        recorders: Mapping[str, Recorder],
        rewards: Mapping[tuple[int, str], float],
    ) -> list[TokenSample]:
        verdicts = {(m.step, m.seat): [t.verdict for t in m.tries] for m in episode.moves}
        samples = []
        for seat, recorder in recorders.items():
            for ask, reply in recorder.records:
                if reply.tokens is None:
                    raise BadOption(f"{episode.seats[seat]} does not report tokens and cannot be trained.")
                tokens, attempt, tried = reply.tokens, len(ask.refused), verdicts[ask.step, seat]
                samples.append(
                    TokenSample(
                        prompt_ids=tokens.prompt_ids,
                        completion_ids=tokens.completion_ids,
                        logprobs=tokens.logprobs,
                        pictures=tokens.pictures,
                        temperature=tokens.temperature,
                        suppressed=tokens.suppressed,
                        explored=tokens.explored,
                        seat=seat,
                        role=ask.role or seat,
                        stage=self.game.stage_of(seat, ask.stage),
                        step=ask.step,
                        attempt=attempt,
                        truncated=reply.finish == "length",
                        readable=attempt >= len(tried) or tried[attempt] == "ok",
                        seed=episode.seed,
                        episode=number,
                        reward=rewards[ask.step, seat],
                    )
                )
        return samples

    def _rewards(self, episode: Episode, state: State) -> dict[tuple[int, str], float]:
        moves, rewards = episode.moves, move_rewards(episode, self.game, state)
        if not all(map(isfinite, rewards)):
            raise BadOption(f"{self.game.name} does not reward every move with a finite number.")
        if self.discount is not None:
            rewards = return_to_go(rewards, [move.seat for move in moves], self.discount)
        return {(m.step, m.seat): r for m, r in zip(moves, rewards, strict=True)}


def rollouts_of(
    recipe: Recipe, game: Game, policy: Policy, players: Mapping[str, Agent], blind: bool = False
) -> Rollouts:
    play = recipe.play
    return Rollouts(
        game,
        policy.agent(blind=blind),
        players,
        RenderOptions(play.theme, play.size),
        PlayConfig(retries=play.retries, listed=play.listed),
        play.concurrency,
        None if play.discount < 0 else play.discount,
        policy.explorer(play.explore) if play.explore else None,
    )


def player_of(players: Mapping[str, str], seat: str, role: str) -> str:
    return players.get(seat) or players.get(role) or LEARNER
