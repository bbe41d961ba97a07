"""An agent that asks a vision-language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ludens.agents.prompt import prompt, prompt_templates
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.ask import History
from ludens.core.errors import BadOption, Unreadable
from ludens.core.spec import parse_spec
from ludens.core.templates import Sections
from ludens.core.view import RenderOptions, view_of
from ludens.models.chat import Model, Request
from ludens.models.specs import PromptOptions, seat_spec
from ludens.models.trained import trained_remark


@dataclass
class Vlm(Agent):
    """A model that plays. It keeps no state: prompts are made from asks alone."""

    model: Model
    options: PromptOptions = field(default_factory=PromptOptions)
    kind = "model"
    waits = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees = self.options.sees
        prompt_templates(self.options.overrides)  # wrong ones are found now

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
        """What the model is sent."""
        return Request(prompt(ask, self.options), sample=ask.sample, ask=ask, game=self.game.name)

    async def act(self, ask: Ask) -> Reply:
        answer = await self.model.answer(self.request(ask))
        finish = "" if answer.finish == "stop" else answer.finish
        reply = Reply(answer.text, None, answer.usage, finish, answer.reasoning, answer.tokens)
        if answer.finish == "filtered":
            # The text, if any, is the filter's: where messages are free it must not become one.
            filtered = Unreadable("a content filter blocked the reply.")
            filtered.reply = reply
            raise filtered
        return reply

    async def close(self) -> None:
        await self.model.close()
