"""`ludens judge RUN --judge SPEC`: label errors in the conversations of a run; calibrate a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ludens.cli.arguments import Flag, Json, Whole, at_least
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import aside, check_writable, json_out, table, write_file
from ludens.core.errors import BadOption
from ludens.core.plain import plural
from ludens.games.comma.panel import PUZZLES
from ludens.run.lines import Record, read_records
from ludens.run.results import LABELS_FILE
from ludens.run.store import read_plan
from ludens.suites.comma.judge import Judge, LabelFile, Verdict, agreement, cases, judge_all, make_judge
from ludens.suites.comma.judge.conversation import LABELS, conversation_of
from ludens.suites.comma.leaks import leaks_of


def judge(
    run: Path | None = None,
    /,
    *,
    judge: Annotated[str, Parameter(name="--judge")] = "rules",
    calibrate: Flag = False,
    out: Path | None = None,
    limit: Whole = 0,
    templates: Path | None = None,
    json: Json = False,
) -> int:
    """Label communication errors in the conversations of a run.

    The labels: role confusion, misinterpretation, repetition loop, miscommunication, normal.

    Args:
        run: Run folder with COMMA puzzles.
        judge: `rules`, or a model such as openai/o1 or vllm/NAME@URL.
        calibrate: Judge the calibration set and report accuracy.
        out: Output file, one line per episode; RUN/judged.jsonl by default.
        limit: Maximum number of episodes; 0 for all.
        templates: Folder with your own templates: judge.md.
    """
    at_least("--limit", limit, 0)
    if templates is not None and judge == "rules":
        raise BadOption("--templates needs a model as --judge; the rules use no templates.")
    if calibrate:
        if run is not None or limit:
            raise BadOption(f"--calibrate cannot be combined with {'--limit' if limit else 'RUN'}.")
        return _calibrate(judge, templates, out, json)
    if run is None:
        raise BadOption("missing argument RUN: give a run folder, or --calibrate.")
    labeller = make_judge(judge, templates)
    records = _records(run)[: limit or None]
    file = check_writable(out or run / LABELS_FILE)
    verdicts = _judge_records(labeller, records, file, _hash(templates))
    counts = _counts(records, verdicts)
    if json:
        json_out(counts)
    else:
        _print_counts(counts)
        print(f"Labels written to {file}.")
    return _exit_code(verdicts)


def _exit_code(verdicts: Sequence[Verdict]) -> int:
    failures = [verdict.error for verdict in verdicts if verdict.error]
    if failures:
        aside(f"ludens: {plural(len(failures), 'conversation')} could not be judged: {failures[0]}")
    return FAILED if failures else DONE


def _records(run: Path) -> list[Record]:
    read_plan(run)
    records = [record for record in read_records(run) if record.episode.status != "void"]
    puzzles = [record for record in records if record.episode.game.removeprefix("comma/") in PUZZLES]
    if not puzzles:
        raise BadOption(f"{str(run)!r} contains no finished episode of a COMMA puzzle.")
    return puzzles


def _judge_records(labeller: Judge, records: Sequence[Record], file: Path, templates: str) -> list[Verdict]:
    keys = [(record.key, record.episode.fingerprint()) for record in records]
    with LabelFile(file, labeller.spec, templates) as labels:
        todo = [number for number, key in enumerate(keys) if key not in labels.verdicts]
        earlier = f" ({len(keys) - len(todo)} already judged)" if len(todo) < len(keys) else ""
        aside(f"{labeller.spec} judges {plural(len(todo), 'conversation')}{earlier} ...")

        def save(number: int, verdict: Verdict) -> None:
            index = todo[number]
            labels.add(keys[index], verdict, _details(records[index]))

        conversations = [conversation_of(records[number].episode) for number in todo]
        asyncio.run(judge_all(labeller, conversations, save))
        return [labels.verdicts[key] for key in keys]


def _hash(templates: Path | None) -> str:
    own = templates / "judge.md" if templates else None
    return sha256(own.read_bytes()).hexdigest()[:16] if own and own.is_file() else ""


def _details(record: Record) -> dict[str, Any]:
    facts = record.episode.facts
    return {
        "entrant": record.entrant,
        "task": record.task,
        "seed": record.episode.seed,
        "solved": facts["solved"],
        "leaks": [asdict(leak) for leak in leaks_of(record.episode)] if facts["private"] else [],
    }


def _counts(records: Sequence[Record], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    counts: dict[str, Any] = {}
    for record, verdict in zip(records, verdicts, strict=True):
        blank = {"episodes": 0, "unjudged": 0, "labels": dict.fromkeys(LABELS, 0)}
        entry = counts.setdefault(record.entrant, blank)
        entry["episodes"] += 1
        entry["unjudged"] += bool(verdict.error)
        for label in verdict.labels:
            entry["labels"][label] += 1
    return counts


def _print_counts(counts: dict[str, Any]) -> None:
    labels = list(next(iter(counts.values()))["labels"])
    rows = []
    for entrant, entry in counts.items():
        judged = entry["episodes"] - entry["unjudged"]
        shares = [f"{100 * entry['labels'][label] / judged:.1f}" if judged else "–" for label in labels]
        rows.append((entrant, str(judged), *shares))
    columns = ("entrant", "judged", *labels)
    table("Conversations with each label, % (several labels are possible)", columns, rows, columns[1:])


def _calibrate(spec: str, templates: Path | None, out: Path | None, json: bool) -> int:
    import orjson

    labeller = make_judge(spec, templates)
    truth = cases()
    file = None if out is None else check_writable(out)
    aside(f"{labeller.spec} judges the calibration set, {len(truth)} conversations ...")
    verdicts = asyncio.run(judge_all(labeller, [case.conversation for case in truth]))
    if file is not None:
        lines = [
            {"puzzle": case.conversation.puzzle, "right": list(case.labels), **asdict(verdict)}
            for case, verdict in zip(truth, verdicts, strict=True)
        ]
        write_file(file, b"".join(orjson.dumps(line) + b"\n" for line in lines))
    result = agreement(truth, [verdict.labels for verdict in verdicts])
    if json:
        unjudged = sum(bool(verdict.error) for verdict in verdicts)
        json_out({"judge": labeller.spec, **asdict(result), "unjudged": unjudged})
    else:
        rows = [
            (label, *(f"{100 * share.mean:.0f}" for share in (each.accuracy, each.found, each.false)))
            for label, each in result.labels.items()
        ]
        columns = ("label", "accuracy", "found", "false positives")
        table(f"{labeller.spec} on {len(truth)} conversations, %", columns, rows, columns[1:])
        print(
            f"All labels correct: {100 * result.exact.mean:.0f}%. "
            f"Main label found: {100 * result.hit.mean:.0f}%."
        )
    return _exit_code(verdicts)
