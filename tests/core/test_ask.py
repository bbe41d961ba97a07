"""What is kept of earlier moves: pictures are large and are dropped as soon as no prompt needs them."""

from __future__ import annotations

import pytest

from ludens.agents import agent
from ludens.agents.vlm import Vlm
from ludens.core.ask import Ask, build_ask
from ludens.core.config import PlayConfig
from ludens.core.registry import make
from ludens.core.view import RenderOptions, Sees, view_of
from ludens.loop import play
from ludens.models.chat import Answer, Model, Request
from ludens.models.settings import PromptOptions


class _Looker(Model):
    """Plays the first legal action and records what it was asked."""

    def __init__(self) -> None:
        super().__init__("looker")
        self.asks: list[Ask] = []

    async def answer(self, request: Request) -> Answer:
        assert request.ask is not None
        self.asks.append(request.ask)
        return Answer(f"Action: {request.ask.legal.first}")


@pytest.mark.parametrize(
    ("memory", "frames", "exchanges", "pictures"),
    [
        ("none", 1, 0, 0),
        ("last", 1, 1, 0),
        ("all", 1, 99, 0),
        ("all", 3, 99, 2),
        ("last", 3, 2, 2),
        ("none", 2, 1, 1),
    ],
)
async def test_pictures_of_earlier_moves_are_dropped(
    memory: str, frames: int, exchanges: int, pictures: int
) -> None:
    game, model = make("breakthrough"), _Looker()
    looker = Vlm(model, PromptOptions(memory=memory, frames=frames))
    await play(game, {game.seats[0]: looker, game.seats[1]: agent("bot/random", game)}, 3)
    assert len(model.asks) > 5
    for number, ask in enumerate(model.asks):
        assert len(ask.history) == min(number, exchanges)
        kept = [bool(exchange.observation.images) for exchange in ask.history]
        assert kept == [False] * (len(kept) - min(number, pictures)) + [True] * min(number, pictures)
        assert all(exchange.pictured for exchange in ask.history)


@pytest.mark.parametrize("sees", ["image", "text", "both", "nothing"])
def test_only_bots_that_see_the_state_are_given_it(sees: Sees) -> None:
    game = make("tic_tac_toe")
    state, view = game.start(0), view_of(game, RenderOptions(), 0)
    ask = build_ask(view, state, "x", sees, PlayConfig())
    assert ask.state is None
    assert bool(ask.rules) == (sees != "nothing")
    ask = build_ask(view, state, "x", "state", PlayConfig())
    assert ask.state is state
    assert ask.rules == ""
