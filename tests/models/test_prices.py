"""Prices come from the user's file; without one the cost is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.core.episode import Usage
from ludens.core.errors import BadFile
from ludens.models import model
from ludens.models.ledger import Price, load_prices, price_of
from tests.models.conftest import Reach, question
from tests.support.model_server import ModelServer

FILE = """
["gpt-4.1"]
input = 2
output = 8.0

["vllm/tiny"]
input = 10
output = 1000
"""


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(FILE)
    monkeypatch.setenv("LUDENS_PRICES", str(path))
    return path


def test_cost_counts_input_and_output(prices: Path) -> None:
    price = price_of("openai/gpt-4.1")
    assert price == Price(2.0, 8.0)
    assert price.cost(Usage(input_tokens=1_000_000)) == 2.0
    assert price.cost(Usage(output_tokens=500_000, reasoning_tokens=9)) == 4.0
    assert price.cost(Usage(input_tokens=1_000_000, output_tokens=500_000)) == 6.0
    assert price_of("openai/gpt-4.2") is None


def test_default_file_is_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert price_of("openai/gpt-4.1") is None
    (tmp_path / "ludens").mkdir()
    (tmp_path / "ludens" / "prices.toml").write_text(FILE)
    assert price_of("openai/gpt-4.1") == Price(2.0, 8.0)


async def test_cost_of_a_call(prices: Path, reach: Reach) -> None:
    async with ModelServer(script=["length"]) as server:
        answer = await reach(server, "max_tokens=5").answer(question())
    # Two calls of 100 tokens in; three words cut off, then two words out.
    assert answer.usage.cost == pytest.approx((200 * 10 + 5 * 1000) / 1e6)


async def test_no_cost_without_reported_usage(prices: Path, reach: Reach) -> None:
    async with ModelServer(script=["parts"]) as server:
        assert (await reach(server).answer(question())).usage.cost is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gpt", "is not TOML"),
        ("[gpt-4.1]\ninput=1\noutput=2", "names with dots need quotes"),
        ("['a']\ninput=1", "must have two entries"),
        ("['a']\ninput=1\noutput='x'", "must be dollars"),
        ("['a']\ninput=-1\noutput=1", "must be dollars"),
        ("['a']\ninput=true\noutput=1", "must be dollars"),
        ("['a']\ninput=nan\noutput=1", "must be dollars"),
        ("a = 1", "must have two entries"),
    ],
)
def test_invalid_file(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(BadFile, match=words):
        load_prices(path)


def test_missing_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LUDENS_PRICES", str(tmp_path / "none.toml"))
    with pytest.raises(BadFile, match="cannot read prices"):
        model("vllm/tiny")
