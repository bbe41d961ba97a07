"""A model in a chair: what it is told and shown, what it remembers, and that its chairs share nothing."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import ludens
from ludens import PlayConfig
from ludens.agents.vlm import Vlm
from ludens.core.episode import Episode, Usage
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.view import RenderOptions, View
from ludens.draw import Picture
from ludens.loop import play
from ludens.models.chat import Answer, Message, Model, Request
from ludens.models.settings import PromptOptions
from tests.support.model_server import ModelServer
from tests.support.pebbles import FlatPicture, Pebbles, Talk, TalkView

Say = Callable[[int, Request], str | Answer]


class Scripted(Model):
    """Answers by a function of how often it was asked and what it was asked; keeps every request."""

    def __init__(self, say: Say | Sequence[str]) -> None:
        super().__init__("vllm/scripted@http://127.0.0.1:1/v1")
        self.say: Say = say if callable(say) else lambda number, _: say[min(number, len(say) - 1)]
        self.requests: list[Request] = []

    async def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        said = self.say(len(self.requests) - 1, request)
        return said if isinstance(said, Answer) else Answer(said, usage=Usage(10, 2))

    def words(self, number: int, role: str = "user") -> list[str]:
        """The texts of one request's messages with this role."""
        messages = self.requests[number].messages
        return ["\n".join(p for p in m.parts if isinstance(p, str)) for m in messages if m.role == role]


async def played(
    model: Model,
    game: Game | None = None,
    table: PlayConfig | None = None,
    render: RenderOptions | None = None,
    **manner: object,
) -> Episode:
    """One episode with the model in the first chair and the first legal action in all others."""
    game = game or Pebbles()
    others = {seat: ludens.agent("bot/first", game) for seat in game.seats[1:]}
    agents = {game.seats[0]: Vlm(model, PromptOptions(**manner)), **others}  # type: ignore[arg-type]
    return await play(game, agents, 3, config=table)


def first_legal(number: int, request: Request) -> str:
    return "Action: take 1"


async def test_a_prompt_holds_all_it_should_in_order() -> None:
    model = Scripted(first_legal)
    game = ludens.make("tic_tac_toe")
    model.say = lambda number, request: "Action: " + ("A1", "A2", "A3", "B1", "B2")[min(number, 4)]
    await played(model, game)
    system, user = model.requests[0].messages
    view = game.view(RenderOptions())
    assert (system.role, user.role) == ("system", "user")
    assert str(system.parts[0]).startswith("You take part in a game.")
    assert str(system.parts[0]).endswith(view.rules("x"))
    [picture, text] = user.parts
    assert isinstance(picture, Picture)
    assert picture == view.image(game.start(3), "x")
    legal = "Your legal actions: A1, A2, A3, B1, B2, B3, C1, C2, C3"
    assert legal in str(text)
    assert str(text).index(legal) < str(text).index("Reply at once") < str(text).index("End your reply with")


@pytest.mark.parametrize(
    ("modality", "pictures", "twin"),
    [("offered", 1, False), ("image", 1, False), ("text", 0, True), ("both", 1, True)],
)
async def test_modalities(modality: str, pictures: int, twin: bool) -> None:
    model = Scripted(first_legal)
    episode = await played(model, modality=modality)
    for number, move in enumerate(m for m in episode.moves if m.seat == "left"):
        assert len(model.requests[number].pictures) == len(move.pictures) == pictures
        assert ("This is how things stand:\n" in model.words(number)[0]) is twin
        assert ("pebbles; left has taken" in model.words(number)[0]) is twin


async def test_blind_pictures_are_blank_and_of_the_same_size() -> None:
    seeing, blind = Scripted(["Action: A1"]), Scripted(["Action: A1"])
    game = ludens.make("tic_tac_toe")
    one = await played(seeing, game, PlayConfig(fallback="first"))
    other = await played(blind, game, PlayConfig(fallback="first"), blind=True)
    for shown, blank in zip(seeing.requests, blind.requests, strict=True):
        [picture], [flat] = shown.pictures, blank.pictures
        pixels, nothing = _decoded(picture.data_uri()), _decoded(flat.data_uri())
        assert nothing.shape == pixels.shape == (512, 512, 3)
        assert not (pixels == pixels[0, 0]).all()
        assert (nothing == nothing[0, 0]).all()
        assert seeing.words(0) == blind.words(0)
    # What is recorded is what was there to be seen, so that the episode can be replayed; the spec says blind.
    assert [m.pictures for m in one.moves] == [m.pictures for m in other.moves]
    assert "blind=true" in other.seats["x"]


def _decoded(uri: str) -> np.ndarray:
    head, _, body = uri.partition(",")
    assert head == "data:image/png;base64"
    return Picture.from_bytes(base64.b64decode(body)).rgb()


@pytest.mark.parametrize("frames", [1, 2, 3])
async def test_blank_pictures_go_over_the_wire(frames: int) -> None:
    """Those of earlier moments, too."""
    async with ModelServer() as server:
        game = ludens.make("tic_tac_toe")
        agent = ludens.agent(f"vllm/tiny@{server.url}?blind=true&frames={frames}&memory=all", game)
        assert isinstance(agent, Vlm)
        await play(game, {"x": agent, "o": ludens.agent("bot/first", game)}, 0)
        await agent.model.close()
    assert len(server.requests) >= 3
    for number, body in enumerate(server.requests, 1):
        parts = [
            part for message in body["messages"] for part in message["content"] if isinstance(part, dict)
        ]
        pictures = [_decoded(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
        assert [pixels.shape for pixels in pictures] == [(512, 512, 3)] * min(number, frames)
        assert all((pixels == pixels[0, 0]).all() for pixels in pictures)


@dataclass(frozen=True)
class Both(Talk):
    """A conversation whose seats are offered the picture and its twin, in two pages."""

    name = "test/both"

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        class BothView(TalkView):
            templates_file = "../support/pebbles.md"

            def offers(self, seat: str) -> str:  # type: ignore[override]
                return "both"

            def images(self, state: object, seat: str) -> tuple[FlatPicture, ...]:  # type: ignore[override]
                page = self.image(state, seat)  # type: ignore[arg-type]
                return page, FlatPicture(page.content + "page 2", page.size)

        return BothView(self, render, seed)


async def test_a_blind_seat_that_is_offered_both_loses_the_twin_too() -> None:
    seeing, blind = Scripted(["Hello."]), Scripted(["Hello."])
    await played(seeing, Both())
    await played(blind, Both(), blind=True)
    assert "round 0 of 3" in seeing.words(0)[0]
    assert "round 0 of 3" not in blind.words(0)[0]
    assert "a: Hello." in blind.words(1)[0]  # what is said is heard by the blind
    assert [str(getattr(p, "content", None)) for p in blind.requests[0].pictures] == ["", ""]


async def test_a_blind_seat_does_not_remember_what_it_was_not_shown() -> None:
    blind = Scripted(["Hello."])
    await played(blind, Both(), blind=True, memory="all")
    assert len(blind.words(2)) == 3
    assert not any("of 3" in told for told in blind.words(2))


@pytest.mark.parametrize("modality", ["text", "both"])
def test_nobody_is_blind_who_reads_it_all(modality: str) -> None:
    with pytest.raises(BadOption, match="cannot be combined with modality"):
        ludens.agent(f"openai/x?blind=true&modality={modality}", Pebbles(), {"openai/x": Scripted([""])})


async def test_styles() -> None:
    for style, said in (("direct", "Reply at once"), ("cot", "First think step by step")):
        model = Scripted(first_legal)
        await played(model, style=style)
        assert said in model.words(0)[0]


@pytest.mark.parametrize("frames", [1, 2, 3])
async def test_frames_are_the_latest_moments_oldest_first(frames: int) -> None:
    model, whole = Scripted(first_legal), Scripted(first_legal)
    await played(whole)
    await played(model, frames=frames)
    moments = [request.pictures[0].hash for request in whole.requests]
    for number, request in enumerate(model.requests):
        shown = [picture.hash for picture in request.pictures]
        assert shown == moments[: number + 1][-frames:]
        told = f"You are shown the last {len(shown)} moments" in model.words(number)[0]
        assert told is (len(shown) > 1)


async def test_pages_of_one_moment_are_not_taken_for_history() -> None:
    model = Scripted(["Hello."])
    await played(model, Both(), frames=2)
    assert [len(request.pictures) for request in model.requests] == [2, 4, 4]
    assert "moments" not in model.words(0)[0]
    assert "the last 2 moments" in model.words(1)[0]


@pytest.mark.parametrize(("memory", "kept"), [("none", [0, 0, 0]), ("last", [0, 1, 1]), ("all", [0, 1, 2])])
async def test_memory(memory: str, kept: list[int]) -> None:
    model = Scripted(lambda number, _: f"Message {number}.")
    await played(model, Talk(), memory=memory, modality="text")
    for number, count in enumerate(kept):
        said = [f"Message {n}." for n in range(number - count, number)]
        assert model.words(number, "assistant") == said
        users = model.words(number)
        assert len(users) == count + 1
        for place, told in enumerate(users[:-1]):
            assert told.startswith(f"round {number - count + place} of 3")


async def test_memory_of_pictures_alone_says_that_there_was_a_moment() -> None:
    model = Scripted(first_legal)
    await played(model, memory="all")
    assert model.words(1)[0] == "(an earlier moment of this game)"


async def test_a_refused_reply_is_quoted_with_the_reason() -> None:
    model = Scripted(["What?", "", " \n", "Action: take 9", "Action: take 1"])
    episode = await played(model, Pebbles(heap=1), PlayConfig(retries=4), memory="all", frames=3)
    [move] = [m for m in episode.moves if m.seat == "left"]
    assert [t.verdict for t in move.tries] == [*["unreadable"] * 3, "illegal", "ok"]
    last = model.requests[4].messages
    assert [m.role for m in last] == ["system", "user", *["assistant", "user"] * 4]
    said = [m.parts[0] for m in last if m.role == "assistant"]
    assert said == ["What?", "(no reply)", "(no reply)", "Action: take 9"]
    for message, tried in zip([m for m in last if m.role == "user"][1:], move.tries, strict=False):
        [text] = message.parts
        assert f"That reply was not accepted: {tried.reason}" in str(text)
        assert "End your reply with" in str(text)
    # A question asked again is one moment, however often.
    assert [len(request.pictures) for request in model.requests] == [1] * 5


async def test_only_the_last_word_to_a_question_is_remembered() -> None:
    model = Scripted(["What?", "Action: take 1", "Action: take 2"])
    await played(model, Pebbles(heap=5), memory="all")
    assert model.words(2, "assistant") == ["Action: take 1"]
    assert len(model.words(2)) == 2


async def test_a_late_reply_leaves_memory_in_order() -> None:
    async def slow(request: Request) -> Answer:
        model.requests.append(request)
        if len(model.requests) == 1:
            await asyncio.sleep(10)
        return Answer(f"Message {len(model.requests)}.")

    model = Scripted([""])
    model.answer = slow  # type: ignore[method-assign]
    episode = await played(model, Talk(), PlayConfig(retries=1, seconds=0.5), memory="all")
    assert episode.status == "done"
    assert [t.verdict for t in episode.moves[0].tries] == ["late", "ok"]
    assert model.words(1, "assistant") == ["(no reply)"]
    assert model.words(3, "assistant") == ["Message 2.", "Message 3."]


@pytest.mark.parametrize("finish", ["length", "refused", "stop"])
async def test_how_an_answer_ended_is_recorded(finish: str) -> None:
    model = Scripted(lambda number, _: Answer("Action: take 1", finish, Usage(10, 2)))  # type: ignore[arg-type]
    episode = await played(model, Pebbles(heap=1))
    [tried] = episode.moves[0].tries
    assert (tried.finish, tried.usage) == ("" if finish == "stop" else finish, Usage(10, 2))


async def test_what_a_filter_says_is_never_a_message() -> None:
    model = Scripted(
        lambda number, _: Answer("Blocked by policy.", "filtered", Usage(9, 0)) if number == 0 else "Hello."
    )
    episode = await played(model, Talk(rounds=1))
    [move] = [m for m in episode.moves if m.seat == "a"]
    assert (move.action, move.verdict) == ("Hello.", "retried")
    assert (move.tries[0].verdict, move.tries[0].finish) == ("unreadable", "filtered")
    assert move.tries[0].usage == Usage(9, 0)
    assert "a content filter blocked the reply" in model.words(1)[1]


async def test_what_a_filter_says_is_not_remembered_as_the_models_own_words() -> None:
    model = Scripted(lambda number, _: Answer("Blocked.", "filtered") if number == 0 else "Hello.")
    await played(model, Talk(rounds=2), PlayConfig(retries=0), memory="all")
    assert model.words(1, "assistant") == ["(no reply)"]


async def test_chairs_share_a_model_and_nothing_else() -> None:
    game = Pebbles()
    alone = Scripted(first_legal)
    await played(alone, memory="all", frames=4)
    shared = Scripted(first_legal)
    agent = Vlm(shared, PromptOptions(memory="all", frames=4))
    await asyncio.gather(*(play(game, {"left": agent, "right": agent}, seed) for seed in (3, 4, 5)))
    for _ in range(2):
        shared.requests.clear()
        others = ludens.agent("bot/first", game)
        await play(game, {"left": agent, "right": others}, 3)
        assert [_flat(r.messages) for r in shared.requests] == [_flat(r.messages) for r in alone.requests]
    assert not hasattr(agent, "_moments")


def _flat(messages: Sequence[Message]) -> list[object]:
    return [(m.role, [p if isinstance(p, str) else p.hash for p in m.parts]) for m in messages]


async def test_words_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "agent.md").write_text("# system\nYou are a pirate.\n\n# direct\nBe quick, matey.\n")
    model = Scripted(first_legal)
    await played(model, templates=str(tmp_path))
    assert model.words(0, "system")[0].startswith("You are a pirate.\n\n")
    assert "Be quick, matey." in model.words(0)[0]
    assert "Your legal actions: take 1" in model.words(0)[0]


def test_wrong_words_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        _ = Vlm(Scripted([""]), PromptOptions(templates=str(tmp_path / "no"))).templates
    (tmp_path / "agent.md").write_text("# sistem\nHello.\n")
    with pytest.raises(UnknownName, match="did you mean 'system'"):
        _ = Vlm(Scripted([""]), PromptOptions(templates=str(tmp_path))).templates


@pytest.mark.parametrize(
    "spec",
    [
        "vllm/tiny@http://127.0.0.1:1/v1",
        "vllm/tiny@http://127.0.0.1:1/v1?temperature=0&blind=true&style=cot&frames=3&memory=all",
        "vllm/tiny@http://127.0.0.1:1/v1?modality=both&templates=my%20words%26more",
    ],
)
def test_the_spec_makes_the_agent_again(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my words&more").mkdir()
    monkeypatch.chdir(tmp_path)
    game = Pebbles()
    made = ludens.agent(spec, game)
    assert made.spec == spec
    assert ludens.agent(made.spec, game).spec == spec


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("stile=cot", "did you mean 'style'"),
        ("style=loud", "unknown value of option 'style'"),
        ("frames=0", "must be at least 1"),
        ("memory=some", "unknown value of option 'memory'"),
        ("blind=maybe", "must be true or false"),
    ],
)
def test_wrong_manners_are_told(options: str, said: str) -> None:
    with pytest.raises((BadOption, UnknownName), match=said):
        ludens.agent(f"vllm/tiny?{options}", Pebbles())


async def test_actions_are_listed_only_where_the_config_says_so() -> None:
    for listed in (True, False):
        model = Scripted(first_legal)
        await played(model, table=PlayConfig(listed=listed))
        assert ("take 1, take 2, take 3" in model.words(0)[-1]) == listed


async def test_a_request_has_the_sample_of_its_episode() -> None:
    game, model = Pebbles(), Scripted(first_legal)
    agents = dict.fromkeys(game.seats, Vlm(model, PromptOptions()))
    await play(game, agents, 3, sample=4)
    assert {request.sample for request in model.requests} == {4}


async def test_the_latest_exchange_is_the_one_that_is_remembered() -> None:
    model = Scripted(lambda number, _: f"Number {number}.\nAction: take 1")
    await played(model, Pebbles(heap=25), memory="last", frames=3)
    assert len(model.requests) > 3
    for number in range(1, len(model.requests)):
        assert model.words(number, "assistant") == [f"Number {number - 1}.\nAction: take 1"]
