"""A run of very many episodes: what its report costs, and what it costs to find the missing ones.

    python -m ludens.bench.rows 1000000

The episodes are copies of real ones with other samples, with the index that a run would have written.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time
from zlib import crc32

from ludens.run.engine import Engine, make_executor
from ludens.run.index import INDEX, header, seal
from ludens.run.lines import Head, iter_records, write_line
from ludens.run.plan import Plan, job_key, make_plan
from ludens.run.report import load_results, render
from ludens.run.rows import EPISODES, RowMaker
from ludens.run.store import Store

ENTRANTS = {"random": "bot/random", "first": "bot/first", "again": "bot/random", "second": "bot/first"}
TASKS = ("tic_tac_toe", "breakthrough", "coin_dilemma")


def write_run(folder: Path, episodes: int) -> Plan:
    """A complete run of about so many episodes of bots."""
    once = make_plan("demo", ENTRANTS, tasks=TASKS)
    plan = make_plan("demo", ENTRANTS, tasks=TASKS, samples=max(1, episodes // once.total()))
    with tempfile.TemporaryDirectory() as small:
        with Store.create(Path(small) / "run", once) as store:
            asyncio.run(Engine(store, make_executor(once), concurrency=4).run())
        records = list(iter_records(Path(small) / "run"))
    maker = RowMaker.of(plan)
    folder.mkdir()
    (folder / "run.json").write_bytes(plan.to_json())
    with (folder / EPISODES).open("wb") as shard, (folder / INDEX).open("wb") as index:
        index.write(header(plan, maker))
        for record in records:
            row = maker.make(record.job_of(record.episode.seed), record.episode)
            before, _, after = record.episode.to_json().partition(b'"sample":0')
            for sample in range(plan.samples):
                key = job_key(row.entrant, row.task, row.seed, row.seating, sample)
                row = replace(row, key=key, sample=sample)
                hashes = plan.job_hash(row.job), plan.jobs_hash
                head = Head(key, row.entrant, row.task, row.seating, sample, False, *hashes)
                line = write_line(head, before + b'"sample":%d' % sample + after)
                row.offset, row.length, row.checksum = shard.tell(), len(line), crc32(line)
                shard.write(line)
                index.write(row.to_json())
    with (folder / INDEX).open("ab") as index:
        index.write(seal(folder))
    return plan


def measure(episodes: int) -> dict[str, float]:
    """Seconds of CPU of a report and of finding the missing episodes, and the memory of both in MB."""
    with tempfile.TemporaryDirectory() as parent:
        plan = write_run(Path(parent) / "run", episodes)
        began = process_time()
        with Store(Path(parent) / "run", plan) as store:
            missing = sum(1 for _ in store.pending())
        opened = process_time()
        render(load_results([Path(parent) / "run"]), "table")
        ended = process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = {"resume": opened - began, "report": ended - opened}
    return {"episodes": plan.total() - missing, **seconds, "megabytes": memory}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
