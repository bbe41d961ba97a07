"""Whether the lines of a run's shards belong to its plan, and their episodes to their jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from ludens.agents import agent
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UsageError
from ludens.core.game import Game
from ludens.core.options import configure, options_of
from ludens.core.policy import Setter, make_by
from ludens.core.replay import same_options
from ludens.core.spec import Spec, parse_spec
from ludens.core.view import Sees
from ludens.models.settings import PromptOptions, is_model
from ludens.run.lines import Head, repair_hint
from ludens.run.plan import Job, Plan, job_key
from ludens.run.rows import EPISODES


class PlanEdited(BadFile):
    """`run.json` was edited after episodes were played."""


class PlanCheck:
    """Checks lines of shards against the plan of their run."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder, self._plan = folder, plan
        self._game = cache(partial(make_by, Setter.FILE))
        self._traits, self._same_player = cache(_traits), cache(_same_player)

    @cached_property
    def _jobs(self) -> dict[str, Job]:
        return {job.key: job for job in self._plan.jobs}

    def check(self, head: Head, episode: Episode, shard: str = EPISODES) -> None:
        """Raise `BadFile` if a line does not belong to the plan, or its episode not to its job."""
        job, bound = self._jobs.get(head.key), self._bound(head)
        if head.key != job_key(head.entrant, head.task, episode.seed, head.seating, head.sample):
            raise self._line_edited(head, "has a key that does not match its fields", shard)
        if job is None:
            raise self._unplanned(head)
        difference = next(self._differences(head, job, episode), "")
        if bound and difference:
            raise self._line_edited(head, f"has another {difference} than its job", shard)
        if difference:
            raise self._plan_edited(head, f"the {difference} was another one")
        if head.plan not in ("", self._plan.jobs_hash):
            raise self._plan_edited(head, "other episodes were planned")
        if not bound:
            raise self._line_edited(head, "has the hash of another job", shard)

    def _bound(self, head: Head) -> bool:
        job = self._jobs.get(head.key)
        return (
            job is not None
            and head.job_of(job.seed) == job
            and head.job == self._plan.job_hash(job)
            and head.plan in ("", self._plan.jobs_hash)
        )

    def _unplanned(self, head: Head) -> BadFile:
        try:
            self._plan.check_unchanged()
        except BadOption as error:
            return BadFile(f"{head.key!r} in {str(self._folder)!r} is not planned any more: {error}")
        return self._plan_edited(head, "it is not planned there")

    def _plan_edited(self, head: Head, change: str) -> PlanEdited:
        file = str(self._folder / "run.json")
        return PlanEdited(f"{file!r} was edited after {head.key!r} was played ({change}): restore that file.")

    def _line_edited(self, head: Head, fault: str, shard: str) -> BadFile:
        file = str(self._folder / shard)
        return BadFile(f"{file!r} was edited: {head.key!r} {fault}; {repair_hint(self._folder)}")

    def _differences(self, head: Head, job: Job, episode: Episode) -> Iterator[str]:
        plan, task = self._plan, self._plan.task_snapshot.get(job.task)
        if task is None:
            yield "task"
            return
        try:
            game = self._game(task["game"])
            specs = self._specs(task, job)
            expected = (task["version"], task["config"])
        except (UsageError, LookupError, TypeError, AttributeError):
            yield "task"
            return
        pairs: Mapping[str, tuple[Any, Any]] = {
            "key": (head.job_of(episode.seed), job),
            "status": (episode.status == "void", head.void),
            "game": ((episode.game, same_options(game, episode.options)), (game.name, True)),
            "version": (episode.version, expected[0]),
            "config": (episode.config, expected[1]),
            "sample": (episode.sample, job.sample),
            "theme": (episode.theme, plan.theme),
            "picture size": (episode.size, plan.size),
            "start": ((episode.opening, episode.branched), ([], False)),
            "task": (set(specs), set(game.seats)),
            "seats": (set(episode.seats), set(specs)),
        }
        yield from (name for name, (ours, planned) in pairs.items() if ours != planned)
        for seat, spec in specs.items():
            if not self._same_player(spec, episode.seats.get(seat, ""), game):
                yield f"player of {seat}"
        planned = self._with_traits(episode, specs, game)
        if episode.sees not in ({}, planned.sees):
            yield "modality"
        if episode.unlimited_retries not in (None, planned.unlimited_retries):
            yield "number of retries"

    def completed(self, head: Head, episode: Episode) -> Episode:
        """An episode that belongs to the plan, with what those of older versions do not record."""
        task = self._plan.task_snapshot[head.task]
        return self._with_traits(episode, self._specs(task, head), self._game(task["game"]))

    def _specs(self, task: Mapping[str, Any], job: Job | Head) -> dict[str, str]:
        seating = {**task["seatings"][job.seating], **self._plan.seated}
        return self._plan.seat_specs(seating, job.entrant)

    def _with_traits(self, episode: Episode, specs: Mapping[str, str], game: Game) -> Episode:
        """The episode with what the planned players look at, and which of them retry without limit."""
        sees, unlimited = dict[str, str](), list[str]()
        for seat in game.seats:
            trait = self._traits(specs[seat], game)
            if trait is None:
                return episode
            sees[seat] = trait[0]
            unlimited += [seat] if trait[1] else []
        return replace(episode, sees=sees, unlimited_retries=unlimited)


def _traits(spec: str, game: Game) -> tuple[Sees, bool] | None:
    """What a player looks at and whether it retries without limit; None if it cannot be made here."""
    try:
        if is_model(spec):
            return _prompt(parse_spec(spec)).sees, False
        player = agent(spec, game)
        return player.sees, player.unlimited_retries
    except UsageError:  # a missing extra, for example
        return None


def _same_player(planned: str, recorded: str, game: Game) -> bool:
    try:
        if is_model(planned):
            return _same_model(parse_spec(planned), parse_spec(recorded))
        return agent(planned, game).spec == recorded
    except UsageError:  # a missing extra, for example
        return planned.partition("?")[0] == recorded.partition("?")[0]


def _same_model(planned: Spec, recorded: Spec) -> bool:
    """Whether two specs can be the same model and prompt.

    Episodes record neither defaults nor options that do not affect answers, and an address from the
    environment if one was set.
    """
    if planned.name != recorded.name or _prompt(planned) != _prompt(recorded):
        return False
    addresses = {spec.address.rstrip("/") for spec in (planned, recorded) if spec.address}
    shared = planned.options.keys() & recorded.options.keys() - options_of(PromptOptions).keys()
    return len(addresses) < 2 and all(
        _number(planned.options[name]) == _number(recorded.options[name]) for name in shared
    )


def _prompt(spec: Spec) -> PromptOptions:
    names = options_of(PromptOptions).keys() - {"templates"}
    return configure(PromptOptions, {k: v for k, v in spec.options.items() if k in names}, spec.name)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
