"""Worker processes end with the process that started them, however it ends."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

POOLS = {
    "of runs": "ludens.core.processes import run_in_processes as pool\nstart = pool(time.sleep, naps, 2)",
    "of demonstrations": (
        "ludens.train.demonstrations import processes as pool\n"
        "entered = pool(2, len(naps))\nstart = entered.__enter__()(time.sleep, naps)"
    ),
}
SCRIPT = """
import multiprocessing, time

if __name__ == "__main__":
    naps = [0.0] * 2 + [600.0] * 6
    from {}
    next(iter(start))
    print(*[process.pid for process in multiprocessing.active_children()], flush=True)
    time.sleep(600)
"""


def runs(pid: int) -> bool:
    """Whether there is such a process, and not only its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_workers_of_a_process_that_is_killed_end(pool: str, tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text(SCRIPT.format(pool.replace("\n", "\n    ")))
    with subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True) as main:
        assert main.stdout is not None
        workers = [int(pid) for pid in main.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(runs, workers))
        main.kill()
    end = time.monotonic() + 30
    while any(map(runs, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(runs, workers))
