"""Styles of address: answer at once, reason first, or answer and explain."""

from __future__ import annotations

import pytest

import ludens
from ludens.agents.prompt import prompt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import UsageError
from ludens.core.options import configure
from ludens.core.view import RenderOptions
from ludens.models.specs import PromptOptions

WORDS = {"direct": "without explaining", "cot": "step by step", "explain": '"Explanation:"'}


def told(style: str) -> str:
    game = ludens.make("qa", board="chess")
    ask = build_ask(game.view(RenderOptions()), game.start(2), "viewer", "text", PlayConfig())
    return str(prompt(ask, PromptOptions(style=style))[-1].parts[-1])


@pytest.mark.parametrize("style", WORDS)
def test_each_style_says_what_is_wanted_and_only_that(style: str) -> None:
    text = told(style)
    assert {name for name, words in WORDS.items() if words in text} == {style}
    assert text.endswith("Answer: <the letter of the right option>")


def test_other_styles_are_refused() -> None:
    with pytest.raises(UsageError, match="explain"):
        configure(PromptOptions, {"style": "explane"}, "a model")
