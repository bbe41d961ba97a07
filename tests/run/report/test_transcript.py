"""Prompts are made again exactly as they were asked, memory, blindness and refusals included."""

from __future__ import annotations

from typing import Any

import pytest

from ludens.agents.vlm import Vlm
from ludens.core.registry import make
from ludens.loop import play
from ludens.models.chat import Answer, Message, Model, Request
from ludens.models.settings import PromptOptions
from ludens.rebuild import samples
from ludens.run.viewer import EpisodeReplay, SizeLimit, embed


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
    asked = [plain(sample.messages) for sample in samples(episode)]
    # Seats that move together ask at the same time: only their order may differ.
    assert sorted(asked, key=str) == sorted(map(plain, model.heard), key=str)
    replay = EpisodeReplay("key", episode)
    steps = [replay.step(index, lambda *_: "") for index in range(len(replay.steps))]
    acting = [(step.index, seat) for step in steps for seat in step.seats if seat.move]
    acting.sort(key=lambda place: [m is place[1].move for m in episode.moves].index(True))
    assert [seat.move for _, seat in acting] == episode.moves
    shown = [prompt for index, seat in acting for prompt in replay.prompts(index, seat.name)]
    word = "[blank picture]" if manner.blind else "[picture]"
    assert [[(m.role, m.text) for m in prompt] for prompt in shown] == [
        [(m.role, "\n".join(p if isinstance(p, str) else word for p in m.parts)) for m in sample.messages]
        for sample in samples(episode)
    ]
    assert [reply.attempt for _, seat in acting for reply in seat.replies] == [
        attempt for move in episode.moves for attempt in move.tries
    ]
    assert all(seat.blind == manner.blind for _, seat in acting)
    assert all(
        seat.mark == ("verified" if seat.move and seat.move.pictures else "none") for _, seat in acting
    )


async def test_pictures_are_made_again_at_the_size_asked_for_and_only_where_wanted() -> None:
    made = make("tic_tac_toe")
    episode = await play(made, dict.fromkeys(made.seats, Vlm(Listening())), 3)
    panel = embed(episode, size=256, steps={0, 2}, limit=SizeLimit(10**7))
    assert [step.index for step in panel.steps] == [0, 2, len(panel.replay.steps) - 1]
    assert [len(seat.pictures or ()) for step in panel.steps for seat in step.seats] == [1, 1, 1]
    assert {p.width for step in panel.steps for seat in step.seats for p in seat.pictures or ()} == {256}
