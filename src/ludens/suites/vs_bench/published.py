"""The paper's tables, as far as they can stand beside ours: that depends on how results are normalised."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ludens.run.task import Published, read_published

_HERE = Path(__file__).parent

_RAW = {
    "hanabi final": "decide/hanabi",
    "overcooked": "decide/overcooked",
    "breakthrough": "decide/breakthrough",
    "kuhn": "decide/kuhn",
    "coin_dilemma": "decide/coin_dilemma",
    "monster_hunt": "decide/monster_hunt",
    "battle_of_colors": "decide/battle_of_colors",
}
"""Table 4's columns and our tasks. Its column of Pong's game score is 1.5 for nearly everybody, the random
player and the optimal one included, so that it cannot be what our combined score is made of."""


def published(anchors: str) -> tuple[Published, ...]:
    """Table 1, and beside it table 2 where its anchors are taken, table 4 where returns are raw."""
    normalised = read_published(_HERE / "published.toml", "VS-Bench, tables 1 and 2")
    if anchors == "paper":
        return normalised
    reasoning = {row.model: _only(row.values, "reason/") for row in normalised}
    if anchors == "measured":
        return tuple(Published("VS-Bench, table 1", model, values) for model, values in reasoning.items())
    rows = {row.model: row.values for row in read_published(_HERE / "published_raw.toml", "")}
    raw = {
        model: {_RAW[column]: value for column, value in values.items() if column in _RAW}
        for model, values in rows.items()
    }
    return tuple(
        Published("VS-Bench, tables 1 and 4", model, {**reasoning.get(model, {}), **raw.get(model, {})})
        for model in [*reasoning, *(model for model in raw if model not in reasoning)]
    )


def ablations(anchors: str) -> tuple[Published, ...]:
    """Tables 5 and 6: a row for each model and way of asking; table 6 only beside its own anchors."""
    rows = read_published(_HERE / "published_ablations.toml", "VS-Bench, tables 5 and 6")
    if anchors == "paper":
        return rows
    return tuple(Published("VS-Bench, table 5", row.model, _only(row.values, "reason/")) for row in rows)


def _only(values: Mapping[str, float], start: str) -> dict[str, float]:
    return {task: value for task, value in values.items() if task.startswith(start)}
