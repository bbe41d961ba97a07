"""`bot/blind`: never looks, learns from results, and reaches what the rules give away."""

from __future__ import annotations

import pytest

from ludens.agents import agent
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.random import stream
from ludens.core.sync import run_sync
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.bots import advice_by_frequency
from ludens.games.comma.dialogue import Dialogue
from ludens.loop import play
from tests.games.comma.common import PUZZLES, make


def played(
    name: str, seed: int, *, solver: str = "bot/blind", expert: str = "bot/blind", **options: object
) -> Episode:
    game = make(name, **options)
    return run_sync(play(game, {"solver": agent(solver, game), "expert": agent(expert, game)}, seed))


def solved(name: str, seeds: int, **options: object) -> int:
    return sum(played(name, seed, **options).facts["solved"] for seed in range(seeds))


@pytest.mark.parametrize("name", PUZZLES)
def test_it_does_not_look(name: str) -> None:
    """On panels that differ only in what is drawn, its first message is the same."""
    game = make(name)
    states = [game.start(seed) for seed in range(40)]
    alike = [state for state in states if state.puzzle.actions == states[0].puzzle.actions]
    for state in alike[1:]:
        state.puzzle = state.puzzle.briefed_as(alike[0].puzzle)

    def first(state: Dialogue) -> str:
        return agent("bot/blind", game).sit(game, "solver", stream(0, "test"))._solve(state)  # type: ignore[attr-defined, no-any-return]

    assert len(alike) > 5
    assert len({first(state) for state in alike[:3]}) == 1


def test_it_does_not_repeat_a_mistake() -> None:
    for seed in range(12):
        log = played("comma/wire", seed).facts["log"]
        assert len({words for _, words, _ in log}) == len(log)


def test_guessing_pays_with_three_mistakes_and_not_with_one() -> None:
    """Three of three to six wires can be tried; ATM has two transactions, and the PIN is told in words."""
    assert solved("comma/wire", 30) >= 24
    assert solved("comma/wire", 30, mistakes=1) <= 22
    assert solved("comma/atm", 3) == 3
    assert solved("comma/atm", 4, mistakes=1) < 4


async def test_the_expert_says_the_most_frequent_advice_first() -> None:
    game = make("comma/who")
    state = game.start(0)
    advice = advice_by_frequency(game, state.manual)
    assert len(set(advice)) == len(advice) > 1
    state.apply({"solver": "hello"})
    seated = agent("bot/blind", game).sit(game, "expert", stream(0, "test"))
    ask = build_ask(view_of(game, RenderOptions(), 0), state, "expert", "state", PlayConfig())
    assert (await seated.act(ask)).text == advice[0]


@pytest.mark.parametrize(("name", "lines"), [("comma/password", 243), ("comma/maze", 300)])
def test_sweeping_through_everything_in_one_message_is_worth_nothing(name: str, lines: int) -> None:
    """The panel is judged after a message: passing the right word or place within it does not count."""
    for seed in range(5):
        state = make(name).start(seed)
        random, reached = stream(seed, "walk"), 0.0
        moves = [action for action in state.puzzle.actions if action not in ("submit", "check_position")]
        walk = [random.choice(moves) for _ in range(lines)]
        twin = state.puzzle.clone()
        for action in walk:
            twin.act(action)
            reached = max(reached, twin.progress)
        state.apply({"solver": "\n".join(walk)})
        assert state.partial == twin.progress < reached
