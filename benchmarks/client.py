"""`ludens bench client`: CPU time of one picture call, for our client, the openai SDK and Inspect AI.

    python -m benchmarks.client --setup DIR     make an environment with the other two clients
    LUDENS_OTHERS=DIR ludens bench client         measure all three

Each client runs in its own process, all against the same server in another process.
"""

from __future__ import annotations

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

from benchmarks import Row
from ludens.core.errors import BadFile, UsageError

TARGET_MS = 0.5
OTHERS = {"openai": "openai", "inspect": "inspect-ai"}
VARIABLE = "LUDENS_OTHERS"
"""The environment variable with the folder that `--setup` made."""
_SETUP = "python -m benchmarks.client --setup DIR"
_FOLDER = Path(__file__).parent
_TIMEOUT = 600


def rows(seconds: float) -> Iterator[Row]:
    """Picture calls to a local server, 64 concurrent, per second of the client's CPU time."""
    folder = os.environ.get(VARIABLE)
    calls = max(200, round(1500 * seconds))
    for row in measure(calls=calls, environment=Path(folder) if folder else None):
        ours = row["client"] == "ludens"
        yield Row(
            f"{row['client']} {row['version']}",
            1000 / row["cpu_ms"],
            "calls/s",
            1000 / TARGET_MS if ours else None,
            None if ours else row["ratio"],
            f"{row['cpu_ms']:.2f} ms of CPU per call",
        )
    if not folder:
        yield Row("openai SDK, Inspect AI", None, "calls/s", note=f"{_SETUP}, then set {VARIABLE}=DIR")


def setup(folder: Path) -> None:
    """Make a virtual environment with the other clients."""
    import venv

    venv.create(folder, with_pip=True)
    subprocess.run([_python(folder), "-m", "pip", "install", "--quiet", *OTHERS.values()], check=True)


def measure(
    calls: int = 2000, concurrency: int = 64, environment: Path | None = None, latency: float = 0.02
) -> list[dict[str, Any]]:
    """One row per client: `client`, `version`, `calls`, `cpu_ms`, `wall_ms`, and `ratio` to ours.

    Args:
        calls: Measured calls; the slower clients make a quarter of them.
        concurrency: Calls in flight.
        environment: The folder that `setup` made; without it only our client is measured.
        latency: Seconds the server takes to answer.
    """
    with tempfile.TemporaryDirectory() as folder, serving(latency) as url:
        picture = Path(folder) / "picture.png"
        picture.write_bytes(picture_png())
        rows = [_measure_client(sys.executable, "ludens", url, picture, calls, concurrency)]
        if environment is not None:
            python, fewer = _python(environment), max(1, calls // 4)
            rows += [_measure_client(python, name, url, picture, fewer, concurrency) for name in OTHERS]
    for row in rows:
        row["ratio"] = row["cpu_ms"] / rows[0]["cpu_ms"]
    return rows


def picture_png(side: int = 96) -> bytes:
    """A PNG of random pixels, about 12 KB: as large as a drawn board."""
    from ludens.draw.picture import Picture

    noise = np.random.default_rng(7)
    pixels = noise.integers(0, 256, (side, side), dtype=np.uint8)
    return Picture(pixels, noise.integers(0, 256, (256, 3), dtype=np.uint8)).png()


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """Run the benchmark server in a process; yields its address."""
    command = [sys.executable, str(_FOLDER / "server.py"), str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.stdin.close()


def _python(folder: Path) -> str:
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def _measure_client(
    python: str, client: str, url: str, picture: Path, calls: int, concurrency: int
) -> dict[str, Any]:
    script = str(_FOLDER / "client_process.py")
    command = [python, script, client, url, str(picture), str(calls), str(concurrency)]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT, cwd=picture.parent
        )
    except OSError:
        folder = Path(python).parents[1]
        raise BadFile(f"no Python environment in {folder}; make it with {_SETUP}.") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"{client} did not finish {calls} calls within {_TIMEOUT} s.") from None
    if process.returncode:
        last = (process.stderr.strip() or "no error message").splitlines()[-1]
        raise UsageError(f"{client} could not be measured: {last}")
    row: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return row


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--setup":
        sys.exit(f"usage: {_SETUP}")
    setup(Path(sys.argv[2]))
