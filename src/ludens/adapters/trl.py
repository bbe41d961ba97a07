"""Games as environments of TRL's GRPOTrainer: `environment_factory=environment("tic_tac_toe")`.

The class has the tools `look` and `act`, which return pictures as content blocks; TRL feeds them to the model
when it generates and in the loss. `reset` shows the first position. One seat is trained; other seats have
players by spec. TRL calls this interface experimental.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ludens.adapters.prompted_seat import PromptedSeat
from ludens.core.ask import Ask
from ludens.core.config import PlayConfig
from ludens.core.view import RenderOptions
from ludens.models.settings import PromptOptions

Content = list[dict[str, Any]]


def environment(
    game: str,
    seat: str = "",
    others: Mapping[str, str] | None = None,
    *,
    options: PromptOptions | None = None,
    retries: int = 1,
    theme: str = "classic",
    size: int = 256,
) -> type:
    """A class for `environment_factory`. Rows of the dataset name the seed in a column `seed`.

    Args:
        game: Spec of the game.
        seat: The seat that is trained; the first one by default.
        others: Seat to the spec of its player; `bot/random` where none is given.
        options: How the seat is prompted.
        retries: How often a refused action may be tried again before the fallback.
        theme: Theme of the pictures.
        size: Size of the pictures.
    """
    render, config = RenderOptions(theme, size), PlayConfig(retries=retries)

    class GameEnvironment:
        def __init__(self) -> None:
            self._session = PromptedSeat(game, seat, others, options, config, render)
            self._seeds = 0

        def reset(self, seed: int | None = None, **row: Any) -> Content:
            """Begin the episode of this seed, or of the next one; returns rules and position."""
            episode_seed = self._seeds if seed is None else int(seed)
            self._seeds = episode_seed + 1
            return self._content(self._session.reset(episode_seed), rules=True)

        def look(self) -> Content:
            """
            Look at the position again.

            Returns:
                The picture of the position, and what you are asked.
            """
            return self._content(self._session.ask)

        def act(self, action: str) -> Content:
            """
            Make your move.

            Args:
                action: One legal action, spelt as the game spells it.

            Returns:
                The picture of the position after the moves of the others, or that the game is over.
            """
            ask = self._session.ask
            if ask is None:
                return self._content(None)
            return self._content(self._session.reply(ask.format.write(action)))

        def get_reward(self) -> float:
            """The return of the seat; 0 for an episode that is not over."""
            return self._session.reward

        def _content(self, ask: Ask | None, rules: bool = False) -> Content:
            if ask is None:
                return [{"type": "text", "text": "The game is over."}]
            messages = self._session.messages(ask)
            first = [m for m in messages[:1] if rules and m.role == "system"]
            content: Content = []
            for message in [*first, messages[-1]]:
                content += [
                    {"type": "image", "image": picture.image().convert("RGB")}  # type: ignore[attr-defined]
                    for picture in message.pictures
                ]
                content.append({"type": "text", "text": message.text})
            return content

    return GameEnvironment
