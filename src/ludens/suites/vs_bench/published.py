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


DEVIATIONS = (
    "Strategic reasoning asks by the rule `single` unless `?predict=paper` is given: only actions that "
    "can be predicted, all kinds of action equally often. Published accuracies are comparable with "
    "`?predict=paper` and shown only there.",
    "Rule `single`: in Breakthrough and on the grids only positions with one best move (and, on the "
    "grids, no other action that leads to the same cell) are asked for. Accepting all of the 16 moves "
    "that tie in a median position of Breakthrough would make two guesses in three right.",
    "Rule `single`, Breakthrough: the moves are not listed, since the list tells the position.",
    "Rule `single`, Hanabi: only plays and discards that the observer's view makes at least 80% likely; "
    "whether to hint, and at what, depends on the observer's own cards.",
    "Rule `single`, Kuhn poker: PASS and BET are the answer equally often, in views that make one of them"
    " at least 65% likely. The other's card stays hidden, so that nobody can be right more often than "
    "about 77%.",
    "Rule `single`, Overcooked: every action but STAY is the answer equally often, and what the chefs "
    "hold and did is shown in the pictures only.",
    "Rule `single`, Monster Hunt: those who wait in a corner wait in each of the four equally often; the "
    "rule `paper` has one corner, A1.",
    "Targets of strategic reasoning in Hanabi, Overcooked and Pong come from scripted players who go by "
    "what is shown: the paper's came from models and people that are not available. Recorded runs of any "
    "agent give datasets as well.",
    "Random players and Hanabi's weak player are never predicted: chance cannot be foreseen.",
    "Overcooked samples begin in random kitchens and are taken from the first ten steps, since scripted "
    "chefs would repeat one match; Pong's targets are a third each of STAY, UP and DOWN.",
    "In Hanabi the hints that fit what the observer knows of its own cards are offered as predictions: "
    "the list of legal ones would reveal those cards.",
    "On the grids a prediction counts when it leads to the same cell; at the border several do.",
    "An invalid reply is answered with the reason twice; then a random legal move is made and counted as "
    "a fallback (a wrong answer in strategic reasoning). The released code made random moves silently.",
    "Kuhn poker's uniform player has exploitability 0.4583; the paper prints 0.5, and its anchor is kept "
    "as the default. A policy known from 25 answers a question looks 0.03 to 0.04 worse than it is.",
    "Pong's shortest and longest episodes are not published: 147 and 435 decisions fit its tables. Longer"
    " episodes earn no more than the 10 points of the longest.",
    "Monster Hunt is normalised by the optimum of table 4, 92.2; table 2 was computed with about 88.",
    "Overcooked counts the paper's points; its released code left the library's shaping in, which is "
    "`variant=released`.",
    "In Battle of the Colors the two blocks never lie on one cell, and only the block that was met on "
    "moves; in the released code every meeting moves both, and they may overlap, which is "
    "`variant=released`.",
    "Breakthrough is played equally often on both sides, on shared seeds.",
    "The MCTS opponent proves wins and losses where it can (OpenSpiel's `solve=True`); the paper does not"
    " say.",
    "Models are asked with their provider's sampling settings unless `--preset vs-bench` (temperature 1, "
    "8,192 tokens) or `--preset vs-bench-reasoning` (and 16,384 tokens of reasoning) is given.",
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
