"""clue=informative: clues that say too little are refused."""

from __future__ import annotations

import re

import pytest

from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.config import PlayConfig
from ludens.core.errors import BadOption, Illegal
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of
from ludens.games.spy.game import Spy, lowest_clue_rewards
from ludens.rebuild import samples
from ludens.testing import check_game
from tests.support.players import Scripted

FULL, VAGUE = "There is a large red metal cube", "There is a large metal object"


def informative(**options: int) -> Spy:
    return Spy(clue="informative", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("clue", "reason"),
    [
        (FULL, None),
        (VAGUE, r"false of 2\d% of other pictures, and 60% are needed"),
        ("The picture is lovely", "false of 0%"),
        ("", None),  # no clue, the fallback
    ],
)
def test_a_clue_must_be_false_of_most_pictures(clue: str, reason: str | None) -> None:
    state = informative().start(0)
    refusal = state.refusal(state.to_act[0], clue)
    assert refusal is None if reason is None else re.search(reason, refusal or "")
    free = Spy().start(0)
    assert free.refusal(free.to_act[0], clue) is None


def test_a_clue_is_not_said_twice() -> None:
    state = informative().start(0)
    state.apply({state.to_act[0]: FULL})
    with pytest.raises(Illegal, match="repeats an earlier one"):
        state.apply({state.to_act[0]: FULL.upper()})
    state.apply({state.to_act[0]: "There is a small red metal cube"})


def test_players_are_told_the_rule() -> None:
    told, free = (view_of(game, RenderOptions(), 0).rules("spy") for game in (informative(), Spy()))
    assert "at least 60% of other pictures" in told
    assert told.startswith(free)
    half = Spy(clue="informative", least=0.5)
    assert "at least 50%" in view_of(half, RenderOptions(), 0).rules("spy")


def test_a_refused_clue_is_no_clue_and_earns_least() -> None:
    game = informative(civilians=2, rounds=1)
    players = {
        seat: Scripted([f"\\boxed{{There is a {size} red metal cube}}", "\\boxed{N/A}"])
        for seat, size in (("civilian_1", "small"), ("civilian_2", "large"))
    }
    players["spy"] = Scripted([f"\\boxed{{{VAGUE}}}"])
    episode = play_sync(game, players, 0, config=PlayConfig(retries=0))
    taken = list(samples(episode))
    [refused] = [move for move in episode.moves if move.seat == "spy"]
    assert (refused.action, refused.tries[0].verdict) == ("", "illegal")
    assert "says too little" in refused.tries[0].reason
    rewards = {sample.role: sample.reward for sample in taken if sample.stage == "clue"}
    state = game.start(0)
    for clue in ("", FULL, "There is a small red metal cube"):
        state.apply({state.to_act[0]: clue})
    measured = game.measures(state)
    assert measured["clues refused"] == pytest.approx(1 / 3)
    assert measured["clue informativeness"] > 0.9
    assert rewards == {"spy": lowest_clue_rewards(2, 2)[0], "civilian": 0.0}


@pytest.mark.parametrize("bot", ["random", "oracle", "blunt", "clever"])
def test_bots_say_enough(bot: str) -> None:
    game = make("spy?clue=informative&civilians=4&rounds=2")
    for seed in range(3):
        episode = play_sync(game, dict.fromkeys(game.seats, agent(f"bot/{bot}", game)), seed)
        assert {move.verdict for move in episode.moves} == {"ok"}
        clues = [move.action for move in episode.moves if move.action and len(move.action) > 3]
        assert len({clue.lower() for clue in clues}) == len(clues) == 10


@pytest.mark.parametrize("bot", ["vague", "blind"])
def test_bots_that_say_too_little_say_so(bot: str) -> None:
    game = make("spy?clue=informative")
    with pytest.raises(BadOption, match="say too little"):
        play_sync(game, dict.fromkeys(game.seats, agent(f"bot/{bot}", game)), 0)


def test_pictures_without_descriptions_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.games.spy.game.kind_of", lambda source: "photo")
    with pytest.raises(BadOption, match="described scenes"):
        make("spy?clue=informative")


def test_the_variant_keeps_every_rule() -> None:
    game: Game = make("spy?civilians=2&rounds=1&clue=informative")
    check_game(game, seeds=(0,), views=(RenderOptions("classic", 256),))
