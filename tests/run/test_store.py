"""The store: no finished episode is lost, whatever happens to the process that writes."""

from __future__ import annotations

import errno
from pathlib import Path

import orjson
import pytest

from ludens.core.errors import BadFile, BadOption
from ludens.core.files import LineFile
from ludens.run.lines import read_records
from ludens.run.plan import Plan
from ludens.run.rows import EPISODES
from ludens.run.store import Store, read_finished, read_plan, read_progress
from tests.support.full_disk import file_size_limit
from tests.support.runs import TURNS, found, plan_of, played


@pytest.fixture
def plan() -> Plan:
    return plan_of(suite=TURNS, limit=4)


async def test_records_are_read_as_written(tmp_path: Path, plan: Plan) -> None:
    result = await played(tmp_path / "run", plan)
    assert result.complete
    assert read_plan(tmp_path / "run") == plan
    records = read_records(tmp_path / "run")
    assert [record.key for record in records] == [job.key for job in plan.jobs]
    assert read_progress(tmp_path / "run") == ({job.key for job in plan.jobs}, {})


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 17])
async def test_line_truncated_at_any_byte_is_removed_and_played_again(
    step: int, tmp_path: Path, plan: Plan
) -> None:
    folder = tmp_path / "run"
    await played(folder, plan)
    whole, complete = (folder / EPISODES).read_bytes(), found(folder)
    start = whole.rindex(b"\n", 0, -1) + 1
    last = list(plan.jobs)[-1]
    for end in {*range(start, len(whole), step), len(whole) - 1}:
        (folder / EPISODES).write_bytes(whole[:end])
        # A reader ignores a line that is still being written.
        assert len(read_progress(folder)[0]) == 3
        assert (end - start) % (50 * step) or len(read_records(folder)) == 3
        with Store(folder, plan) as store:
            assert [job.key for job in store.pending()] == [last.key]
        assert (folder / EPISODES).read_bytes() == whole[:start]
    await played(folder, plan)
    assert found(folder) == complete


async def test_incomplete_line_longer_than_a_block_is_removed(tmp_path: Path, plan: Plan) -> None:
    folder = tmp_path / "run"
    await played(folder, plan)
    whole = (folder / EPISODES).read_bytes()
    (folder / EPISODES).write_bytes(whole + b'{"key":"' + b"x" * 200_000)
    with Store.reopen(folder):
        assert (folder / EPISODES).read_bytes() == whole


async def test_key_is_never_written_twice(tmp_path: Path, plan: Plan) -> None:
    folder = tmp_path / "run"
    await played(folder, plan)
    before = (folder / EPISODES).read_bytes()
    job = next(iter(plan.jobs))
    with Store.reopen(folder) as store:
        store.save(job, read_records(folder)[0].episode)
        assert list(store.pending()) == []
    assert (folder / EPISODES).read_bytes() == before


async def test_second_writer_is_rejected(tmp_path: Path, plan: Plan) -> None:
    folder = tmp_path / "run"
    with Store.create(folder, plan), pytest.raises(BadOption, match="another process is writing"):
        Store.reopen(folder).__enter__()
    with Store.reopen(folder) as store:
        assert len(list(store.pending())) == 4


def test_folder_of_another_plan_is_rejected(tmp_path: Path, plan: Plan) -> None:
    Store.create(tmp_path, plan)
    Store.create(tmp_path, plan)
    with pytest.raises(BadOption, match="contains another run"):
        Store.create(tmp_path, plan_of(suite=TURNS, limit=2))


def test_folder_with_other_files_is_rejected(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(BadOption, match="not empty and contains no run"):
        Store.create(tmp_path, plan)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_crash_while_run_json_is_written(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "run.json.part").write_bytes(plan.to_json()[:50])
    Store.create(tmp_path, plan)
    assert read_plan(tmp_path) == plan


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "is not a run: it contains no run.json"),
        (b"", "run.json is not valid at the start"),
        (b"{}", "run.json is not valid at suite"),
        (b'{"suite": "demo", "entrants": 3}', "run.json is not valid at entrants"),
    ],
)
def test_invalid_run_json_is_a_usage_error(tmp_path: Path, text: bytes | None, message: str) -> None:
    if text is not None:
        (tmp_path / "run.json").write_bytes(text)
    with pytest.raises(BadFile, match=message):
        Store.reopen(tmp_path)


async def test_invalid_line_in_the_middle_is_a_usage_error(tmp_path: Path, plan: Plan) -> None:
    await played(tmp_path, plan)
    lines = (tmp_path / EPISODES).read_bytes().splitlines(keepends=True)
    (tmp_path / EPISODES).write_bytes(b"".join([lines[0], lines[1][30:], *lines[2:]]))
    with pytest.raises(BadFile, match=r"line 2 of .* is not an episode"):
        Store.reopen(tmp_path).__enter__()
    with pytest.raises(BadFile, match=r"line 2 of .* is not an episode"):
        read_records(tmp_path)
    # The lock was released: a repaired file can be opened in the same process.
    (tmp_path / EPISODES).write_bytes(b"".join(lines))
    with Store.reopen(tmp_path) as store:
        assert len(store.done) == 4
    assert not store.done, "a closed store keeps no keys"


@pytest.mark.parametrize(
    "change", [{"key": 1}, {"seating": "0"}, {"sample": None}, {"void": 0}, {"entrant": ["x"]}]
)
async def test_wrong_types_in_a_line_are_a_usage_error(
    tmp_path: Path, plan: Plan, change: dict[str, object]
) -> None:
    await played(tmp_path, plan)
    lines = (tmp_path / EPISODES).read_bytes().splitlines()
    (tmp_path / EPISODES).write_bytes(orjson.dumps({**orjson.loads(lines[0]), **change}) + b"\n")
    for read in (read_progress, read_records):
        with pytest.raises(BadFile, match=r"line 1 of .* is not an episode"):
            read(tmp_path)


def test_two_processes_that_create_a_run_in_one_folder_do_not_mix(tmp_path: Path, plan: Plan) -> None:
    folder = tmp_path / "run"
    ours = Store.create(folder, plan)
    (folder / "run.json").unlink()
    theirs = Store.create(folder, plan_of("bot/first", suite=TURNS))
    with pytest.raises(BadOption, match="contains another run"), ours:
        pass
    with theirs:  # the lock was released
        assert theirs.done == set()


def test_drive_without_locks_is_a_usage_error(
    tmp_path: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(file: object, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    store = Store.create(tmp_path / "run", plan)
    with pytest.raises(BadFile, match=r"cannot lock '.*episodes\.jsonl': no locks available"), store:
        pass


async def test_full_disk_is_a_usage_error_and_loses_nothing(tmp_path: Path, plan: Plan) -> None:
    await played(tmp_path / "whole", plan)
    lines = (tmp_path / "whole" / EPISODES).read_bytes().splitlines(keepends=True)
    folder, room = tmp_path / "run", max(len(lines[0]) + len(lines[1]) // 2, len(plan.to_json()))
    fails = pytest.raises(BadFile, match=r"cannot save an episode in .*: file too large")
    with fails, file_size_limit(room):
        await played(folder, plan)
    assert (folder / EPISODES).read_bytes().endswith(b"\n")
    assert found(folder).items() < found(tmp_path / "whole").items()
    assert (await played(folder, plan)).complete
    assert found(folder) == found(tmp_path / "whole")


async def test_nothing_of_a_failed_write_stays_in_the_file(tmp_path: Path, plan: Plan) -> None:
    await played(tmp_path / "whole", plan)
    lines = (tmp_path / "whole" / EPISODES).read_bytes().splitlines(keepends=True)
    episodes = [record.episode for record in read_records(tmp_path / "whole")]
    folder = tmp_path / "run"
    with Store.create(folder, plan) as store:
        with file_size_limit(10), pytest.raises(BadFile, match="file too large"):
            store.save(next(iter(plan.jobs)), episodes[0])
        assert store.done == set()
        assert (folder / EPISODES).read_bytes() == b""
        for job, episode in zip(plan.jobs, episodes, strict=True):  # the same store goes on
            store.save(job, episode)
    assert (folder / EPISODES).read_bytes() == b"".join(lines)


async def test_what_cannot_be_removed_at_once_is_removed_before_the_next_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(handle: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "lines"
    with LineFile(path) as file:
        file.append(b"one\n")
        with file_size_limit(6), monkeypatch.context() as patch:
            patch.setattr("os.ftruncate", fails)
            with pytest.raises(OSError, match="too large"):
                file.append(b"two\n")
        assert path.read_bytes() == b"one\ntw"
        file.append(b"three\n")
    assert path.read_bytes() == b"one\nthree\n"


def test_existing_file_in_place_of_a_folder_is_a_usage_error(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match=r"cannot write into .*: file exists"):
        Store.create(tmp_path / "file", plan)
    (tmp_path / "run" / EPISODES).mkdir(parents=True)
    (tmp_path / "run" / "run.json").write_bytes(plan.to_json())
    with pytest.raises(BadFile, match=r"cannot write .*: is a directory"):
        Store.reopen(tmp_path / "run").__enter__()


async def test_a_run_is_marked_as_finished_only_when_it_is(tmp_path: Path, plan: Plan) -> None:
    folder = tmp_path / "run"
    await played(folder, plan)
    assert read_finished(folder) == 4
    whole = (folder / EPISODES).read_bytes()
    (folder / EPISODES).write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    with Store(folder, plan):
        pass
    assert read_finished(folder) is None


async def test_an_episode_after_a_void_one_is_read(tmp_path: Path, plan: Plan) -> None:
    folder = tmp_path / "run"
    await played(folder, plan)
    line, *rest = (folder / EPISODES).read_bytes().splitlines(keepends=True)
    void = line.replace(b'"void":false', b'"void":true', 1).replace(b'"status":"done"', b'"status":"void"', 1)
    (folder / EPISODES).write_bytes(b"".join([void, line, *rest]))
    assert [record.void for record in read_records(folder)] == [True, False, False, False, False]
