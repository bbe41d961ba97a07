"""Styles of address: answer at once, reason first, or answer and explain."""

from __future__ import annotations

import pytest

import ludens
from ludens.agents.vlm import PromptOptions, Vlm
from ludens.core.agent import Ask
from ludens.core.errors import UsageError
from ludens.core.options import configure
from ludens.core.random import stream
from ludens.core.view import RenderOptions

WORDS = {"direct": "without explaining", "cot": "step by step", "explain": '"Explanation:"'}


def told(style: str) -> str:
    game = ludens.make("qa", board="chess")
    state, view = game.start(2), game.view(RenderOptions())
    seated = Vlm(None, PromptOptions(style=style)).sit(game, "viewer", stream(0))  # type: ignore[arg-type]
    ask = Ask(
        "viewer",
        state.legal("viewer"),
        view.format(state, "viewer"),
        view.observe(state, "viewer", "text"),
        view.rules("viewer"),
    )
    return str(seated.messages(ask)[-1].parts[-1])


@pytest.mark.parametrize("style", WORDS)
def test_each_style_says_what_is_wanted_and_only_that(style: str) -> None:
    prompt = told(style)
    assert {name for name, words in WORDS.items() if words in prompt} == {style}
    assert prompt.endswith("Answer: <the letter of the right option>")


def test_other_styles_are_refused() -> None:
    with pytest.raises(UsageError, match="explain"):
        configure(PromptOptions, {"style": "explane"}, "a model")
