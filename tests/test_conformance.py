"""Every registered game keeps every rule of the contract, and every rule can fail."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest

from ludens import GAMES, Episode, Game, PlayConfig, make, verify
from ludens.core.errors import MoveError
from ludens.core.random import Stream, stream
from ludens.core.state import State
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.testing import RULES, ConformanceError, Trial, check_game, states, views
from tests.support.broken_twins import BROKEN
from tests.support.pebbles import Pebbles, PebblesState, Talk
from tests.support.playable import playable
from tests.support.players import Scripted

WITH_OPTIONS = ("perceive?codes=random",)
"""Specs with options of which more than pictures depend on the seed."""


ONE_OF_EACH_KIND = {"tic_tac_toe", "sudoku", "qa", "hanabi", "comma/wire", "spy", "viki/plan"}
"""Games whose rules and readers are built like those of many others, which get one seed and a tenth of the
junk; with `--slow` they get all of it."""
TWO_SEEDS = {*ONE_OF_EACH_KIND, *WITH_OPTIONS, "files"}
"""The last one asks other questions on other seeds, and nothing else of it depends on them."""


@pytest.mark.parametrize("name", [*GAMES.names(), *WITH_OPTIONS])
def test_registered_games_keep_every_rule(name: str) -> None:
    check_game(playable(name), seeds=(0, 1) if name in TWO_SEEDS else (0,))


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES.names())
def test_registered_games_keep_every_rule_on_more_seeds(name: str) -> None:
    check_game(playable(name), seeds=(1, 2, 3, 4))


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES.names())
def test_actions_list_what_is_legal_in_a_thousand_states(name: str) -> None:
    """A thousand by the length of the first walk; together, as one row of a file may allow no text."""
    game = playable(name)
    first = sum(1 for _ in Trial(game, seeds=(1000,)).states())
    states.every_legal_action_is_listed(Trial(game, seeds=range(1000, 1001 + 1000 // first)))


@pytest.mark.parametrize("game", [Pebbles(), Pebbles(heap=25), Pebbles(heap=1), Talk(), Talk(rounds=1)])
def test_sound_games_pass(game: Game) -> None:
    check_game(game)


async def test_a_running_event_loop_is_no_obstacle() -> None:
    check_game(Talk())


@pytest.mark.parametrize(("rule", "game"), BROKEN, ids=[type(game).__name__ for _, game in BROKEN])
def test_a_broken_game_fails_by_the_rule_it_breaks(rule: str, game: Game) -> None:
    with pytest.raises(ConformanceError) as failure:
        check_game(game)
    assert failure.value.rule == rule
    assert str(failure.value).startswith(f"{game.name} breaks the rule '{rule}': ")
    assert "\n" not in str(failure.value)


def test_every_rule_has_a_game_that_breaks_it() -> None:
    assert {rule for rule, _ in BROKEN} == {rule.name for rule in RULES}


def test_rules_can_be_listed_and_checked_alone() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.says.endswith("."), rule
        rule(Trial(Pebbles(), seeds=(5,)))


def test_the_error_names_seed_and_step() -> None:
    [endless] = [game for rule, game in BROKEN if rule == "games end"]
    with pytest.raises(ConformanceError, match=r"did not end in 30 steps \(seed 4, step 30\)\.$") as failure:
        states.games_end(Trial(endless, seeds=(4,), steps=30))
    assert (failure.value.seed, failure.value.step) == (4, 30)


def test_an_accident_inside_a_game_is_reported_with_its_cause() -> None:
    class Clumsy(Pebbles):
        def start(self, seed: int):  # type: ignore[no-untyped-def]
            raise KeyError("deck")

    with pytest.raises(ConformanceError, match="KeyError was raised: 'deck'") as failure:
        states.same_seed_same_episode(Trial(Clumsy()))
    assert isinstance(failure.value.__cause__, KeyError)


def test_an_unknown_theme_is_reported() -> None:
    with pytest.raises(ConformanceError, match="did you mean 'classic'"):
        check_game(make("tic_tac_toe"), views=[RenderOptions("clasic")])


@pytest.mark.parametrize("seeds", [(0,), (0, 1), (3,)])
def test_rules_that_depend_on_the_seed_are_told_apart_from_side_effects(seeds: tuple[int, ...]) -> None:
    [coded] = [game for _, game in BROKEN if type(game).__name__ == "RulesOfOneSeed"]
    with pytest.raises(ConformanceError, match="the rules of left depend on the seed that the view was made"):
        check_game(coded, seeds=seeds)
    with pytest.raises(ConformanceError, match="one view is used for all seeds"):
        views.rendering_has_no_side_effects(Trial(coded, seeds=seeds))


def test_pictures_that_differ_by_the_call_do_not_replay() -> None:
    [counting] = [game for _, game in BROKEN if type(game).__name__ == "CountsLooks"]
    with pytest.raises(ConformanceError, match="differ"):
        states.replay_renders_the_same_pictures(Trial(counting))


class Alone(Pebbles):
    """Pebbles for one: only the wind is hidden."""

    @property
    def seats(self) -> tuple[str, ...]:
        return ("left",)


class AloneState(PebblesState):
    def _advance(self, actions: Mapping[str, str]) -> None:
        super()._advance(actions)
        self.mover = 0


def alone(reimagines: bool) -> Game:
    class Shown(AloneState):
        def resample_hidden(self, seat: str, random: Stream) -> Self:
            return super().resample_hidden(seat, random) if reimagines else self.clone()

    class Hidden(Alone):
        def start(self, seed: int) -> State:
            return Shown(self, {"left": 3}, stream(seed, "wind"))

    return Hidden()


def test_a_seat_alone_is_kept_from_its_future() -> None:
    check_game(alone(reimagines=True))
    with pytest.raises(ConformanceError, match="changes nothing"):
        check_game(alone(reimagines=False))


JUNK = ("x", "<think>", "[", "1 ", "Action: \n", "\n-", "🙂", "[[1, 2], ", "cut_wire_1\n")
SIZES = [
    pytest.param(name, size, marks=[] if (size == 10**6) == (name in ONE_OF_EACH_KIND) else pytest.mark.slow)
    for name in GAMES.names()
    for size in (10**5, 10**6)
]


@pytest.mark.parametrize(("name", "size"), SIZES)
def test_a_megabyte_of_junk_is_a_recorded_verdict(name: str, size: int) -> None:
    """Read whole, it is refused or read in time; at the table it costs a try, and nothing is lost."""
    texts = [junk * (size // len(junk.encode())) for junk in JUNK]
    game = playable(name)
    state = game.start(0)
    view = game.view(RenderOptions())
    readers = {repr((view.format(state, seat), state.legal(seat))): seat for seat in state.to_act}
    for seat in readers.values():
        for text in texts:
            with suppress(MoveError):
                view.format(state, seat).read(text, state.legal(seat))
    players = {seat: Scripted(says=texts) for seat in game.seats}
    episode = asyncio.run(play(game, players, 0, config=PlayConfig(retries=1, horizon=2)))
    assert episode.status in ("done", "horizon")
    assert sum(len(move.tries) for move in episode.moves) == sum(
        len(player.asks) for player in players.values()
    )
    assert verify(Episode.from_json(episode.to_json())).pictures > 0


SAME_EVERYWHERE = """
import sys
from ludens import GAMES, make
from ludens.core.errors import MissingExtra
from ludens.core.view import RenderOptions
from ludens.testing import Trial
from ludens.testing.states import play_episode
for name in GAMES.names():
    try:
        print(name, play_episode(Trial(make(name)), 9, RenderOptions("random", 256), 12).fingerprint())
    except MissingExtra as missing:
        print(name, missing)
"""


def test_episodes_do_not_depend_on_the_hash_seed_of_the_process() -> None:
    """Sets of strings come in another order in every process; no episode may notice."""
    root = Path(__file__).parent.parent

    def fingerprints(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root / "src")}
        command = [sys.executable, "-c", SAME_EVERYWHERE]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    ours = fingerprints("1")
    assert len(ours.splitlines()) == len(GAMES.names())
    assert fingerprints("2") == ours
