"""Raw returns of random and optimal play, between which decision-making is normalised to 0..100."""

from __future__ import annotations

from ludens.run.stats import Estimate, exactly

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
scripted; the paper's was trained. Kuhn poker's are exact. Why others differ from the paper's is told in
docs/vs-bench.md."""
