"""Who takes part: names for tables, manners of address, blind controls."""

from __future__ import annotations

import pytest

from ludens.core.errors import BadOption
from ludens.run.entrants import field_of, is_model, short_names

A, B = "vllm/Qwen/Qwen2.5-VL-7B@http://a:1/v1", "compat/Qwen2.5-VL-7B@http://b:2/v1"


@pytest.mark.parametrize(
    ("specs", "names"),
    [
        (["openai/gpt-4.1"], ["gpt-4.1"]),
        ([A], ["Qwen2.5-VL-7B"]),
        (["bot/random", "bot/mcts?simulations=5"], ["bot/random", "bot/mcts"]),
        ([A, B], ["vllm/Qwen/Qwen2.5-VL-7B", "compat/Qwen2.5-VL-7B"]),
        (
            ["bot/mcts?simulations=5", "bot/mcts?simulations=9"],
            ["bot/mcts?simulations=5", "bot/mcts?simulations=9"],
        ),
        (["openai/x", "openai/x?style=cot"], ["openai/x", "openai/x?style=cot"]),
        (["vllm/x@http://a:1/v1", "vllm/x@http://b:1/v1"], ["vllm/x@http://a:1/v1", "vllm/x@http://b:1/v1"]),
        (["bot/first", "bot/first", "bot/random"], ["bot/first #1", "bot/first #2", "bot/random"]),
    ],
)
def test_names_are_short_and_unique(specs: list[str], names: list[str]) -> None:
    assert short_names(specs) == names
    assert len(set(names)) == len(names)


def test_models_are_told_from_bots() -> None:
    assert [is_model(spec) for spec in ("openai/x", A, "hf/x", "bot/random", "human")] == [True] * 3 + [
        False
    ] * 2


def test_flags_become_options_of_the_spec() -> None:
    field = field_of(["openai/x?temperature=0"], manner={"style": "cot", "frames": "3"})
    assert field.entrants == {"x": "openai/x?temperature=0&style=cot&frames=3"}


def test_words_are_for_models_and_no_bother_to_bots() -> None:
    field = field_of(["openai/x", "bot/first"], templates="/my words")
    assert field.entrants == {"x": "openai/x?templates=/my%20words", "bot/first": "bot/first"}


def test_controls_are_the_same_models_blind() -> None:
    field = field_of(["openai/x?style=cot", "bot/random"], blind_control=True)
    assert field.entrants == {
        "x": "openai/x?style=cot",
        "bot/random": "bot/random",
        "x (blind)": "openai/x?style=cot&blind=true",
    }
    assert field.controls == {"x (blind)": "x"}


@pytest.mark.parametrize(
    ("specs", "more", "said"),
    [
        (["bot/random"], {"manner": {"blind": "true"}}, "bot/random is no model and takes no --blind"),
        (["openai/x", "human"], {"manner": {"style": "cot"}}, "human is no model and takes no --style"),
        (["bot/random"], {"blind_control": True}, "--blind-control needs a model"),
        (["openai/x?blind=true"], {"blind_control": True}, "has the option blind already"),
        (["openai/x?style=direct"], {"manner": {"style": "cot"}}, "style=direct, and --style says cot"),
        (["openai/x", "openai/y"], {"names": ["one"]}, "2 entrants and 1 names"),
        (["openai/x", "openai/y"], {"names": ["one", "one"]}, "two entrants are called 'one'"),
        (
            ["openai/x", "openai/y"],
            {"names": ["a", "a (blind)"], "blind_control": True},
            "belong to blind controls",
        ),
        (["openai/x?temperature"], {}, "is not option=value"),
    ],
)
def test_what_does_not_fit_is_told(specs: list[str], more: dict[str, object], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        field_of(specs, **more)  # type: ignore[arg-type]
