"""The real command plays the same episodes serial, concurrent, in workers and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, QUICK, found, ludens

OPTIONS = {
    "concurrent": ["--concurrency", "8"],
    "workers": ["--workers", "2", "--concurrency", "8"],
}


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["classic", "random"])
async def test_serial_concurrent_worker_and_resumed_runs_are_equal(tmp_path: Path, theme: str) -> None:
    async with ModelServer() as server:
        who = [
            "-m",
            f"vllm/tiny@{server.url}?{HASTE}",
            "-m",
            "bot/random",
            "--blind-control",
            "--theme",
            theme,
        ]

        async def run(name: str, *more: str, codes: tuple[int, ...] = (0,)) -> dict[str, str]:
            ran = await ludens("eval", QUICK, *who, "--out", str(tmp_path / name), *more)
            assert ran.code in codes, ran.err
            return found(tmp_path / name)

        serial = await run("serial", "--concurrency", "1")
        assert len(serial) == 18 + 18 + 16
        for name, flags in OPTIONS.items():
            assert await run(name, *flags) == serial
        own = ("--suite", QUICK)
        assert len(await run("resumed", "--max-calls", "30", codes=(3,))) < len(serial)
        ran = await ludens("resume", str(tmp_path / "resumed"), *own, "--max-calls", "60", "--workers", "1")
        assert ran.code in (0, 3), ran.err
        ran = await ludens("resume", str(tmp_path / "resumed"), *own, "--concurrency", "5")
        assert ran.code == 0, ran.err
        assert found(tmp_path / "resumed") == serial
