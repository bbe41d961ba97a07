"""Vision-language models in this process, with transformers (extra `train`): `hf/PATH` or `hf/OWNER/NAME`.

Requests that arrive together share one `generate`. Samples depend on the composition of the batch, so
reproducible runs use temperature=0; even then rounding may differ between batch sizes.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadOption, MissingExtra, ModelRejected
from ludens.core.options import Touch, configure, option
from ludens.core.policy import declares
from ludens.core.random import stream
from ludens.core.spec import Spec
from ludens.models.batching import Batcher
from ludens.models.chat import Answer, Model, Request, Sampling, Tokens
from ludens.models.generation import (
    Distribution,
    StaticCaches,
    end_tokens,
    generate_options,
    out_of_memory,
    placeholders,
)
from ludens.models.ledger import Ledger, price_of
from ludens.models.settings import ModelSettings, read_settings
from ludens.models.torchvision_ops import import_torchvision
from ludens.models.trained import games_of_checkpoint
from ludens.models.vision import HASH, CachedImageProcessor, use_varlen


@dataclass(frozen=True)
class LocalSettings(ModelSettings):
    """Options of a model in this process."""

    device: str = option("auto", help="where it runs: auto, cpu, cuda, cuda:1, mps")
    dtype: str = option(
        "auto", choices=("auto", "float32", "bfloat16", "float16"), help="number format of the weights"
    )
    batch: int = option(16, low=1, help="most requests in a batch")
    gather: float = option(5.0, low=0, help="milliseconds a batch waits for further requests")
    pixel_cache: int = option(512, low=0, help="MiB of processed pictures kept in memory")
    kv_cache: str = option(
        "dynamic",
        choices=("dynamic", "static"),
        help="grow the key-value cache, or keep its shape so that generation is compiled (CUDA)",
    )
    varlen: bool = option(True, help="attend to all windows of all pictures in one kernel (CUDA)")

    IDENTITY: ClassVar[tuple[str, ...]] = (*ModelSettings.IDENTITY, "dtype")


_LOADING = Lock()
"""Two models cannot be loaded at the same time: transformers imports its parts when they are first used."""


class _Item(NamedTuple):
    request: Request
    sampling: Sampling
    want_tokens: bool


@declares(LocalSettings, Touch.READ)
def local_model(spec: Spec) -> LocalModel:
    """Make the model of a spec. Its weights are loaded with the first request."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtra(spec.name, "train")
    settings = read_settings(LocalSettings, spec)
    if spec.address:
        raise BadOption(f"{spec.name} runs in this process and takes no address.")
    model = LocalModel(spec.name, settings)
    model.trained_on = games_of_checkpoint(Path(model.path))
    return model


class LocalModel(Model):
    """A transformers model, its processor, and the thread in which they run."""

    default_sampling = Sampling(max_tokens=1024)

    def __init__(self, name: str, settings: LocalSettings) -> None:
        if settings.reasoning_effort is not None:
            raise BadOption(f"{name} has no option 'reasoning_effort'.")
        super().__init__(settings.identity(name))
        self.name, self.path, self.settings = name, name.partition("/")[2], settings
        self._sampling = settings.sampling
        self._price = price_of(name)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._batcher: Batcher[_Item, Answer] | None = None
        self._loaded: tuple[Any, Any] | None = None
        self._live = self._logprobs = False
        self._static = StaticCaches(settings.batch) if settings.kv_cache == "static" else None
        self._ledger: Ledger | None = None

    @classmethod
    def live(
        cls, model: Any, processor: Any, name: str = "hf/live", *, logprobs: bool = False, **settings: Any
    ) -> LocalModel:
        """A model made of given weights, such as those in training; `close` keeps them.

        The sampling distribution is exactly that of the sampling parameters: the model's own generation
        settings are ignored. Cut-off answers are not extended by default, because that replaces a sample.

        Args:
            model: A transformers model, possibly wrapped by peft.
            processor: Its processor; not modified.
            name: The name in specs.
            logprobs: Whether every answer has `tokens`, also when the request does not ask for them.
            settings: Options of `LocalSettings`; device and dtype are those of the model.
        """
        if unused := {"device", "dtype", "cache"} & settings.keys():
            raise BadOption(f"{name} has given weights: option {min(unused)!r} cannot be set.")
        live_model = cls(name, configure(LocalSettings, {"extend": False, **settings}, name))
        live_model._live, live_model._logprobs = True, logprobs
        live_model._loaded = model, live_model._with_cache(processor)
        return live_model

    async def answer(self, request: Request) -> Answer:
        sampling = self._sampling.over(request.sampling).over(self.default_sampling)
        answer = await self._ask(request, sampling)
        if answer.finish == "length" and sampling.max_tokens and self.settings.extend:
            self.counts["extended"] += 1
            longer = await self._ask(request, replace(sampling, max_tokens=2 * sampling.max_tokens))
            longer.usage = answer.usage + longer.usage
            answer = longer
        if self._price:
            answer.usage.cost = self._price.cost(answer.usage)
        return answer

    def limit_spending(self, ledger: Ledger) -> bool:
        self._ledger = ledger
        return True

    async def close(self) -> None:
        self._stop_batcher()
        if not self._live:
            self._loaded = None

    def _stop_batcher(self) -> None:
        batcher, self._batcher = self._batcher, None
        if batcher:
            batcher.close()

    def _current_batcher(self) -> Batcher[_Item, Answer]:
        loop = asyncio.get_running_loop()
        if self._batcher is None or self._loop is not loop:
            self._stop_batcher()
            self._loop, settings = loop, self.settings
            self._batcher = Batcher(
                self.generate,
                settings.batch,
                settings.gather / 1000,
                key=lambda item: item[1:],
                should_split=out_of_memory,
                # Captured CUDA graphs belong to a thread, and before torch 2.13 to the main thread.
                in_thread=self._static is None,
            )
        return self._batcher

    async def _ask(self, request: Request, sampling: Sampling) -> Answer:
        if self._ledger is None:
            return await self._generated(request, sampling)
        size = request.estimated_input, sampling.max_tokens
        async with self._ledger.request(self.spec, self._price, *size) as settle:
            answer = await self._generated(request, sampling)
            settle(answer.usage)
        return answer

    async def _generated(self, request: Request, sampling: Sampling) -> Answer:
        item = _Item(request, sampling, self._logprobs or request.want_tokens)
        try:
            answer = await self._current_batcher().ask(item)
        except ModelRejected:
            raise
        except Exception as error:
            message = " ".join(str(error).split())[:300]
            raise AgentFailure(f"{self.name} could not answer: {type(error).__name__}: {message}.") from error
        self.counts["calls"] += 1
        return answer

    def generate(self, items: Sequence[_Item]) -> list[Answer]:
        import torch

        with _LOADING:
            model, processor = self._load()
        from transformers import LogitsProcessorList

        start = perf_counter()
        inputs = processor.apply_chat_template(
            [conversation(item.request) for item in items],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            # Completions are read off the end of each row, so padding must come before the prompt.
            processor_kwargs={"padding": True, "padding_side": "left"},
        ).to(model.device, model.dtype)
        sampling, want_tokens = items[0].sampling, items[0].want_tokens
        seeds = self.row_seeds(items)
        exact = Distribution(sampling, placeholders(model), seeds) if self._live or want_tokens else None
        options = exact.options() if exact else generate_options(sampling)
        fed: Any = inputs
        if self._static:
            fed, more = self._static.prepare(model, inputs, options["max_new_tokens"])
            processors = [*options.get("logits_processor", ()), *more.get("logits_processor", ())]
            options = {**options, **more, "logits_processor": LogitsProcessorList(processors)}
        training = model.training
        model.eval()
        # Not inference_mode: its tensors could not be used in training.
        with torch.no_grad(), torch.random.fork_rng(enabled=sampling.seed is not None):
            if sampling.seed is not None:
                samples = [item.request.sample for item in items]
                torch.manual_seed(stream(sampling.seed, "batch", *samples).below(2**63))
            try:
                output = model.generate(**fed, **options, synced_gpus=False)
            finally:
                model.train(training)
        new = output[: len(items), inputs["input_ids"].shape[1] :]
        texts = processor.batch_decode(new, skip_special_tokens=True)
        logprobs = exact.logprobs(new).tolist() if exact and want_tokens else None
        ms = round((perf_counter() - start) * 1000, 3)
        ends, answers = end_tokens(model), []
        for place, (row, text) in enumerate(zip(new.tolist(), texts, strict=True)):
            length = next((n + 1 for n, token in enumerate(row) if token in ends), len(row))
            complete = bool(row) and row[length - 1] in ends
            prompt = inputs["input_ids"][place][inputs["attention_mask"][place].bool()].tolist()
            usage = Usage(len(prompt), length, images=len(items[place].request.pictures))
            answer = Answer(text, "stop" if complete else "length", usage, self.path, ms)
            if exact and logprobs is not None:
                tokens, values = row[:length], logprobs[place][:length]
                pictures = items[place].request.pictures
                answer.tokens = Tokens(prompt, tokens, values, exact.temperature, exact.suppressed, pictures)
            answers.append(answer)
        return answers

    def row_seeds(self, items: Sequence[_Item]) -> list[int] | None:
        """Seeds of the answers, where they must not depend on the composition of the batch."""
        return None

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            import torch

            import_torchvision()
            from transformers import AutoModelForImageTextToText, AutoProcessor

            _import_parts()
            device = self.settings.device
            if device == "auto":
                device = "cuda" if torch.cuda.is_available() else "cpu"
            try:
                processor = AutoProcessor.from_pretrained(self.path)
                model = AutoModelForImageTextToText.from_pretrained(self.path, dtype=self.settings.dtype)
                model = model.to(device).eval()
                if self.settings.varlen:
                    use_varlen(model)
            except (OSError, ValueError, ImportError, RuntimeError) as error:
                message = " ".join(str(error).split())[:300]
                raise ModelRejected(f"{self.name} cannot be loaded: {message}") from None
            self._loaded = model, self._with_cache(processor)
        return self._loaded

    def _with_cache(self, processor: Any) -> Any:
        """A copy of the processor that processes each picture once."""
        limit = self.settings.pixel_cache * 2**20
        if not limit or getattr(processor, "image_processor", None) is None:
            return processor
        cached = copy.copy(processor)
        cached.image_processor = CachedImageProcessor(processor.image_processor, limit)
        return cached


def _import_parts() -> None:
    """Import what is used after loading, while no other thread does."""
    from transformers import BatchFeature, CompileConfig, LogitsProcessorList, StaticCache, TopPLogitsWarper

    del BatchFeature, CompileConfig, LogitsProcessorList, StaticCache, TopPLogitsWarper


def conversation(request: Request) -> list[dict[str, Any]]:
    from PIL import Image

    def convert(part: Any) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        image = Image.fromarray(part.rgb())
        image.info[HASH] = part.hash
        return {"type": "image", "image": image}

    return [{"role": m.role, "content": [convert(part) for part in m.parts]} for m in request.messages]
