"""A vision-language model in a chair: what it is told, what it is shown, what it remembers.

A prompt holds the rules, the pictures first, then their twin where asked for, notes, what is allowed, and
how to reply. A refused reply is answered with the reason, in the same conversation. All words come from a
template file that users may replace.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import configure, option, options_of
from ludens.core.spec import Spec
from ludens.core.state import FreeText
from ludens.core.view import Picture, Sees
from ludens.core.words import Words, load_words
from ludens.models.chat import Message, Model, Request

_FILE = Path(__file__).parent / "words" / "agent.md"
_SEES: dict[str, Sees] = {"offered": "offered", "image": "image", "text": "text", "both": "both"}


@dataclass(frozen=True)
class Manner:
    """How a model is addressed: every option of a seat that is not the model's own."""

    modality: str = option(
        "offered", choices=tuple(_SEES), help="what it sees: image, its text twin, or both"
    )
    blind: bool = option(False, help="replace every picture by a blank one of the same size")
    style: str = option("direct", choices=("direct", "cot"), help="answer at once, or reason first")
    frames: int = option(1, low=1, high=32, help="how many of the latest pictures are shown")
    memory: str = option("none", choices=("none", "last", "all"), help="earlier exchanges kept in the prompt")
    words: str = option("", help="folder with words of your own")


@dataclass
class Vlm(Agent):
    """A model that plays. One model may sit at many tables at once; each seated copy has its own memory."""

    model: Model
    manner: Manner = field(default_factory=Manner)
    kind = "model"
    waits = True

    def __post_init__(self) -> None:
        self.sees = _SEES[self.manner.modality]

    @property
    def spec(self) -> str:
        plain = Manner()
        changed = {
            name: str(getattr(self.manner, name)).lower()
            if name == "blind"
            else str(getattr(self.manner, name))
            for name in options_of(Manner)
            if getattr(self.manner, name) != getattr(plain, name)
        }
        tail = "&".join(f"{key}={value}" for key, value in changed.items())
        return self.model.spec + (("&" if "?" in self.model.spec else "?") + tail if tail else "")

    @property
    def words(self) -> Words:
        """The templates that prompts are made of."""
        return _words(self.manner.words)

    def begin(self) -> None:
        self._frames: list[Picture] = []
        self._exchanges: list[tuple[str, str]] = []

    async def act(self, ask: Ask) -> Reply:
        answer = await self.model.answer(Request(messages=self.messages(ask)))
        self.remember(ask, answer.text)
        return Reply(answer.text, usage=answer.usage, finish="" if answer.finish == "stop" else answer.finish)

    def messages(self, ask: Ask) -> list[Message]:
        """The whole prompt for an ask, refused replies included."""
        if not ask.refused:
            self._look(ask)
        words = self.words
        messages = [Message("system", (words.say("system"),))]
        for told, said in self._kept():
            messages += [Message("user", (told,)), Message("assistant", (said,))]
        messages.append(Message("user", (*self._frames, self._told(ask))))
        for said, reason in ask.refused:
            messages.append(Message("assistant", (said or words.say("silence"),)))
            messages.append(
                Message("user", (words.say("refused", reason=reason, reply=ask.format.ask(ask.legal)),))
            )
        return messages

    def remember(self, ask: Ask, said: str) -> None:
        """Keep the exchange, as far as memory goes; the last reply to an ask is the one that stays."""
        if self.manner.memory == "none":
            return
        if ask.refused:
            self._exchanges.pop()
        told = "\n\n".join(filter(None, (ask.observation.text, ask.observation.notes)))
        self._exchanges.append((told or self.words.say("earlier"), said))

    def _kept(self) -> list[tuple[str, str]]:
        return self._exchanges[-1:] if self.manner.memory == "last" else self._exchanges

    def _look(self, ask: Ask) -> None:
        shown = [p.blank() if self.manner.blind else p for p in ask.observation.images]
        # A game that shows several pictures at once shows them all, whatever the history's length.
        keep = max(self.manner.frames, len(shown))
        self._frames = [*self._frames, *shown][-keep:]

    def _told(self, ask: Ask) -> str:
        words, seen = self.words, ask.observation
        parts = [ask.rules]
        if len(self._frames) > 1:
            parts.append(words.say("frames", count=len(self._frames)))
        if seen.text:
            parts.append(words.say("text", text=seen.text))
        parts.append(seen.notes)
        if not isinstance(ask.legal, FreeText):
            parts.append(words.say("legal", actions=", ".join(ask.legal)))
        parts.append(words.say(self.manner.style))
        parts.append(ask.format.ask(ask.legal))
        return "\n\n".join(filter(None, parts))


@lru_cache(maxsize=16)
def _words(folder: str) -> Words:
    return load_words(_FILE, "agent", Path(folder) if folder else None)


def split_options(spec: Spec) -> tuple[Spec, Manner]:
    """A seat's spec as the model's own spec and the manner in which it is addressed."""
    ours: dict[str, Any] = {k: v for k, v in spec.options.items() if k in options_of(Manner)}
    theirs = {k: v for k, v in spec.options.items() if k not in ours}
    return Spec(spec.name, spec.address, theirs), configure(Manner, ours, spec.name)
