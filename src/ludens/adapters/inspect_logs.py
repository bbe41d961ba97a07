"""Runs as logs of Inspect: `ludens export RUN --to inspect --out DIR`, then `inspect view --log-dir DIR`.

One log for each entrant and task. A sample is an episode with what the entrant was shown, pictures included,
and what it replied; prompts are rebuilt from the episode. Each call is a model event with its exact prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludens.core.episode import Episode, Usage
from ludens.core.errors import MissingExtra
from ludens.core.replay import render_options_of
from ludens.models.chat import Message
from ludens.models.inspect_providers import chat_messages
from ludens.rebuild import Sample, samples
from ludens.run.cells import Cell
from ludens.run.results import Results, Row
from ludens.run.rows import EpisodeRow

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample
    from inspect_ai.model import ChatMessage


def export_logs(results: Results, folder: Path) -> list[Path]:
    """Write one log for each entrant and task that was played; returns the files."""
    try:
        from inspect_ai.log import write_eval_log
    except ImportError:
        raise MissingExtra("exporting logs of Inspect", "inspect") from None
    files: list[Path] = []
    for suite_results in results.suites:
        for row in suite_results.rows:
            for cell in row.cells.values():
                if cell.episodes:
                    file = folder / f"{_file_name(suite_results.suite.name, cell.task.name, row.name)}.eval"
                    write_eval_log(_log(suite_results.suite.name, row, cell), str(file))
                    files.append(file)
    return files


def _file_name(*parts: str) -> str:
    return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "-", part).strip("-.") for part in parts)


def _log(suite: str, row: Row, cell: Cell) -> EvalLog:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, EvalStats

    logged = [_sample(listed, row, cell) for listed in cell.episodes.rows()]
    # The time of the run, so that the same run gives the same logs.
    created = datetime.fromtimestamp((cell.folder / "run.json").stat().st_mtime, UTC).isoformat()
    name = f"{suite}/{cell.task.name}"
    dataset = EvalDataset(name=name, samples=len(logged), sample_ids=[str(sample.id) for sample in logged])
    usage = _usage(cell.usage)
    return EvalLog(
        status="success" if len(cell.episodes) >= cell.planned else "cancelled",
        eval=EvalSpec(
            created=created,
            task=name,
            task_id=_file_name(name, row.name),
            eval_id=_file_name(name, row.name),
            run_id=cell.folder.name,
            dataset=dataset,
            model=row.spec,
            config=EvalConfig(),
            metadata={"run": cell.folder.name, "entrant": row.name},
        ),
        results=_results(cell),
        stats=EvalStats(started_at=created, completed_at=created, model_usage={row.spec: usage}),
        samples=logged,
    )


def _results(cell: Cell) -> EvalResults:
    """Every metric with its interval, in the units of the tables."""
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    scores = []
    for metric in cell.task.metrics:
        estimate = cell.table_estimate(metric)
        values = {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}
        metrics = {name: EvalMetric(name=name, value=value) for name, value in values.items()}
        scores.append(
            EvalScore(name=metric.name, scorer="ludens", metrics=metrics, scored_samples=estimate.n)
        )
    count = len(cell.episodes)
    return EvalResults(total_samples=cell.planned, completed_samples=count, scores=scores)


def _sample(listed: EpisodeRow, row: Row, cell: Cell) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    result = cell.read((listed.seed, listed.seating, listed.sample))
    episode = result.episode
    own = [one for one in samples(episode) if one.move.seat in result.seats]
    messages = _conversation(own)
    replies = [one.completion for one in own]
    scores = {
        metric.name: Score(value=float(value) if isinstance(value, int | float) else nan)
        for metric, value in zip(cell.all_metrics, listed.values or (), strict=True)
    }
    seats = ", ".join(f"{seat}: {spec}" for seat, spec in episode.seats.items())
    return EvalSample(
        id=listed.key.removeprefix(f"{listed.entrant}:"),
        epoch=1,
        input=f"{episode.game}, seed {episode.seed} ({seats})",
        target="",
        messages=messages,
        output=ModelOutput.from_content(row.spec, replies[-1] if replies else ""),
        scores=scores,
        metadata={
            "status": episode.status,
            "returns": episode.returns,
            "facts": episode.facts,
            "seats": dict(episode.seats),
            "theme": render_options_of(episode).theme,
        },
        store={"episode": episode.to_json().decode()},
        events=[_event(one, row.spec) for one in own if one.model],
        model_usage={row.spec: _usage(episode.usage())} if any(one.model for one in own) else {},
    )


def _event(one: Sample, model: str) -> Any:
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import GenerateConfig, ModelOutput

    output = ModelOutput.from_content(model, one.completion)
    if one.attempt.usage:
        output.usage = _usage(one.attempt.usage)
    output.time = one.attempt.ms / 1000
    return ModelEvent(
        model=model,
        role=one.move.seat,
        input=chat_messages(one.messages),
        tools=[],
        tool_choice="none",
        config=GenerateConfig(),
        output=output,
        metadata={"step": one.move.step, "verdict": one.verdict, "reason": one.attempt.reason},
    )


def _usage(usage: Usage) -> Any:
    from inspect_ai.model import ModelUsage

    return ModelUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_cost=usage.cost,
    )


def conversation(episode: Episode, seats: Sequence[str]) -> list[ChatMessage]:
    """What these seats were shown and what they replied, as one conversation."""
    return _conversation([one for one in samples(episode) if one.move.seat in seats])


def _conversation(own: Sequence[Sample]) -> list[ChatMessage]:
    messages: list[Message] = []
    for one in own:
        first, last = one.messages[0], one.messages[-1]
        if first.role == "system" and first not in messages:  # seats have rules of their own
            messages.append(first)
        messages += [last, Message("assistant", (one.completion,))]
    return chat_messages(messages)
