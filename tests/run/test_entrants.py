"""Entrants of a run: names for tables, prompt options, blind controls."""

from __future__ import annotations

import pytest

from ludens.core.errors import BadOption, UnknownName
from ludens.run.plan import entrants_of, is_model, settings_text, short_names

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


def test_is_model() -> None:
    assert [is_model(spec) for spec in ("openai/x", A, "hf/x", "bot/random", "human")] == [True] * 3 + [
        False
    ] * 2


def test_flags_become_options_of_the_spec() -> None:
    found = entrants_of(["openai/x?temperature=0"], prompt_options={"style": "cot", "frames": "3"})
    assert found.specs == {"x": "openai/x?temperature=0&style=cot&frames=3"}


def test_a_preset_is_added_to_models_and_gives_way_to_their_own_options() -> None:
    found = entrants_of(
        ["openai/x?temperature=0", "anthropic/y", "anthropic/z?effort=high", "bot/first"],
        preset="vs-bench-reasoning",
    )
    assert found.specs == {
        "x": "openai/x?max_tokens=24576&temperature=0",
        "y": "anthropic/y?temperature=1&max_tokens=24576&reasoning_effort=16384",
        "z": "anthropic/z?temperature=1&max_tokens=24576&effort=high",
        "bot/first": "bot/first",
    }
    assert entrants_of(["openai/x"], preset="vs-bench").specs == {
        "x": "openai/x?temperature=1&max_tokens=8192"
    }
    with pytest.raises(UnknownName, match="did you mean 'vs-bench'"):
        entrants_of(["openai/x"], preset="vs-banch")


def test_templates_are_added_to_models_only() -> None:
    found = entrants_of(["openai/x", "bot/first"], templates="/my templates")
    assert found.specs == {"x": "openai/x?templates=/my%20templates", "bot/first": "bot/first"}


def test_by_default_models_that_look_have_controls() -> None:
    looking, reading = "openai/x", "openai/y?modality=text"
    entrants = entrants_of([looking, reading, "openai/z?blind=true", "bot/random"], blind_control=None)
    assert entrants.controls == {"x (blind)": "x"}
    assert entrants_of(["bot/random", reading], blind_control=None).controls == {}


def test_controls_are_the_same_models_blind() -> None:
    found = entrants_of(["openai/x?style=cot", "bot/random"], blind_control=True)
    assert found.specs == {
        "x": "openai/x?style=cot",
        "bot/random": "bot/random",
        "x (blind)": "openai/x?style=cot&blind=true",
    }
    assert found.controls == {"x (blind)": "x"}


@pytest.mark.parametrize(
    ("specs", "more", "message"),
    [
        (
            ["bot/random"],
            {"prompt_options": {"blind": "true"}},
            "is not a model and takes no --blind",
        ),
        (
            ["openai/x", "human"],
            {"prompt_options": {"style": "cot"}},
            "is not a model and takes no --style",
        ),
        (["bot/random"], {"blind_control": True}, "--blind-control needs a model"),
        (["openai/x?blind=true"], {"blind_control": True}, "already has the option blind"),
        (["openai/x?style=direct"], {"prompt_options": {"style": "cot"}}, "style=direct, but --style is cot"),
        (["openai/x", "openai/y"], {"names": ["one"]}, "2 entrants but 1 names"),
        (["openai/x"], {"names": [""]}, "'' is no name"),
        (["openai/x"], {"names": ["a\nb"]}, "is no name"),
        (["openai/x", "openai/y"], {"names": ["one", "one"]}, "two entrants have the name 'one'"),
        (
            ["openai/x", "openai/y"],
            {"names": ["a", "a (blind)"], "blind_control": True},
            "reserved for blind controls",
        ),
        (["openai/x?temperature"], {}, "is not option=value"),
    ],
)
def test_invalid_entrants_raise_an_error(specs: list[str], more: dict[str, object], message: str) -> None:
    with pytest.raises(BadOption, match=message):
        entrants_of(specs, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "spec", "text"),
    [
        ("m", "openai/m", ""),
        ("m", "openai/m?style=direct&frames=1&blind=false&temperature=0", ""),
        ("m", "openai/m?modality=text", "modality text"),
        ("m", "openai/m?style=cot&frames=4&memory=all", "cot, 4 frames, memory all"),
        ("m", "openai/m?blind=yes", "blind"),
        ("m (blind)", "openai/m?blind=true&style=cot", "cot"),
        ("openai/m?style=cot", "openai/m?style=cot&frames=2", "2 frames"),
        ("b", "bot/random", ""),
    ],
)
def test_settings_that_differ_from_the_suites_are_named(name: str, spec: str, text: str) -> None:
    assert settings_text(name, spec) == text
