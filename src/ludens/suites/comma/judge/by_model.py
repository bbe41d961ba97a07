"""A model as judge: it reads the conversation and the definitions, and names the labels that apply."""

from __future__ import annotations

from pathlib import Path

from ludens.core.errors import AgentFailure, Unreadable
from ludens.core.reply import labelled, without_reasoning
from ludens.core.templates import Templates, load_templates
from ludens.models.chat import Message, Model, Request
from ludens.suites.comma.judge.conversation import Conversation
from ludens.suites.comma.judge.labels import LABELS, MEANINGS, NORMAL, Label, label_of

TRIES = 3
LONGEST_REASON = 500


class ModelJudge:
    """A judge that asks a model."""

    def __init__(self, model: Model, templates: Path | None = None) -> None:
        self.model = model
        self.spec = model.spec
        self._words: Templates = load_templates(Path(__file__).parent / "templates.md", "judge", templates)

    async def judge(self, conversation: Conversation) -> tuple[list[Label], str]:
        """The labels and the reason.

        Raises:
            AgentFailure: The model did not name labels, however often it was told how.
        """
        messages = self.messages(conversation)
        for _ in range(TRIES):
            answer = await self.model.answer(Request(messages))
            try:
                return read_labels(answer.text)
            except Unreadable as error:
                told = self._words.fill("refused", reason=str(error), reply=self._asked())
                messages += [Message("assistant", (answer.text or "...",)), Message("user", (told,))]
        raise AgentFailure(f"{self.spec} named no labels in {TRIES} tries.")

    def messages(self, conversation: Conversation) -> list[Message]:
        """The prompt for the model."""
        meanings = "\n".join(f"- {label}: {meaning}" for label, meaning in MEANINGS.items())
        told = self._words.fill(
            "conversation", puzzle=conversation.puzzle, conversation=conversation.written()
        )
        return [
            Message("system", (self._words.fill("system", meanings=meanings),)),
            Message("user", (f"{told}\n\n{self._asked()}",)),
        ]

    def _asked(self) -> str:
        return self._words.fill("reply", labels=", ".join(LABELS))

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()


def read_labels(text: str) -> tuple[list[Label], str]:
    """The labels in a reply and the text before them. `normal` beside an error does not count."""
    said = without_reasoning(text).strip()
    lines = labelled(said, "labels") or labelled(said, "label")
    if not lines:
        raise Unreadable("there is no line 'Labels: ...'.")
    names = [name.strip(" .*`'\"[]") for name in lines[-1].split(",") if name.strip(" .*`'\"[]")]
    found = [label_of(name) for name in names]
    unknown = next((name for name, label in zip(names, found, strict=True) if label is None), None)
    if not names or unknown is not None:
        raise Unreadable(f"{(unknown or '')[:60]!r} is not one of the labels.")
    errors = [label for label in LABELS if label in found and label != NORMAL]
    why = " ".join(said.rpartition("\n")[0].split())[:LONGEST_REASON]
    return errors or [NORMAL], why
