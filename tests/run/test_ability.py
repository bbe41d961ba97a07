"""The map of games: scores, legal replies and verdicts of a player; kept, continued and shown."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ludens.agents import AGENTS
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadFile, LudensError, UsageError
from ludens.core.registry import make
from ludens.run.ability import (
    BEST,
    BLIND,
    CONTROL,
    PLAYER,
    RANDOM,
    Ability,
    AbilityMap,
    AbilityScore,
    measure_ability,
    measure_all,
    usual_games,
)

EPISODES, SECONDS = 6, 60.0


@dataclass
class Mumbling(Agent):
    """Says something else before some moves; in the seat of o it never moves."""

    kind = "bot/mumbling"
    sees = "nothing"
    asked = 0

    async def act(self, ask: Ask) -> Reply:
        self.asked += 1
        if ask.seat == "o" or (self.asked % 3 == 1 and not ask.refused):
            return Reply("I think so")
        return Reply(ask.legal.first, ask.legal.first)


def test_legal_first_replies_and_fallbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS._added, Mumbling.kind, Mumbling)
    found = measure_ability("tic_tac_toe", Mumbling.kind, None, EPISODES, SECONDS)
    assert 0 < found.fallbacks < 1
    assert 0 < found.legal < 1 - found.fallbacks
    assert found.moves >= 3 * EPISODES
    assert not found.offered
    assert CONTROL not in found.scores


def test_scores_of_all_players_on_the_same_seeds() -> None:
    found = measure_ability("tic_tac_toe?opening=2", "bot/minimax", "bot/first", 20, SECONDS)
    assert (found.game, dict(found.options), found.others) == ("tic_tac_toe", {"opening": 2}, "bot/random")
    assert found.spec == "tic_tac_toe?opening=2"
    assert set(found.scores) == {PLAYER, CONTROL, BLIND, RANDOM, BEST}
    assert found.scores[PLAYER].mean == found.scores[BEST].mean
    assert (found.legal, found.fallbacks, found.share) == (1, 0, 1)
    assert found.offered


def row(**means: float) -> Ability:
    scores = {name: AbilityScore("bot/any", mean, 0.1, 20) for name, mean in means.items()}
    return Ability("tic_tac_toe", {}, "bot/random", scores, 1.0, 0.0, 100)


def test_verdicts() -> None:
    looks = row(player=0.5, control=0.0, blind=0.2, random=0.0, best=1.0)
    assert looks.above_blind
    assert looks.share == 0.5
    assert looks.offered
    assert not replace(looks, legal=0.89).offered
    assert not row(player=0.5, control=0.4, blind=0.0, random=0.0, best=1.0).above_blind, "by chance"
    assert not row(player=0.5, control=0.0, blind=0.4, random=0.0, best=1.0).offered
    assert row(player=0.8, control=0.8, blind=0.8, random=0.0, best=1.0).offered, "near the best"
    assert row(player=0.5, random=1.0, best=1.0).share is None


def test_a_map_is_written_read_and_continued(tmp_path: Path) -> None:
    played = list[str]()

    def measure(spec: str) -> Ability:
        played.append(spec)
        options = {name: value for name, value in make(spec).options.items() if value and name == "opening"}
        return replace(row(player=0.5, random=0.0, best=1.0), options=options)

    specs = ["tic_tac_toe", "no_such_game", "tic_tac_toe?opening=2"]
    steps = dict(measure_all(AbilityMap("nano", "abc"), specs, measure))
    assert isinstance(steps["no_such_game"], UsageError)
    found = steps[specs[-1]]
    assert isinstance(found, AbilityMap)
    found.write(tmp_path / "map.json")
    read = AbilityMap.read(tmp_path / "map.json")
    assert read == found
    assert len(read.games) == len(played) == 2
    assert "| `tic_tac_toe?opening=2` | `bot/random` | 0.50 (20) |" in read.markdown()
    list(measure_all(read, [*specs, "tic_tac_toe?opening=3"], measure))
    assert played == ["tic_tac_toe", "tic_tac_toe?opening=2", "tic_tac_toe?opening=3"]


def measured_in_a_process(spec: str) -> Ability:
    if "opening" not in spec:
        raise UsageError("it has no opening.")
    if "opening=9" in spec:
        os._exit(3)
    options = {"opening": make(spec).options["opening"]}
    return replace(row(player=float(os.getpid()), random=0.0, best=1.0), options=options)


def test_a_map_of_weights_that_were_moved() -> None:
    specs = {PLAYER: "nano/some/where?device=int8", BLIND: "bot/first"}
    scores = {who: AbilityScore(spec, 0.5, 0.1, 4) for who, spec in specs.items()}
    before = AbilityMap("nano/some/where", "abc", (Ability("pong", {}, "", scores, 1.0, 0.0),))
    after = before.called("nano")
    assert (after.model, after.fingerprint) == ("nano", "abc")
    assert {who: score.spec for who, score in after.games[0].scores.items()} == {
        PLAYER: "nano?device=int8",
        BLIND: "bot/first",
    }


def test_processes_measure_a_game_each_and_leave_out_what_fails() -> None:
    kept = replace(row(player=0.5, random=0.0, best=1.0), options={"opening": 1})
    specs = ["no_such_game", "tic_tac_toe", *(f"tic_tac_toe?opening={number}" for number in (1, 2, 3, 4))]
    steps = list(measure_all(AbilityMap("nano", "abc", (kept,)), specs, measured_in_a_process, 2))
    failed = {spec: str(step) for spec, step in steps if isinstance(step, UsageError)}
    assert failed.pop("tic_tac_toe") == "it has no opening."
    assert list(failed) == ["no_such_game"]
    maps = [step for _, step in steps if isinstance(step, AbilityMap)]
    assert [len(step.games) for step in maps] == [1, 2, 3, 4]
    assert [dict(each.options) for each in maps[-1].games] == [{"opening": n} for n in (1, 2, 3, 4)]
    assert kept in maps[-1].games
    assert os.getpid() not in {each.scores[PLAYER].mean for each in maps[-1].games}


def test_a_process_that_dies_is_told_of_in_one_sentence() -> None:
    with pytest.raises(LudensError, match="ended with code 3"):
        list(measure_all(AbilityMap("nano", "abc"), ["tic_tac_toe?opening=9"], measured_in_a_process, 2))


def test_no_room_above_blind_play() -> None:
    full = row(player=0.9, control=0.2, blind=0.9, random=0.0, best=1.0)
    assert not full.has_room, "0.1 is less than the error of both"
    assert not row(player=0.0, blind=1.0, best=0.3).has_room
    assert row(player=0.0, blind=0.5, best=1.0).has_room
    assert row(player=0.0, best=1.0).has_room, "nothing is known of blind play"
    above = row(player=2.0, control=0.2, blind=0.9, random=0.0, best=1.0)
    short = row(player=0.5, control=0.4, blind=0.0, random=0.0, best=1.0)
    found = AbilityMap("nano", "abc", (full, above, short, short))
    cells = [line.split(" | ")[9] for line in found.markdown().splitlines()[2:6]]
    assert cells == ["no room", "yes", "no", "no"]
    assert "1 of 4 games; not above: 2; no room" in found.summary()
    assert found.summary().endswith("bot: 1.")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"games": 3}', '{"model": "", "fingerprint": "", "games": [{}]}']
)
def test_files_that_are_no_map(text: str, tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(BadFile, match="not a map of games"):
        AbilityMap.read(tmp_path / "map.json")


def test_all_games_with_presets() -> None:
    assert {"chess", "kuhn_poker", "viki/plan", "comma/atm"} <= set(usual_games())
    assert "files" not in usual_games()
