"""Judges: label a conversation with the errors it shows, or as normal.

A judge is named by a model spec, or `rules` for the judge that needs no model. Its accuracy is measured on
the calibration set (`ludens judge --calibrate --judge SPEC`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ludens.core.errors import AgentFailure, UnknownName
from ludens.core.spec import parse_spec
from ludens.suites.comma.judge.conversation import Conversation, Label
from ludens.suites.comma.judge.rules import judge_by_rules

RULES = "rules"


@dataclass(frozen=True)
class Verdict:
    """Labels of a conversation with the reason, or an error if the judge gave none."""

    labels: tuple[Label, ...]
    reason: str
    error: str = ""


class Judge(Protocol):
    """Labels conversations; `judge` returns labels and reason."""

    spec: str

    async def judge(self, conversation: Conversation) -> tuple[list[Label], str]: ...

    async def close(self) -> None: ...


class RuleJudge:
    """The judge that needs no model."""

    spec = RULES

    async def judge(self, conversation: Conversation) -> tuple[list[Label], str]:
        return judge_by_rules(conversation)

    async def close(self) -> None:
        return None


def make_judge(spec: str, templates: Path | None = None) -> Judge:
    if spec == RULES:
        return RuleJudge()
    from ludens.models import MODELS, model
    from ludens.suites.comma.judge.by_model import ModelJudge

    kind = parse_spec(spec).kind
    if kind not in MODELS.names():
        raise UnknownName("judge", kind, [RULES, *(f"{name}/..." for name in MODELS.names())])
    return ModelJudge(model(spec), templates)


async def judge_all(
    judge: Judge,
    conversations: Sequence[Conversation],
    on_verdict: Callable[[int, Verdict], None] = lambda index, verdict: None,
) -> list[Verdict]:
    """Judge conversations concurrently, within the limits of the model; then close the judge.

    `on_verdict` gets the index of a conversation and its verdict as soon as there is one.
    """

    async def judge_one(index: int, conversation: Conversation) -> Verdict:
        try:
            labels, reason = await judge.judge(conversation)
            verdict = Verdict(tuple(labels), reason)
        except AgentFailure as failure:
            verdict = Verdict((), "", str(failure))
        on_verdict(index, verdict)
        return verdict

    tasks = [asyncio.create_task(judge_one(*indexed)) for indexed in enumerate(conversations)]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        # Any other error, such as a rejected key, would recur for every request: cancel the rest.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await judge.close()
