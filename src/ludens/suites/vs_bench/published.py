"""The paper's tables, and the anchors for normalising results."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ludens.run.stats import Estimate
from ludens.run.task import Published

_HERE = Path(__file__).parent


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / name).read_text(encoding="utf-8"))


_ANCHORS = _read("anchors.toml")
PAPER: dict[str, tuple[float, float]] = {task: (low, high) for task, (low, high) in _ANCHORS["paper"].items()}
MEASURED = {task: (Estimate(*low), Estimate(*high)) for task, (low, high) in _ANCHORS["measured"].items()}

_RAW = {
    "hanabi final": "decide/hanabi",
    "overcooked": "decide/overcooked",
    "breakthrough": "decide/breakthrough",
    "kuhn": "decide/kuhn",
    "coin_dilemma": "decide/coin_dilemma",
    "monster_hunt": "decide/monster_hunt",
    "battle_of_colors": "decide/battle_of_colors",
}
"""Table 4's columns and our tasks. Pong's combined score is that of table 2. Table 4's column of Pong's game
score is 1.5 for nearly everybody, the random player and the optimal one included, so that it cannot be the
points; it is not shown."""
_FURTHER = {"hanabi fireworks": ("decide/hanabi", "fireworks"), "pong steps": ("decide/pong", "decisions")}
"""Table 4's columns of other metrics."""


def published(anchors: str, predict: str) -> tuple[Published, ...]:
    """Table 1 for the paper's rule of prediction; table 2 for its anchors, table 4 for raw returns."""
    reason = 1 if predict == "paper" else None
    tables = {"paper": (reason, 2), "none": (reason, 4), "measured": (reason,)}[anchors]
    source = _source(tables)
    normalised, raw = _read("published.toml"), _read("published_raw.toml")
    rows = []
    for model in {**normalised, **raw}:
        row, columns = normalised.get(model, {}), raw.get(model, {})
        values = _only(row, "reason/") if reason else {}
        if anchors == "paper":
            values |= _only(row, "decide/")
        if anchors == "none":
            values |= {_RAW[column]: value for column, value in columns.items() if column in _RAW}
            values |= _only(row, "decide/pong")
        if values:
            others = columns if anchors != "measured" else {}
            further = {_FURTHER[column]: value for column, value in others.items() if column in _FURTHER}
            rows.append(Published(source, model, values, _deviations(anchors, model), further))
    return tuple(rows)


def _source(tables: tuple[int | None, ...]) -> str:
    numbers = [str(table) for table in tables if table]
    return f"VS-Bench, table{'s' * (len(numbers) > 1)} {' and '.join(numbers)}"


def _deviations(anchors: str, model: str) -> dict[str, float]:
    """The standard deviations of table 2 or 4; Pong's combined score has those of table 2 in both."""
    tables = _read("published_deviations.toml")
    if anchors == "none":
        raw = {task: value for task, value in tables["raw"].get(model, {}).items() if task in PAPER}
        return raw | _only(tables["normalised"].get(model, {}), "decide/pong")
    kind = {"paper": "normalised", "ablations": "ablations"}.get(anchors, "")
    return dict(tables[kind].get(model, {})) if kind else {}


def ablations(anchors: str, predict: str) -> tuple[Published, ...]:
    """Tables 5 and 6, one row per model and setting: 5 with the paper's rule, 6 with its anchors."""
    reason, decide = predict == "paper", anchors == "paper"
    source = _source((5 if reason else None, 6 if decide else None))
    rows = []
    for model, row in _read("published_ablations.toml").items():
        values = {**(_only(row, "reason/") if reason else {}), **(_only(row, "decide/") if decide else {})}
        if values:
            rows.append(Published(source, model, values, _deviations("ablations", model) if decide else {}))
    return tuple(rows)


def _only(values: Mapping[str, float], start: str) -> dict[str, float]:
    return {task: value for task, value in values.items() if task.startswith(start)}
