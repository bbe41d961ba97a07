"""The paper's tables, and the anchors for normalising results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ludens.run.stats import Estimate, exactly
from ludens.run.task import Published, read_published

PAPER = {
    "decide/hanabi": (0.0, 24.0),
    "decide/overcooked": (0.2, 40.0),
    "decide/breakthrough": (-1.0, 1.0),
    "decide/kuhn": (-0.5, 0.0),
    "decide/pong": (0.0, 100.0),
    "decide/coin_dilemma": (-0.1, 14.2),
    "decide/monster_hunt": (-10.1, 92.2),
    "decide/battle_of_colors": (0.2, 29.9),
}
"""Table 4's first and last rows; in the grid games these are means a player, although the text says sums.
Pong's combined score is on the scale already."""

MEASURED: dict[str, tuple[Estimate, Estimate]] = {
    "decide/hanabi": (
        Estimate(0.000, 0.000, 0.000, 300, 0.0000),
        Estimate(23.210, 22.997, 23.403, 300, 0.1029),
    ),
    "decide/overcooked": (
        Estimate(0.460, 0.347, 0.600, 300, 0.0637),
        Estimate(40.000, 40.000, 40.000, 300, 0.0000),
    ),
    "decide/coin_dilemma": (
        Estimate(-0.013, -0.112, 0.082, 300, 0.0493),
        Estimate(14.193, 14.018, 14.363, 300, 0.0866),
    ),
    "decide/monster_hunt": (
        Estimate(-11.230, -11.782, -10.663, 300, 0.2808),
        Estimate(88.173, 85.730, 90.217, 300, 1.1217),
    ),
    "decide/battle_of_colors": (
        Estimate(0.160, 0.115, 0.220, 300, 0.0277),
        Estimate(29.150, 28.785, 29.510, 300, 0.1839),
    ),
    "decide/pong": (
        Estimate(1.859, 0.941, 3.322, 300, 0.5780),
        Estimate(72.200, 66.526, 76.937, 95, 2.5912),
    ),
    "decide/breakthrough": (
        Estimate(-1.000, -1.000, -1.000, 300, 0.0000),
        Estimate(0.947, 0.900, 0.973, 300, 0.0186),
    ),
    "decide/kuhn": (exactly(-0.4583), exactly(0.0)),
}
"""From `measure.py`: mean, 95% interval, episodes, standard error. Hanabi's best known player here is
scripted; the paper's was trained. Kuhn poker's are exact. docs/vs-bench.md explains
why others differ from the paper's."""


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
"""Table 4's columns and our tasks. Pong's combined score is that of table 2. Table 4's column of Pong's game
score is 1.5 for nearly everybody, the random player and the optimal one included, so that it cannot be the
points; it is not shown."""
_FURTHER = {
    "hanabi fireworks": ("decide/hanabi", "fireworks"),
    "pong steps": ("decide/pong", "decisions"),
}
"""Table 4's columns of other metrics."""


def published(anchors: str, predict: str) -> tuple[Published, ...]:
    """Table 1 for the paper's rule of prediction; table 2 for its anchors, table 4 for raw returns."""
    reason = 1 if predict == "paper" else None
    tables = {"paper": (reason, 2), "none": (reason, 4), "measured": (reason,)}[anchors]
    source = _source(tables)
    rows = {row.model: row.values for row in read_published(_HERE / "published.toml", "")}
    raw = {row.model: row.values for row in read_published(_HERE / "published_raw.toml", "")}
    found = []
    for model in [*rows, *(model for model in raw if model not in rows)]:
        values = _only(rows.get(model, {}), "reason/") if reason else {}
        if anchors == "paper":
            values |= _only(rows.get(model, {}), "decide/")
        if anchors == "none":
            values |= {_RAW[c]: value for c, value in raw.get(model, {}).items() if c in _RAW}
            values |= _only(rows.get(model, {}), "decide/pong")
        if values:
            told = raw.get(model, {}) if anchors != "measured" else {}
            further = {_FURTHER[column]: value for column, value in told.items() if column in _FURTHER}
            found.append(Published(source, model, values, _deviations(anchors, model), further))
    return tuple(found)


def _source(tables: tuple[int | None, ...]) -> str:
    numbers = [str(table) for table in tables if table]
    return f"VS-Bench, table{'s' * (len(numbers) > 1)} {' and '.join(numbers)}"


def _deviations(anchors: str, model: str) -> dict[str, float]:
    """The standard deviations of table 2 or 4; Pong's combined score has those of table 2 in both."""
    import tomllib

    read = tomllib.loads((_HERE / "published_deviations.toml").read_text(encoding="utf-8"))
    if anchors == "none":
        known = _only(read["raw"].get(model, {}), "decide/")
        own = {task: value for task, value in known.items() if task in PAPER}
        return own | _only(read["normalised"].get(model, {}), "decide/pong")
    kind = {"paper": "normalised", "ablations": "ablations"}.get(anchors, "")
    return dict(read[kind].get(model, {})) if kind else {}


def ablations(anchors: str, predict: str) -> tuple[Published, ...]:
    """Tables 5 and 6, one row per model and setting: 5 with the paper's rule, 6 with its anchors."""
    reason, decide = predict == "paper", anchors == "paper"
    source = _source((5 if reason else None, 6 if decide else None))
    found = []
    for row in read_published(_HERE / "published_ablations.toml", ""):
        values = {**(_only(row.values, "reason/") if reason else {})}
        values |= _only(row.values, "decide/") if decide else {}
        if values:
            spread = _deviations("ablations", row.model) if decide else {}
            found.append(Published(source, row.model, values, spread))
    return tuple(found)


def _only(values: Mapping[str, float], start: str) -> dict[str, float]:
    return {task: value for task, value in values.items() if task.startswith(start)}
