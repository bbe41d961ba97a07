"""Prompts are made again exactly as they were asked, memory, blindness and refusals included."""

from __future__ import annotations

from typing import Any

import pytest

from ludens.agents.vlm import Vlm
from ludens.core.registry import make
from ludens.loop import play
from ludens.models.chat import Answer, Message, Model, Request
from ludens.models.settings import PromptOptions
from ludens.run.report.page import transcript


class Listening(Model):
    """Keeps every request; answers now well, now badly."""

    def __init__(self) -> None:
        super().__init__("compat/listening@http://127.0.0.1:1/v1")
        self.heard: list[list[Message]] = []

    async def answer(self, request: Request) -> Answer:
        self.heard.append(list(request.messages))
        if len(self.heard) % 3 == 1:
            return Answer("" if len(self.heard) % 2 else "hm <b>")
        legal = next(
            line.removeprefix("Your legal actions: ")
            for message in reversed(request.messages)
            for part in message.parts
            if isinstance(part, str)
            for line in part.splitlines()
            if line.startswith("Your legal actions: ")
        )
        return Answer(f"Action: {legal.split(', ')[-1]}")


def plain(messages: list[Message]) -> list[tuple[str, list[str]]]:
    return [(m.role, [p if isinstance(p, str) else p.hash for p in m.parts]) for m in messages]


@pytest.mark.parametrize(
    "manner",
    [
        PromptOptions(),
        PromptOptions(memory="all", frames=3),
        PromptOptions(memory="last", style="cot", modality="both"),
        PromptOptions(blind=True, memory="all"),
        PromptOptions(modality="text"),
    ],
    ids=str,
)
@pytest.mark.parametrize("game", ["tic_tac_toe", "breakthrough?rows=5&columns=4", "coin_dilemma?horizon=3"])
async def test_prompts_come_out_as_they_went_in(game: str, manner: PromptOptions) -> None:
    made, model = make(game), Listening()
    vlm = Vlm(model, manner)
    seats: dict[str, Any] = dict.fromkeys(made.seats, vlm)
    episode = await play(made, seats, 3)
    turns = list(transcript(episode, size=episode.size))
    assert [turn.move for turn in turns] == episode.moves
    asked = [plain(messages) for turn in turns for messages, _ in turn.exchanges]
    # Seats that move together ask at the same time: only their order may differ.
    assert sorted(asked, key=str) == sorted(map(plain, model.heard), key=str)
    assert [attempt for turn in turns for _, attempt in turn.exchanges] == [
        attempt for move in episode.moves for attempt in move.tries
    ]
    assert all(turn.blind == manner.blind for turn in turns)


async def test_pictures_are_made_again_at_the_size_asked_for_and_only_where_wanted() -> None:
    made = make("tic_tac_toe")
    episode = await play(made, dict.fromkeys(made.seats, Vlm(Listening())), 3)
    turns = list(transcript(episode, size=256, steps={0, 2}))
    assert [len(turn.pictures) for turn in turns][:4] == [1, 0, 1, 0]
    assert {picture.width for turn in turns for picture in turn.pictures} == {256}
