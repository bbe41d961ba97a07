"""Gymnasium: one seat of every game with listed actions; bots fill the others (extra `gym`).

    import gymnasium, ludens.adapters.gymnasium

    env = gymnasium.make("ludens/Game-v0", game="reversi", seat="black", others="bot/alphabeta")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))

    envs = gymnasium.make_vec("ludens/Game-v0", num_envs=8, game="pong")

The observation is the picture of the seat. `info["action_mask"]` (and `env.unwrapped.action_masks()`) says
what is legal; an illegal action changes nothing, earns `penalty` and sets `info["illegal"]`. `reset(seed=7)`
deals what `ludens` deals with seed 7. `env.unwrapped.episode` is the record of an episode that is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import registry
from numpy.typing import NDArray

from ludens.adapters.spaces import RENDER_MODES, GameSpaces, Observed, check_mode
from ludens.adapters.table import Turns
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.state import State
from ludens.core.view import RenderOptions

ID = "ludens/Game-v0"


class LudensEnv(gymnasium.Env):
    """One seat of a game as a Gymnasium environment.

    Args:
        game: The game or its spec.
        seat: The seat that learns; by default the first one.
        others: Who plays the other seats: a spec for all, or seat to spec; by default those of the preset in
            the spec of the game, else `bot/random`.
        observed: `image`, `tensor` (games on OpenSpiel) or `nothing`.
        render: Theme and size of pictures; by default 256 pixels.
        stack: How many of the latest pictures are stacked.
        horizon: Steps of the game, and tries of the seat, after which an episode is truncated.
        penalty: What an illegal action earns.
        render_mode: `rgb_array`, `ansi`, `human` or None.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: Game | str,
        seat: str | None = None,
        others: str | Mapping[str, str] | None = None,
        observed: Observed = "image",
        render: RenderOptions | None = None,
        stack: int = 1,
        horizon: int = 1000,
        penalty: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        check_mode(render_mode)
        render = render or RenderOptions(size=256)
        self._turns = Turns(
            game,
            () if seat is None else (seat,),
            others,
            sees="image" if observed == "image" else "nothing",
            render=render,
            config=PlayConfig(horizon=horizon),
        )
        self.game, [self.seat] = self._turns.game, self._turns.seats
        self.spaces = GameSpaces(self.game, observed, render, stack)
        self.observation_space = self.spaces.observation_space
        self.action_space = self.spaces.action_spaces[self.seat]
        self.render_mode, self._penalty, self._horizon = render_mode, penalty, horizon
        self._tries, self._return = 0, 0.0

    @property
    def action_names(self) -> tuple[str, ...]:
        """The canonical names of the actions, in the order of their numbers."""
        return self.spaces.actions[self.seat]

    @property
    def state(self) -> State:
        return self._turns.state

    @property
    def episode(self) -> Episode | None:
        """The record of the episode, once it is over."""
        return self._turns.episode

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now."""
        return self.spaces.mask(self.state, self.seat).astype(bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        super().reset(seed=seed)
        deal = int(self.np_random.integers(2**31)) if seed is None else seed
        self.spaces.seed = deal
        self._turns.reset(deal)
        self._tries, self._return = 0, self.state.returns[self.seat]
        return self._observation(), {"action_mask": self.spaces.mask(self.state, self.seat)}

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        name, state = self.action_names[action], self.state
        self._tries += 1
        illegal = state.refusal(self.seat, name) is not None
        if illegal:
            reward = self._penalty
        else:
            self._turns.act(name)
            before, self._return = self._return, state.returns[self.seat]
            reward = self._return - before
        info: dict[str, Any] = {"action_mask": self.spaces.mask(state, self.seat)}
        if illegal:
            info["illegal"] = True
        truncated = not state.over and (self._turns.episode is not None or self._tries >= self._horizon)
        return self._observation(), float(reward), state.over, truncated, info

    def _observation(self) -> NDArray[Any]:
        ask = self._turns.ask
        pictures = ask.observation.images if ask is not None else ()
        return self.spaces.observation(self.state, self.seat, pictures)

    def render(self) -> Any:
        return self.spaces.rendered(self.state, self.seat, self.render_mode)

    def close(self) -> None:
        self._turns.close()


def register() -> None:
    """Make `ludens/Game-v0` known to Gymnasium; `import ludens.adapters.gymnasium` does so too."""
    if ID not in registry:
        gymnasium.register(ID, entry_point=LudensEnv, disable_env_checker=True)


register()
