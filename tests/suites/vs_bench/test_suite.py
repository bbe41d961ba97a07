"""The suites: the paper's counts, tables whose averages are the paper's own, anchors, options."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from ludens.core.episode import Episode
from ludens.core.errors import UnknownName
from ludens.run.results import summarise_published
from ludens.run.task import EpisodeResult, suite
from ludens.suites.vs_bench import DECISIONS, REASONING
from ludens.suites.vs_bench.published import MEASURED, PAPER

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
    whole = suite("vs-bench")
    found = {row.model: summarise_published(whole, row.values) for row in whole.published}
    models = {model: scores for model, scores in found.items() if model in OVERALL}
    assert models.keys() == OVERALL.keys()
    for model, (reasoning, decisions) in OVERALL.items():
        assert models[model][REASONING].mean == pytest.approx(reasoning, abs=0.11), model
        assert models[model][DECISIONS].mean == pytest.approx(decisions, abs=0.11), model


def test_every_published_number_is_of_a_task() -> None:
    for name in ("vs-bench", "vs-bench-mini", "vs-bench-ablations"):
        for anchors in ("paper", "measured", "none"):
            found = suite(f"{name}?anchors={anchors}")
            tasks = {task.name for task in found.tasks}
            for row in found.published:
                assert row.values.keys() <= tasks, row.model
                assert row.values


def test_published_numbers_stand_only_beside_numbers_like_them() -> None:
    def kinds(spec: str) -> set[str]:
        return {task.split("/")[0] for row in suite(spec).published for task in row.values}

    assert kinds("vs-bench") == {"reason", "decide"}
    assert kinds("vs-bench?anchors=measured") == {"reason"}
    raw = {row.model: row.values for row in suite("vs-bench?anchors=none").published}
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
        for model in OVERALL if task != "decide/pong" else ():
            again = 100 * (raw[model][task] - low) / (high - low)
            assert normal[model][task] == pytest.approx(again, abs=100 * 0.1 / (high - low) + 0.06), model


def test_ablations_have_a_row_for_each_way_of_asking() -> None:
    found = suite("vs-bench-ablations")
    rows = {row.model: row.values for row in found.published}
    assert {"gpt-4.1 (text)", "gpt-4.1 (image)", "gpt-4.1 (cot)", "o4-mini (text)"} <= rows.keys()
    assert "o4-mini (cot)" not in rows  # reasoning models were not asked to reason aloud
    assert rows["gpt-4.1 (cot)"]["reason/hanabi"] == 49.8
    assert {name.split("/")[1] for name in (t.name for t in found.tasks)} == {
        "hanabi", "breakthrough", "monster_hunt",
    }  # fmt: skip
    assert mean(rows["gpt-4.1 (text)"].values()) > 0


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
        EpisodeResult(str(seed), Episode("breakthrough", 1, {}, seed, {}, returns=returns), ("black",))
        for seed in range(20)
    ]
    found = task.metrics[0].estimate(lost)
    assert found.mean == found.low == -1.0
    assert -1.0 < found.high < 0.0
