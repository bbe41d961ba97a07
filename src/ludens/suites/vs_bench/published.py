"""The paper's tables, the anchors for normalising results, and our deviations."""

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
        Estimate(1.861, 0.941, 3.322, 300, 0.5782),
        Estimate(86.258, 83.417, 88.927, 300, 1.3908),
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


DEVIATIONS = (
    "Targets of strategic reasoning in Hanabi, Overcooked and Pong come from scripted players: the paper's "
    "came from models and people that are not available. Recorded runs of any agent give datasets as well.",
    "Random players and Hanabi's weak player are never predicted: chance cannot be foreseen.",
    "Overcooked samples begin with up to 25 random moves of both chefs, since scripted chefs alone would "
    "repeat one match; Pong's targets are a third each of STAY, UP and DOWN.",
    "In Hanabi the hints that fit what the observer knows of its own cards are offered as predictions: the "
    "list of legal ones would reveal those cards. Guessing is right 5.6% of the time instead of 8.8%.",
    "On the grids a prediction counts when it leads to the same cell; at the border several do, and guessing "
    "is right more than 20% of the time.",
    "An invalid reply is answered with the reason twice; then a random legal move is made and counted "
    "as a fallback (a wrong answer in strategic reasoning). The released code made random moves silently.",
    "Kuhn poker's uniform player has exploitability 0.4583; the paper prints 0.5, and its anchor is kept as "
    "the default. A policy known from 25 answers a question looks 0.03 to 0.04 worse than it is.",
    "Pong's shortest and longest episodes are not published: 147 and 435 decisions fit its tables.",
    "Monster Hunt is normalised by the optimum of table 4, 92.2; table 2 was computed with about 88.",
    "Overcooked counts the paper's points; its released code left the library's shaping in, which is "
    "`variant=released`.",
    "Breakthrough is played equally often on both sides, on shared seeds.",
)


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
    """Table 1, with table 2 for the paper's anchors and table 4 for raw returns."""
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
    """Tables 5 and 6: one row per model and setting; table 6 only with the paper's anchors."""
    rows = read_published(_HERE / "published_ablations.toml", "VS-Bench, tables 5 and 6")
    if anchors == "paper":
        return rows
    return tuple(Published("VS-Bench, table 5", row.model, _only(row.values, "reason/")) for row in rows)


def _only(values: Mapping[str, float], start: str) -> dict[str, float]:
    return {task: value for task, value in values.items() if task.startswith(start)}
