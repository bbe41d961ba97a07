"""Judges: label a conversation with the errors it shows, or as normal.

A judge is named by a model spec, or `rules` for the judge that needs no model. Verdicts are stored in a file
as they arrive. The accuracy of a judge is measured on the calibration set
(`ludens judge --calibrate --judge SPEC`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

import orjson

from ludens.core.errors import AgentFailure, BadFile, UnknownName, Unreadable
from ludens.core.files import write_atomically
from ludens.core.reply import labelled, without_reasoning
from ludens.core.spec import parse_spec
from ludens.core.templates import TemplateOverrides, load_templates
from ludens.models.chat import Message, Model, Request
from ludens.run.results import read_label_lines
from ludens.run.stats import Estimate, rate
from ludens.suites.comma.judge.conversation import (
    LABELS,
    MEANINGS,
    NORMAL,
    Conversation,
    Label,
    label_of,
    read_conversation,
)
from ludens.suites.comma.judge.rules import judge_by_rules

RULES = "rules"
MAX_TRIES = 3
MAX_REASON = 500
Key = tuple[str, str]
"""Key of an episode in its run, and its fingerprint: another run may have the same keys."""


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


class LabelFile:
    """A context manager that reads the earlier verdicts of a judge and appends new ones.

    `templates` is the hash of the templates of the user, empty for the default ones.
    """

    def __init__(self, file: Path, judge: str, templates: str = "") -> None:
        self._path, self._judge, self._templates = file, judge, templates
        self._file: BinaryIO | None = None
        self.verdicts: dict[Key, Verdict] = {}

    def __enter__(self) -> Self:
        own, rest = list[dict[str, Any]](), list[dict[str, Any]]()
        for line in read_label_lines(self._path):
            same = (line.get("judge"), line.get("templates", "")) == (self._judge, self._templates)
            (own if same else rest).append(line)
        # Rules cost nothing and may have changed since; failed verdicts are tried again.
        valid = [line for line in own if not line["error"] and self._judge != RULES]
        for line in valid:
            verdict = Verdict(tuple(line["labels"]), line["reason"])
            self.verdicts[line["key"], line.get("fingerprint", "")] = verdict
        write_atomically(self._path, b"".join(map(_encode, [*rest, *valid])))
        self._file = self._path.open("ab")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, key: Key, verdict: Verdict, details: Mapping[str, Any]) -> None:
        assert self._file is not None, "the file is not open"
        self.verdicts[key] = verdict
        line = {
            "key": key[0],
            **details,
            "labels": list(verdict.labels),
            "reason": verdict.reason,
            "error": verdict.error,
            "judge": self._judge,
            "templates": self._templates,
            "fingerprint": key[1],
        }
        self._file.write(_encode(line))
        self._file.flush()


def _encode(line: Mapping[str, Any]) -> bytes:
    return orjson.dumps(line) + b"\n"


@dataclass(frozen=True)
class Case:
    """A conversation and its correct labels; it was written to show the first."""

    conversation: Conversation
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Agreement:
    """How well a judge assigns one label."""

    label: Label
    accuracy: Estimate
    """Share of all conversations that correctly have or lack the label."""
    found: Estimate
    """Share of the conversations with the label that got it (recall)."""
    false: Estimate
    """Share of the conversations without the label that got it (false positive rate)."""


@dataclass(frozen=True)
class Calibration:
    """How well a judge did on the whole set."""

    labels: Mapping[Label, Agreement]
    exact: Estimate
    """Share of conversations with exactly the correct labels."""
    hit: Estimate
    """Share whose labels include the one they were written for: the paper's measure."""


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    files = sorted((Path(__file__).parent / "calibration").glob("*.txt"))
    return tuple(case for file in files for case in read_cases(file))


def read_cases(file: Path) -> list[Case]:
    """The cases in a file; each starts with a line `# puzzle | label, label`."""
    _, *parts = file.read_text(encoding="utf-8").split("\n# ")
    cases = []
    for part in parts:
        head, *rows = part.rstrip().splitlines()
        puzzle, _, names = head.partition(" | ")
        labels = tuple(label for name in names.split(",") if (label := label_of(name)) is not None)
        if len(labels) < names.count(",") + 1:
            raise BadFile(f"unknown label in {head!r} of {file.name}.")
        cases.append(Case(read_conversation(puzzle, rows), labels))
    return cases


def agreement(truth: Sequence[Case], answers: Sequence[Sequence[Label]]) -> Calibration:
    pairs = [(set(case.labels), set(labels)) for case, labels in zip(truth, answers, strict=True)]
    by_label = {}
    for label in LABELS:
        present = [label in judged for correct, judged in pairs if label in correct]
        absent = [label in judged for correct, judged in pairs if label not in correct]
        accuracy = rate(sum(present) + absent.count(False), len(pairs))
        shares = (rate(sum(labelled), len(labelled)) for labelled in (present, absent))
        by_label[label] = Agreement(label, accuracy, *shares)
    exact = sum(correct == judged for correct, judged in pairs)
    hits = sum(case.labels[0] in labels for case, labels in zip(truth, answers, strict=True))
    return Calibration(by_label, rate(exact, len(pairs)), rate(hits, len(pairs)))
