"""The suites: the paper's counts, tables whose averages are the paper's own, anchors, options."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from statistics import mean

import pytest

from ludens.core.episode import Episode
from ludens.core.errors import UnknownName
from ludens.run.results import summarise_published
from ludens.run.task import EpisodeResult, suite
from ludens.suites.vs_bench import DECISIONS, MEASURED, PAPER, REASONING

ANCHORED = (
    "hanabi", "overcooked", "breakthrough", "kuhn", "pong", "coin_dilemma", "monster_hunt",
    "battle_of_colors",
)  # fmt: skip
"""In the order of the docs."""
OVERALL = {
    "o4-mini": (45.8, 24.6), "gemini-2.5-flash": (42.5, 26.3), "claude-3-7-sonnet": (38.8, 16.4),
    "doubao-1-5-thinking-pro": (31.1, 20.9), "qvq-max": (29.3, 8.1), "gpt-4.1": (34.1, 7.6),
    "doubao-1-5-vision-pro": (29.1, 2.1), "claude-3-7 w/o thinking": (27.8, 3.5),
    "gemini-2.5 w/o thinking": (27.6, 8.0), "qwen-vl-max": (26.8, 7.6), "grok-2-vision": (22.7, 2.4),
    "Qwen2.5-VL-72B-Ins.": (29.4, 8.8), "InternVL3-78B": (28.1, 6.7),
    "Llama-3.2-90B-Vision-Ins.": (25.8, 4.5),
}  # fmt: skip
"""The column of that name in tables 1 and 2."""


def test_the_counts_are_the_papers() -> None:
    counts = {task.name: task.episodes for task in suite("vs-bench").tasks}
    assert [n for name, n in counts.items() if name.startswith("reason/")] == [400] * 8
    decide = {name.split("/")[1]: n for name, n in counts.items() if name.startswith("decide/")}
    assert decide.pop("kuhn") == 12 * 25
    assert decide.pop("breakthrough") == 20
    assert set(decide.values()) == {10}
    assert len(decide) == 6


def test_published_averages_are_the_papers_own() -> None:
    whole = suite("vs-bench?predict=paper")
    found = {row.model: summarise_published(whole, row.values) for row in whole.published}
    models = {model: scores for model, scores in found.items() if model in OVERALL}
    assert models.keys() == OVERALL.keys()
    for model, (reasoning, decisions) in OVERALL.items():
        assert models[model][REASONING].mean == pytest.approx(reasoning, abs=0.11), model
        assert models[model][DECISIONS].mean == pytest.approx(decisions, abs=0.11), model


def test_every_published_number_is_of_a_task() -> None:
    for name in ("vs-bench", "vs-bench-mini", "vs-bench-ablations"):
        for anchors, rule in product(("paper", "measured", "none"), ("single", "paper")):
            found = suite(f"{name}?anchors={anchors}&predict={rule}")
            tasks = {task.name for task in found.tasks}
            for row in found.published:
                assert row.values.keys() <= tasks, row.model
                assert row.deviations.keys() <= row.values.keys(), row.model
                assert row.values


def test_published_numbers_stand_only_beside_numbers_like_them() -> None:
    def kinds(spec: str) -> set[str]:
        return {task.split("/")[0] for row in suite(spec).published for task in row.values}

    assert kinds("vs-bench") == {"decide"}
    assert kinds("vs-bench?anchors=measured") == set()
    assert kinds("vs-bench?predict=paper") == {"reason", "decide"}
    assert kinds("vs-bench?anchors=measured&predict=paper") == {"reason"}
    assert {row.source for row in suite("vs-bench?predict=paper").published} == {"VS-Bench, tables 1 and 2"}
    assert {row.source for row in suite("vs-bench").published} == {"VS-Bench, table 2"}
    raw = {row.model: row.values for row in suite("vs-bench?anchors=none&predict=paper").published}
    assert raw["o4-mini"]["decide/hanabi"] == 10.3
    assert raw["o4-mini"]["decide/monster_hunt"] == 14.3
    assert raw["o4-mini"]["reason/hanabi"] == 58.3


def test_raw_and_normalised_tables_agree() -> None:
    """By the paper's anchors, but for Monster Hunt: table 2 goes by an optimum of 88.0, table 4 names 92.2.

    Raw numbers are printed with one digit, which bounds how well they can be normalised again.
    """
    normal = {row.model: row.values for row in suite("vs-bench").published}
    raw = {row.model: row.values for row in suite("vs-bench?anchors=none").published}
    anchors = {**PAPER, "decide/monster_hunt": (PAPER["decide/monster_hunt"][0], 88.0)}
    for task, (low, high) in anchors.items():
        for model in OVERALL:
            again = 100 * (raw[model][task] - low) / (high - low)
            assert normal[model][task] == pytest.approx(again, abs=100 * 0.1 / (high - low) + 0.06), model


def test_ablations_have_a_row_for_each_way_of_asking() -> None:
    found = suite("vs-bench-ablations?predict=paper")
    rows = {row.model: row.values for row in found.published}
    assert {"gpt-4.1 (text)", "gpt-4.1 (image)", "gpt-4.1 (cot)", "o4-mini (text)"} <= rows.keys()
    assert "o4-mini (cot)" not in rows  # reasoning models were not asked to reason aloud
    assert rows["gpt-4.1 (cot)"]["reason/hanabi"] == 49.8
    assert {name.split("/")[1] for name in (t.name for t in found.tasks)} == {
        "hanabi", "breakthrough", "monster_hunt",
    }  # fmt: skip
    assert mean(rows["gpt-4.1 (text)"].values()) > 0


def test_group_means_are_over_the_papers_groups() -> None:
    whole = suite("vs-bench?predict=paper")
    [row] = [row for row in whole.published if row.model == "o4-mini"]
    found = summarise_published(whole, row.values)
    assert found[f"{REASONING}, cooperative"].mean == pytest.approx((58.3 + 31.8) / 2)
    assert found[f"{REASONING}, competitive"].mean == pytest.approx((26.8 + 63.5 + 43.5) / 3)
    assert found[f"{DECISIONS}, mixed-motive"].mean == pytest.approx((-4.6 + 24.9 + 3.5) / 3)
    assert len(found) == 8


def test_published_deviations_are_those_of_the_tables() -> None:
    """Table 2 follows from table 4: both printed with one digit, and Hanabi's optimum is 24."""
    normal = {row.model: row.deviations for row in suite("vs-bench").published}
    raw = {row.model: row for row in suite("vs-bench?anchors=none").published}
    assert normal["o4-mini"]["decide/breakthrough"] == 94.0
    assert raw["o4-mini"].deviations["decide/pong"] == normal["o4-mini"]["decide/pong"] == 16.5
    for model in OVERALL:
        for task, optimum in (("decide/hanabi", 24.0), ("decide/overcooked", 39.8)):
            again = 100 * raw[model].deviations[task] / optimum
            assert normal[model][task] == pytest.approx(again, abs=0.35), (model, task)
    assert raw["gpt-4.1"].further["decide/hanabi", "fireworks"] == 3.6
    assert raw["gpt-4.1"].further["decide/pong", "decisions"] == 151.8
    [cot] = [r for r in suite("vs-bench-ablations").published if r.model == "gpt-4.1 (cot)"]
    assert cot.deviations == {"decide/hanabi": 0.0, "decide/breakthrough": 63.0, "decide/monster_hunt": 10.9}


def test_the_small_suites_opponent_searches_as_the_papers() -> None:
    [task] = [task for task in suite("vs-bench-mini").tasks if task.name == "decide/tic_tac_toe"]
    assert {"bot/mcts?simulations=1000"} == {
        spec for seating in task.seatings for spec in seating.values() if spec != "MODEL"
    }


def test_moves_of_breakthrough_are_listed_only_by_the_papers_rule() -> None:
    for rule, listed in (("single", False), ("paper", True)):
        tasks = {task.name: task for task in suite(f"vs-bench?predict={rule}").tasks}
        assert tasks["reason/breakthrough"].config.listed is listed
        assert tasks["reason/hanabi"].config.listed


def test_anchors_cover_every_game_that_decides() -> None:
    decide = {task.name for task in suite("vs-bench").tasks if task.name.startswith("decide/")}
    assert PAPER.keys() == decide == MEASURED.keys()
    for low, high in MEASURED.values():
        assert low.mean < high.mean


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("vs-bench?anchors=ours", "unknown value of option 'anchors' of vs-bench 'ours'"),
        ("vs-bench?anchor=paper", "did you mean 'anchors'"),
        ("vs-bench-mini?anchors=x", "known: measured, none, paper"),
        ("vs-bnch", "did you mean 'vs-bench'"),
    ],
)
def test_wrong_options_are_usage_errors(spec: str, sentence: str) -> None:
    with pytest.raises(UnknownName, match=sentence):
        suite(spec)


def test_the_docs_tell_every_deviation_and_anchor() -> None:
    page = (Path(__file__).parents[3] / "docs" / "vs-bench.md").read_text("utf-8")
    for deviation in suite("vs-bench").deviations:
        assert f"- {deviation}\n" in page
    rows = [line.split("|") for line in page.split("### Anchors")[1].splitlines() if line.count("|") == 7]
    told = [(float(row[3]), row[4].strip()) for row in rows[2:]]
    ours = [estimate for game in ANCHORED for estimate in MEASURED[f"decide/{game}"]]
    assert len(told) == len(ours)
    for (mean_told, interval), estimate in zip(told, ours, strict=True):
        assert mean_told == pytest.approx(estimate.mean, abs=0.06)
        if interval != "exact":
            low, high = map(float, interval.strip("[]").split(","))
            assert (low, high) == pytest.approx((estimate.low, estimate.high), abs=0.06)


def test_twenty_lost_games_leave_room_for_doubt() -> None:
    [task] = [task for task in suite("vs-bench").tasks if task.name == "decide/breakthrough"]
    returns = {"black": -1.0, "white": 1.0}
    lost = [
        EpisodeResult(
            str(seed), Episode("breakthrough", 1, {"opening": 8}, seed, {}, returns=returns), ("black",)
        )
        for seed in range(20)
    ]
    found = task.metrics[0].estimate(lost)
    assert found.mean == found.low == -1.0
    assert -1.0 < found.high < 0.0
