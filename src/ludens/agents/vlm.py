"""Agents that ask a vision-language model, and the prompt: a pure function of an ask and the prompt
options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask, Exchange, History
from ludens.core.errors import BadOption, Unreadable
from ludens.core.reply import MessageFormat
from ludens.core.spec import parse_spec
from ludens.core.templates import Sections, TemplateOverrides, Templates, load_templates
from ludens.core.tools import ToolFormat, with_calls
from ludens.core.view import Observation, Picture, RenderOptions, view_of
from ludens.models.chat import Message, Model, Request
from ludens.models.settings import EXCHANGES, STYLES, PromptOptions, seat_spec
from ludens.models.trained import trained_remark

_FILE = Path(__file__).parent / "templates" / "agent.md"
FILTERED = "a content filter blocked the reply."
"""The reason that a model reads before it tries again."""


def prompt(ask: Ask, options: PromptOptions) -> list[Message]:
    """The messages sent to a model for an ask."""
    templates = prompt_templates(options.overrides)
    released = ask.observation.system is not None
    if released and options.act == "tools":
        raise BadOption("this task sends the prompts of its dataset as they are: use act=text.")
    messages = _as_released(ask, options) if released else _own_prompt(ask, options, templates)
    if options.notes:
        notes = templates.fill("notes", notes=options.notes)
        first = messages[0] if messages[0].role == "system" else Message("system", ())
        texts = [part for part in first.parts if isinstance(part, str)]
        messages[: len(texts)] = [Message("system", (_joined(*texts, notes),))]
    for reply, reason in ask.refused:
        messages.append(_assistant(reply, templates))
        form = "" if released else ask.format.ask(ask.legal)
        messages.append(Message("user", (templates.fill("refused", reason=reason, reply=form),)))
    return messages


def _own_prompt(ask: Ask, options: PromptOptions, templates: Templates) -> list[Message]:
    # What never changes comes first, so that servers can cache it.
    messages = [Message("system", (_joined(templates.fill("system"), ask.rules),))]
    for exchange in _remembered(ask, options):
        text = _joined(_twin(exchange.observation, exchange.pictured, options), exchange.observation.notes)
        messages.append(Message("user", (text or templates.fill("earlier"),)))
        messages.append(_assistant(exchange.reply, templates))
    frames = [pictures for pictures in _frames(ask, options) if pictures]
    text = _question(ask, options, templates, len(frames))
    messages.append(Message("user", (*(picture for pictures in frames for picture in pictures), text)))
    return messages


def _as_released(ask: Ask, options: PromptOptions) -> list[Message]:
    """The prompt of a dataset: its system message and its question, and nothing of ours."""
    observation = ask.observation
    messages = [Message("system", (observation.system,))] if observation.system else []
    return [*messages, Message("user", (*_pictures(observation, options), observation.notes))]


def _remembered(ask: Ask, options: PromptOptions) -> tuple[Exchange, ...]:
    count = EXCHANGES[options.memory]
    return tuple(ask.history) if count is None else tuple(ask.history[-count:]) if count else ()


def _frames(ask: Ask, options: PromptOptions) -> list[tuple[Picture, ...]]:
    """The pictures of the latest moves, oldest first."""
    earlier = ask.history[-(options.frames - 1) :] if options.frames > 1 else ()
    observations = [*(exchange.observation for exchange in earlier), ask.observation]
    return [_pictures(one, options) for one in observations]


def _pictures(observation: Observation, options: PromptOptions) -> tuple[Picture, ...]:
    return tuple(p.blank() if options.blind else p for p in observation.images)


def _question(ask: Ask, options: PromptOptions, templates: Templates, frames: int) -> str:
    text = _twin(ask.observation, bool(ask.observation.images), options)
    legal = ", ".join(ask.legal) if ask.listed else ""
    return _joined(
        templates.fill("frames", count=frames) if frames > 1 else "",
        templates.fill("text", text=text) if text else "",
        ask.observation.notes,
        templates.fill("legal", actions=legal) if legal else "",
        _style(ask, options, templates),
        ask.format.ask(ask.legal),
    )


def _style(ask: Ask, options: PromptOptions, templates: Templates) -> str:
    """The instruction of the prompt style: the reply format's own, or the default for messages or actions."""
    if options.act == "tools":
        return templates.fill(f"{options.style} tool")
    own = ask.format.style_instruction(options.style)
    if own is not None:
        return own
    message = isinstance(ask.format, MessageFormat)
    return templates.fill(f"{options.style} message" if message else options.style)


def _twin(observation: Observation, pictured: bool, options: PromptOptions) -> str:
    """The text twin; not beside the blank pictures of a blind model."""
    return "" if options.blind and pictured else observation.text


def _assistant(text: str, templates: Templates) -> Message:
    # Providers reject a turn that holds nothing but white space.
    return Message("assistant", (text if text.strip() else templates.fill("silence"),))


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


_FILLED: dict[str, dict[str, str]] = {
    "frames": {"count": "2"},
    "text": {"text": ""},
    "legal": {"actions": ""},
    "notes": {"notes": ""},
    "refused": {"reason": "", "reply": ""},
}
_OTHER_STYLES = tuple(f"{style} {target}" for target in ("message", "tool") for style in STYLES)
_SECTIONS = ("system", *STYLES, *_OTHER_STYLES, *_FILLED, "silence", "earlier")


@lru_cache(maxsize=64)
def prompt_templates(overrides: TemplateOverrides | None) -> Templates:
    """The prompt templates; each is filled once, so that a wrong one raises before the first move."""
    templates = load_templates(_FILE, "agent", overrides)
    for section in _SECTIONS:
        templates.fill(section, **_FILLED.get(section, {}))
    return templates


@dataclass
class Vlm(Agent):
    """A model that plays. It keeps no state: prompts are made from asks alone."""

    model: Model
    options: PromptOptions = field(default_factory=PromptOptions)
    kind = "model"
    waits = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees, self.tools = self.options.sees, self.options.act == "tools"
        if self.tools and not self.model.calls_tools:
            raise BadOption(f"{self.model.spec} makes no tool calls: use act=text.")
        prompt_templates(self.options.overrides)  # raises now for wrong templates

    @property
    def spec(self) -> str:
        return seat_spec(self.model.spec, self.options)

    @property
    def templates(self) -> Sections:
        return self.options.sections

    @property
    def remarks(self) -> Sequence[str]:
        if self.game.name not in self.model.trained_on:
            return self.model.remarks
        return [*self.model.remarks, trained_remark(parse_spec(self.model.spec).name, self.game.name)]

    def begin(self) -> None:
        if self.sees == "text" and not view_of(self.game, RenderOptions(), 0).has_text:
            raise BadOption(f"{self.game.name} has no text twin: use --modality image.")

    def history(self) -> History:
        return self.options.history()

    def request(self, ask: Ask) -> Request:
        tools = (ask.format.tool(ask.legal, ask.listed),) if isinstance(ask.format, ToolFormat) else ()
        messages = prompt(ask, self.options)
        return Request(messages, sample=ask.sample, ask=ask, game=self.game.name, tools=tools)

    async def act(self, ask: Ask) -> Reply:
        answer = await self.model.answer(self.request(ask))
        finish = "" if answer.finish == "stop" else answer.finish
        text = with_calls(answer.text, answer.calls) if self.tools else answer.text
        reply = Reply(text, None, answer.usage, finish, answer.reasoning, answer.tokens)
        if answer.finish == "filtered":
            # The text, if any, is the filter's: where messages are free it must not become one.
            filtered = Unreadable(FILTERED)
            filtered.reply = reply
            raise filtered
        return reply

    async def close(self) -> None:
        await self.model.close()
