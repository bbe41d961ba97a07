"""Samples cut from a recorded run: the actions of any agent, model or person become targets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption
from ludens.core.random import stream
from ludens.core.replay import replay
from ludens.core.spec import Spec, parse_spec
from ludens.run.store import EPISODES, read_plan, read_records
from ludens.suites.vs_bench.recipes import recipe_of
from ludens.suites.vs_bench.samples import Decision, Sample, game_of, sample_of, spread


class RecordedMove(NamedTuple):
    """One move of a run."""

    episode: int
    step: int
    seat: str
    action: str


def recorded(name: str, folder: Path, n: int, seed: int) -> tuple[list[Sample], dict[str, Any]]:
    """Samples balanced over seats and kinds of action, and their sources."""
    plan = read_plan(folder)
    episodes = _episodes(name, folder)
    if not episodes:
        raise BadOption(f"{str(folder)!r} holds no finished episode of {name} with its usual options.")
    chosen = _chosen(name, episodes, n, seed)
    samples: dict[RecordedMove, Sample] = {}
    for index in sorted({place.episode for place in chosen}):
        samples.update(_cut(name, index, episodes[index], [p for p in chosen if p.episode == index]))
    source = {
        "run": plan.identity(),
        "suite": plan.suite,
        "episodes": len(episodes),
        "sha256": sha256((folder / EPISODES).read_bytes()).hexdigest(),
    }
    return [samples[place] for place in chosen], source


def _episodes(name: str, folder: Path) -> list[Episode]:
    """Episodes in the order of their keys, which does not depend on how the run was executed."""
    game = game_of(name)
    return [
        record.episode
        for record in sorted(read_records(folder), key=lambda record: record.key)
        if record.episode.status != "void"
        and (record.episode.game, record.episode.options) == (game.name, game.options)
    ]


def _chosen(name: str, episodes: Sequence[Episode], n: int, seed: int) -> list[RecordedMove]:
    recipe, seats = recipe_of(name, "paper"), game_of(name).seats
    pools: dict[tuple[str, str], list[RecordedMove]] = defaultdict(list)
    for index, episode in enumerate(episodes):
        for move in episode.moves:
            if move.verdict != "fallback":
                kind = recipe.kind_of(move.action) if recipe.classes else ""
                pools[move.seat, kind].append(RecordedMove(index, move.step, move.seat, move.action))
    for (seat, kind), pool in sorted(pools.items()):
        stream(seed, "recorded", name, seat, kind).shuffle(pool)
    kinds = spread(recipe.classes) or [""]
    chosen = []
    for number in range(n):
        seat, kind = seats[number % len(seats)], kinds[number // len(seats) % len(kinds)]
        if not pools[seat, kind]:
            what = f"moves of kind {kind!r}" if kind else "moves"
            raise BadOption(
                f"the run holds too few {what} by {seat} in {name}: they last for {number} samples, "
                f"and {n} are asked for."
            )
        chosen.append(pools[seat, kind].pop())
    return chosen


def _cut(
    name: str, index: int, episode: Episode, places: Sequence[RecordedMove]
) -> dict[RecordedMove, Sample]:
    match = " v ".join(map(_public, episode.seats.values()))
    wanted = {place.step: [p for p in places if p.step == place.step] for place in places}
    samples = {}
    for step in replay(episode, game_of(name)):
        for place in wanted.get(step.index, ()):
            decision = Decision(step.index, place.action, step.state, place.action)
            samples[place] = sample_of(name, decision, place.seat, match, "paper")
    if len(samples) < len(places):
        raise BadFile(f"episode {index} of the run ends before a move that it holds.")
    return samples


def _public(spec: str) -> str:
    """A spec without the address of a server."""
    parsed = parse_spec(spec)
    return str(Spec(parsed.name, None, parsed.options))
