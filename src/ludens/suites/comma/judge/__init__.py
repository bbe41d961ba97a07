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

from ludens.core.errors import AgentFailure, UnknownName, Unreadable
from ludens.core.reply import labelled, without_reasoning
from ludens.core.spec import parse_spec
from ludens.core.templates import TemplateOverrides, load_templates
from ludens.models.chat import Message, Model, Request
from ludens.suites.comma.judge.conversation import LABELS, MEANINGS, NORMAL, Conversation, Label, label_of
from ludens.suites.comma.judge.rules import judge_by_rules

RULES = "rules"
MAX_TRIES = 3
MAX_REASON = 500


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


class ModelJudge:
    """A judge that asks a model; `templates` is a folder that may override its templates."""

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        self.model = model
        self.spec = model.spec
        overrides = TemplateOverrides.read(templates) if templates else None
        self._templates = load_templates(Path(__file__).with_name("templates.md"), "judge", overrides)

    async def judge(self, conversation: Conversation) -> tuple[list[Label], str]:
        """Labels and reason.

        Raises:
            AgentFailure: The model gave no valid labels in `MAX_TRIES` tries.
        """
        messages = self.messages(conversation)
        for _ in range(MAX_TRIES):
            answer = await self.model.answer(Request(messages))
            try:
                return read_labels(answer.text)
            except Unreadable as error:
                refusal = self._templates.fill("refused", reason=str(error), reply=self._reply_format())
                messages += [Message("assistant", (answer.text or "...",)), Message("user", (refusal,))]
        raise AgentFailure(f"{self.spec} named no labels in {MAX_TRIES} tries.")

    def messages(self, conversation: Conversation) -> list[Message]:
        meanings = "\n".join(f"- {label}: {meaning}" for label, meaning in MEANINGS.items())
        text = self._templates.fill(
            "conversation", puzzle=conversation.puzzle, conversation=conversation.written()
        )
        return [
            Message("system", (self._templates.fill("system", meanings=meanings),)),
            Message("user", (f"{text}\n\n{self._reply_format()}",)),
        ]

    def _reply_format(self) -> str:
        return self._templates.fill("reply", labels=", ".join(LABELS))

    async def close(self) -> None:
        await self.model.close()


def read_labels(text: str) -> tuple[list[Label], str]:
    """The labels in a reply, and the text before them as the reason. `normal` beside an error is ignored."""
    reply = without_reasoning(text).strip()
    lines = labelled(reply, "labels") or labelled(reply, "label")
    if not lines:
        raise Unreadable("there is no line 'Labels: ...'.")
    names = [name.strip(" .*`'\"[]") for name in lines[-1].split(",") if name.strip(" .*`'\"[]")]
    labels = [label_of(name) for name in names] or [None]
    if None in labels:
        unknown = names[labels.index(None)] if names else ""
        raise Unreadable(f"{unknown[:60]!r} is not one of the labels.")
    errors = [label for label in LABELS if label in labels and label != NORMAL]
    reason = " ".join(reply.rpartition("\n")[0].split())[:MAX_REASON]
    return errors or [NORMAL], reason


def make_judge(spec: str, templates: Path | None = None) -> Judge:
    if spec == RULES:
        return RuleJudge()
    from ludens.models import MODELS, model

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
