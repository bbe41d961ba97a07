"""`ludens judge RUN --judge SPEC`: what went wrong in the conversations of a run; how far to trust it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ludens.cli.given import Json, Whole, at_least
from ludens.cli.guard import DONE, FAILED
from ludens.cli.out import aside, json_out, table, writable
from ludens.core.errors import BadOption

if TYPE_CHECKING:
    from ludens.run.store import Record
    from ludens.suites.comma.judge import Judge, Verdict


def judge(
    run: Annotated[Path | None, Parameter(help="The folder of a run with COMMA's puzzles.")] = None,
    /,
    *,
    judge: Annotated[
        str,
        Parameter(name="--judge", help="Who judges: `rules`, or a model such as openai/o1 or vllm/NAME@URL."),
    ] = "rules",
    calibrate: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Judge the calibration set instead, and say how well."
        ),
    ] = False,
    out: Annotated[
        Path | None, Parameter(help="File for the labels, one line an episode; RUN/judged.jsonl by default.")
    ] = None,
    limit: Annotated[Whole, Parameter(help="At most so many episodes; 0 for all.")] = 0,
    templates: Annotated[Path | None, Parameter(help="Folder with words of your own: judge.md.")] = None,
    json: Json = False,
) -> int:
    """Label conversations: role confusion, misinterpretation, repetition loop, miscommunication, normal."""
    from ludens.suites.comma.judge import make_judge

    at_least("--limit", limit, 0)
    if templates is not None and judge == "rules":
        raise BadOption("--templates are for a model, and the rules use none: name a --judge.")
    if calibrate:
        if run is not None or limit:
            raise BadOption(
                f"--calibrate judges its own conversations: leave {'--limit' if limit else 'RUN'} out."
            )
        return _calibrate(judge, templates, out, json)
    if run is None:
        raise BadOption("RUN is missing: name the folder of a run, or --calibrate.")
    judging = make_judge(judge, templates)
    records = _records(run)[: limit or None]
    file = writable(out or run / "judged.jsonl")
    verdicts = _judged(judging, records, file, _hash(templates))
    failed = [verdict.error for verdict in verdicts if verdict.error]
    if json:
        json_out(_counted(records, verdicts))
    else:
        _tell(records, verdicts)
        print(f"The labels are in {file}.")
    if failed:
        aside(f"ludens: {len(failed)} conversations could not be judged: {failed[0]}")
    return FAILED if failed else DONE


def _records(run: Path) -> list[Record]:
    from ludens.run.store import read_plan, read_records

    read_plan(run)
    finished = [record for record in read_records(run) if record.episode.status != "void"]
    found = [record for record in finished if record.episode.game.startswith("comma/")]
    if not found:
        raise BadOption(f"{str(run)!r} holds no finished episode of a COMMA puzzle.")
    return found


def _judged(judging: Judge, records: Sequence[Record], file: Path, templates: str) -> list[Verdict]:
    """The verdict on every record; those that this judge gave before are taken from the file."""
    from ludens.suites.comma.judge import judge_all
    from ludens.suites.comma.judge.conversation import conversation_of
    from ludens.suites.comma.judge.label_file import LabelFile

    keys = [(record.key, record.episode.fingerprint()) for record in records]
    with LabelFile(file, judging.spec, templates) as kept:
        left = [number for number, key in enumerate(keys) if key not in kept.said]
        before = f"; {len(keys) - len(left)} were judged before" if len(left) < len(keys) else ""
        aside(f"{judging.spec} judges {len(left)} conversations{before} ...")

        def said(number: int, verdict: Verdict) -> None:
            place = left[number]
            kept.add(keys[place], verdict, _told(records[place]))

        talks = [conversation_of(records[number].episode) for number in left]
        asyncio.run(judge_all(judging, talks, said))
        return [kept.said[key] for key in keys]


def _hash(templates: Path | None) -> str:
    """A short name for a judge's own words."""
    own = templates / "judge.md" if templates else None
    return sha256(own.read_bytes()).hexdigest()[:16] if own and own.is_file() else ""


def _told(record: Record) -> dict[str, Any]:
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


def _counted(records: Sequence[Record], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    from ludens.suites.comma.judge.labels import LABELS

    counted: dict[str, Any] = {}
    for record, verdict in zip(records, verdicts, strict=True):
        mine = counted.setdefault(record.entrant, {"episodes": 0, "unjudged": 0, "labels": Counter()})
        mine["episodes"] += 1
        mine["unjudged"] += bool(verdict.error)
        mine["labels"].update(verdict.labels)
    for mine in counted.values():
        mine["labels"] = {label: mine["labels"][label] for label in LABELS}
    return counted


def _tell(records: Sequence[Record], verdicts: Sequence[Verdict]) -> None:
    counted = _counted(records, verdicts)
    labels = list(next(iter(counted.values()))["labels"])
    rows = []
    for entrant, mine in counted.items():
        judged = mine["episodes"] - mine["unjudged"]
        shares = [f"{100 * mine['labels'][label] / judged:.1f}" if judged else "–" for label in labels]
        rows.append((entrant, str(judged), *shares))
    columns = ("entrant", "judged", *labels)
    table("Share of conversations with each label, %; one may have several", columns, rows, columns[1:])


def _calibrate(spec: str, templates: Path | None, out: Path | None, json: bool) -> int:
    from ludens.suites.comma.judge import judge_all, make_judge
    from ludens.suites.comma.judge.calibration import agreement, cases

    judging = make_judge(spec, templates)
    truth = cases()
    file = None if out is None else writable(out)
    aside(f"{judging.spec} judges the calibration set, {len(truth)} conversations ...")
    verdicts = asyncio.run(judge_all(judging, [case.conversation for case in truth]))
    if file is not None:
        lines = [
            {"puzzle": case.conversation.puzzle, "right": list(case.labels), **asdict(verdict)}
            for case, verdict in zip(truth, verdicts, strict=True)
        ]
        _write(file, lines)
    found = agreement(truth, [verdict.labels for verdict in verdicts])
    failed = [verdict.error for verdict in verdicts if verdict.error]
    if json:
        json_out({"judge": judging.spec, **asdict(found), "unjudged": len(failed)})
    else:
        rows = [
            (label, *(f"{100 * share.mean:.0f}" for share in (one.accuracy, one.found, one.false)))
            for label, one in found.labels.items()
        ]
        columns = ("label", "accuracy", "found", "false positives")
        table(f"{judging.spec} on {len(truth)} conversations, %", columns, rows, columns[1:])
        print(
            f"All labels right: {100 * found.exact.mean:.0f}%. Main label found: {100 * found.hit.mean:.0f}%."
        )
    if failed:
        aside(f"ludens: {len(failed)} conversations could not be judged: {failed[0]}")
    return FAILED if failed else DONE
