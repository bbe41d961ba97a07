"""`ludens bench rows`: a run of very many episodes: its report, and finding the episodes that are missing.

The episodes are copies of real ones with other samples, in the order and with the index of a run that was
played.
`python -m benchmarks.rows 1000000` measures a larger run, in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from zlib import crc32

from benchmarks import Row, figures_of
from benchmarks.runs import memory_used
from ludens.core.episode import Episode
from ludens.run.engine import Engine, make_executor
from ludens.run.index import INDEX, header, seal
from ludens.run.lines import Head, iter_records, write_line
from ludens.run.plan import Plan, job_key, make_plan
from ludens.run.report import load_results, render
from ludens.run.rows import EPISODES, RowMaker
from ludens.run.store import Store

ENTRANTS = {"random": "bot/random", "first": "bot/first", "again": "bot/random", "second": "bot/first"}
TASKS = ("tic_tac_toe", "coin_dilemma", "perceive")
TARGET = 50_000.0
"""Episodes per second: a million of them in 20 s."""


def rows(seconds: float) -> Iterator[Row]:
    """Episodes of a large run that are read per second of a core, to resume the run and to report it."""
    figures = figures_of("benchmarks.rows", max(100, round(50_000 * seconds)))
    episodes = figures["episodes"]
    note = f"{episodes:,.0f} episodes, {figures['megabytes']:.0f} MB at most"
    for work in ("resume", "report"):
        yield Row(work, episodes / figures[work], "episodes/s", TARGET, note=note)


def write_run(folder: Path, episodes: int) -> Plan:
    """A complete run of about so many episodes of bots."""
    once = make_plan("demo", ENTRANTS, tasks=TASKS)
    plan = make_plan("demo", ENTRANTS, tasks=TASKS, samples=max(1, episodes // once.total()))
    with tempfile.TemporaryDirectory() as small:
        with Store.create(Path(small) / "run", once) as store:
            asyncio.run(Engine(store, make_executor(once), concurrency=4).run())
        records = list(iter_records(Path(small) / "run"))
    maker = RowMaker.of(plan)
    parts = [(maker.make(r.job_of(r.episode.seed), r.episode), *_around_sample(r.episode)) for r in records]
    folder.mkdir()
    (folder / "run.json").write_bytes(plan.to_json())
    with (folder / EPISODES).open("wb") as shard, (folder / INDEX).open("wb") as index:
        index.write(header(plan, maker))
        for sample in range(plan.samples):
            for first, before, after in parts:
                key = job_key(first.entrant, first.task, first.seed, first.seating, sample)
                row = replace(first, key=key, sample=sample)
                hashes = plan.job_hash(row.job), plan.jobs_hash
                head = Head(key, row.entrant, row.task, row.seating, sample, False, *hashes)
                line = write_line(head, before + b'"sample":%d' % sample + after)
                row.offset, row.length, row.checksum = shard.tell(), len(line), crc32(line)
                shard.write(line)
                index.write(row.to_json())
    with (folder / INDEX).open("ab") as index:
        index.write(seal(folder))
    return plan


def _around_sample(episode: Episode) -> tuple[bytes, bytes]:
    """The JSON of an episode before and after the number of its sample."""
    before, _, after = episode.to_json().partition(b'"sample":0')
    return before, after


def measure(episodes: int) -> dict[str, float]:
    """Seconds of CPU of a report and of finding the missing episodes, and the memory of both in MB.

    Both are done with a small run before, so that imports are not counted.
    """
    with tempfile.TemporaryDirectory() as parent:
        for folder, number in ((Path(parent) / "small", 1), (Path(parent) / "run", episodes)):
            plan = write_run(folder, number)
            began = process_time()
            with Store(folder, plan) as store:
                pending = sum(1 for _ in store.pending())
            opened = process_time()
            render(load_results([folder]), "table")
            end = process_time()
    seconds = {"resume": opened - began, "report": end - opened}
    return {"episodes": plan.total() - pending, **seconds, "megabytes": memory_used()}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
