"""Labels for what went wrong in a conversation: four types of error and normal, by a model or by rules.

A judge is named by a model's spec, or `rules`. Its accuracy is measured on the
calibration set (`ludens judge --calibrate --judge SPEC`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ludens.core.errors import AgentFailure, UnknownName
from ludens.core.spec import parse_spec
from ludens.suites.comma.judge.conversation import Conversation
from ludens.suites.comma.judge.labels import Label
from ludens.suites.comma.judge.rules import judge_by_rules

RULES = "rules"


@dataclass(frozen=True)
class Verdict:
    """A judge's labels for one conversation, or an error."""

    labels: tuple[Label, ...]
    why: str
    error: str = ""


class Judge(Protocol):
    """A judge of conversations."""

    spec: str

    async def judge(self, conversation: Conversation) -> tuple[list[Label], str]: ...

    async def close(self) -> None: ...


class RuleJudge:
    """The rule-based judge; it needs no model."""

    spec = RULES

    async def judge(self, conversation: Conversation) -> tuple[list[Label], str]:
        return judge_by_rules(conversation)

    async def close(self) -> None:
        return None


def make_judge(spec: str, templates: Path | None = None) -> Judge:
    """The judge of a spec."""
    if spec == RULES:
        return RuleJudge()
    from ludens.models import MODELS, model
    from ludens.suites.comma.judge.by_model import ModelJudge

    kind = parse_spec(spec).kind
    if kind not in MODELS.names():
        raise UnknownName("judge", kind, [RULES, *(f"{known}/..." for known in MODELS.names())])
    return ModelJudge(model(spec), templates)


async def judge_all(
    judge: Judge,
    conversations: Sequence[Conversation],
    said: Callable[[int, Verdict], None] = lambda number, verdict: None,
) -> list[Verdict]:
    """Judge many conversations concurrently, within the model's own limits; then close the judge.

    Args:
        judge: The judge.
        conversations: The conversations to judge.
        said: Called with each verdict and the number of its conversation.
    """

    async def one(number: int, conversation: Conversation) -> Verdict:
        try:
            labels, why = await judge.judge(conversation)
            verdict = Verdict(tuple(labels), why)
        except AgentFailure as failure:
            verdict = Verdict((), "", str(failure))
        said(number, verdict)
        return verdict

    tasks = [asyncio.create_task(one(*numbered)) for numbered in enumerate(conversations)]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        # A rejected request is rejected for all conversations: stop asking.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await judge.close()
