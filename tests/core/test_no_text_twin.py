"""Games without a text twin, and pictures that are not square."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
import pytest

import ludens
from ludens.agents.vlm import Vlm
from ludens.core.errors import BadOption
from ludens.core.view import Picture, RenderOptions, View
from ludens.draw import Picture as DrawnPicture
from ludens.models.chat import Answer, Model, Request
from ludens.models.settings import PromptOptions
from ludens.rebuild import samples
from ludens.testing import check_game
from tests.support.pebbles import Pebbles, PebblesState, PebblesView


class PhotoView(View):
    """Wide pictures and no words for them."""

    templates_file = PebblesView.templates_file

    def image(self, state: PebblesState, seat: str) -> Picture:
        height = self.render.size // 2
        pixels = np.full((height, self.render.size), state.heap % 7, np.uint8)
        pixels[: height // 2, : 1 + state.cards[seat]] = 7
        pixels[height // 2 :, : 1 + state.taken["left"]] = 8
        pixels[height // 2 :, -1 - state.taken["right"] :] = 9
        return DrawnPicture(pixels, np.arange(30, dtype=np.uint8).reshape(10, 3))


PhotoView.__module__ = PebblesView.__module__  # where the templates are


@dataclass(frozen=True)
class Photos(Pebbles):
    """Pebbles shown as photographs."""

    name = "test/photos"

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        return PhotoView(self, render, seed)


class Fixed(Model):
    """Always takes one pebble."""

    def __init__(self) -> None:
        super().__init__("vllm/fixed@http://127.0.0.1:1/v1")
        self.requests: list[Request] = []

    async def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        return Answer("Action: take 1")


def test_a_game_without_a_text_twin_conforms() -> None:
    check_game(Photos())


@pytest.mark.parametrize("modality", ["offered", "image", "both"])
def test_models_are_shown_the_picture_alone(modality: str) -> None:
    model = Fixed()
    game = Photos()
    agents = dict.fromkeys(game.seats, Vlm(model, PromptOptions(modality=modality)))
    episode = ludens.play_sync(game, agents, 1)
    [picture] = model.requests[0].pictures
    assert (picture.width, picture.height) == (512, 256)
    assert ludens.verify(episode, game)
    assert len(list(samples(episode, game))) == len(model.requests)


def test_text_modality_is_refused_before_the_first_move() -> None:
    game, model = Photos(), Fixed()
    agent = Vlm(model, PromptOptions(modality="text"))
    with pytest.raises(BadOption, match="no text twin"):
        asyncio.run(ludens.play(game, dict.fromkeys(game.seats, agent), 1))
    assert model.requests == []
