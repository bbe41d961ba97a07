"""Playing runs in tests: in this process, and as the real command in a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ludens.cli import main
from ludens.core import policy
from ludens.run.engine import Engine, RunResult, make_executor
from ludens.run.lines import read_records
from ludens.run.plan import Plan, make_plan
from ludens.run.store import Store

QUICK = "tests.support.suites:QUICK"
TURNS = "tests.support.suites:TURNS"
ROOT = Path(__file__).parents[2]
HASTE = "backoff=0.001"
"""In the spec of a model at a server that misbehaves on cue."""


def plan_of(*specs: str, suite: str = QUICK, **choices: Any) -> Plan:
    return make_plan(suite, {spec: spec for spec in specs or ("bot/random",)}, **choices)


async def played(folder: Path, plan: Plan, *, concurrency: int = 1, **more: Any) -> RunResult:
    """Play a plan into a folder, in this event loop."""
    where = {name: more.pop(name) for name in ("workers", "ray") if name in more}
    where["budget"] = more.get("budget")
    with Store.create(folder, plan) as store:
        there = make_executor(plan, concurrency=concurrency, **where)
        return await Engine(store, there, concurrency=concurrency, **more).run()


def found(folder: Path) -> dict[str, str]:
    """Every finished episode by its key: what two runs must agree on. No key may be there twice."""
    records = [record for record in read_records(folder) if record.episode.status != "void"]
    assert len({record.key for record in records}) == len(records)
    return {record.key: record.episode.fingerprint() for record in records}


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


async def ludens(
    *argv: str, meanwhile: Callable[[asyncio.subprocess.Process], Any] | None = None, **env: str
) -> Ran:
    """Run the real command; `meanwhile` is awaited with the running process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ludens", *argv,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        cwd=ROOT, env={**_clean(), "PYTHONWARNINGS": "error", **env},
    )  # fmt: skip
    try:
        # Both at once: a full pipe would stop the process that we wait for.
        done = asyncio.create_task(process.communicate())
        if meanwhile is not None:
            await meanwhile(process)
        out, err = await asyncio.wait_for(done, 120)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


async def ludens_here(*argv: str, **env: str) -> Ran:
    """Run the command in a thread of this process, beside servers on this event loop.

    It saves the start of a process, which takes longer than most small runs; signals need a process.
    """
    out, err = (TextIOWrapper(BytesIO(), "utf-8", newline="") for _ in range(2))
    with (
        patch.dict(os.environ, {**_clean(), **env}, clear=True),
        patch.object(policy, "_confirmed", set()),  # of another command
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        os.environ.pop("COLUMNS", None)
        code = await asyncio.to_thread(main, argv)
    out.flush()
    err.flush()
    return Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def _clean() -> dict[str, str]:
    """The environment without what would change how models are reached."""
    unwanted = ("_API_KEY", "_proxy", "_PROXY", "LUDENS_PRICES", "LUDENS_CACHE", "OPENAI_BASE_URL")
    return {name: value for name, value in os.environ.items() if not name.endswith(unwanted)}
