"""`ludens judge RUN --judge SPEC`: label errors in the conversations of a run; calibrate a judge."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ludens.cli.arguments import Json, Whole, at_least
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import aside, counted, json_out, table, writable
from ludens.core.errors import BadOption

if TYPE_CHECKING:
    from ludens.run.lines import Record
    from ludens.suites.comma.judge import Judge, Verdict


def judge(
    run: Annotated[Path | None, Parameter(help="Run folder with COMMA puzzles.")] = None,
    /,
    *,
    judge: Annotated[
        str,
        Parameter(name="--judge", help="`rules`, or a model such as openai/o1 or vllm/NAME@URL."),
    ] = "rules",
    calibrate: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="Judge the calibration set and report accuracy."),
    ] = False,
    out: Annotated[
        Path | None, Parameter(help="Output file, one line per episode; RUN/judged.jsonl by default.")
    ] = None,
    limit: Annotated[Whole, Parameter(help="Maximum number of episodes; 0 for all.")] = 0,
    templates: Annotated[Path | None, Parameter(help="Folder with your own templates: judge.md.")] = None,
    json: Json = False,
) -> int:
    """Label conversations: role confusion, misinterpretation, repetition loop, miscommunication, normal."""
    from ludens.run.labels import LABELS_FILE
    from ludens.suites.comma.judge import make_judge

    at_least("--limit", limit, 0)
    if templates is not None and judge == "rules":
        raise BadOption("--templates needs a model as --judge; the rules use no templates.")
    if calibrate:
        if run is not None or limit:
            raise BadOption(f"--calibrate cannot be combined with {'--limit' if limit else 'RUN'}.")
        return _calibrate(judge, templates, out, json)
    if run is None:
        raise BadOption("missing argument RUN: give a run folder, or --calibrate.")
    chosen = make_judge(judge, templates)
    records = _records(run)[: limit or None]
    file = writable(out or run / LABELS_FILE)
    verdicts = _judge_records(chosen, records, file, _hash(templates))
    failed = [verdict.error for verdict in verdicts if verdict.error]
    if json:
        json_out(_counts(records, verdicts))
    else:
        _print_labels(records, verdicts)
        print(f"Labels written to {file}.")
    return _exit_code(failed)


def _exit_code(failed: Sequence[str]) -> int:
    if failed:
        aside(f"ludens: {counted(len(failed), 'conversation')} could not be judged: {failed[0]}")
    return FAILED if failed else DONE


def _records(run: Path) -> list[Record]:
    from ludens.run.lines import read_records
    from ludens.run.store import read_plan

    read_plan(run)
    finished = [record for record in read_records(run) if record.episode.status != "void"]
    found = [record for record in finished if record.episode.game.startswith("comma/")]
    if not found:
        raise BadOption(f"{str(run)!r} contains no finished episode of a COMMA puzzle.")
    return found


def _judge_records(chosen: Judge, records: Sequence[Record], file: Path, templates: str) -> list[Verdict]:
    """The verdict on every record; earlier verdicts of the same judge are read from the file."""
    from ludens.suites.comma.judge import judge_all
    from ludens.suites.comma.judge.conversation import conversation_of
    from ludens.suites.comma.judge.verdicts import LabelFile

    keys = [(record.key, record.episode.fingerprint()) for record in records]
    with LabelFile(file, chosen.spec, templates) as kept:
        todo = [number for number, key in enumerate(keys) if key not in kept.verdicts]
        earlier = f" ({len(keys) - len(todo)} already judged)" if len(todo) < len(keys) else ""
        aside(f"{chosen.spec} judges {counted(len(todo), 'conversation')}{earlier} ...")

        def save(number: int, verdict: Verdict) -> None:
            index = todo[number]
            kept.add(keys[index], verdict, _details(records[index]))

        conversations = [conversation_of(records[number].episode) for number in todo]
        asyncio.run(judge_all(chosen, conversations, save))
        return [kept.verdicts[key] for key in keys]


def _hash(templates: Path | None) -> str:
    """Hash of the user's judge template, "" if there is none."""
    own = templates / "judge.md" if templates else None
    return sha256(own.read_bytes()).hexdigest()[:16] if own and own.is_file() else ""


def _details(record: Record) -> dict[str, Any]:
    from ludens.suites.comma.leaks import leaks_of

    facts = record.episode.facts
    return {
        "entrant": record.entrant,
        "task": record.task,
        "seed": record.episode.seed,
        "solved": facts["solved"],
        "leaks": [asdict(leak) for leak in leaks_of(record.episode)] if facts["private"] else [],
    }


def _write(file: Path, lines: Sequence[dict[str, Any]]) -> None:
    import orjson

    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def _counts(records: Sequence[Record], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    from ludens.suites.comma.judge.conversation import LABELS

    counts: dict[str, Any] = {}
    for record, verdict in zip(records, verdicts, strict=True):
        mine = counts.setdefault(record.entrant, {"episodes": 0, "unjudged": 0, "labels": Counter()})
        mine["episodes"] += 1
        mine["unjudged"] += bool(verdict.error)
        mine["labels"].update(verdict.labels)
    for mine in counts.values():
        mine["labels"] = {label: mine["labels"][label] for label in LABELS}
    return counts


def _print_labels(records: Sequence[Record], verdicts: Sequence[Verdict]) -> None:
    counts = _counts(records, verdicts)
    labels = list(next(iter(counts.values()))["labels"])
    rows = []
    for entrant, mine in counts.items():
        judged = mine["episodes"] - mine["unjudged"]
        shares = [f"{100 * mine['labels'][label] / judged:.1f}" if judged else "–" for label in labels]
        rows.append((entrant, str(judged), *shares))
    columns = ("entrant", "judged", *labels)
    table("Conversations with each label, % (several labels are possible)", columns, rows, columns[1:])


def _calibrate(spec: str, templates: Path | None, out: Path | None, json: bool) -> int:
    from ludens.suites.comma.judge import judge_all, make_judge
    from ludens.suites.comma.judge.verdicts import agreement, cases

    chosen = make_judge(spec, templates)
    truth = cases()
    file = None if out is None else writable(out)
    aside(f"{chosen.spec} judges the calibration set, {len(truth)} conversations ...")
    verdicts = asyncio.run(judge_all(chosen, [case.conversation for case in truth]))
    if file is not None:
        lines = [
            {"puzzle": case.conversation.puzzle, "right": list(case.labels), **asdict(verdict)}
            for case, verdict in zip(truth, verdicts, strict=True)
        ]
        _write(file, lines)
    found = agreement(truth, [verdict.labels for verdict in verdicts])
    failed = [verdict.error for verdict in verdicts if verdict.error]
    if json:
        json_out({"judge": chosen.spec, **asdict(found), "unjudged": len(failed)})
    else:
        rows = [
            (label, *(f"{100 * share.mean:.0f}" for share in (one.accuracy, one.found, one.false)))
            for label, one in found.labels.items()
        ]
        columns = ("label", "accuracy", "found", "false positives")
        table(f"{chosen.spec} on {len(truth)} conversations, %", columns, rows, columns[1:])
        print(
            f"All labels correct: {100 * found.exact.mean:.0f}%. "
            f"Main label found: {100 * found.hit.mean:.0f}%."
        )
    return _exit_code(failed)
