"""Packs as several people would submit them: bots, nano with its blind control, a person, stand-in models."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from tests.support.model_server import ModelServer
from tests.support.runs import ludens_here

LIMIT = ("--limit", "4", "--yes")  # two worlds of a pair in two seats
DEMO = ("eval", "demo", *LIMIT, "--blind-control")
BOARD = ("--tasks", "tic_tac_toe,perceive")


def last(prompt: str, digest: bytes) -> str:
    """The last legal action in the prompt."""
    lists = [line for line in prompt.splitlines() if "legal actions" in line.lower()]
    return f"Action: {lists[-1].rpartition(',')[2].strip()}" if lists else "I cannot see."


async def submit(folder: Path) -> Path:
    """Play and pack: `bots`, `nano`, `alpha` and `beta` (stand-ins of models), `person`."""
    runs = folder / "runs"
    packs = folder / "packs"
    packs.mkdir(parents=True)
    bots = ("--model", "bot/random", "--model", "bot/best")
    await _pack(packs, runs / "bots", "eval", "demo", *LIMIT, *BOARD, *bots)
    await _pack(packs, runs / "nano", *DEMO, *BOARD, "--model", "nano")
    async with ModelServer() as server:
        await _pack(packs, runs / "alpha", *DEMO, *BOARD, "--model", f"compat/alpha@{server.url}")
    async with ModelServer(player=last) as server:
        spec = f"compat/beta@{server.url}?temperature=0&memory=all&rpm=100000"
        await _pack(packs, runs / "beta", *DEMO, *BOARD, "--model", spec)
    typed = "\n".join(f"{row}{column}" for row in "BAC" for column in "213") + "\n"
    with patch.object(sys, "stdin", StringIO(typed * 40)):
        person = ("eval", "demo", *LIMIT, "--tasks", "tic_tac_toe", "--model", "human")
        await _pack(packs, runs / "person", *person)
    return packs


async def _pack(packs: Path, run: Path, *command: str) -> None:
    file = packs / f"{run.name}.ludens"
    for words in ((*command, "--out", str(run)), ("pack", str(run), "--out", str(file), "--workers", "0")):
        ended = await ludens_here(*words)
        assert ended.code == 0, ended.err
