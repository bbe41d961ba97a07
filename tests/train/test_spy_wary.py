"""`recipes/spy_wary.py`: a teacher who suspects players that say little."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ludens.agents import AGENTS, agent, import_agent
from ludens.concurrent import play_sync
from ludens.core.game import Game
from ludens.core.registry import make

WARY = "recipes.spy_wary:Wary"


@pytest.fixture(autouse=True)
def _imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AGENTS, "_added", dict(AGENTS._added))
    import_agent(WARY)


def votes(game: Game, seats: Mapping[str, str], seed: int) -> tuple[dict[str, str], str]:
    """The vote of each civilian, and the number of the spy."""
    facts = play_sync(game, {seat: agent(spec, game) for seat, spec in seats.items()}, seed).facts
    return {seat: str(vote) for seat, vote in facts["votes"].items()}, str(facts["spy"])


def test_who_says_little_is_suspected_where_no_clue_is_false() -> None:
    game = make("spy?rounds=1")
    civilians = [seat for seat in game.seats if seat != "spy"]
    wary = dict.fromkeys(civilians[::2], f"{WARY}?share=0&wary=1")
    for seed in range(6):
        found, spy = votes(game, {**dict.fromkeys(civilians, "bot/blunt"), **wary, "spy": "bot/vague"}, seed)
        assert found == {seat: spy if seat in wary else "n/a" for seat in civilians}


def test_false_clues_count_first() -> None:
    game = make("spy?rounds=1&civilians=3")
    table = {**dict.fromkeys(game.seats, "bot/vague?share=0"), "civilian_2": "bot/vague"}
    suspected = 0
    for seed in range(20):
        trusting, _ = votes(game, table, seed)
        wary, _ = votes(game, {**table, "civilian_1": f"{WARY}?share=0&wary=1"}, seed)
        assert wary["civilian_1"] != "n/a"
        assert trusting["civilian_1"] in (wary["civilian_1"], "n/a")
        suspected += trusting["civilian_1"] == "n/a"
    assert 0 < suspected < 20


def test_by_default_in_a_fifth_of_such_votes() -> None:
    game = make("spy?rounds=1")
    table = {**dict.fromkeys(game.seats, f"{WARY}?share=0"), "spy": "bot/vague"}
    found = [vote for seed in range(40) for vote in votes(game, table, seed)[0].values()]
    assert 0.1 < 1 - found.count("n/a") / len(found) < 0.3
