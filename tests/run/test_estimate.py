"""What a run will take, foreseen: counts that are known exactly are met exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.core.episode import Usage
from ludens.models.ledger import Budget
from ludens.run.estimate import CostEstimate, estimate, unpriced_models
from ludens.run.lines import read_records
from ludens.run.plan import Plan, make_plan
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, QUICK, plan_of, played

MODEL = "vllm/tiny@http://127.0.0.1:1/v1"


def guess(plan: Plan) -> CostEstimate:
    return estimate(plan, plan.jobs)


def test_bots_take_nothing() -> None:
    made = guess(plan_of("bot/random", "bot/best"))
    assert (made.episodes, made.usage.calls, made.usage.tokens, made.each, made.large) == (
        36,
        0,
        0,
        {},
        False,
    )


def test_a_question_is_one_call_with_one_picture() -> None:
    made = guess(plan_of(MODEL, tasks=("question",)))
    assert (made.episodes, made.usage.calls, made.usage.images) == (4, 4, 4)
    assert made.picture_tokens == pytest.approx(4 * 512 * 512 / 750)
    assert made.usage.tokens > made.picture_tokens
    assert made.each[MODEL, "question"].calls == 1


def test_seats_that_move_together_are_both_asked() -> None:
    made = guess(plan_of(MODEL, tasks=("together",)))
    assert made.usage.calls == 4 * 2 * 3
    assert made.usage.images == made.usage.calls


@pytest.mark.parametrize(
    ("options", "pictures"),
    [("modality=text", 0), ("blind=true", 24), ("frames=3", 2 * 4 * (1 + 2 + 3)), ("modality=both", 24)],
)
def test_the_manner_counts(options: str, pictures: int) -> None:
    assert guess(plan_of(f"{MODEL}?{options}", tasks=("together",))).usage.images == pictures


def test_a_smaller_size_takes_fewer_tokens() -> None:
    small = guess(plan_of(MODEL, tasks=("question",), size=256))
    assert small.picture_tokens == pytest.approx(4 * 256 * 256 / 750)


def test_reasoning_and_memory_take_more() -> None:
    plain = guess(plan_of(MODEL)).usage.tokens
    assert guess(plan_of(f"{MODEL}?style=cot")).usage.tokens > plain
    assert (
        guess(plan_of(f"{MODEL}?modality=text&memory=all")).usage.tokens
        > guess(plan_of(f"{MODEL}?modality=text")).usage.tokens
    )


async def test_it_foresees_what_is_then_counted(tmp_path: Path) -> None:
    async with ModelServer() as server:
        plan = plan_of(f"vllm/tiny@{server.url}?{HASTE}", tasks=("together", "question"))
        await played(tmp_path, plan)
    foreseen = await _in_thread(plan)
    usage = [record.episode.usage() for record in read_records(tmp_path)]
    # Where replies are always read and legal, every call is foreseen.
    assert sum(u.calls for u in usage) == len(server.requests)
    assert foreseen.usage.calls <= len(server.requests)
    together = sum(r.episode.usage().calls for r in read_records(tmp_path) if r.task == "together")
    assert together == 24 == foreseen.each[next(iter(plan.entrants)), "together"].calls * 4


async def _in_thread(plan: Plan) -> CostEstimate:
    import asyncio

    return await asyncio.to_thread(guess, plan)


def test_prices_make_a_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(MODEL, tasks=("question",))
    monkeypatch.delenv("LUDENS_PRICES", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert guess(plan).usage.cost is None
    assert "price not known" in guess(plan).sentence()
    assert unpriced_models(plan) == ["vllm/tiny"]
    monkeypatch.setenv("LUDENS_PRICES", str(tmp_path / "prices.toml"))
    output_tokens = 4 * 30
    for prices, cost in (
        ((1000.0, 0.0), lambda made: (made.usage.tokens - output_tokens) / 1000),
        ((0.0, 1000.0), lambda made: output_tokens / 1000),
        ((1000.0, 2000.0), lambda made: (made.usage.tokens + output_tokens) / 1000),
    ):
        text = '["vllm/tiny"]\ninput = {}\noutput = {}\n'.format(*prices)
        (tmp_path / "prices.toml").write_text(text)
        made = guess(plan)
        assert made.usage.cost == pytest.approx(cost(made))
        assert made.each[MODEL, "question"].cost == pytest.approx(made.usage.cost / 4)
    assert unpriced_models(plan) == []


def test_a_provider_that_names_its_price_needs_none() -> None:
    assert unpriced_models(plan_of("openrouter/x", "bot/first")) == []


@pytest.mark.parametrize(
    ("made", "large"),
    [
        (CostEstimate(usage=Usage(calls=5000, cost=5.0)), False),
        (CostEstimate(usage=Usage(calls=5001)), True),
        (CostEstimate(usage=Usage(cost=5.01)), True),
    ],
)
def test_what_is_large(made: CostEstimate, large: bool) -> None:
    assert made.large is large


def test_two_digits_are_enough() -> None:
    made = CostEstimate(12, Usage(99, images=98765, calls=123456, cost=1234.5), 4_449_999)
    assert made.sentence() == (
        "12 episodes: about 120,000 calls with 99,000 pictures, 4,400,000 tokens of pictures, 99 in all; "
        "about $1,234.50 or more."
    )


def test_only_what_is_left_is_estimated() -> None:
    plan = make_plan(QUICK, {"a": MODEL}, tasks=("question",))
    assert estimate(plan, list(plan.jobs)[3:]).usage.calls == 1


def test_budgets_that_are_none() -> None:
    from ludens.core.errors import BadOption

    for wrong in ({"calls": 0}, {"tokens": -1}, {"cost": float("nan")}, {"hours": 0.0}):
        with pytest.raises(BadOption, match="must be above 0"):
            Budget(**wrong)  # type: ignore[arg-type]


def test_spending_adds_up() -> None:
    one, other = Usage(2, 3, cost=3.0), Usage(1, cost=1.0)
    assert (one * 3 + other - other) / 2 == Usage(3, 5, calls=2, cost=4.5)


def test_small_models_of_ours_cost_nothing() -> None:
    plan = make_plan("demo", {"a": "nano", "b": "nano?blind=true", "c": "bot/random"})
    assert guess(plan).usage.calls == 0
    assert unpriced_models(plan) == []
