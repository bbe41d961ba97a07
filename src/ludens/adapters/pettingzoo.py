"""PettingZoo: every game with listed actions as an AEC and as a Parallel environment (extra `gym`).

    from ludens.adapters.pettingzoo import aec_env, parallel_env

    env = aec_env("chess")
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        over = termination or truncation
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Agents are the seats of the game. An observation is `{"observation": ..., "action_mask": ...}`; the mask of a
seat that is not to act is 0 everywhere. Rewards are what a seat's return changed by. `reset(seed=7)` deals
what `ludens` deals with seed 7; without a seed, deals follow from the last one given.

An illegal action changes nothing: the seat is asked again, and `info["illegal"]` is True.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from pettingzoo import AECEnv, ParallelEnv

from ludens.adapters.spaces import RENDER_MODES, GameSpaces, Observed, check_mode
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.view import RenderOptions

Observation = dict[str, Any]


class _Seats:
    """What both kinds of environment share: the seats as agents, their spaces, deals and rewards."""

    def __init__(
        self,
        game: Game | str,
        observed: Observed = "image",
        render: RenderOptions | None = None,
        stack: int = 1,
        render_mode: str | None = None,
        horizon: int | None = None,
    ) -> None:
        super().__init__()
        check_mode(render_mode)
        self.game = make(game) if isinstance(game, str) else game
        self.render_mode, self._horizon = render_mode, horizon
        self._spaces = GameSpaces(self.game, observed, render or RenderOptions(size=256), stack)
        self.metadata: dict[str, Any] = {
            "name": f"{self.game.name}_v{self.game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": True,
        }
        self.possible_agents, self.agents = list(self.game.seats), list[str]()
        self.action_spaces = self._spaces.action_spaces
        observation = self._spaces.observation_space
        self.observation_spaces = {
            seat: spaces.Dict({"observation": observation, "action_mask": self._spaces.mask_space(seat)})
            for seat in self.game.seats
        }
        self._seed: int | None = None
        self._random: np.random.Generator | None = None
        """The generator of later deals; made when the first of them is dealt."""

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def action_names(self, agent: str) -> tuple[str, ...]:
        """The canonical names of an agent's actions, in the order of their numbers."""
        return self._spaces.actions[agent]

    def observe(self, agent: str) -> Observation:
        return {
            "observation": self._spaces.observation(self._state, agent),
            "action_mask": self._spaces.mask(self._state, agent),
        }

    def close(self) -> None:
        """Nothing is open."""

    def _deal(self, seed: int | None) -> None:
        if seed is None:
            if self._random is None:
                self._random, _ = np_random(self._seed)
            seed = int(self._random.integers(2**31))
        else:
            self._seed, self._random = seed, None
        self._spaces.seed = seed
        self._steps, self._state = 0, self.game.start(seed)
        self._returns = self._state.returns
        self.agents = list(self.possible_agents)

    def _apply(self, actions: Mapping[str, str]) -> dict[str, float]:
        """Apply a joint action; returns the rewards of all seats."""
        self._state.apply(actions)
        before, self._returns = self._returns, self._state.returns
        return {seat: value - before[seat] for seat, value in self._returns.items()}

    @property
    def _cut(self) -> bool:
        """Whether the horizon is reached."""
        return self._horizon is not None and self._steps >= self._horizon and not self._state.over

    def _action(self, seat: str, number: Any) -> str | None:
        """The name of an action; None where it is not legal."""
        name = self._spaces.actions[seat][number]
        return name if self._state.refusal(seat, name) is None else None


class LudensAEC(_Seats, AECEnv):
    """A game as a PettingZoo AEC environment; seats that act together are asked one after the other."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._deal(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._pending: dict[str, str] = {}
        self._skip_agent_selection = None
        self.agent_selection = self._state.to_act[0]

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._steps += 1
        name = self._action(agent, action)
        self.infos[agent] = {"illegal": True} if name is None else {}
        if name is not None:
            self._act(agent, name)
        if self._cut:
            self.truncations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()

    def _act(self, agent: str, name: str) -> None:
        due = self._state.to_act
        if len(due) > 1:
            self._pending[agent] = name
            if len(self._pending) < len(due):
                self.agent_selection = next(seat for seat in due if seat not in self._pending)
                return
            actions, self._pending = self._pending, {}
        else:
            actions = {agent: name}
        self.rewards = self._apply(actions)
        if now := self._state.to_act:
            self.agent_selection = now[0]
        else:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[(self.agents.index(agent) + 1) % len(self.agents)]

    def render(self) -> Any:
        return self._spaces.rendered(self._state, self.agent_selection, self.render_mode)


class LudensParallel(_Seats, ParallelEnv):
    """A game as a PettingZoo Parallel environment: all seats give a number, those not to act are ignored."""

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        self._deal(seed)
        return {agent: self.observe(agent) for agent in self.agents}, {a: {} for a in self.agents}

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        agents = self.agents
        self._steps += 1
        names = {seat: self._action(seat, actions[seat]) for seat in self._state.to_act}
        legal = {seat: name for seat, name in names.items() if name is not None}
        rewards = self._apply(legal) if len(legal) == len(names) else dict.fromkeys(agents, 0.0)
        over, cut = self._state.over, self._cut
        infos = {agent: {"illegal": True} if agent in names.keys() - legal.keys() else {} for agent in agents}
        observations = {agent: self.observe(agent) for agent in agents}
        if over or cut:
            self.agents = []
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, cut), infos

    def render(self) -> Any:
        seat = next(iter(self._state.to_act), self.possible_agents[0])
        return self._spaces.rendered(self._state, seat, self.render_mode)


def aec_env(game: Game | str, **options: Any) -> LudensAEC:
    """A game with listed actions as an AEC environment.

    Args:
        game: The game or its spec, such as `chess?opening=4`.
        options: `observed` is `image` (default), `tensor` (games on OpenSpiel) or `nothing`; `render` are the
            `ludens.RenderOptions` of pictures, by default 256 pixels; `stack` is the number of pictures
            stacked; `render_mode` is `rgb_array`, `ansi`, `human` or None; `horizon` is the number of steps
            after which an episode is truncated.
    """
    return LudensAEC(game, **options)


def parallel_env(game: Game | str, **options: Any) -> LudensParallel:
    """A game with listed actions as a Parallel environment; the options are those of `aec_env`."""
    return LudensParallel(game, **options)
