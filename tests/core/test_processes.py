"""Worker processes end with the process that started them, however it ends."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ludens.core.processes import infrequent_gc
from tests.support.processes import children_of, is_alive

POOLS = {
    "of runs": """
from ludens.core.processes import run_in_processes
started = lambda naps: run_in_processes(time.sleep, naps, 2)
""",
    "of demonstrations": """
from ludens.train.demonstrations import processes
pool = processes(2, 8)
started = lambda naps: pool.__enter__()(time.sleep, naps)
""",
}
MAIN = """
if __name__ == "__main__":
    results = started([0.0] * 2 + [600.0] * 6)
    next(iter(results))
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_workers_of_a_process_that_is_killed_end(pool: str, tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text(f"import time\n{pool}{MAIN}")
    with subprocess.Popen([sys.executable, str(file)], stdout=subprocess.PIPE, text=True) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == "ready\n"
        workers = children_of(main.pid)
        assert len(workers) >= 2
        main.kill()
    end = time.monotonic() + 30
    while any(map(is_alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(is_alive, workers))


def test_garbage_collector_is_restored() -> None:
    before = gc.get_threshold()
    with infrequent_gc():
        assert gc.get_threshold() > before
    assert gc.get_threshold() == before
