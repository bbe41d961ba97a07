"""Overcooked step by step against Overcooked-AI, which runs in a Python of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ludens.core.random import Stream, stream
from ludens.games.overcooked.bots import Greedy, Planner
from ludens.games.overcooked.game import ACTIONS, EVENTS, LAYOUTS, SEATS, Overcooked, OvercookedState

REFERENCE = os.environ.get("LUDENS_OVERCOOKED_PYTHON")
"""A Python with `overcooked-ai` and numpy below 2; the package cannot be imported beside numpy 2."""


class Reference:
    """Overcooked-AI in its own process."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("overcooked_reference.py")
        self._process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, layout: str, actions: list[tuple[str, str]]) -> list[dict[str, Any]]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"layout": layout, "actions": actions}) + "\n")
        self._process.stdin.flush()
        answers: list[dict[str, Any]] = json.loads(self._process.stdout.readline())
        return answers

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    if REFERENCE is None:
        pytest.skip("LUDENS_OVERCOOKED_PYTHON names no Python with overcooked-ai and numpy below 2")
    made = Reference(REFERENCE)
    yield made
    made.close()


Player = Callable[[OvercookedState, Stream], tuple[str, str]]


def _random(_: OvercookedState, dice: Stream) -> tuple[str, str]:
    return dice.choice(ACTIONS), dice.choice(ACTIONS)


def _busy(_: OvercookedState, dice: Stream) -> tuple[str, str]:
    """Random chefs who touch everything: half of what they do is INTERACT."""
    one, other = (dice.choice((*ACTIONS[:4], *["INTERACT"] * 4)) for _ in SEATS)
    return one, other


def _bots(*bots: Planner) -> Player:
    def choose(made: OvercookedState, dice: Stream) -> tuple[str, str]:
        seated = [bot.sit(made.game, seat, dice) for bot, seat in zip(bots, SEATS, strict=True)]
        one, other = (bot.action(made) for bot in seated)
        return one, other

    return choose


PLAYERS: dict[str, Player] = {
    "random": _random,
    "busy": _busy,
    "planners": _bots(Planner(), Planner()),
    "greedy": _bots(Greedy(slips=0.3), Greedy(slips=0.3)),
    "waiter and cook": _bots(Greedy(role="waiter", slips=0.2), Greedy(role="cook", slips=0.2)),
}


def _compare(
    reference: Reference, layout: str, player: Player, steps: int, part: int, seen: Counter[str]
) -> int:
    made = Overcooked(layout=layout, horizon=steps, variant="released").start(0)
    dice, ours, width = stream(part, "differential", layout), [], made.kitchen.width
    actions: list[tuple[str, str]] = []
    while not made.over:
        actions.append(player(made, dice))
        before, events, delivered = made.score, made.facts, made.facts["soups_delivered"]
        made.apply(dict(zip(SEATS, actions[-1], strict=True)))
        sparse = 10 * (made.facts["soups_delivered"] - delivered)
        snapshot = made.snapshot

        def at(cell: int) -> str:
            return f"{cell % width},{cell // width}"

        ours.append(
            {
                "chefs": [[c.cell % width, c.cell // width, c.facing, c.holds] for c in snapshot.chefs],
                "pots": {
                    at(cell): list(pot)
                    for cell, pot in zip(made.kitchen.pots, snapshot.pots, strict=True)
                    if pot.onions
                },
                "counters": {at(cell): lying for cell, lying in snapshot.counters},
                "earned": [sparse, made.score - before - sparse],
            }
        )
        seen.update(event for event in EVENTS if made.facts[event] > events[event])
        seen.update(f"{lying} on a counter" for _, lying in snapshot.counters)
    theirs = reference(layout, actions)
    for step, (mine, their) in enumerate(zip(ours, theirs, strict=True)):
        assert mine == their, f"{layout}, step {step}, actions {actions[step]}"
    return len(ours)


@pytest.mark.slow
def test_every_step_agrees_with_overcooked_ai(reference: Reference) -> None:
    seen: Counter[str] = Counter()
    compared = 0
    for layout in LAYOUTS:
        for name, player in PLAYERS.items():
            if layout == "forced_coordination" and name not in ("random", "busy"):
                continue
            steps = 1000 if layout != "cramped_room" else 6000
            for part in range(steps // 1000):
                compared += _compare(reference, layout, player, 1000, part, seen)
    print(f"\n{compared} steps compared; {dict(seen)}")
    assert compared >= 30_000
    assert {*EVENTS, "onion on a counter", "dish on a counter", "soup of 3 onions on a counter"} <= set(seen)
