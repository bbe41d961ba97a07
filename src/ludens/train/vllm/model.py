"""A model behind a vLLM server whose answers have token ids and log-probabilities."""

from __future__ import annotations

import copy
from dataclasses import replace
from math import isfinite
from typing import Any

import orjson

from ludens.core.errors import AgentFailure, UsageError
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Request, Sampling, Tokens
from ludens.models.errors import Secret, TransientError
from ludens.models.local import conversation
from ludens.models.openai_chat import OpenAIChat
from ludens.models.settings import NetworkSettings
from ludens.train.recipe import ModelOptions, ServerOptions
from ludens.train.vllm.server import AGAIN

NAME = "live"
# Everything in a model's generation settings that would change the distribution.
_NEUTRAL: dict[str, Any] = {
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
# The strongest bias that the API accepts: a probability below 1e-40.
_NEVER = -100.0


class VllmModel(OpenAIChat):
    """Asks `/v1/chat/completions` for samples of exactly the distribution that training assumes.

    Args:
        options: Address and limits of the server.
        sampling: Temperature and longest reply.
        processor: Of the model; it is copied, because others use it in their threads.
        ends: Ids that end a reply.
        suppressed: Ids that are never drawn.
        secret: The server's API key, where it has one.
        root: The server's address without `/v1`.
        concurrency: Most requests in flight.
    """

    def __init__(
        self,
        options: ServerOptions,
        sampling: ModelOptions,
        processor: Any,
        ends: set[int],
        suppressed: tuple[int, ...],
        secret: Secret,
        root: str,
        concurrency: int,
    ) -> None:
        settings = NetworkSettings(
            temperature=sampling.temperature,
            top_p=1.0,
            max_tokens=sampling.max_tokens,
            extend=False,
            timeout=options.timeout,
            deadline=60.0,
            retries=options.retries,
            concurrency=concurrency,
        )
        super().__init__(Spec(f"vllm/{NAME}"), settings, secret, f"{root}/v1")
        self._options, self._temperature = options, sampling.temperature
        self._processor, self._suppressed = copy.deepcopy(processor), suppressed
        self._fixed = {
            **_NEUTRAL,
            "logprobs": True,
            "top_logprobs": 0,
            "return_token_ids": True,
            "stop_token_ids": sorted(ends),
            "logit_bias": {str(token): _NEVER for token in suppressed},
        }
        self._unchecked = 0

    def serve(self, model: str, version: str) -> None:
        """Ask for these weights from now on.

        Args:
            model: Their name at the server.
            version: Changes with every push: prefixes cached under another one are not used.
        """
        self.model_name = model
        self.extra = {**self._fixed, "cache_salt": version}
        self._unchecked = self._options.check

    async def answer(self, request: Request) -> Answer:
        try:
            answer = await super().answer(request)
        except AgentFailure as error:
            raise UsageError(f"{str(error).removesuffix('.')}: check the server and {AGAIN}.") from None
        if answer.tokens is None:
            raise UsageError(f"the server at {self.address} blocks a prompt: {answer.text}")
        if self._unchecked > 0:
            self._unchecked -= 1
            self._check_prompt(request, answer.tokens.prompt_ids)
        tokens = replace(answer.tokens, pictures=request.pictures)
        # Not the server's text: parsers of reasoning and tools take parts out of it.
        text = self._processor.tokenizer.decode(tokens.completion_ids, skip_special_tokens=True)
        return replace(answer, text=text, tokens=tokens)

    def adapt(self, message: str, sampling: Sampling) -> bool:
        """Nothing may be left out: the distribution would be another one."""
        return False

    def read(self, data: bytes) -> Answer | dict[str, Any]:
        answer = super().read(data)
        if isinstance(answer, Answer):
            answer.model = NAME
            answer.tokens = self._tokens(data)
        return answer

    def _tokens(self, data: bytes) -> Tokens:
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError:
            raise TransientError("broken", "the answer is not JSON") from None
        choice = body["choices"][0]
        prompt, drawn = _ids(body.get("prompt_token_ids")), _ids(choice.get("token_ids"))
        if not prompt or not drawn:
            raise UsageError(
                f"the server at {self.address} returns no token ids: it must be vLLM 0.10.2 or later, which "
                f"knows return_token_ids."
            )
        try:
            values = [float(entry["logprob"]) for entry in choice["logprobs"]["content"]]
        except (TypeError, KeyError, ValueError):
            values = []
        if len(values) != len(drawn) or not all(map(isfinite, values)):
            raise UsageError(
                f"the server at {self.address} returns {len(values)} log-probabilities and {len(drawn)} ids."
            )
        return Tokens(prompt, drawn, values, self._temperature, self._suppressed)

    def _check_prompt(self, request: Request, ids: list[int]) -> None:
        """The same ids as in this process, placeholders of pictures included."""
        inputs = self._processor.apply_chat_template(
            [conversation(request)],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        own = inputs["input_ids"][0].tolist()
        if own != ids:
            same = next((n for n, (a, b) in enumerate(zip(own, ids, strict=False)) if a != b), len(ids))
            raise UsageError(
                f"the server at {self.address} makes {len(ids)} tokens of a prompt that has {len(own)} here "
                f"(the first {min(same, len(own))} agree): it must serve the model in [model], with its chat "
                f"template and its picture settings."
            )


def _ids(value: object) -> list[int]:
    """Token ids; empty where there are none."""
    return value if isinstance(value, list) and all(type(token) is int for token in value) else []
