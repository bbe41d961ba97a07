"""Prompt styles: answer at once, reason first, or answer and explain; for actions and for messages."""

from __future__ import annotations

import re

import pytest

import ludens
from ludens.agents.vlm import Vlm, prompt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import UsageError
from ludens.core.options import configure
from ludens.core.replay import replay
from ludens.core.reply import MessageFormat
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma import panel
from ludens.models.chat import Answer, Model, Request
from ludens.models.settings import STYLES, PromptOptions
from tests.support.pebbles import Talk

WORDS = {"direct": "without explaining", "cot": "step by step", "explain": '"Explanation:"'}
MESSAGE_WORDS = {"direct": "without reasoning", "cot": "step by step", "explain": "explain it afterwards"}
PUZZLES = [f"comma/{name}" for name in panel.PUZZLES]


def question(name: str, seat: str, style: str) -> str:
    """The last message of the first prompt of a seat."""
    game = ludens.make(name)
    ask = build_ask(game.view(RenderOptions()), game.start(2), seat, "text", PlayConfig())
    return str(prompt(ask, PromptOptions(style=style))[-1].parts[-1])


@pytest.mark.parametrize("style", WORDS)
def test_each_style_has_its_own_instruction(style: str) -> None:
    text = question("qa?board=chess", "viewer", style)
    assert {name for name, words in WORDS.items() if words in text} == {style}
    assert text.endswith("Answer: <the letter of the right option>")


def test_an_unknown_style_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="explain"):
        configure(PromptOptions, {"style": "explane"}, "a model")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", PUZZLES)
def test_styles_of_messages_do_not_speak_of_moves(name: str, style: str) -> None:
    for seat in ("solver", "expert"):
        text = question(name, seat, style)
        assert {each for each, words in MESSAGE_WORDS.items() if words in text} == {style}
        assert "without explaining your move" not in text
        assert ("<think>" in text) is (style != "direct")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["perceive", "rule"])
def test_answers_in_free_text_that_are_not_messages_keep_the_styles_of_actions(name: str, style: str) -> None:
    assert WORDS[style] in question(name, ludens.make(name).seats[0], style)


@pytest.mark.parametrize("style", ["cot", "explain"])
def test_the_released_format_says_that_reasoning_is_sent(style: str) -> None:
    text = question("comma/atm?variant=released", "solver", style)
    assert "Your whole reply" in text
    assert "<think>" not in text


def test_a_format_can_override_the_wording_of_a_style() -> None:
    game = Talk()
    ask = build_ask(view_of(game, RenderOptions(), 0), game.start(0), "a", "text", PlayConfig())
    object.__setattr__(ask, "format", MessageFormat(styles={"cot": "Think aloud in rhymes."}))
    texts = {style: str(prompt(ask, PromptOptions(style=style))[-1].parts[-1]) for style in STYLES}
    assert [style for style, text in texts.items() if "in rhymes" in text] == ["cot"]


class Obedient(Model):
    """Reasons about what it was shown: in tags where the prompt asks for tags, else before its reply."""

    def __init__(self) -> None:
        super().__init__("vllm/obedient@http://127.0.0.1:1/v1")
        self.shown: list[str] = []

    async def answer(self, request: Request) -> Answer:
        text = "\n".join(p for m in request.messages for p in m.parts if isinstance(p, str))
        self.shown.append(text)
        pin = re.search(r"PIN of your bank account: (\d+)", text)
        reasoning = f"My secret thoughts: {pin[1] if pin else 'none'}."
        if "<think>" not in text:
            return Answer(f"{reasoning}\nHello.")
        tagged = f"<think>{reasoning}</think>"
        return Answer(f"Hello.\n{tagged}" if "after the message" in text else f"{tagged}\nHello.")


@pytest.mark.parametrize("style", ["cot", "explain"])
@pytest.mark.parametrize("name", PUZZLES)
async def test_the_partner_never_receives_reasoning(name: str, style: str) -> None:
    game = ludens.make(name, turns=3)
    models = {seat: Obedient() for seat in game.seats}
    options = PromptOptions(style=style, modality="text")
    episode = await ludens.play(game, {seat: Vlm(model, options) for seat, model in models.items()}, 4)
    assert {move.action for move in episode.moves} == {"Hello."}
    assert all("secret thoughts" in tried.text for move in episode.moves for tried in move.tries)
    assert not any("secret thoughts" in text for model in models.values() for text in model.shown)


@pytest.mark.parametrize("style", ["cot", "explain"])
async def test_a_pin_in_reasoning_is_not_in_the_notes_of_the_expert(style: str) -> None:
    game = ludens.make("comma/atm", turns=2)
    models = {seat: Obedient() for seat in game.seats}
    options = PromptOptions(style=style)
    episode = await ludens.play(game, {seat: Vlm(model, options) for seat, model in models.items()}, 4)
    *_, last = replay(episode)
    pin = last.state.facts["private"]["PIN"]
    assert pin in episode.moves[0].tries[0].text
    assert pin not in view_of(game, RenderOptions(), 0).notes(last.state, "expert")
    assert not any(pin in text for text in models["expert"].shown)
