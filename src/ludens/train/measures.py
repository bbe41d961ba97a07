"""What is measured: replies, rewards and the game's own measures of all ranks; games against an opponent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ludens.core.game import Game
from ludens.run.stats import rate
from ludens.run.task import EpisodeResult, own_return, won
from ludens.train import ranks
from ludens.train.rollout import Job
from ludens.train.sample import Sample, Trajectory

FIRST_SEED = 900_000
"""Of evaluation games; every evaluation is played on the same seeds."""

Values = Mapping[str, Sequence[float]]


def of_play(trajectories: Sequence[Trajectory], samples: Sequence[Sample]) -> dict[str, float]:
    """What the games of an iteration and the learner's replies in them were like.

    Args:
        trajectories: The games.
        samples: The replies that were trained on.
    """
    played = [sample for trajectory in trajectories for sample in trajectory.samples]
    own: dict[str, list[float]] = defaultdict(list)
    for sample in played:
        own["reward"].append(sample.reward)
        own["entropy"].append(-fmean(sample.logprobs))
        own["unreadable"].append(not sample.readable)
        own["length"].append(len(sample.completion_ids))
        if sample.stage:
            own[f"length {sample.stage}"].append(len(sample.completion_ids))
    for trajectory in trajectories:
        moves = [move for move in trajectory.episode.moves if move.seat in trajectory.seats]
        own["fallback"] += [move.verdict == "fallback" for move in moves]
    trained = [sample for sample in samples if not sample.kept]
    own["no_signal"] = [sample.advantage == 0 for sample in trained]
    counts = ranks.gather((len(trajectories), len(trained)))
    return {
        "episodes": float(sum(episodes for episodes, _ in counts)),
        "samples": float(sum(trained for _, trained in counts)),
        "no_signal": 1.0,
        **_means(own),
        **of_games(trajectories),
    }


def of_games(trajectories: Iterable[Trajectory], prefix: str = "") -> dict[str, float]:
    """The game's own measures (`Game.measures`)."""
    own: dict[str, list[float]] = defaultdict(list)
    for trajectory in trajectories:
        for name, value in trajectory.measures.items():
            own[f"{prefix} {name}".strip()].append(value)
    return _means(own)


def of_rewards(trajectories: Iterable[Trajectory], prefix: str) -> dict[str, float]:
    """Mean rewards by role and stage."""
    own: dict[str, list[float]] = defaultdict(list)
    for trajectory in trajectories:
        for sample in trajectory.samples:
            own[" ".join(filter(None, (prefix, sample.role, sample.stage)))].append(sample.reward)
    return _means(own)


def evaluation_jobs(game: Game, opponent: str, episodes: int) -> list[Job]:
    """Games in which the learner has one role and the opponent all others; every role on the same seeds."""
    (rank, size), state = ranks.world(), game.start(FIRST_SEED)
    roles = dict.fromkeys(state.role(seat) or seat for seat in game.seats)
    seeds = range(FIRST_SEED + rank, FIRST_SEED + episodes, size)
    return [
        Job(seed, players={other: opponent for other in roles if other != role})
        for role in roles
        for seed in seeds
    ]


def of_evaluation(trajectories: Iterable[Trajectory], prefix: str = "") -> dict[str, float]:
    """Games won and mean returns of the learner, by role and in all, with Wilson's 95% interval."""
    own: dict[str, list[float]] = defaultdict(list)
    for trajectory in trajectories:
        result = EpisodeResult("", trajectory.episode, trajectory.seats)
        for name in ("", *(f" {role}" for role in sorted(set(trajectory.roles.values())))):
            own[f"won{name}"].append(won(result))
            own[f"return{name}"].append(own_return(result))
    merged = _merged(own)
    if not merged:
        return {}
    share = rate(round(sum(merged["won"])), len(merged["won"]))
    means: dict[str, float] = {name: fmean(values) for name, values in merged.items()}
    means |= {"won low": share.low, "won high": share.high}
    return {f"{prefix} {name}".strip(): value for name, value in sorted(means.items())}


def _means(own: Values) -> dict[str, float]:
    return {name: fmean(values) for name, values in _merged(own).items() if values}


def _merged(own: Values) -> dict[str, list[float]]:
    """The values of all ranks."""
    merged: dict[str, list[float]] = defaultdict(list)
    for part in ranks.gather({name: [float(value) for value in values] for name, values in own.items()}):
        for name, values in part.items():
            merged[name].extend(values)
    return dict(sorted(merged.items()))
