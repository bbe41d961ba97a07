"""Suites as tasks of Inspect: `inspect eval ludens/vs-bench-mini --model openai/gpt-4.1`.

Inspect finds this module through its entry point. A sample is an episode; the model that Inspect evaluates
has the seats of the entrant, other seats have the players of the suite, the players of `-T seats=...`, or the
models of `--model-role SEAT=MODEL`. Scores and intervals are computed by the code that `ludens eval` uses.

    inspect eval ludens/vs-bench-mini --model mockllm/model -T tasks=hanabi -T limit=4 -T style=cot
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model, model_roles
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ludens.adapters.inspect_logs import conversation
from ludens.agents import agent
from ludens.agents.vlm import Vlm
from ludens.core.agent import Agent
from ludens.core.episode import Episode
from ludens.core.errors import BadOption
from ludens.core.options import configure, options_of
from ludens.core.registry import make
from ludens.loop import play
from ludens.models.inspect_providers import InspectModel
from ludens.models.settings import PromptOptions
from ludens.run.cells import Cell, CellReader
from ludens.run.plan import Job, Plan, make_plan
from ludens.run.results import summarise
from ludens.run.rows import RowMaker
from ludens.run.stats import Estimate
from ludens.run.task import MODEL, SUITES, EpisodeResult, own_return, suite

ENTRANT = "model"
_PLACEHOLDER = "inspect/active"
"""The spec of the entrant in plans that only say what is played."""


def estimates(scores: Sequence[dict[str, Any]], plan: Plan) -> dict[str, Estimate]:
    """Rows of episodes as estimates of tasks and summaries of the suite, in the units of its tables."""
    whole, maker = suite(plan.suite), RowMaker.of(plan)
    cells: dict[str, Cell] = {}
    for name, definition in plan.tasks_by_name.items():
        reader = CellReader(ENTRANT, definition, Path(), maker.metrics_of[name])
        rows = [row for row in scores if row["task"] == name]
        if rows:
            reader.add(rows)
            cells[name] = reader.cell(len(rows), whole.anchors.get(name))
    tasks = {name: cell.table_estimate() for name, cell in cells.items()}
    return {**tasks, **summarise(whole, cells)}


@metric(name="ludens")
def ludens_metric(plan: str) -> Metric:
    """The estimates of a suite: mean, low and high end of the 95% interval of each task and summary."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        rows = [score.score.metadata or {} for score in scores]
        values: dict[str, float] = {}
        for name, estimate in estimates(
            [row["row"] for row in rows if row], Plan.from_json(plan.encode())
        ).items():
            values |= {name: estimate.mean, f"{name} low": estimate.low, f"{name} high": estimate.high}
        return values

    return compute


def _score(plan: Plan, state: TaskState) -> Score:
    job, episode = _job(state), Episode.from_json(state.store.get("episode"))
    row = RowMaker.of(plan).make(job, episode)
    if row.values is None:
        raise BadOption(f"a metric of {job.task} cannot be written as JSON, so Inspect cannot keep it.")
    first, name = row.values[0], plan.tasks_by_name[job.task].metrics[0].name
    if not isinstance(first, int | float):
        # Inspect leaves samples without a number out of its metrics.
        first, name = own_return(EpisodeResult(job.key, episode, plan.seats(job))), "return"
    returns = ", ".join(f"{seat} {value:g}" for seat, value in episode.returns.items())
    answer = next((move.action for move in reversed(episode.moves) if move.seat in plan.seats(job)), "")
    metadata = {"row": orjson.loads(row.to_json()), "metric": name}
    return Score(
        value=float(first), answer=answer, explanation=f"{episode.status}; {returns}", metadata=metadata
    )


@scorer(metrics=[], name="ludens")
def ludens_scorer(plan: str) -> Scorer:
    """The first metric of the task of an episode."""
    planned = Plan.from_json(plan.encode())

    async def score(state: TaskState, target: Target) -> Score:
        return _score(planned, state)

    return score


@solver(name="ludens")
def ludens_player(plan: str, prompt: dict[str, str] | None = None) -> Solver:
    """Play one episode with the model that Inspect evaluates."""
    planned = Plan.from_json(plan.encode())
    options = configure(PromptOptions, prompt or {}, "the prompt")
    games = cache(lambda name: make(planned.tasks_by_name[name].game))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.epoch != 1:
            raise BadOption("Ludens plays samples, not epochs: use -T samples=N instead of --epochs.")
        job = _job(state)
        planned_task, game = planned.tasks_by_name[job.task], games(job.task)
        seating = planned.specs(job)
        agents = {seat: _player(seat, spec, game, options) for seat, spec in seating.items()}
        episode = await play(
            game, agents, job.seed, sample=job.sample, render=planned.render, config=planned_task.config
        )
        if episode.status == "void":
            raise RuntimeError(f"the episode is void: {episode.error}")
        state.messages = conversation(episode, planned.seats(job))
        state.store.set("episode", episode.to_json().decode())
        last = next((m.text for m in reversed(state.messages) if m.role == "assistant"), "")
        state.output = ModelOutput.from_content(str(get_model()), last)
        state.completed = True
        return state

    return solve


def _player(seat: str, spec: str, game: Any, options: PromptOptions) -> Agent:
    if spec == _PLACEHOLDER:
        return _vlm(get_model(), options)
    return _vlm(get_model(role=seat), options) if seat in model_roles() else agent(spec, game)


def _vlm(model: Any, options: PromptOptions) -> Vlm:
    return Vlm(InspectModel(str(model), model=model), options)


def _job(state: TaskState) -> Job:
    return Job(**{name: state.metadata[name] for name in Job.__dataclass_fields__})


def _samples(plan: Plan) -> list[Sample]:
    return [_sample(plan, job) for job in plan.jobs]


def _sample(plan: Plan, job: Job) -> Sample:
    planned_task = plan.tasks_by_name[job.task]
    players = ", ".join(
        f"{seat}: {'the model' if player == MODEL else player}"
        for seat, player in planned_task.seatings[job.seating].items()
    )
    return Sample(
        id=job.key.removeprefix(f"{ENTRANT}:"),
        input=f"{planned_task.game}, seed {job.seed} ({players})",
        metadata={name: getattr(job, name) for name in Job.__dataclass_fields__},
    )


def suite_task(
    name: str,
    tasks: str | Sequence[str] = (),
    limit: int = 0,
    samples: int = 1,
    seed: int = 0,
    theme: str = "classic",
    size: int = 512,
    seats: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    prompt: Mapping[str, Any] | None = None,
) -> Task:
    """A suite as a task of Inspect.

    Args:
        name: The suite.
        tasks: Its tasks, as a list or separated by commas; all by default.
        limit: Most episodes of a task; 0 for the suite's number.
        samples: How often each episode is played.
        seed: Added to the seed of every episode.
        theme: Theme of the pictures.
        size: Size of the pictures.
        seats: Seat to the spec of the player who has it, such as {"expert": "bot/oracle"}.
        options: Options of the suite.
        prompt: Prompt options: style, memory, frames, modality, blind, act.
    """
    names = tasks.split(",") if isinstance(tasks, str) else list(tasks)
    words = "&".join(f"{key}={value}" for key, value in (options or {}).items())
    plan = make_plan(
        f"{name}?{words}" if words else name,
        {ENTRANT: _PLACEHOLDER},
        seats,
        tasks=tuple(filter(None, (word.strip() for word in names))),
        limit=limit,
        samples=samples,
        seed=seed,
        theme=theme,
        size=size,
    )
    text = plan.to_json().decode()
    prompt_texts = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in (prompt or {}).items()
    }
    configure(PromptOptions, prompt_texts, "the prompt")  # raises now for wrong options
    return Task(
        dataset=MemoryDataset(_samples(plan), name=plan.suite),
        solver=ludens_player(text, prompt_texts),
        scorer=ludens_scorer(text),
        metrics=[ludens_metric(text)],
        display_name=f"ludens/{name}",
    )


_PROMPT = tuple(name for name in options_of(PromptOptions) if name != "templates")


def _register(name: str) -> Callable[..., Task]:
    @task(name=name)
    def play_suite(
        tasks: str | list[str] = "",
        limit: int = 0,
        samples: int = 1,
        seed: int = 0,
        theme: str = "classic",
        size: int = 512,
        seats: dict[str, str] | None = None,
        **more: Any,
    ) -> Task:
        prompt = {key: more.pop(key) for key in _PROMPT if key in more}
        return suite_task(name, tasks, limit, samples, seed, theme, size, seats, more, prompt)

    return play_suite


SUITE_TASKS = {name: _register(name) for name in SUITES.names()}
"""Every registered suite, as a function that makes its task."""
