"""A vision-language model in a chair: what it is told, what it is shown, what it remembers.

The system message holds the rules; then come the pictures, their twin where asked for, notes, what is
allowed, and how to reply. A refused reply is answered with the reason, in the same conversation. All words
come from a template file that users may replace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import UnknownName, Unreadable
from ludens.core.options import configure, option_values, options_of
from ludens.core.spec import Spec, parse_spec
from ludens.core.state import FreeText
from ludens.core.templates import Templates, load_templates
from ludens.core.view import Picture, Sees
from ludens.models.chat import Message, Model, Request
from ludens.models.specs import STYLES, PromptOptions

_FILE = Path(__file__).parent / "templates" / "agent.md"
_SEES: dict[str, Sees] = {"offered": "offered", "image": "image", "text": "text", "both": "both"}

Moment = tuple[int, tuple[Picture, ...]]
"""A move and the pictures that were shown for it."""


@dataclass
class Vlm(Agent):
    """A model that plays. One model may sit at many tables at once; each seated copy has its own memory."""

    model: Model
    manner: PromptOptions = field(default_factory=PromptOptions)
    kind = "model"
    waits = True

    def __post_init__(self) -> None:
        self.sees = _SEES[self.manner.modality]

    @property
    def spec(self) -> str:
        own = parse_spec(self.model.spec)
        ours = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in option_values(self.manner).items()
            if value != options_of(PromptOptions)[name].default
        }
        return str(Spec(own.name, own.address, {**own.options, **ours}))

    @property
    def templates(self) -> Templates:
        """The templates that prompts are made of."""
        return _words(self.manner.templates)

    @property
    def remarks(self) -> Sequence[str]:
        return self.model.remarks

    def begin(self) -> None:
        _words(self.manner.templates)
        self._moments: list[Moment] = []
        self._exchanges: list[tuple[int, str, str]] = []
        """Move, what was told, what was said."""

    async def act(self, ask: Ask) -> Reply:
        answer = await self.model.answer(Request(messages=self.messages(ask)))
        self.remember(ask, "" if answer.finish == "filtered" else answer.text)
        reply = Reply(
            answer.text, usage=answer.usage, finish="" if answer.finish == "stop" else answer.finish
        )
        if answer.finish == "filtered":
            # The words, if any, are the filter's: where messages are free they must not become one.
            held_back = Unreadable("a content filter held the reply back.")
            held_back.reply = reply
            raise held_back
        return reply

    async def close(self) -> None:
        await self.model.close()

    def messages(self, ask: Ask) -> list[Message]:
        """The whole prompt for an ask, refused replies included."""
        self._look(ask)
        templates = self.templates
        # What never changes comes first, so that servers can keep it.
        messages = [Message("system", (_joined(templates.fill("system"), ask.rules),))]
        for told, said in self._kept(ask):
            messages += [Message("user", (told,)), self._said(said)]
        pictures = [picture for _, shown in self._moments for picture in shown]
        messages.append(Message("user", (*pictures, self._told(ask))))
        for said, reason in ask.refused:
            messages.append(self._said(said))
            messages.append(
                Message("user", (templates.fill("refused", reason=reason, reply=ask.format.ask(ask.legal)),))
            )
        return messages

    def remember(self, ask: Ask, said: str) -> None:
        """Keep the exchange; the last reply to an ask is the one that stays."""
        if self.manner.memory == "none":
            return
        told = _joined(self._twin(ask), ask.observation.notes) or self.templates.fill("earlier")
        self._exchanges = [kept for kept in self._exchanges if kept[0] != ask.move]
        self._exchanges.append((ask.move, told, said))

    def _kept(self, ask: Ask) -> list[tuple[str, str]]:
        """Exchanges before this ask, as far as memory goes: replies to it are quoted with the reason."""
        earlier = [(told, said) for move, told, said in self._exchanges if move != ask.move]
        return earlier[-1:] if self.manner.memory == "last" else earlier

    def _look(self, ask: Ask) -> None:
        """Take in the pictures of this moment, once however often its reply is refused."""
        shown = tuple(p.blank() if self.manner.blind else p for p in ask.observation.images)
        before = [moment for moment in self._moments if moment[0] != ask.move]
        self._moments = [*before, (ask.move, shown)][-self.manner.frames :]

    def _listed(self, ask: Ask) -> str:
        if not ask.listed or isinstance(ask.legal, FreeText):
            return ""
        return self.templates.fill("legal", actions=", ".join(ask.legal))

    def _twin(self, ask: Ask) -> str:
        """What the pictures show, in words: a seat that is offered both would not be blind with it."""
        seen = ask.observation
        return "" if self.manner.blind and seen.images else seen.text

    def _said(self, text: str) -> Message:
        # Providers refuse a turn that holds nothing but white space.
        return Message("assistant", (text if text.strip() else self.templates.fill("silence"),))

    def _told(self, ask: Ask) -> str:
        templates, text = self.templates, self._twin(ask)
        shown = sum(bool(pictures) for _, pictures in self._moments)
        return _joined(
            templates.fill("frames", count=shown) if shown > 1 else "",
            templates.fill("text", text=text) if text else "",
            ask.observation.notes,
            self._listed(ask),
            templates.fill(self.manner.style),
            ask.format.ask(ask.legal),
        )


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


_FILLED: dict[str, dict[str, str]] = {
    "frames": {"count": "2"},
    "text": {"text": ""},
    "legal": {"actions": ""},
    "refused": {"reason": "", "reply": ""},
}
_SECTIONS = ("system", *STYLES, "frames", "text", "legal", "refused", "silence", "earlier")


@lru_cache(maxsize=16)
def _words(folder: str) -> Templates:
    """The templates, each filled in once, so that a wrong one is found before the first move."""
    templates = load_templates(_FILE, "agent", Path(folder) if folder else None)
    for section in _SECTIONS:
        templates.fill(section, **_FILLED.get(section, {}))
    return templates


def split_options(spec: Spec) -> tuple[Spec, PromptOptions]:
    """A seat's spec as the model's own spec and the manner in which it is addressed."""
    ours: dict[str, Any] = {k: v for k, v in spec.options.items() if k in options_of(PromptOptions)}
    theirs = {k: v for k, v in spec.options.items() if k not in ours}
    return Spec(spec.name, spec.address, theirs), configure(PromptOptions, ours, spec.name)


def reach(own: Spec) -> Model:
    """The model of a seat's own spec; a mistyped option may have been meant for the manner."""
    from ludens.models import model

    try:
        return model(own)
    except UnknownName as error:
        near = get_close_matches(error.name, options_of(PromptOptions), 1)
        if near and error.kind.startswith("option of") and error.nearest is None:
            raise UnknownName(error.kind, error.name, near) from None
        raise
