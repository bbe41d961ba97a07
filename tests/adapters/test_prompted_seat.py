"""One seat stepped from outside, for VAGEN and TRL: episodes are those of `play`, and can be verified."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from ludens.adapters.prompted_seat import PromptedSeat
from ludens.adapters.trl import environment
from ludens.adapters.vagen import LudensVagenEnv
from ludens.core.errors import BadOption, UnknownName
from ludens.core.verify import verify


def first_action(session: PromptedSeat) -> str:
    assert session.ask is not None
    return session.ask.format.write(session.ask.legal[0])


def test_an_episode_is_played_and_verified() -> None:
    session = PromptedSeat("tic_tac_toe", "o", {"x": "bot/first"})
    assert session.reset(3) is not None
    refused = session.reply("Action: nowhere")
    assert refused is not None
    assert refused.refused
    while session.ask is not None:
        session.reply(first_action(session))
    assert session.episode is not None
    assert session.episode.seats["x"] == "bot/first"
    assert session.episode.moves[1].verdict == "retried"
    assert session.reward == session.episode.returns["o"]
    verify(session.episode)
    with pytest.raises(BadOption):
        session.reply("Action: A1")


def test_an_episode_can_be_left() -> None:
    session = PromptedSeat("tic_tac_toe")
    session.reset(0)
    session.close()
    assert session.episode is not None
    assert session.episode.status == "void"
    assert session.reward == 0.0
    assert session.reset(1) is not None
    session.close()


def test_wrong_seats() -> None:
    with pytest.raises(UnknownName):
        PromptedSeat("tic_tac_toe", "white")
    with pytest.raises(UnknownName):
        LudensVagenEnv({"gam": "tic_tac_toe"})


async def vagen_loop(env: Any, seed: int, model: Any) -> tuple[list[dict[str, Any]], float, dict[str, Any]]:
    """What VAGEN's rollout does with an environment: system prompt, first observation, turns."""
    seen = [await env.system_prompt()]
    observation, _ = await env.reset(seed)
    seen.append(observation)
    total, done, info = 0.0, False, {}
    while not done:
        observation, reward, done, info = await env.step(model(observation))
        seen.append(observation)
        total += reward
    await env.close()
    return seen, total, info


async def test_the_protocol_of_vagen() -> None:
    env = LudensVagenEnv({"game": "tic_tac_toe", "others": {"o": "bot/first"}, "size": 256})

    def model(observation: dict[str, Any]) -> str:
        listed = observation["obs_str"].partition("Your legal actions: ")[2].splitlines()[0]
        return f"Action: {listed.split(', ')[-1]}"

    system, *turns = (await vagen_loop(env, 1, model))[0]
    assert "tic-tac-toe" in system["obs_str"]
    for observation in turns[:-1]:
        images = observation["multi_modal_input"]["<image>"]
        assert observation["obs_str"].count("<image>") == len(images) == 1
        assert images[0].size == (256, 256)
    _, total, info = await vagen_loop(env, 1, model)
    assert info["returns"]["x"] == total
    assert info["status"] == "done"
    _, _, info = await vagen_loop(env, 2, lambda observation: "hm")
    assert info["verdicts"]["fallback"] > 0


def test_tools_of_trl_return_pictures() -> None:
    made = environment("tic_tac_toe", "x", {"o": "bot/first"})()
    tools = {
        name
        for name, _ in inspect.getmembers(type(made), predicate=inspect.isfunction)
        if not name.startswith("_") and name not in ("reset", "get_reward")
    }
    assert tools == {"look", "act"}
    first = made.reset(seed=4, prompt="ignored")
    assert [part["type"] for part in first] == ["text", "image", "text"]
    looked = made.look()
    assert looked[0]["image"].tobytes() == first[1]["image"].tobytes()
    after = made.act("B2")
    assert after[0]["image"].tobytes() != looked[0]["image"].tobytes()
    assert "not a legal action" in str(made.act("B2"))
    while "over" not in str(after[-1]):
        legal = made._session.ask.legal
        after = made.act(legal[0])
    assert made.get_reward() == made._session.episode.returns["x"]
    assert [part["type"] for part in made.act("A1")] == ["text"]
