"""Gymnasium's checker passes on every seat of every game with listed actions; bots fill the other seats."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra 'gym' is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from ludens import RenderOptions, make, verify  # noqa: E402
from ludens.adapters.gymnasium import ID, LudensEnv  # noqa: E402
from ludens.adapters.table import Turns  # noqa: E402
from ludens.core.errors import BadOption, UnknownName  # noqa: E402
from tests.adapters.games import listed_params  # noqa: E402
from tests.support.playable import playable  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_version() -> None:
    assert version("gymnasium").startswith("1.4.")


@pytest.mark.parametrize("spec", listed_params())
def test_gymnasium_accepts_every_seat(spec: str) -> None:
    for seat in playable(spec).seats:
        check_env(LudensEnv(spec, seat))


def finish(env: Any, seed: int) -> float:
    """Play an episode at random; returns the sum of rewards."""
    dice, total = np.random.default_rng(seed), 0.0
    _, info = env.reset(seed=seed)
    over = False
    while not over:
        action = int(dice.choice(np.flatnonzero(info["action_mask"])))
        _, reward, terminated, truncated, info = env.step(action)
        total, over = total + reward, terminated or truncated
    return total


@pytest.mark.parametrize(
    ("spec", "seat", "others"),
    [
        ("tic_tac_toe", "o", "bot/minimax"),
        ("coin_dilemma", "blue", "bot/random"),
        ("hanabi?players=3", "player_1", {"player_0": "bot/first", "player_2": "bot/random"}),
        ("comma/panel?moves=single&puzzle=maze", "solver", "bot/random"),
    ],
)
def test_an_episode_is_one_of_ludens(spec: str, seat: str, others: Any) -> None:
    env = LudensEnv(spec, seat, others)
    for seed in (3, 4):
        total = finish(env, seed)
        episode = env.episode
        assert episode is not None
        assert episode.status == "done"
        assert episode.seed == seed
        assert episode.returns[seat] == pytest.approx(total)
        assert verify(episode, make(spec)).pictures > 0


def test_the_best_bot_beats_random_play_as_ludens_says() -> None:
    env = LudensEnv("tic_tac_toe", "x", "bot/minimax", observed="nothing")
    assert max(finish(env, seed) for seed in range(20)) <= 0


def test_an_illegal_action_earns_the_penalty_and_changes_nothing() -> None:
    env = LudensEnv("tic_tac_toe", "x", "bot/first", penalty=-0.5)
    first, _ = env.reset(seed=0)
    second, *_ = env.step(4)
    assert not np.array_equal(first, second)
    third, reward, terminated, truncated, info = env.step(4)
    assert (reward, terminated, truncated, info["illegal"]) == (-0.5, False, False, True)
    assert np.array_equal(second, third)
    assert env.unwrapped.action_masks().sum() == 7


def test_tries_are_limited() -> None:
    env = LudensEnv("tic_tac_toe", horizon=3)
    env.reset(seed=0)
    env.step(4)
    assert env.step(4)[2:4] == (False, False)
    assert env.step(4)[2:4] == (False, True)


def test_it_is_registered_and_vectorised() -> None:
    render = RenderOptions(size=256)
    envs = gymnasium.make_vec(ID, num_envs=3, game="pong", render=render, observed="image")
    observations, infos = envs.reset(seed=[5, 6, 5])
    assert observations.shape == (3, 256, 256, 3)
    assert np.array_equal(observations[0], observations[2])
    assert not np.array_equal(observations[0], observations[1])
    assert infos["action_mask"].shape == (3, 3)
    observations, rewards, *_ = envs.step(np.array([0, 1, 0]))
    assert np.array_equal(observations[0], observations[2])
    assert rewards.shape == (3,)
    envs.close()
    single = gymnasium.make(ID, game="reversi", seat="white", others="bot/first")
    assert single.action_space.n == 65
    single.close()


def test_vectors_in_processes_give_the_same_observations() -> None:
    options: dict[str, Any] = {"game": "coin_dilemma", "others": "bot/random", "observed": "image"}
    results = []
    for mode in ("sync", "async"):
        envs = gymnasium.make_vec(ID, num_envs=2, vectorization_mode=mode, **options)
        envs.reset(seed=[1, 2])
        for action in (1, 2, 3):
            observations, rewards, *_ = envs.step(np.array([action, action]))
        results.append((observations.copy(), rewards.copy()))
        envs.close()
    assert np.array_equal(results[0][0], results[1][0])
    assert np.array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"seat": "z"}, UnknownName, "unknown seat of tic_tac_toe 'z'"),
        ({"others": {"x": "bot/random"}}, UnknownName, "other seat"),
        ({"others": "vllm/m@http://127.0.0.1:1/v1"}, BadOption, "only by bots"),
    ],
)
def test_wrong_seats_get_a_sentence(options: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        LudensEnv("tic_tac_toe", **options)


def test_turns_in_words_inside_an_event_loop() -> None:
    async def main() -> None:
        seat = Turns("tic_tac_toe", ("x",), "bot/first", sees="text")
        ask = seat.reset(2)
        assert ask is not None
        assert ask.observation.text
        again = seat.reply("I would rather not.")
        assert again is not None
        assert again.refused
        assert seat.state.legal("x") == ask.legal
        while (now := seat.ask) is not None:
            seat.reply(now.format.write(now.legal[-1]))
        assert seat.episode is not None
        assert seat.episode.moves[0].verdict == "retried"
        with pytest.raises(BadOption, match="call reset"):
            seat.act("A1")
        seat.reset(3)
        seat.close()

    asyncio.run(main())


def test_the_preset_of_a_game_fills_the_other_seats() -> None:
    env = LudensEnv("tic_tac_toe?preset=hard", "x", observed="nothing")
    finish(env, 5)
    assert env.episode is not None
    assert env.episode.seats["o"] == "bot/minimax"
    assert env.episode.options["opening"] == 2
    env = LudensEnv("tic_tac_toe?preset=hard", "x", "bot/first", observed="nothing")
    finish(env, 5)
    assert env.episode is not None
    assert env.episode.seats["o"] == "bot/first"


def test_pictures_can_be_small() -> None:
    env = LudensEnv("pong", render=RenderOptions(size=64), stack=4)
    observation, _ = env.reset(seed=1)
    assert observation.shape == (4, 64, 64, 3)
    with pytest.raises(BadOption, match="at least 128 pixels"):
        LudensEnv("chess", render=RenderOptions(size=64))
