"""Games as environments of VAGEN (on verl): the protocol of its `GymImageEnv`.

`LudensVagenEnv(env_config)` has the coroutines `system_prompt`, `reset(seed)`, `step(text)` and `close`. An
observation is `{"obs_str": ..., "multi_modal_input": {"<image>": [PIL image, ...]}}`, with `<image>` in the
text where each picture goes. VAGEN itself is not imported: register the class in its list of environments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ludens.adapters.prompted_seat import PromptedSeat
from ludens.core.ask import Ask
from ludens.core.config import PlayConfig
from ludens.core.errors import UnknownName
from ludens.core.options import configure
from ludens.core.view import RenderOptions
from ludens.models.chat import Message
from ludens.models.settings import PromptOptions

IMAGE = "<image>"
_KEYS = ("game", "seat", "others", "prompt", "theme", "size", "retries")


class LudensVagenEnv:
    """One seat of a game.

    Args:
        env_config: `game`, `seat`, `others` (seat to spec), `prompt` (prompt options), `theme`, `size`,
            `retries`.
    """

    def __init__(self, env_config: Mapping[str, Any]) -> None:
        for name in env_config:
            if name not in _KEYS:
                raise UnknownName("key of env_config", name, _KEYS)
        self._session = PromptedSeat(
            env_config.get("game", "tic_tac_toe"),
            env_config.get("seat", ""),
            env_config.get("others"),
            configure(PromptOptions, dict(env_config.get("prompt", {})), "the prompt"),
            PlayConfig(retries=env_config.get("retries", 1)),
            RenderOptions(env_config.get("theme", "classic"), env_config.get("size", 256)),
        )

    async def system_prompt(self) -> dict[str, Any]:
        """The rules of the seat; those of this episode once there is one."""
        if self._session.ask is None:
            ask = await asyncio.to_thread(self._session.reset, 0)
            await asyncio.to_thread(self._session.close)
        else:
            ask = self._session.ask
        first = self._session.messages(ask)[0] if ask is not None else None
        return _observation([first] if first is not None and first.role == "system" else [])

    async def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        ask = await asyncio.to_thread(self._session.reset, seed)
        return self._observe(ask), {"seat": self._session.seat}

    async def step(self, action_str: str) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        """Reply; returns observation, reward (the return, once the episode is over), done and info."""
        ask = await asyncio.to_thread(self._session.reply, action_str)
        info: dict[str, Any] = {"refused": bool(ask is not None and ask.refused)}
        episode = self._session.episode
        if ask is None and episode is not None:
            info |= {
                "status": episode.status,
                "returns": dict(episode.returns),
                "verdicts": dict(episode.verdicts()),
            }
        return self._observe(ask), self._session.reward, ask is None, info

    async def close(self) -> None:
        await asyncio.to_thread(self._session.close)

    def _observe(self, ask: Ask | None) -> dict[str, Any]:
        if ask is None:
            return {"obs_str": "The game is over."}
        return _observation([m for m in self._session.messages(ask) if m.role != "system"][-1:])


def _observation(messages: list[Message]) -> dict[str, Any]:
    text: list[str] = []
    pictures: list[Any] = []
    for message in messages:
        text += [*[IMAGE] * len(message.pictures), message.text]
        pictures += [picture.image().convert("RGB") for picture in message.pictures]  # type: ignore[attr-defined]
    observation: dict[str, Any] = {"obs_str": "\n".join(text)}
    return observation | {"multi_modal_input": {IMAGE: pictures}} if pictures else observation
