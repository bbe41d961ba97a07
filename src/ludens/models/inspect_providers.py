"""Models through Inspect's providers (extra `inspect`): `inspect/PROVIDER/NAME`.

inspect/openai/gpt-4.1

Keys, addresses, retries and rate limits are Inspect's. Inside an evaluation of Inspect, `InspectModel` is
given the model that Inspect evaluates, so that its log has every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadOption, MissingExtra, ModelRejected
from ludens.core.options import Touch
from ludens.core.policy import declares
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Finish, Message, Model, Request
from ludens.models.settings import ModelSettings, read_settings

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig
    from inspect_ai.model import Model as InspectsModel

_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filtered",
}


@declares(ModelSettings, Touch.PAY)
def inspect_model(spec: Spec) -> InspectModel:
    if find_spec("inspect_ai") is None:
        raise MissingExtra(spec.name, "inspect")
    if spec.address:
        raise BadOption(f"{spec.name} has no address: Inspect takes it from the environment.")
    return InspectModel(spec.rest, read_settings(ModelSettings, spec))


class InspectModel(Model):
    """A model of Inspect, by name or as the object that an evaluation of Inspect made."""

    calls_tools = True

    def __init__(
        self, name: str, settings: ModelSettings | None = None, model: InspectsModel | None = None
    ) -> None:
        self.settings = settings or ModelSettings()
        super().__init__(self.settings.identity(f"inspect/{name}"))
        self.name, self._model = name, model

    @property
    def paid(self) -> bool:
        return True

    async def answer(self, request: Request) -> Answer:
        if request.want_tokens:
            raise BadOption(f"{self.spec} cannot return tokens and log-probabilities; use an hf/ model.")
        model = self._model = self._model or _get_model(self.name)
        try:
            output = await model.generate(
                chat_messages(request.messages), tools=_tools(request), config=self._config(request)
            )
        except Exception as error:
            raise AgentFailure(f"{self.spec} gave no answer: {type(error).__name__}: {error}") from error
        self.counts["calls"] += 1
        if output.error:
            raise AgentFailure(f"{self.spec} gave no answer: {output.error}")
        return Answer(
            text=output.completion,
            finish=_FINISHES.get(str(output.stop_reason), "stop"),
            usage=_usage(output.usage, len(request.pictures)),
            model=output.model,
            ms=1000 * (output.time or 0.0),
            reasoning=_reasoning(output),
            calls=[
                {"name": call.function, "arguments": call.arguments}
                for call in (output.message.tool_calls if output.choices else None) or ()
            ],
        )

    def _config(self, request: Request) -> GenerateConfig:
        from inspect_ai.model import GenerateConfig

        sampling = self.settings.sampling.over(request.sampling)
        return GenerateConfig(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=sampling.max_tokens,
            reasoning_effort=sampling.reasoning_effort,
            seed=None if sampling.seed is None else sampling.seed + request.sample,
        )


def _get_model(name: str) -> InspectsModel:
    from inspect_ai.model import get_model

    try:
        return get_model(name)
    except Exception as error:
        raise ModelRejected(f"Inspect cannot make the model {name!r}: {error}") from None


def chat_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    """Messages as Inspect's, pictures included."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    classes = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [classes[message.role](content=_content(message)) for message in messages]


def _content(message: Message) -> Any:
    from inspect_ai.model import ContentImage, ContentText

    if not message.pictures:
        return message.text
    return [
        ContentText(text=part) if isinstance(part, str) else ContentImage(image=part.data_uri())
        for part in message.parts
    ]


def _tools(request: Request) -> list[Any]:
    from inspect_ai.tool import ToolInfo, ToolParams

    return [
        ToolInfo(name=tool.name, description=tool.description, parameters=ToolParams(**tool.schema))
        for tool in request.tools
    ]


def _usage(usage: Any, images: int) -> Usage:
    if usage is None:
        return Usage(images=images)
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return Usage(
        input_tokens=usage.input_tokens + cached,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens or 0,
        images=images,
        cost=usage.total_cost,
    )


def _reasoning(output: Any) -> str:
    content = output.message.content if output.choices else ""
    if isinstance(content, str):
        return ""
    return "".join(part.reasoning for part in content if part.type == "reasoning")
