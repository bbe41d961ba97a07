"""Starts a script or a module as several ranks, as `torchrun` does, but imports torch once for all of them.

    python -m tests.support.launch 2 train.py OUT
    python -m tests.support.launch 2 -m ludens train recipe.toml

If one of them fails, the others are ended.
"""

from __future__ import annotations

import importlib
import os
import runpy
import signal
import sys
import time
import traceback
from typing import NoReturn

from aiohttp.test_utils import unused_port

IMPORTED = ("torch", "torch._dynamo", "torch.distributed.tensor", "ludens.train.session")
"""What all ranks need, without what starts threads: a thread does not survive a fork."""


def launch(count: int, command: list[str]) -> int:
    """The exit code of the first rank that fails; 0 if none does."""
    world = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(unused_port())}
    for name in IMPORTED:
        importlib.import_module(name)
    running: set[int] = set()
    for rank in range(count):
        if (child := os.fork()) == 0:
            _run(command, {**world, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        running.add(child)
    code = 0
    try:
        while running and not code:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended:
                running.discard(ended)
                code = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.05)
    finally:
        for child in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return code


def _run(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Run the command as if it were a new process with this environment."""
    code: int | str | None = 1
    try:
        os.environ.update(environment)
        if site := sys.modules.get("sitecustomize"):
            importlib.reload(site)  # it reads the number of the rank
        if command[0] == "-m":
            sys.argv = command[1:]
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = command
            runpy.run_path(command[0], run_name="__main__")
        code = 0
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    sys.exit(launch(int(sys.argv[1]), sys.argv[2:]))
