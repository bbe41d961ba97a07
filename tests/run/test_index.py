"""The index and the shards: rows are those of the episodes, and no episode is lost or stored twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.episode import Usage
from ludens.core.errors import BadOption, MissingExtra
from ludens.models.ledger import Budget
from ludens.run import rows
from ludens.run.compact import compact
from ludens.run.engine import Engine
from ludens.run.index import INDEX, RowReader
from ludens.run.jobs import JobRunner
from ludens.run.lines import PARQUET, SHARDS, LineReader, read_episode, read_records, shards_of
from ludens.run.plan import Job, Plan
from ludens.run.progress import RunProgress
from ludens.run.replays import find
from ludens.run.report import load_results, render
from ludens.run.results import RunReader
from ludens.run.rows import EPISODES, EpisodeRow, Location, RowMaker
from ludens.run.store import ShardWriter, Store, read_places, read_plan, read_progress
from ludens.run.task import SUITES, EpisodeResult, Metric, import_suite, suite
from ludens.run.verify import read_verified, verify_run
from ludens.run.workers import ProcessExecutor
from tests.support.runs import QUICK, TURNS, found, plan_of, played

BOTS = ("bot/random", "bot/first")


def raw_keys(folder: Path) -> Counter[str]:
    """How often each finished episode is stored."""
    lines = LineReader(folder).read()
    return Counter(line.head.key for line in lines if not line.head.void)


def reports(folder: Path) -> dict[str, bytes]:
    results = load_results([folder])
    return {name: render(results, name) for name in ("csv", "table", "json", "episodes-csv")}  # type: ignore[arg-type]


async def test_the_index_has_the_row_of_every_episode(tmp_path: Path) -> None:
    plan = plan_of(*BOTS)
    await played(tmp_path, plan, concurrency=4)
    reader, maker = RowReader(tmp_path, plan, RowMaker.of(plan)), RowMaker.of(plan)
    assert not reader.direct
    read = [EpisodeRow.from_dict(row) for row in reader.read()]
    episodes = {record.key: record.episode for record in read_records(tmp_path)}
    assert [row.key for row in read] == list(episodes)
    for row in read:
        again = maker.make(row.job, episodes[row.key])
        assert again == replace(row, offset=0, length=0, checksum=0)
        assert read_episode(tmp_path, row.key, row.location) == episodes[row.key]


def _drop_index(folder: Path) -> None:
    (folder / INDEX).unlink()


def _cut_index(folder: Path) -> None:
    """As if the process was killed: the last lines are missing and one is incomplete."""
    lines = (folder / INDEX).read_bytes().splitlines(keepends=True)
    (folder / INDEX).write_bytes(b"".join(lines[:3]) + lines[3][:20])


def _edit_row(folder: Path) -> None:
    """A row that does not fit to its line; without the seal, checksums are compared."""
    lines = (folder / INDEX).read_bytes().splitlines(keepends=True)
    row = {**orjson.loads(lines[2]), "values": [1.0, 7.0], "checksum": 1}
    (folder / INDEX).write_bytes(b"".join([*lines[:2], orjson.dumps(row) + b"\n", *lines[3:-1]]))


def _edit_types(folder: Path) -> None:
    data = (folder / INDEX).read_bytes()
    (folder / INDEX).write_bytes(data.replace(b'"moves":', b'"moves":"x","retried":', 1))


def _other_code(folder: Path) -> None:
    lines = (folder / INDEX).read_bytes().splitlines(keepends=True)
    wrong = lines[1].replace(b'"values":[', b'"values":[5.0,', 1)
    first = orjson.dumps({**orjson.loads(lines[0]), "code": "another"}) + b"\n"
    (folder / INDEX).write_bytes(b"".join([first, wrong, *lines[2:]]))


def _touch(folder: Path) -> None:
    os.utime(folder / EPISODES, (1, 1))


@pytest.mark.parametrize("change", [_drop_index, _cut_index, _edit_row, _edit_types, _other_code, _touch])
async def test_results_do_not_depend_on_the_index(tmp_path: Path, change: Callable[[Path], None]) -> None:
    await played(tmp_path, plan_of(*BOTS), concurrency=4)
    expected = reports(tmp_path)
    change(tmp_path)
    assert reports(tmp_path) == expected
    assert reports(tmp_path) == expected
    if change is not _cut_index:  # then only the rest is read from the shard
        plan = plan_of(*BOTS)
        assert not RowReader(tmp_path, plan, RowMaker.of(plan)).direct


async def test_an_index_that_was_cut_is_completed_when_the_run_is_opened(tmp_path: Path) -> None:
    plan = plan_of(*BOTS)
    await played(tmp_path, plan)
    _cut_index(tmp_path)
    with Store(tmp_path, plan) as store:
        assert not list(store.pending())
    rows = list(RowReader(tmp_path, plan, RowMaker.of(plan)).read())
    assert [row["key"] for row in rows] == [record.key for record in read_records(tmp_path)]


async def test_a_reader_follows_a_run_without_reading_anything_twice(tmp_path: Path) -> None:
    plan, counts = plan_of(*BOTS, suite=TURNS), list[int]()
    reader: RunReader | None = None

    def look(progress: RunProgress) -> None:
        nonlocal reader
        reader = reader or RunReader(tmp_path)
        reader.read(0.0 if len(counts) % 2 else 10.0)
        counts.append(sum(len(c.episodes) for row in reader.rows() for c in row.cells.values()))

    await played(tmp_path, plan, concurrency=3, on_progress=look)
    assert reader is not None
    while not reader.read():
        pass
    total = sum(len(cell.episodes) for row in reader.rows() for cell in row.cells.values())
    assert total == plan.total()
    assert counts == sorted(counts)


async def test_a_row_that_is_indexed_after_its_line_was_read_is_not_read_again(tmp_path: Path) -> None:
    plan = plan_of(*BOTS)
    await played(tmp_path, plan)
    index = tmp_path / INDEX
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(b"".join(lines[:4]))
    reader = RowReader(tmp_path, plan, RowMaker.of(plan))
    assert len(list(reader.read())) == plan.total()
    index.write_bytes(b"".join(lines))
    assert list(reader.read()) == []


async def test_a_changed_metric_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SUITES, "_added", {**SUITES._added, "mine": suite_with(1.0)})
    plan = plan_of("bot/first", suite="mine")
    await played(tmp_path, plan)
    assert mean_of_metric(tmp_path) == 1.0
    monkeypatch.setattr(SUITES, "_added", {**SUITES._added, "mine": suite_with(2.0)})
    assert mean_of_metric(tmp_path) == 1.0, "a number in a closure is not code: the suite's file is the same"
    monkeypatch.setattr(rows, "_source_hash", lambda root: b"changed")
    assert mean_of_metric(tmp_path) == 2.0


def suite_with(value: Any) -> Any:
    import_suite(QUICK)
    whole = suite(QUICK)
    [task, *_] = whole.tasks
    metric = Metric(
        "constant", lambda played: value, lambda seen: rows_mean([v for _, v in seen]), paired=False
    )
    return replace(whole, tasks=(replace(task, metrics=(metric,)),), summaries=())


def rows_mean(values: list[Any]) -> Any:
    from ludens.run.stats import mean

    return mean([v if isinstance(v, float) else v.real for v in values])


def mean_of_metric(folder: Path) -> float:
    [results] = load_results([folder]).suites
    [cell] = results.rows[0].cells.values()
    return cell.metrics["constant"].mean


async def test_values_that_are_not_json_are_computed_when_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SUITES, "_added", {**SUITES._added, "mine": suite_with(complex(3.0))})
    await played(tmp_path, plan_of("bot/first", suite="mine"))
    assert b'"values"' not in (tmp_path / INDEX).read_bytes()
    assert mean_of_metric(tmp_path) == mean_of_metric(tmp_path) == 3.0


async def test_a_metric_that_fails_does_not_lose_the_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(played: EpisodeResult) -> float:
        raise ZeroDivisionError("a bug in the metric")

    whole = suite_with(1.0)
    metric = replace(whole.tasks[0].metrics[0], value=fails)
    broken = replace(whole, tasks=(replace(whole.tasks[0], metrics=(metric,)),))
    monkeypatch.setattr(SUITES, "_added", {**SUITES._added, "mine": broken})
    assert (await played(tmp_path, plan_of("bot/first", suite="mine"))).complete
    with pytest.raises(ZeroDivisionError):
        load_results([tmp_path])


_SCALARS = st.none() | st.booleans() | st.integers(-(2**50), 2**50) | st.floats(allow_nan=False) | st.text()
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.frozensets(st.text(), max_size=3)
    ),
    max_leaves=8,
)


@given(_VALUES)
def test_values_are_read_as_they_were_written(value: Any) -> None:
    row = EpisodeRow("k", "e", "t", 1, 0, values=[value], shard=EPISODES)
    [read] = EpisodeRow.from_dict(orjson.loads(row.to_json())).values or ()
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["", "x", "-1", "1@../../etc/passwd", "1@episodes/../run.json", "9" * 17])
def test_places_come_from_strangers(text: str) -> None:
    assert Location.parse(text, [EPISODES, "episodes/a.jsonl"]) is None
    known = Location("episodes/a.jsonl", 12)
    assert Location.parse(str(known), [EPISODES, "episodes/a.jsonl"]) == known
    assert Location.parse("7", [EPISODES]) == Location(EPISODES, 7)


async def test_workers_write_to_shards_of_their_own(tmp_path: Path) -> None:
    plan = plan_of(*BOTS)
    await played(tmp_path / "serial", plan)
    await played(tmp_path / "run", plan, concurrency=4, workers=2)
    shards = shards_of(tmp_path / "run")
    assert len(shards) == 3
    assert (tmp_path / "run" / EPISODES).read_bytes() == b""
    assert found(tmp_path / "run") == found(tmp_path / "serial")
    assert set(raw_keys(tmp_path / "run").values()) == {1}
    reader = RowReader(tmp_path / "run", plan, RowMaker.of(plan))
    assert not reader.direct
    assert len(list(reader.read())) == plan.total()
    expected = reports(tmp_path / "run")
    (tmp_path / "run" / INDEX).unlink()
    assert reports(tmp_path / "run")["csv"] == expected["csv"]
    assert verify_run(tmp_path / "run", workers=0).ok


async def _outcome(plan: Plan, job: Job) -> Any:
    return await JobRunner(plan).play(job)


async def test_an_episode_that_a_dead_worker_stored_is_not_played_again(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS, limit=2)
    first, second = plan.jobs
    with Store.create(tmp_path, plan) as store:
        writer = ShardWriter(store.destination(), plan)
        outcome = writer.store(await _outcome(plan, first))
        assert outcome.data == b""
        writer.close()
        row = store.recovered(first)
        assert row is not None
        assert row == outcome.row
        assert (store.recovered(first), store.recovered(second)) == (None, None)
        store.add(outcome)  # a report that arrives late changes nothing
        assert [job.key for job in store.pending()] == [second.key]
    assert raw_keys(tmp_path) == {first.key: 1}
    assert read_progress(tmp_path) == ({first.key}, {})


async def test_rows_that_arrive_in_another_order_than_they_were_stored(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    with Store.create(tmp_path, plan) as store:
        writer = ShardWriter(store.destination(), plan)
        outcomes = [writer.store(await _outcome(plan, job)) for job in plan.jobs]
        for index in (2, 0, 1, 5, 7, 3, 4, 6):
            store.add(outcomes[index])
        writer.close()
    read = list(RowReader(tmp_path, plan, RowMaker.of(plan)).read())
    assert [row["key"] for row in read] == [job.key for job in plan.jobs]


async def test_workers_of_a_former_owner_store_nothing(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS, limit=2)
    with Store.create(tmp_path, plan) as store:
        orphan = ShardWriter(store.destination(), plan)
    with Store.reopen(tmp_path):
        outcome = await _outcome(plan, next(iter(plan.jobs)))
        assert orphan.store(outcome).data == outcome.data != b""
    assert shards_of(tmp_path) == [EPISODES]


async def test_without_a_shared_folder_the_owner_stores(tmp_path: Path) -> None:
    """As on the nodes of a cluster that do not share the folder of the run."""
    plan = plan_of(*BOTS, suite=TURNS)

    class Elsewhere(ProcessExecutor):
        async def start(self, store: Store | None = None) -> None:
            await super().start(store)

        @property
        def _worker_args(self) -> Any:
            assert self._destination is not None
            self._destination = self._destination._replace(folder=str(tmp_path / "elsewhere"))
            return super()._worker_args

    with Store.create(tmp_path / "run", plan) as store:
        result = await Engine(store, Elsewhere(plan, 2, 4), concurrency=4).run()
    assert result.complete
    assert shards_of(tmp_path / "run") == [EPISODES]
    assert len(found(tmp_path / "run")) == plan.total()


async def test_a_killed_worker_loses_only_episodes_in_flight(tmp_path: Path) -> None:
    plan = plan_of("test/slow?seconds=0.02", "bot/random", suite=TURNS)
    await played(tmp_path / "serial", plan, concurrency=8)
    executor, killed = ProcessExecutor(plan, 2, 4), list[int]()

    def kill(progress: RunProgress) -> None:
        if progress.done >= 3 and not killed:
            pid = executor._workers[0].process.pid
            assert pid is not None
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    with Store.create(tmp_path / "run", plan) as store:
        async with asyncio.timeout(120):
            result = await Engine(store, executor, concurrency=4, on_progress=kill).run()
    assert result.complete
    assert found(tmp_path / "run") == found(tmp_path / "serial")
    assert set(raw_keys(tmp_path / "run").values()) == {1}


async def test_an_incomplete_line_of_a_shard_is_ignored(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    await played(tmp_path, plan, workers=1)
    [shard] = (tmp_path / SHARDS).glob("*.jsonl")
    data = shard.read_bytes()
    shard.write_bytes(data[:-30])
    assert len(read_progress(tmp_path)[0]) == plan.total() - 1
    assert (await played(tmp_path, plan, workers=1)).complete
    assert set(raw_keys(tmp_path).values()) == {1}
    assert len(found(tmp_path)) == plan.total()


async def test_runs_are_read_where_there_are_no_locks(tmp_path: Path) -> None:
    await played(tmp_path / "run", plan_of("bot/first", suite="demo", tasks=("tic_tac_toe",), limit=2))
    (tmp_path / "run" / INDEX).unlink()
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "from pathlib import Path; run = Path(sys.argv[1])\n"
        "from ludens.run.report import load_results, render\n"
        "print(render(load_results([run]), 'table').decode())\n"
        "from ludens.core.errors import BadOption; from ludens.run.store import Store\n"
        "try: Store.reopen(run).__enter__()\n"
        "except BadOption as error: print(error)\n"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "run")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert "tic_tac_toe" in done.stdout
    assert "runs can be read, but not written, on this system" in done.stdout


async def test_a_compacted_run_is_read_as_before(tmp_path: Path) -> None:
    plan = plan_of(*BOTS)
    await played(tmp_path, plan, concurrency=4, workers=2)
    assert verify_run(tmp_path, workers=0).ok
    expected, episodes = reports(tmp_path), found(tmp_path)
    result = compact(tmp_path)
    assert (result.episodes, result.after) == (plan.total(), (tmp_path / PARQUET).stat().st_size)
    assert shards_of(tmp_path) == [PARQUET, EPISODES]
    assert (tmp_path / EPISODES).read_bytes() == b""
    assert found(tmp_path) == episodes
    read = read_verified(tmp_path)
    assert read is not None
    assert read[1]
    assert reports(tmp_path) == expected
    key = list(plan.jobs)[3].key
    name, location = find(read_places(tmp_path), key)
    assert read_episode(tmp_path, name, location).fingerprint() == episodes[key]
    assert verify_run(tmp_path, workers=0).ok
    (tmp_path / INDEX).unlink()
    assert reports(tmp_path)["csv"] == expected["csv"]
    assert compact(tmp_path).episodes == plan.total()


async def test_a_compacted_run_is_resumed(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS)
    with Store.create(tmp_path, plan) as store:
        engine = Engine(store, JobRunner(plan), concurrency=1)
        asyncio.get_running_loop().call_later(0.01, engine.stop, "enough")
        await engine.run()
        before = len(store.done)
    assert compact(tmp_path).episodes == before
    assert (await played(tmp_path, read_plan(tmp_path))).complete
    assert len(found(tmp_path)) == plan.total() == sum(raw_keys(tmp_path).values())
    expected = reports(tmp_path)
    assert compact(tmp_path).episodes == plan.total()
    assert reports(tmp_path) == expected


async def test_compacting_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await played(tmp_path, plan_of("bot/first", suite=TURNS, limit=2))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"ludens\[data\]"):
        compact(tmp_path)
    assert shards_of(tmp_path) == [EPISODES]


async def test_a_run_that_is_played_is_not_compacted(tmp_path: Path) -> None:
    plan = plan_of("bot/first", suite=TURNS, limit=2)
    with Store.create(tmp_path, plan), pytest.raises(BadOption, match="another process is writing"):
        compact(tmp_path)


async def test_refused_jobs_are_not_looked_at_one_by_one(tmp_path: Path) -> None:
    """The first cell of a plan is refused for as long as the others are played."""
    plan = plan_of("bot/first", tasks=("together", "question"), samples=50)
    guess = {("bot/first", "together"): Usage(calls=10**9)}
    with Store.create(tmp_path, plan) as store:
        store.done.add(next(iter(plan.jobs)).key)
        engine = Engine(store, JobRunner(plan), concurrency=2, budget=Budget(calls=10), estimates=guess)
        asked = Counter[str]()
        exceeded_by = engine._budget.exceeded_by

        def count(job: Job, *rest: Any) -> str:
            asked[job.task] += 1
            return exceeded_by(job, *rest)

        engine._budget.exceeded_by = count  # type: ignore[method-assign]
        result = await engine.run()
    played_jobs = result.progress.episodes
    assert played_jobs >= 100
    assert sum(asked.values()) <= 3 * played_jobs + 10


async def test_an_index_that_lacks_a_row_is_not_used(tmp_path: Path) -> None:
    plan = plan_of(*BOTS)
    await played(tmp_path, plan)
    expected = reports(tmp_path)
    head, first, _, *rest = (tmp_path / INDEX).read_bytes().splitlines(keepends=True)
    (tmp_path / INDEX).write_bytes(b"".join([head, first, *rest]))
    assert reports(tmp_path) == expected


@given(st.integers(-2, 2), st.integers(-1, 1), st.sampled_from(["", "x"]))
def test_a_line_has_the_job_of_its_episode_whatever_it_is(seed: int, seating: int, name: str) -> None:
    row = EpisodeRow(name, name, name, seed, seating)
    fields = orjson.loads(row.to_json())
    assert {"key", "entrant", "task", "seed", "seating"} == set(fields)
    assert EpisodeRow.from_dict(fields) == row
