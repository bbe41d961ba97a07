"""Starts a command as several ranks, as `torchrun` does, but without the seconds that importing torch takes.

    python -m tests.support.launch 2 python train.py

If one of them fails, the others are ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from aiohttp.test_utils import unused_port


def launch(count: int, command: list[str]) -> int:
    """The exit code of the first rank that fails; 0 if none does."""
    world = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(unused_port())}
    ranks = [
        subprocess.Popen(command, env={**os.environ, **world, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(count)
    ]
    try:
        while None in (codes := [rank.poll() for rank in ranks]) and not any(codes):
            time.sleep(0.05)
    finally:
        for rank in ranks:
            if rank.poll() is None:
                rank.kill()
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(launch(int(sys.argv[1]), sys.argv[2:]))
