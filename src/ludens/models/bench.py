"""What one picture costs the client: CPU time a call, ours beside the openai SDK and Inspect AI.

    python -m ludens.models.bench --setup DIR     make an environment with the other two
    python -m ludens.models.bench --others DIR    measure all three, print the ratio

Every client is measured in a process of its own, against the same server in another, in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ludens.core.errors import BadFile, LudensError, UsageError

TARGET_MS = 0.5
OTHERS = {"openai": "openai", "inspect": "inspect-ai"}
_FOLDER = Path(__file__).parent
_SECONDS = 600


def setup(folder: Path) -> None:
    """An environment of their own for the clients we compare with."""
    import venv

    venv.create(folder, with_pip=True)
    subprocess.run([_python(folder), "-m", "pip", "install", "--quiet", *OTHERS.values()], check=True)


def measure(
    calls: int = 2000, concurrency: int = 64, others: Path | None = None, latency: float = 0.02
) -> list[dict[str, Any]]:
    """One row a client: `client`, `version`, `calls`, `cpu_ms`, `wall_ms`, and `ratio` to ours.

    Args:
        calls: Measured calls; the slower clients make a quarter of them.
        concurrency: Calls in flight.
        others: The folder `setup` made; without it only ours is measured.
        latency: Seconds the server thinks.
    """
    with tempfile.TemporaryDirectory() as folder, serving(latency) as url:
        picture = Path(folder) / "picture.png"
        picture.write_bytes(picture_png())
        rows = [_one(sys.executable, "ludens", url, picture, calls, concurrency)]
        if others is not None:
            python = _python(others)
            rows += [_one(python, name, url, picture, max(1, calls // 4), concurrency) for name in OTHERS]
    for row in rows:
        row["ratio"] = row["cpu_ms"] / rows[0]["cpu_ms"]
    return rows


def picture_png(side: int = 112) -> bytes:
    """A PNG of about 12 KB that does not compress, as large as a drawn board."""
    from ludens.draw.picture import Picture

    noise = np.random.default_rng(7)
    pixels = noise.integers(0, 256, (side, side), dtype=np.uint8)
    return Picture(pixels, noise.integers(0, 256, (256, 3), dtype=np.uint8)).png()


def _python(folder: Path) -> str:
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """The address of a server that takes so many seconds for an answer."""
    command = [sys.executable, str(_FOLDER / "bench_server.py"), str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.stdin.close()


def _one(python: str, client: str, url: str, picture: Path, calls: int, concurrency: int) -> dict[str, Any]:
    caller = str(_FOLDER / "bench_caller.py")
    command = [python, caller, client, url, str(picture), str(calls), str(concurrency)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, cwd=picture.parent)
    except OSError:
        raise BadFile(
            f"there is no environment at {Path(python).parents[1]}: make it with --setup."
        ) from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"{client} did not make {calls} calls within {_SECONDS} s.") from None
    if done.returncode:
        last = (done.stderr.strip() or "no word").splitlines()[-1]
        raise UsageError(f"{client} could not be measured: {last}")
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def main(arguments: list[str] | None = None) -> int:
    """The command line of this file."""
    parser = argparse.ArgumentParser(prog="python -m ludens.models.bench", description=__doc__.split("\n")[0])
    parser.add_argument("--setup", type=Path, metavar="DIR", help="make an environment with the others")
    parser.add_argument("--others", type=Path, metavar="DIR", help="the environment with the others")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    given = parser.parse_args(arguments)
    try:
        if given.setup:
            setup(given.setup)
        others = given.others or given.setup
        for row in measure(given.calls, given.concurrency, others):
            name = f"{row['client']} {row['version']}"
            print(f"{name:<18} {row['cpu_ms']:8.3f} ms CPU a call   {row['ratio']:6.1f} x ours")
    except LudensError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
