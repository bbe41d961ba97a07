"""An agent that asks a vision-language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ludens.agents.prompt import PromptOptions, prompt
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.ask import History
from ludens.core.errors import BadOption, UnknownName, Unreadable
from ludens.core.options import configure, option_values, options_of
from ludens.core.spec import Spec, parse_spec
from ludens.core.templates import Sections
from ludens.core.view import RenderOptions, view_of
from ludens.models.chat import Model, Request


@dataclass
class Vlm(Agent):
    """A model that plays. It keeps no state: prompts are made from asks alone."""

    model: Model
    options: PromptOptions = field(default_factory=PromptOptions)
    kind = "model"
    waits = True

    def __post_init__(self) -> None:
        self.sees = self.options.sees

    @property
    def spec(self) -> str:
        own = parse_spec(self.model.spec)
        ours = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in option_values(self.options).items()
            if value != options_of(PromptOptions)[name].default
        }
        return str(Spec(own.name, own.address, {**own.options, **ours}))

    @property
    def templates(self) -> Sections:
        return self.options.sections

    @property
    def remarks(self) -> Sequence[str]:
        return self.model.remarks

    def begin(self) -> None:
        if self.sees == "text" and not view_of(self.game, RenderOptions(), 0).has_text:
            raise BadOption(f"{self.game.name} has no text twin: use --modality image.")

    def history(self) -> History:
        return self.options.history()

    async def act(self, ask: Ask) -> Reply:
        answer = await self.model.answer(Request(prompt(ask, self.options)))
        finish = "" if answer.finish == "stop" else answer.finish
        reply = Reply(answer.text, None, answer.usage, finish, answer.reasoning)
        if answer.finish == "filtered":
            # The text, if any, is the filter's: where messages are free it must not become one.
            filtered = Unreadable("a content filter blocked the reply.")
            filtered.reply = reply
            raise filtered
        return reply

    async def close(self) -> None:
        await self.model.close()


def split_options(spec: Spec) -> tuple[Spec, PromptOptions]:
    """A seat's spec as the model's own spec and the prompt options."""
    ours: dict[str, Any] = {k: v for k, v in spec.options.items() if k in options_of(PromptOptions)}
    theirs = {k: v for k, v in spec.options.items() if k not in ours}
    return Spec(spec.name, spec.address, theirs), configure(PromptOptions, ours, spec.name)


def reach(own: Spec) -> Model:
    """The model of a seat's own spec; a mistyped option may have been meant as a prompt option."""
    from ludens.models import model

    try:
        return model(own)
    except UnknownName as error:
        near = get_close_matches(error.name, options_of(PromptOptions), 1)
        if near and error.kind.startswith("option of") and error.nearest is None:
            raise UnknownName(error.kind, error.name, near) from None
        raise
