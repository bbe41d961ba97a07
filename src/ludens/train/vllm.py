"""Replies drawn by a vLLM server over HTTP, with token ids and log-probabilities; weights pushed to it."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from logging import getLogger
from math import isfinite
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import orjson

from ludens.core.agent import Agent, Ask
from ludens.core.errors import AgentFailure, UsageError
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Model, Request, Sampling, Tokens
from ludens.models.errors import Secret, TransientError, error_message
from ludens.models.generation import end_tokens, placeholders
from ludens.models.local import conversation
from ludens.models.openai_chat import OpenAIChat
from ludens.models.settings import NetworkSettings, find_key
from ludens.models.transport import Transport, check_address
from ludens.train import ranks
from ludens.train.batches import passes, right_padded
from ludens.train.policy import Player, Policy, Scores, TokenSample
from ludens.train.recipe import ModelOptions, ServerOptions
from ludens.train.transformers_policy import TransformersPolicy, write_model

if TYPE_CHECKING:
    from torch.nn import Parameter


log = getLogger(__name__)

AGAIN = "repeat the command: the run goes on from its last checkpoint"


class ServerGone(UsageError):
    """A server that does not answer: others, if there are any, take over."""


class VllmServer:
    """The endpoints of a server that change what it serves.

    An adapter gets a new name with every push. Loaded in place under its old name it would meet prefixes in
    the cache that older weights computed, and be read from disk at every step.
    """

    def __init__(self, url: str, timeout: float, secret: Secret) -> None:
        self.root = check_address(url).removesuffix("/v1")
        self._timeout, self._secret = timeout, secret

    async def base_model(self) -> str:
        status, data = await self._request("/v1/models")
        try:
            models = [model["id"] for model in orjson.loads(data)["data"] if not model.get("parent")]
        except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
            models = []
        if status != 200 or not models or not isinstance(models[0], str):
            raise UsageError(f"{self.root} does not list its models (HTTP {status}): it is no vLLM server.")
        return models[0]

    async def load_adapter(self, name: str, folder: Path, rank: int) -> None:
        """Serve an adapter under a name that was not used before."""
        hint = (
            f"it needs VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, --enable-lora, --max-lora-rank {rank} or more, "
            f"and access to {folder}"
        )
        await self._push("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder)}, hint)

    async def unload_adapter(self, name: str) -> None:
        await self._push("/v1/unload_lora_adapter", {"lora_name": name}, "restart the server")

    async def reload(self, folder: Path) -> None:
        """Replace all weights and drop cached features of pictures.

        Its workers forget them on their own, but its scheduler does not: the engine would die.
        """
        hint = (
            "it needs VLLM_SERVER_DEV_MODE=1, a version whose reload_weights takes weights_path, "
            f"and access to {folder}"
        )
        call = {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}}
        await self._push("/collective_rpc", call, hint)
        await self._push("/reset_encoder_cache", {}, hint)

    async def _push(self, path: str, body: dict[str, Any], hint: str) -> None:
        status, data = await self._request(path, body)
        if status != 200:
            reason = self._secret.redact(error_message(data))
            raise UsageError(
                f"the vLLM server at {self.root} did not take the new weights "
                f"({path}, HTTP {status}: {reason}): {hint}; then {AGAIN}."
            )

    async def _request(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
        key = self._secret.value
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        transport = Transport(self.root + path, headers, self._timeout, self._secret)
        try:
            status, _, data = await (transport.get() if body is None else transport.post(orjson.dumps(body)))
        except TransientError as error:
            raise ServerGone(f"the vLLM server does not answer ({error}): start it and {AGAIN}.") from None
        finally:
            await transport.close()
        return status, data


NAME = "live"
# Everything in a model's generation settings that would change the distribution.
_NEUTRAL: dict[str, Any] = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
_NEUTRAL |= {"presence_penalty": 0.0, "frequency_penalty": 0.0}
# The strongest bias that the API accepts: a probability below 1e-40.
_NEVER = -100.0


class VllmModel(OpenAIChat):
    """Asks `/v1/chat/completions` for samples of exactly the distribution that training assumes.

    The processor is copied, because others use it in their threads.
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
        """Ask for these weights from now on; prefixes that were cached under another version are not used."""
        self.model_name = model
        self.extra = {**self._fixed, "cache_salt": version}
        self._unchecked = self._options.check

    async def answer(self, request: Request) -> Answer:
        try:
            answer = await super().answer(request)
        except AgentFailure as error:
            raise ServerGone(f"{str(error).removesuffix('.')}: check the server and {AGAIN}.") from None
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
        prompt, completion = _ids(body.get("prompt_token_ids")), _ids(choice.get("token_ids"))
        if not prompt or not completion:
            raise UsageError(
                f"the server at {self.address} returns no token ids: it must be vLLM 0.10.2 or later, which "
                f"knows return_token_ids."
            )
        try:
            values = [float(entry["logprob"]) for entry in choice["logprobs"]["content"]]
        except (TypeError, KeyError, ValueError):
            values = []
        if len(values) != len(completion) or not all(map(isfinite, values)):
            raise UsageError(
                f"the server at {self.address} returns {len(values)} log-probabilities and "
                f"{len(completion)} ids."
            )
        return Tokens(prompt, completion, values, self._temperature, self._suppressed)

    def _check_prompt(self, request: Request, ids: list[int]) -> None:
        """The same ids as in this process, placeholders of pictures included."""
        inputs = self._processor.apply_chat_template(
            [conversation(request)],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        local_ids = inputs["input_ids"][0].tolist()
        if local_ids != ids:
            same = next((n for n, (a, b) in enumerate(zip(local_ids, ids, strict=False)) if a != b), len(ids))
            raise UsageError(
                f"the server at {self.address} makes {len(ids)} tokens of a prompt that has {len(local_ids)} "
                f"here (the first {min(same, len(local_ids))} agree): it must serve the model in [model], "
                f"with its chat template and its picture settings."
            )


class VllmFleet(Model):
    """Several servers with the same weights: the least busy one is asked, one that is gone is left out."""

    def __init__(self, members: Mapping[str, VllmModel]) -> None:
        super().__init__(f"vllm/{NAME}")
        self.members = dict(members)
        """Address to model."""
        self._answering = list(members)
        """Servers that answer, the one with the latest request at the end."""
        self._busy = dict.fromkeys(members, 0)
        """How many requests to each server are under way."""

    def serve(self, names: Mapping[str, str], version: str) -> None:
        """Ask these servers, for the weights that each has under a name; others did not take them."""
        self._answering = list(names)
        for root, name in names.items():
            self.members[root].serve(name, version)

    async def answer(self, request: Request) -> Answer:
        while True:
            root = min(self._answering, key=self._busy.__getitem__)
            self._answering.remove(root)
            self._answering.append(root)
            self._busy[root] += 1
            try:
                return await self.members[root].answer(request)
            except ServerGone as error:
                if self._answering == [root]:
                    raise
                if root in self._answering:
                    self._answering.remove(root)
                    log.warning("the vLLM server at %s is left out of this iteration: %s", root, error)
            finally:
                self._busy[root] -= 1

    async def close(self) -> None:
        for member in self.members.values():
            await member.close()


def _ids(value: object) -> list[int]:
    return value if isinstance(value, list) and all(type(token) is int for token in value) else []


KEY = "VLLM_API_KEY"


class VllmPolicy(Policy):
    """Draws with a server, computes and learns with a policy in this process. Frozen copies stay in it.

    Weights are written for the server to `folder`, unless the options name another place.
    """

    def __init__(
        self, local: TransformersPolicy, options: ServerOptions, folder: Path, concurrency: int
    ) -> None:
        self.local, self.options = local, options
        self.folder = (Path(options.folder) if options.folder else folder).absolute()
        self.stale = True
        """Whether the weights may have changed since the server got them."""
        secret = find_key(f"vllm/{NAME}", NetworkSettings(), KEY, mandatory=False)
        self.servers = [VllmServer(url, options.timeout, secret) for url in options.urls]
        ends, never = end_tokens(local.base), placeholders(local.base)
        self.model = VllmFleet(
            {
                server.root: VllmModel(
                    options, local.options, local.processor, ends, never, secret, server.root, concurrency
                )
                for server in self.servers
            }
        )
        # Names of a run that was stopped may still be known to a server.
        self._names, self._pushes = token_hex(4), 0
        self._pushed: dict[str, str] = {}
        """Server to the version that it has."""

    @property
    def device(self) -> Any:
        return self.local.device

    def agent(self, *, blind: bool = False) -> Agent:
        return _Player(self.model, replace(self.local.prompt, blind=blind), policy=self)

    async def publish(self) -> None:
        if not self.stale:
            return
        names: tuple[dict[str, str], str] = ({}, "")
        whole = self.local.whole()
        if ranks.world()[0] == 0:
            names = await self._push(whole.model)
        self.model.serve(*ranks.gather(names)[0])
        self.stale = False

    async def _push(self, model: Any) -> tuple[dict[str, str], str]:
        """Write the weights and have the servers load them; their name at each server, and their version."""
        self._pushes += 1
        version, lora = f"ludens-{self._names}-{self._pushes:06d}", self.local.options.lora
        path = self.folder / version
        try:
            path.mkdir(parents=True)
            if lora:
                model.save_pretrained(path, selected_adapters=["default"])
            else:
                write_model(model, path)
        except (OSError, RuntimeError) as error:
            shutil.rmtree(path, ignore_errors=True)
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
            raise UsageError(
                f"the weights for the vLLM server cannot be written to {path}: {reason}."
            ) from None
        try:
            names = await self._load(path, version, lora)
        except UsageError:
            shutil.rmtree(path, ignore_errors=True)
            raise
        for old in set(self._pushed.values()):
            shutil.rmtree(self.folder / old, ignore_errors=True)
        self._pushed = dict.fromkeys(names, version)
        return names, version

    async def _load(self, path: Path, version: str, lora: int) -> dict[str, str]:
        """The name of the weights at each server that took them; those that are gone are left out."""
        names, gone = dict[str, str](), list[ServerGone]()
        for server in self.servers:
            try:
                if lora:
                    await server.load_adapter(version, path, lora)
                    if old := self._pushed.get(server.root):
                        await server.unload_adapter(old)
                else:
                    await server.reload(path)
                names[server.root] = version if lora else await server.base_model()
            except ServerGone as error:
                gone.append(error)
                log.warning("the vLLM server at %s is left out of this iteration: %s", server.root, error)
        if not names:
            raise gone[0]
        return names

    def verify(self, samples: Sequence[TokenSample]) -> None:
        step = max(1, len(samples) // self.options.check)
        gap = self.gap(samples[::step][: self.options.check])
        if not gap <= self.options.gap:
            raise UsageError(
                f"the log-probabilities of the vLLM server differ by {gap:.2f} per token from those of the "
                f"model in training, more than server.gap = {self.options.gap:g}: it must serve the model in "
                f"[model], or that of its supervised training, with --logprobs-mode processed_logprobs."
            )

    def gap(self, samples: Sequence[TokenSample]) -> float:
        """The mean difference per token between drawn and recomputed log-probabilities."""
        import torch

        total = tokens = 0.0
        for chunk, counts in passes(samples, 8, self.local):
            with torch.no_grad():
                new, mask = self.local.logprobs(chunk)
            if not counts:
                continue
            old = right_padded([s.logprobs for s in chunk], 0.0).to(new.device)
            total += float(((new - old).abs() * mask).sum())
            tokens += float(mask.sum())
        return total / tokens if tokens else 0.0

    def reseed(self, *names: int) -> None:
        super().reseed(*names)
        self.local.reseed(*names)

    def parameters(self) -> list[Parameter]:
        return self.local.parameters()

    def score(self, samples: Sequence[TokenSample], *, entropy: bool = False, state: bool = False) -> Scores:
        return self.local.score(samples, entropy=entropy, state=state)

    def shard(self) -> None:
        self.local.shard()
        self.sharded = True

    def whole(self) -> Policy:
        return self.local.whole()

    def frozen(self) -> Policy:
        return self.local.frozen()

    def ahead(self) -> Policy:
        """The servers keep the weights until the next `publish`; a copy of them here verifies replies."""
        twin = copy.copy(self)
        frozen = self.local.frozen()
        assert isinstance(frozen, TransformersPolicy)
        twin.local = frozen
        return twin

    def release(self) -> None:
        self.local.release()

    def train(self, training: bool) -> None:
        self.stale |= training
        self.local.train(training)

    def save(self, folder: Path) -> None:
        self.local.save(folder)

    def load(self, folder: Path) -> None:
        self.stale = True
        self.local.load(folder)


@dataclass
class _Player(Player):
    """Asks only a server that has the weights of the policy."""

    def request(self, ask: Ask) -> Request:
        assert isinstance(self.policy, VllmPolicy)
        if self.policy.stale:
            raise RuntimeError(
                "the server has other weights: `publish` must be called before games are played."
            )
        return super().request(ask)
