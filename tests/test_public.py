"""The public face: its names are pinned, and it is light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ludens

PUBLIC = {
    "ActionFormat", "Agent", "Ask", "Episode", "Evaluation", "GAMES", "Game", "Legal", "RenderOptions",
    "LudensError", "evaluate", "GameStage", "DecisionScore",
    "MessageFormat", "Observation", "Reply", "ReplyFormat", "State", "Stream", "PlayConfig", "View",
    "Observer", "Place", "Places", "Sample", "Touch", "__version__", "agent", "make", "option", "play",
    "play_sync", "replay", "rollouts", "samples", "stream", "verify",
}  # fmt: skip

HEAVY = [
    "PIL",
    "aiohttp",
    "cyclopts",
    "numpy",
    "open_spiel",
    "orjson",
    "pydantic",
    "pyspiel",
    "rich",
    "scipy",
]


def test_public_names_are_pinned() -> None:
    assert set(ludens.__all__) == PUBLIC
    assert set(dir(ludens)) >= PUBLIC
    for name in PUBLIC:
        assert getattr(ludens, name) is not None


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ludens' has no attribute 'mkae'"):
        ludens.mkae  # noqa: B018


def loaded_after(code: str) -> set[str]:
    code += "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_importing_ludens_loads_nothing_heavy() -> None:
    assert not loaded_after("import ludens") & set(HEAVY)


def test_the_contract_loads_nothing_that_draws_or_calls() -> None:
    code = "from ludens import *\nfrom ludens.loop import play"
    loaded = loaded_after(code)
    assert not loaded & set(HEAVY) - {"orjson", "numpy"}
