"""PettingZoo's own tests pass on every game with listed actions; rewards and deals are those of Ludens."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="the extra 'gym' is not installed")

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # with pygame installed, it imports its own games
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from ludens import RenderOptions, make
from ludens.adapters.pettingzoo import aec_env, parallel_env
from ludens.core.errors import BadOption
from ludens.core.view import view_of
from tests.adapters.games import QUICK, listed_games, listed_params
from tests.support.playable import playable

GAMES = listed_games()
# They warn where observations are dicts and where agents are not called "word_0".
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_version() -> None:
    assert version("pettingzoo").startswith("1.27.")


def test_every_game_with_listed_actions_is_tested() -> None:
    assert {"chess", "hanabi", "kuhn_poker", "overcooked", "pong", "pong?players=2", "sudoku"} <= {*GAMES}
    assert {*GAMES} > QUICK
    assert len([game for game in GAMES if game.startswith("comma/panel")]) == 10


@pytest.mark.parametrize("spec", listed_params())
def test_pettingzoo_accepts_the_game(spec: str) -> None:
    playable(spec)
    api_test(aec_env(spec), num_cycles=20)
    parallel_api_test(parallel_env(spec), num_cycles=20)
    seed_test(lambda: aec_env(spec), num_cycles=10)
    parallel_seed_test(lambda: parallel_env(spec), num_cycles=10)
    render_test(lambda render_mode=None: aec_env(spec, render_mode=render_mode))


def random_action(env: Any, agent: str, dice: np.random.Generator) -> int:
    mask = env.observe(agent)["action_mask"]
    return int(dice.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("spec", ["tic_tac_toe", "kuhn_poker", "coin_dilemma", "tiny_hanabi"])
def test_rewards_add_up_to_the_returns_of_the_same_deal(spec: str) -> None:
    env, dice, game = aec_env(spec, observed="nothing"), np.random.default_rng(3), make(spec)
    env.reset(seed=11)
    state, earned = game.start(11), dict.fromkeys(game.seats, 0.0)
    while True:
        agent = env.agent_selection
        _, reward, termination, _, _ = env.last()
        earned[agent] += reward
        if termination:
            break
        joint = {}
        for seat in state.to_act:
            assert env.agent_selection == seat
            assert env.observe(seat)["action_mask"].sum() == len(state.legal(seat))
            number = random_action(env, seat, dice)
            joint[seat] = env.action_names(seat)[number]
            if seat != agent:
                earned[seat] += env.last()[1]
            env.step(number)
        state.apply(joint)
    assert state.over
    for agent in env.agents:
        earned[agent] += env._cumulative_rewards[agent] if agent != env.agent_selection else 0
    assert earned == state.returns


def test_observations_are_the_pictures_of_the_seat() -> None:
    render = RenderOptions("contrast", 320)
    env, game = aec_env("hanabi", render=render), make("hanabi")
    env.reset(seed=4)
    state = game.start(4)
    for seat in game.seats:
        picture = view_of(game, render, 4).image(state, seat)
        observation = env.observe(seat)["observation"]
        assert np.array_equal(observation, picture.rgb())
        assert observation.flags.writeable
    assert env.observe("player_1")["action_mask"].sum() == 0


def test_pictures_are_stacked_latest_last() -> None:
    env = aec_env("overcooked", stack=3)
    env.reset(seed=0)
    first = env.observe("chef_0")["observation"]
    assert first.shape[0] == 3
    assert np.array_equal(first[0], first[2])
    for _ in range(2):
        env.step(env.action_names("chef_0").index("LEFT"))
    second = env.observe("chef_0")["observation"]
    assert np.array_equal(second[1], first[2])
    assert not np.array_equal(second[2], second[1])


@pytest.mark.parametrize("spec", ["tic_tac_toe", "hanabi", "kuhn_poker", "chess"])
def test_tensors_are_those_of_openspiel(spec: str) -> None:
    env = aec_env(spec, observed="tensor")
    env.reset(seed=5)
    state, seats = make(spec).start(5), env.possible_agents
    for player, seat in enumerate(seats):
        tensor = env.observe(seat)["observation"]
        assert np.allclose(tensor.ravel(), state.spiel.observation_tensor(player))
        assert env.observation_space(seat)["observation"].contains(tensor)


def test_an_illegal_action_changes_nothing() -> None:
    env = aec_env("tic_tac_toe", observed="nothing")
    env.reset(seed=0)
    env.step(4)
    env.step(4)
    assert env.agent_selection == "o"
    assert env.infos["o"] == {"illegal": True}
    env.step(0)
    assert env.infos["o"] == {}
    assert env.agent_selection == "x"
    both = parallel_env("tic_tac_toe", observed="nothing")
    both.reset(seed=0)
    both.step({"x": 4, "o": 0})
    *_, infos = both.step({"x": 0, "o": 4})
    assert infos == {"x": {}, "o": {"illegal": True}}


def test_episodes_are_truncated_at_the_horizon() -> None:
    env = parallel_env("coin_dilemma", observed="nothing", horizon=3)
    env.reset(seed=0)
    for step in range(3):
        _, _, ended, cut, _ = env.step({"red": 0, "blue": 0})
        assert cut == dict.fromkeys(("red", "blue"), step == 2)
        assert not any(ended.values())
    assert env.agents == []


def test_deals_follow_from_the_last_seed() -> None:
    envs = [parallel_env("coin_dilemma") for _ in "ab"]
    pictures = []
    for env in envs:
        env.reset(seed=9)
        deals = [env.reset()[0]["red"]["observation"] for _ in range(3)]
        pictures.append(deals)
        assert not np.array_equal(deals[0], deals[1])
    assert all(np.array_equal(a, b) for a, b in zip(*pictures, strict=True))


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("spy", {}, "may say any text"),
        ("comma/wire", {}, "comma/panel\\?moves=single"),
        ("pong", {"observed": "tensor"}, "not on OpenSpiel"),
        ("kuhn_poker?infoset=Qpb", {"observed": "tensor"}, "no tensor with these options"),
        ("chess", {"observed": "board"}, "not 'board'"),
        ("chess", {"render_mode": "window"}, "not 'window'"),
        ("chess", {"stack": 0}, "1 to 16"),
    ],
)
def test_wrong_input_gets_a_sentence(spec: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadOption, match=message):
        aec_env(spec, **options)
