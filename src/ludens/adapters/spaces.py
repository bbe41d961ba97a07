"""Games in numbers: action numbers, masks and observations, as Gymnasium and PettingZoo know them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.state import State
from ludens.core.view import Picture, RenderOptions, view_of
from ludens.games.open_spiel import SpielGame, SpielState

Observed = Literal["image", "tensor", "nothing"]
"""What observations are: pictures; OpenSpiel's tensor, for games on OpenSpiel; nothing but the mask."""

RENDER_MODES = ("human", "rgb_array", "ansi")


class GameSpaces:
    """The spaces of a game's seats, and how states are turned into arrays.

    Args:
        game: A game that lists its actions (`Game.actions`).
        observed: What observations are.
        render: Theme and size of pictures.
        stack: How many of the latest pictures of an observation are stacked along a first axis; where there
            are fewer, the first is repeated. 1 is the last picture alone, without that axis.
    """

    def __init__(self, game: Game, observed: Observed, render: RenderOptions, stack: int = 1) -> None:
        self.game, self.observed, self.render, self.stack = game, observed, render, stack
        if observed not in ("image", "tensor", "nothing"):
            raise BadOption(f"observations are image, tensor or nothing, not {observed!r}.")
        if observed == "tensor" and not isinstance(game, SpielGame):
            raise BadOption(f"{game.name} has no tensor: it is not on OpenSpiel. Use image or nothing.")
        if not 1 <= stack <= 16:
            raise BadOption(f"a stack has 1 to 16 pictures, not {stack}.")
        listed = {seat: game.actions(seat) for seat in game.seats}
        if texts := [seat for seat, actions in listed.items() if actions is None]:
            hint = " Use comma/panel?moves=single." if game.name.startswith("comma/") else ""
            raise BadOption(f"{game.name} has no action numbers: {', '.join(texts)} may say any text.{hint}")
        self.actions: dict[str, tuple[str, ...]] = {seat: actions or () for seat, actions in listed.items()}
        """Seat to action names; the number of an action is its place."""
        self.numbers = {seat: {name: n for n, name in enumerate(a)} for seat, a in self.actions.items()}
        self.action_spaces = {seat: spaces.Discrete(len(a)) for seat, a in self.actions.items()}
        self.seed = 0
        """Of the current episode: pictures of the theme `random` depend on it."""

    @cached_property
    def observation_space(self) -> spaces.Box:
        """Of one observation, without its mask; the same for all seats."""
        if self.observed == "nothing":
            return spaces.Box(0, 0, (1,), np.uint8)
        example = self.observation(self.game.start(0), self.game.seats[0])
        if self.observed == "tensor":
            return spaces.Box(-np.inf, np.inf, example.shape, np.float32)
        return spaces.Box(0, 255, example.shape, np.uint8)

    def mask_space(self, seat: str) -> spaces.Box:
        return spaces.Box(0, 1, (len(self.actions[seat]),), np.int8)

    def mask(self, state: State, seat: str) -> NDArray[np.int8]:
        """1 for every legal action."""
        mask, numbers = np.zeros(len(self.actions[seat]), np.int8), self.numbers[seat]
        if legal := state.legal(seat):
            mask[[numbers[name] for name in legal]] = 1
        return mask

    def observation(self, state: State, seat: str, pictures: Sequence[Picture] = ()) -> NDArray[Any]:
        """What the seat sees; `pictures` are those of the state, where they were drawn already."""
        if self.observed == "image":
            return self._stacked(pictures or self.pictures(state, seat))
        if self.observed == "tensor":
            return self._tensor(state, seat)
        return np.zeros(1, np.uint8)

    def pictures(self, state: State, seat: str) -> tuple[Picture, ...]:
        return view_of(self.game, self.render, self.seed).images(state, seat)

    def _stacked(self, pictures: Sequence[Picture]) -> NDArray[np.uint8]:
        if self.stack == 1:
            return pictures[-1].rgb().copy()
        latest_first = [picture.rgb() for picture in pictures[-self.stack :]]
        return np.stack([latest_first[0]] * (self.stack - len(latest_first)) + latest_first)

    def _tensor(self, state: State, seat: str) -> NDArray[np.float32]:
        if not isinstance(state, SpielState):
            raise BadOption(f"{self.game.name} has no tensor with these options. Use image or nothing.")
        player = self.game.seats.index(seat)
        return np.array(state.spiel.observation_tensor(player), np.float32).reshape(self._tensor_shape)

    @cached_property
    def _tensor_shape(self) -> tuple[int, ...]:
        assert isinstance(self.game, SpielGame)
        return tuple(self.game.spiel.observation_tensor_shape())

    def rendered(self, state: State, seat: str, mode: str | None) -> Any:
        """What `render` returns: an array, a text, or None after printing the text for a person."""
        if mode == "rgb_array":
            return self.pictures(state, seat)[-1].rgb()
        if mode is None:
            return None
        text = view_of(self.game, self.render, self.seed).text(state, seat)
        if mode == "ansi":
            return text
        print(text)
        return None


def check_mode(mode: str | None) -> None:
    if mode is not None and mode not in RENDER_MODES:
        raise BadOption(f"render_mode is {', '.join(RENDER_MODES)} or None, not {mode!r}.")
