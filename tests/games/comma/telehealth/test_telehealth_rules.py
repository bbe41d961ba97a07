"""Diagnoses and treatments against an independent copy of the published table; charts, manuals, privacy."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.dialogue import advise, solve
from ludens.games.comma.telehealth import (
    CODES,
    LOOKS,
    PUBLISHED,
    TREATMENTS,
    Telehealth,
    TelehealthPanel,
    draw_manual,
)
from tests.games.comma.common import SEEDS, oracle_pair, random_play

SHOWS = {"pearl": "BCC", "crust": "SCC", "scale": "ACK", "wax": "SEK", "notch": "MEL", "mole": "NEV"}


def published(code: str, widest: int, itch: bool, bleed: bool) -> str:
    """The right treatment by the published table, in plain code."""
    if code in ("BCC", "SCC"):
        return "surgery" if widest >= 5 else "cryotherapy"
    if code == "SEK":
        return "cryotherapy" if itch or bleed else "no_treatment"
    return {"ACK": "cryotherapy", "MEL": "surgery", "NEV": "no_treatment"}[code]


def panel(seed: int, **options: object) -> TelehealthPanel:
    puzzle = Telehealth(**options).start(seed).puzzle  # type: ignore[arg-type]
    assert isinstance(puzzle, TelehealthPanel)
    return puzzle


def panels(number: int, **options: object) -> list[TelehealthPanel]:
    return [panel(seed, **options) for seed in range(number)]


def right(puzzle: TelehealthPanel) -> tuple[str, str]:
    code, chart = SHOWS[puzzle.look.name], puzzle.chart
    return f"diagnose_{code}", f"treat_{published(code, chart.widest, chart.signs[0], chart.signs[1])}"


def test_the_published_table() -> None:
    assert {entry.look: entry.code for entry in PUBLISHED.entries} == SHOWS
    for look, code in SHOWS.items():
        for widest in range(1, 30):
            for itch, bleed in ((False, False), (True, False), (False, True)):
                treatment = PUBLISHED.entry(look).choose(widest, itch or bleed)
                assert treatment == published(code, widest, itch, bleed)


def test_correct_diagnosis_then_correct_treatment_solves() -> None:
    for puzzle in panels(300):
        diagnose, treat = right(puzzle)
        assert (puzzle.progress, puzzle.act(diagnose), puzzle.progress) == (0, "done", 0.5)
        assert puzzle.act(treat) == "solved"


def test_other_actions_are_mistakes_and_change_nothing() -> None:
    for puzzle in panels(60):
        diagnose, treat = right(puzzle)
        before = puzzle.describe()
        assert {puzzle.act(action) for action in puzzle.actions if action != diagnose} == {"mistake"}
        assert (puzzle.describe(), puzzle.progress) == (before, 0)
        puzzle.act(diagnose)
        assert {puzzle.act(action) for action in puzzle.actions if action != treat} == {"mistake"}
        assert puzzle.progress == 0.5


def test_the_actions() -> None:
    assert TelehealthPanel.actions == (
        "diagnose_BCC", "diagnose_SCC", "diagnose_MEL", "diagnose_ACK", "diagnose_NEV", "diagnose_SEK",
        "treat_surgery", "treat_no_treatment", "treat_cryotherapy",
    )  # fmt: skip


def test_charts_fit_the_look_and_cover_both_outcomes_of_each_rule() -> None:
    by_look: dict[str, list[TelehealthPanel]] = {name: [] for name in LOOKS}
    for puzzle in panels(900):
        by_look[puzzle.look.name].append(puzzle)
        low, high = puzzle.look.sizes
        assert all(low <= size <= high for size in puzzle.chart.diameters)
        assert puzzle.chart.region in puzzle.look.regions
    for name, cases in by_look.items():
        assert 100 < len(cases) < 200
        assert {case.chart.skin_type for case in cases} == {1, 2, 3, 4, 5, 6}
        if name in ("pearl", "crust"):
            assert min(Counter(case.chart.widest >= 5 for case in cases).values()) > 20
        if name == "wax":
            assert min(Counter(case.chart.irritated for case in cases).values()) > 20
    treatments = Counter(right(puzzle)[1] for puzzle in panels(900))
    assert min(treatments.values()) > 150


def test_released_frequencies_and_treatment_of_keratosis() -> None:
    cases = panels(1000, variant="released")
    counts = Counter(puzzle.look.name for puzzle in cases)
    assert counts["pearl"] > counts["scale"] > counts["wax"] > counts["notch"]
    assert 300 < counts["pearl"] < 430
    calm = [puzzle for puzzle in cases if puzzle.look.name == "wax" and not puzzle.chart.irritated]
    assert len(calm) > 10
    for puzzle in calm:
        assert [puzzle.act("diagnose_SEK"), puzzle.act("treat_no_treatment")] == ["done", "mistake"]
        assert puzzle.act("treat_cryotherapy") == "solved"


@pytest.mark.parametrize("seed", range(30))
def test_random_manuals_use_every_code_once_and_never_the_real_one(seed: int) -> None:
    manual = draw_manual(stream(seed, "manual"))
    named = {entry.look: entry.code for entry in manual.entries}
    assert set(named) == set(LOOKS)
    assert set(named.values()) == set(CODES)
    assert not any(named[look] == SHOWS[look] for look in LOOKS)
    words = str(manual.blocks())
    assert "carcinoma" not in words
    assert "not medicine" in words


def test_random_manuals_use_every_treatment_and_condition() -> None:
    manuals = [draw_manual(stream(seed, "manual")) for seed in range(40)]
    entries = [entry for manual in manuals for entry in manual.entries]
    chosen = Counter(
        entry.choose(widest, irritated)
        for entry in entries
        for widest in (2, 12)
        for irritated in (True, False)
    )
    assert set(chosen) == set(TREATMENTS)
    assert {entry.condition for entry in entries} == {"always", "size", "irritation"}


def test_the_manual_states_its_rules() -> None:
    rules = {entry.look: entry.rule() for entry in PUBLISHED.entries}
    assert (
        rules["pearl"] == "Treatment: surgery if it measures 5 mm or more in any direction, else cryotherapy."
    )
    assert rules["wax"] == "Treatment: cryotherapy if it itches or bleeds, else no treatment."
    assert rules["mole"] == "Treatment: no treatment."


@pytest.mark.parametrize(
    ("report", "answer"),
    [
        ("looks = Pearly bump\nwidest = 5\nirritated = no", "diagnosis = BCC\ntreatment = surgery"),
        ("looks = pearly bump\nwidest = 4\nirritated = yes", "treatment = cryotherapy"),
        ("looks = stuck-on plaque\nwidest = 9\nirritated = No", "treatment = no_treatment"),
        ("looks = a wart\nwidest = 9\nirritated = no", "I know these: pearly bump"),
        ("looks = even mole\nwidest = ½\nirritated = no", "whole millimetres"),
        ("looks = even mole\nwidest = 3\nirritated = maybe", "yes or no"),
        ("looks = even mole", "widest = <"),
    ],
)
def test_oracle_expert_answers_or_explains(report: str, answer: str) -> None:
    assert answer in advise(PUBLISHED, [report])


@pytest.mark.parametrize("said", ["", "diagnosis = BCC", "diagnosis = FLU\ntreatment = surgery"])
def test_oracle_solver_waits_for_a_complete_answer(said: str) -> None:
    assert "diagnose" not in solve(panel(0), said)  # type: ignore[arg-type]


def test_oracles_need_two_turns() -> None:
    assert {oracle_pair(Telehealth(manual="random").start(seed)).facts["turns"] for seed in range(50)} == {2}


@given(seed=SEEDS, actions=st.lists(st.sampled_from(TelehealthPanel.actions), max_size=10))
@settings(max_examples=40, deadline=None)
def test_only_the_solver_gets_the_identity_and_only_in_notes(seed: int, actions: list[str]) -> None:
    state = Telehealth(mistakes=100).start(seed)
    view = view_of(state.game, RenderOptions(), 0)
    state.apply({"solver": "\n".join(["Here we go.", *actions])})
    private = state.puzzle.private
    assert set(private) == {"name", "address", "id number"}
    for fact in private.values():
        assert fact in view.notes(state, "solver")
        assert fact not in view.text(state, "solver")
        assert fact not in view.notes(state, "expert") + view.text(state, "expert") + view.rules("expert")


def test_random_play_matches_the_paper() -> None:
    """2,000 released episodes against the exact odds and the paper's row: 3 (1.7), 16 (2.6), 2.96, 2.27.

    Solved means two hits of probability 1/9 before the third mistake. The paper's 3 of 100 is 1.4 standard
    errors below the exact 6.4.
    """
    episodes, hit, miss = 2000, 1 / 9, 8 / 9
    mean = random_play(Telehealth(variant="released"), episodes)
    solved = hit**2 * (1 + 2 * miss + 3 * miss**2)
    partial = (solved + 1 - miss**3) / 2
    assert abs(mean["solved"] - solved) < 3.3 * (solved / episodes) ** 0.5
    assert abs(mean["partial"] - partial) < 3.3 * 0.3 / episodes**0.5
    assert abs(mean["partial"] - 0.16) < 2 * 0.026
    assert abs(mean["mistakes"] - 2.96) < 0.12
    assert abs(mean["turns"] - 2.27) < 0.15
