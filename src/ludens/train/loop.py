"""The training loop. `Trainer.iterate` is one iteration: play, advantages, update, measure."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING

from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.processes import infrequent_gc
from ludens.core.registry import make
from ludens.core.spending import spent
from ludens.run.plan import HELD_BACK
from ludens.run.stats import rate
from ludens.run.task import EpisodeResult, own_return, won
from ludens.train import ranks
from ludens.train.algorithms import algorithm
from ludens.train.beside import SideThread, quick_switches
from ludens.train.checkpoint import ANCHOR, PREFIX, Checkpoints
from ludens.train.league import League
from ludens.train.policy import Policy, TokenSample, Trajectory
from ludens.train.recipe import Recipe
from ludens.train.rollout import RolloutJob, rollouts_of
from ludens.train.update import Rehearses, Updater, ValueHead

if TYPE_CHECKING:
    from ludens.train.workers import RolloutWorkers

FIRST_SEED = 900_000
"""Of evaluation games; every evaluation is played on the same seeds."""
PAST_SELVES = "past"
"""In the folder of a run: the population."""
JUDGED = "judged.json"
"""In the folder of a run: the last evaluation."""

Values = Iterable[tuple[str, float]]


def of_play(trajectories: Sequence[Trajectory], samples: Sequence[TokenSample]) -> dict[str, float]:
    """Measures of the games of an iteration and the learner's replies; `samples` were trained on."""
    values: list[tuple[str, float]] = []
    for trajectory in trajectories:
        for sample in trajectory.samples:
            length = len(sample.completion_ids)
            values += [("reward", sample.reward), ("entropy", -fmean(sample.logprobs)), ("length", length)]
            values += [("unreadable", not sample.readable), ("truncated", sample.truncated)]
            values += [(f"length {sample.stage}", length)] if sample.stage else []
        seats = frozenset(trajectory.roles)
        moves = [move for move in trajectory.episode.moves if move.seat in seats]
        values += [("fallback", move.verdict == "fallback") for move in moves]
    trained = [sample for sample in samples if not sample.keep]
    values += [("no_signal", sample.advantage == 0) for sample in trained]
    counts = ranks.gather((len(trajectories), len(trained)))
    return {
        "episodes": float(sum(episodes for episodes, _ in counts)),
        "samples": float(sum(trained for _, trained in counts)),
        "no_signal": 1.0,
        **_means(values),
        **of_games(trajectories),
    }


def of_games(trajectories: Iterable[Trajectory], prefix: str = "") -> dict[str, float]:
    measures = (measure for trajectory in trajectories for measure in trajectory.measures.items())
    return _means((f"{prefix} {name}".strip(), value) for name, value in measures)


def of_rewards(trajectories: Iterable[Trajectory], prefix: str) -> dict[str, float]:
    samples = (sample for trajectory in trajectories for sample in trajectory.samples)
    return _means((" ".join(filter(None, (prefix, s.role, s.stage))), s.reward) for s in samples)


def evaluation_jobs(
    game: Game, opponent: str, episodes: int, first_seed: int = FIRST_SEED
) -> list[RolloutJob]:
    """Games in which the learner has one role and the opponent all others; every role on the same seeds."""
    (rank, size), state = ranks.world(), game.start(first_seed)
    roles = dict.fromkeys(state.role(seat) or seat for seat in game.seats)
    seeds = range(first_seed + rank, first_seed + episodes, size)
    arrangements = [{other: opponent for other in roles if other != role} for role in roles]
    return [RolloutJob(seed, players=players) for players in arrangements for seed in seeds]


def of_evaluation(trajectories: Iterable[Trajectory], prefix: str = "") -> dict[str, float]:
    """Games won and mean returns of the learner, by role and in all, with Wilson's 95% interval."""
    values: list[tuple[str, float]] = []
    for trajectory in trajectories:
        result = EpisodeResult("", trajectory.episode, trajectory.seats)
        for name in ("", *(f" {role}" for role in sorted(set(trajectory.roles.values())))):
            values += [(f"won{name}", won(result)), (f"return{name}", own_return(result))]
    merged = _merged(values)
    if not merged:
        return {}
    share = rate(round(sum(merged["won"])), len(merged["won"]))
    means = {name: fmean(series) for name, series in merged.items()}
    means |= {"won low": share.low, "won high": share.high}
    return {f"{prefix} {name}".strip(): value for name, value in sorted(means.items())}


def _means(values: Values) -> dict[str, float]:
    return {name: fmean(series) for name, series in _merged(values).items()}


def _merged(values: Values) -> dict[str, list[float]]:
    merged: dict[str, list[float]] = defaultdict(list)
    for part in ranks.gather([(name, float(value)) for name, value in values]):
        for name, value in part:
            merged[name].append(value)
    return dict(sorted(merged.items()))


class IterationClock:
    """Where the seconds of an iteration went on this rank.

    `play_s` is what rules, bots and prompts took; `draw_s` pictures; `sample_s` the model that replies;
    `update_s` the update; `wait_s` other ranks. Where a model replies in a thread of its own, the first three
    may overlap: `play_s` is what they leave of the time of play, and at least 0. Where games are played
    beside the update, the parts together are longer than the iteration `s`, by `overlap_s`.
    """

    def __init__(self) -> None:
        self._began, self._before = perf_counter(), self._now()
        self._play = self._waited = 0.0
        self._beside = self._idle = 0.0

    @staticmethod
    def _now() -> dict[str, float]:
        return {kind: spent(kind) for kind in ("draw", "sample", "wait")}

    def end_play(self) -> None:
        """Count the time up to now as play."""
        self._play, self._waited = perf_counter() - self._began, spent("wait") - self._before["wait"]

    def beside(self, play: float, update: float) -> None:
        """Record the seconds of play and of the update, which began together."""
        self._beside, self._idle = play, max(0.0, play - update)

    def seconds(self) -> dict[str, float]:
        whole = perf_counter() - self._began
        draw, sample, wait = (value - self._before[kind] for kind, value in self._now().items())
        return {
            "play_s": max(0.0, self._play + self._beside - draw - sample - self._waited),
            "draw_s": draw,
            "sample_s": sample,
            "update_s": whole - self._play - self._idle - (wait - self._waited),
            "wait_s": wait,
            **({"overlap_s": self._beside - self._idle} if self._beside else {}),
            "s": whole,
        }


@dataclass
class PlayedGames:
    """The games of one iteration."""

    trajectories: list[Trajectory]
    """To learn from."""
    replaced: list[Trajectory]
    """Games without signal, which were replaced by others."""
    held_out: list[Trajectory]
    blind: list[Trajectory]
    outcomes: list[tuple[RolloutJob, float]] = field(default_factory=list)
    """The job of each game to learn from, and 1 if the learner won."""
    staleness: int = 0
    """Number of updates between the policy that played and the one that learns from the games."""

    @property
    def samples(self) -> list[TokenSample]:
        return [sample for game in (*self.trajectories, *self.held_out) for sample in game.samples]


Report = Callable[[dict[str, float]], None]


@dataclass
class Trainer:
    """A training run. Everything that changes is in its checkpoint. `rehearsal` is learnt beside play."""

    recipe: Recipe
    policy: Policy
    folder: Path
    rehearsal: Rehearses | None = None
    iteration: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    last_games: list[Episode] = field(default_factory=list)
    """Held-out games of the last iteration, or games of training where there are none."""
    judged: dict[str, float] = field(default_factory=dict)
    """The last evaluation, where there is one (`monitor.judge`)."""
    _ahead: PlayedGames | None = None
    """The games of this iteration, where they were played during the last update."""

    def __post_init__(self) -> None:
        recipe = self.recipe
        self.game = make(recipe.play.game)
        self.algorithm = algorithm(recipe)
        self.start = self.policy.frozen()
        self.reference = self.start
        self.league = League(
            self.game,
            self.policy,
            recipe.opponents,
            recipe.run.seed,
            [recipe.monitor.against],
            recipe.population,
            self.folder / PAST_SELVES,
        )
        steps = recipe.iterations * recipe.optimizer.epochs * recipe.optimizer.minibatches
        self.updater = Updater(self.policy, recipe.optimizer, recipe.loss, steps, self.rehearsal)
        values = recipe.advantage.kind == "gae"
        limits = self.updater.limits
        self.values = ValueHead(self.policy, recipe.advantage, limits) if values else None
        self.rollouts = rollouts_of(recipe, self.game, self.policy, self.league.agents)
        self.checkpoints = Checkpoints(self.folder, recipe.monitor.keep)
        self._side = SideThread(self.policy.device)
        self.workers: RolloutWorkers | None = None
        if recipe.play.workers:
            from ludens.train.workers import RolloutWorkers

            self.workers = RolloutWorkers(recipe, self.policy)

    async def iterate(self) -> dict[str, float]:
        clock, games = IterationClock(), self._ahead
        self._ahead = None
        if games is None:
            self._reseed(self.policy, self.iteration)
            await self.policy.publish()
            games = await self._play(self.policy, self.iteration)
            self.policy.verify(games.samples)
        clock.end_play()
        self.league.record(games.outcomes)
        statistics, switched = self.algorithm.observe(_everywhere(games.held_out), first=self.iteration == 0)
        if switched and self.recipe.reference.anchor == "switch":
            self._anchor()
        if self._plays_ahead:
            samples, losses = await self._learn_and_play(games, clock)
        else:
            samples, losses = self._learn(games)

        self.iteration += 1
        self.league.end_iteration(self.iteration)
        play, held_out, blind = self.recipe.play, games.held_out, games.blind
        measures = {
            "iteration": float(self.iteration),
            **of_play([*games.trajectories, *games.replaced], samples),
            **({"redrawn": sum(ranks.gather(len(games.replaced)))} if play.redraws else {}),
            **({"staleness": float(games.staleness)} if play.ahead else {}),
            **losses,
            **statistics,
            **of_rewards(held_out, "held_out"),
            **of_games(held_out, "held_out"),
            **of_rewards(blind, "blind"),
            **of_games(blind, "blind"),
        }
        measures |= clock.seconds()
        if self._at(self.recipe.monitor.evaluate, self.iteration):
            measures |= await self.evaluate()
        self.history.append(measures)
        self.last_games = [trajectory.episode for trajectory in held_out or games.trajectories]
        return measures

    def _reseed(self, player: Policy, iteration: int) -> None:
        seeds = self.recipe.run.seed, iteration
        self.league.reseed(*seeds)
        player.reseed(*seeds)

    async def _play(self, player: Policy, iteration: int) -> PlayedGames:
        # Held-out games show what the last update made of the policy: they are played beside the new ones.
        held_out_jobs = self.held_out_jobs(iteration)
        with self._unsharded():
            jobs = self.jobs(iteration=iteration)
            games = await self._games(player, [*jobs, *held_out_jobs])
            trajectories = [game for game in games if game.number >= 0]
            held_out = [game for game in games if game.number < 0]
            outcomes = _outcomes(jobs, trajectories)
            replaced = await self._redraw(player, trajectories, iteration)
            every, blind = self.recipe.monitor.blind, list[Trajectory]()
            if every and iteration % every == 0:  # does the reward need the picture?
                blind = await self._games(player, held_out_jobs, blind=True)
        return PlayedGames(trajectories, replaced, held_out, blind, outcomes)

    async def _games(
        self, player: Policy, jobs: Sequence[RolloutJob], blind: bool = False
    ) -> list[Trajectory]:
        if self.workers is not None:
            return await self.workers.play(jobs, player, self.league.copies, blind)
        if player is self.policy and not blind:
            return await self.rollouts.play(jobs)
        rollouts = rollouts_of(self.recipe, self.game, player, self.league.agents, blind)
        return await rollouts.play(jobs)

    def _learn(self, games: PlayedGames) -> tuple[list[TokenSample], dict[str, float]]:
        samples = self._samples(games.trajectories)
        losses = self.updater.update(samples, self.reference, self.iteration, games.staleness)
        if self.values is not None:
            losses["value_loss"] = self.values.learn()
        return samples, losses

    @property
    def _plays_ahead(self) -> bool:
        """Whether the next games are played beside this update. Those after a checkpoint are not: a run that
        goes on from it plays the same ones, with the policy that is stored."""
        play, monitor = self.recipe.play, self.recipe.monitor
        return bool(play.ahead) and not self._at(monitor.checkpoint, self.iteration + 1)

    async def _learn_and_play(
        self, games: PlayedGames, clock: IterationClock
    ) -> tuple[list[TokenSample], dict[str, float]]:
        """Update in a thread, while a copy of the policy as it was before plays the next games."""
        await self.policy.publish()
        player, seconds = self.policy.ahead(), dict[str, float]()
        self._reseed(player, self.iteration + 1)  # before the update, which may draw numbers too

        def learn() -> tuple[list[TokenSample], dict[str, float]]:
            with _timed(seconds, "update"):
                return self._learn(games)

        async def play() -> PlayedGames:
            with _timed(seconds, "play"):
                return await self._play(player, self.iteration + 1)

        playing = asyncio.create_task(play())
        try:
            learnt = await self._side.run(learn)
            next_games = await playing
            player.verify(next_games.samples)
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            player.release()
        self._ahead = replace(next_games, staleness=1)
        clock.beside(**seconds)
        return learnt

    def _samples(self, trajectories: Sequence[Trajectory]) -> list[TokenSample]:
        """The samples of this rank to train on. Advantages are those of the games of all ranks: a group or a
        baseline may be of several."""
        numbers = {trajectory.number for trajectory in trajectories}
        if self.values is not None:
            self.values.expect([sample for game in trajectories for sample in game.samples])
        samples = self.algorithm.samples(_everywhere(trajectories))
        masks = self.recipe.loss.mask_truncated
        return [s for s in samples if s.episode in numbers and not (masks and s.truncated)]

    async def _redraw(
        self, player: Policy, trajectories: list[Trajectory], iteration: int
    ) -> list[Trajectory]:
        """Replace games of seeds without signal, in place, by those of new seeds; returns the old ones."""
        replaced: list[Trajectory] = []
        for draw in range(1, self.recipe.play.redraws + 1):
            flat = self.algorithm.flat(trajectories)
            if not flat:
                break
            old = [game for game in trajectories if game.episode.seed in flat]
            replaced += old
            numbers = {game.number // self.recipe.play.samples for game in old}
            new = await self._games(player, self.jobs(draw, numbers, iteration))
            rest = [game for game in trajectories if game.episode.seed not in flat]
            trajectories[:] = sorted([*rest, *new], key=lambda game: game.number)
        return replaced

    def _anchor(self) -> None:
        """From now on, measure the KL divergence from the policy as it is."""
        if self.reference is not self.start:
            self.reference.release()
        self.reference = self.policy.frozen()

    async def evaluate(self) -> dict[str, float]:
        """Games on fixed seeds against the opponent of evaluations, seeing, and blind as a control."""
        return await self._evaluate(FIRST_SEED, self.recipe.monitor.evaluation_games)

    async def judge(self) -> dict[str, float]:
        """Evaluate the checkpoint with the best evaluation on seeds that nothing else has used.

        The policy is that of this checkpoint afterwards.
        """
        won_after = {int(measures["iteration"]): measures.get("won", 0.0) for measures in self.history}
        iterations = [int(path.name.removeprefix(PREFIX)) for path in ranks.from_first(self.checkpoints.all)]
        best = max(iterations, key=lambda iteration: (won_after.get(iteration, 0.0), iteration))
        self.policy.load(self.checkpoints.path(best))
        results = await self._evaluate(HELD_BACK.start, self.recipe.monitor.judge)
        return {"iteration": float(best), **results}

    async def _evaluate(self, first_seed: int, games: int) -> dict[str, float]:
        monitor = self.recipe.monitor
        if not monitor.against:
            return {}
        await self.policy.publish()
        jobs = evaluation_jobs(self.game, monitor.against, games, first_seed)
        with self._unsharded():
            seeing, blind = await self._games(self.policy, jobs), list[Trajectory]()
            if monitor.blind:
                blind = await self._games(self.policy, jobs, blind=True)
        return of_evaluation(seeing) | (of_evaluation(blind, "blind") if monitor.blind else {})

    @contextmanager
    def _unsharded(self) -> Iterator[None]:
        """All weights of all players are on every rank: ranks play unlike games for unlike times."""
        with ExitStack() as stack:
            for policy in (self.policy, *self.league.copies.values()):
                stack.enter_context(policy.unsharded())
            yield

    def jobs(
        self, draw: int = 0, places: Iterable[int] | None = None, iteration: int | None = None
    ) -> list[RolloutJob]:
        """The games of an iteration, by default the next one, and of this rank: whole groups, no seed twice.

        Args:
            draw: How often its seeds have been replaced.
            places: Of seeds within the iteration; by default all of this rank.
        """
        play, (rank, size) = self.recipe.play, ranks.world()
        iteration = self.iteration if iteration is None else iteration
        first = iteration * play.episodes + draw * play.episodes
        if draw and not play.seeds:  # behind those of all iterations
            past = self.recipe.iterations + iteration * play.redraws + draw - 1
            first = past * play.episodes
        stage, jobs = self.algorithm.stage, list[RolloutJob]()
        for place in range(rank, play.episodes, size) if places is None else sorted(places):
            number = first + place
            seed, before = play.first_seed + number % (play.seeds or number + 1), place * play.samples
            for sample in range(play.samples):
                job = self.league.job(seed, sample, stage)
                jobs.append(replace(job, number=before + sample, explores=self.algorithm.explores))
        return jobs

    def held_out_jobs(self, iteration: int | None = None) -> list[RolloutJob]:
        """Games on seeds that are never trained on, others in every iteration. Their numbers are negative."""
        play, (rank, size) = self.recipe.play, ranks.world()
        first = play.held_out_seed + (self.iteration if iteration is None else iteration) * play.held_out
        numbers = range(rank, play.held_out, size)
        return [RolloutJob(first + number, number=number - play.held_out) for number in numbers]

    @property
    def at_checkpoint(self) -> bool:
        return self._at(self.recipe.monitor.checkpoint, self.iteration)

    def _at(self, every: int, iteration: int) -> bool:
        """Whether an iteration is the last one or a multiple."""
        return iteration == self.recipe.iterations or iteration % every == 0

    async def run(self, report: Report | None = None) -> None:
        with quick_switches(), infrequent_gc():
            await self._run(report)

    async def _run(self, report: Report | None) -> None:
        try:
            tell = report if report is not None and ranks.world()[0] == 0 else lambda measures: None
            if not self.history and (before := await self.evaluate()):
                self.history.append({"iteration": 0.0, **before})
                tell(self.history[0])
            while self.iteration < self.recipe.iterations:
                tell(await self.iterate())
                if self.at_checkpoint:
                    self.save()
            judged = ranks.from_first((self.folder / JUDGED).exists)
            if self.recipe.monitor.judge and self.iteration and not judged:
                self.judged = await self.judge()
        finally:
            await self.close()

    def save(self) -> Path:
        path = self.checkpoints.path(self.iteration)
        ranks.check_equal(self.updater.parameters)
        policy, optimizer = self.policy.whole(), self.updater.state()
        anchor = None if self.reference is self.start else self.reference.whole()
        if ranks.world()[0] == 0:
            state = {
                "iteration": self.iteration,
                "step": self.updater.step,
                "algorithm": self.algorithm.state(),
                "league": self.league.state(),
                "recipe": self.recipe.as_dict(),
                "history": self.history,
            }
            if self.values is not None:
                optimizer["values"] = self.values.state()
            path = self.checkpoints.write(self.iteration, policy, anchor, optimizer, state)
        ranks.wait()
        self.league.checkpointed()
        return path

    def resume(self, path: Path) -> None:
        updater, state = self.checkpoints.read(path, self.policy)
        self.updater.restore(updater)
        if self.values is not None:
            self.values.restore(updater["values"])
        self.updater.step, self.iteration = state["step"], state["iteration"]
        self.algorithm.restore(state["algorithm"])
        self.history = state["history"]
        if (path / ANCHOR).is_dir():
            self._anchor()
            self.reference.load(path / ANCHOR)
        self.league.restore(state.get("league") or {})
        self.league.checkpointed()

    async def close(self) -> None:
        await self.policy.agent().close()
        await self.league.close()
        if self.workers is not None:
            self.workers.close()


def _outcomes(
    jobs: Iterable[RolloutJob], trajectories: Iterable[Trajectory]
) -> list[tuple[RolloutJob, float]]:
    by_number = {job.number: job for job in jobs}
    results = ((game.number, EpisodeResult("", game.episode, game.seats)) for game in trajectories)
    return [(by_number[number], won(result)) for number, result in results]


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    began = perf_counter()
    try:
        yield
    finally:
        seconds[name] = perf_counter() - began


def _everywhere(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """The games of all ranks, by number. Samples of other ranks have no prompts, pictures and logprobs."""
    rank, size = ranks.world()
    if size == 1:
        return list(trajectories)
    light = []
    for game in trajectories:
        samples = [replace(sample, prompt_ids=[], logprobs=[], pictures=()) for sample in game.samples]
        light.append(replace(game, samples=samples))
    parts = ranks.gather(light)
    parts[rank] = list(trajectories)
    return sorted((game for part in parts for game in part), key=lambda game: game.number)
