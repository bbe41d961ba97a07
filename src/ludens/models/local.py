"""A vision-language model in this process, by transformers (extra `train`): `hf/PATH` or `hf/OWNER/NAME`.

Asks that arrive together share one `generate`. Answers of a sampling model depend on who shares its batch, so
repeatable runs use temperature=0; even then a batch may round a last digit otherwise than a single ask.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadOption, MissingExtra, ModelRejected
from ludens.core.options import configure, option, options_of
from ludens.core.spec import Spec
from ludens.models.batching import Batcher
from ludens.models.chat import Answer, Model, Request, Sampling
from ludens.models.prices import price_of

Ask = tuple[Request, Sampling]


@dataclass(frozen=True)
class LocalSettings(Sampling):
    """What a model in this process can be told."""

    device: str = option("auto", help="where it runs: auto, cpu, cuda, cuda:1, mps")
    dtype: str = option(
        "auto", choices=("auto", "float32", "bfloat16", "float16"), help="number format of the weights"
    )
    batch: int = option(16, low=1, help="asks answered at once")
    gather: float = option(5.0, low=0, help="milliseconds to wait for more asks to arrive")
    cache: str = option("", help="a file that keeps answers")


def local_model(spec: Spec) -> LocalModel:
    """Make the model a spec names. Its weights are loaded when it is first asked."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise MissingExtra(spec.name, "train")
    settings = configure(LocalSettings, spec.options, spec.name)
    if not spec.rest:
        raise BadOption("hf needs a folder or the name of a model: hf/PATH.")
    if spec.address:
        raise BadOption(f"{spec.name} runs in this process and has no address.")
    if settings.reasoning_effort is not None:
        raise BadOption(f"{spec.name} has no option 'reasoning_effort'.")
    return LocalModel(spec, settings)


class LocalModel(Model):
    """Weights, processor and the thread they work in."""

    usual = Sampling(max_tokens=1024)

    def __init__(self, spec: Spec, settings: LocalSettings) -> None:
        shaping = [f.name for f in fields(Sampling)] + ["dtype"]
        plain = options_of(LocalSettings)
        given = {n: v for n in shaping if (v := getattr(settings, n)) != plain[n].default}
        written = {n: f"{v:g}" if isinstance(v, float) else str(v) for n, v in given.items()}
        super().__init__(str(Spec(spec.name, None, written)))
        self.name, self.path, self.settings = spec.name, spec.rest, settings
        self._sampling = Sampling(**{f.name: getattr(settings, f.name) for f in fields(Sampling)})
        self._price = price_of(spec.name)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._batcher: Batcher[Ask, Answer] | None = None
        self._loaded: tuple[Any, Any] | None = None

    async def answer(self, request: Request) -> Answer:
        sampling = self._sampling.over(request.sampling).over(self.usual)
        answer = await self._ask(request, sampling)
        if answer.finish == "length" and sampling.max_tokens:
            self.tally["extended"] += 1
            longer = await self._ask(request, replace(sampling, max_tokens=2 * sampling.max_tokens))
            longer.usage = answer.usage + longer.usage
            answer = longer
        if self._price:
            answer.usage.cost = self._price.cost(answer.usage)
        return answer

    async def close(self) -> None:
        self._disconnect()
        self._loaded = None

    def _disconnect(self) -> None:
        batcher, self._batcher = self._batcher, None
        if batcher:
            batcher.close()

    def _batch(self) -> Batcher[Ask, Answer]:
        """The batcher of the running event loop."""
        loop = asyncio.get_running_loop()
        if self._batcher is None or self._loop is not loop:
            self._disconnect()
            self._loop, settings = loop, self.settings
            self._batcher = Batcher(
                self.generate,
                settings.batch,
                settings.gather / 1000,
                alike=lambda ask: ask[1],
                splits=_out_of_memory,
            )
        return self._batcher

    async def _ask(self, request: Request, sampling: Sampling) -> Answer:
        try:
            answer = await self._batch().ask((request, sampling))
        except ModelRejected:
            raise
        except Exception as error:
            words = " ".join(str(error).split())[:300]
            raise AgentFailure(f"{self.name} could not answer: {type(error).__name__}: {words}.") from error
        self.tally["calls"] += 1
        return answer

    def generate(self, asks: Sequence[Ask]) -> list[Answer]:
        """Answer a batch; blocks, so it runs in the batcher's thread."""
        import torch

        model, processor = self._load()
        started = perf_counter()
        inputs = processor.apply_chat_template(
            [_conversation(request) for request, _ in asks],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        ).to(model.device, model.dtype)
        sampling = asks[0][1]
        with torch.inference_mode(), torch.random.fork_rng(enabled=sampling.seed is not None):
            if sampling.seed is not None:
                torch.manual_seed(sampling.seed)
            written = model.generate(**inputs, **_drawing(sampling))
        new = written[:, inputs["input_ids"].shape[1] :]
        texts = processor.batch_decode(new, skip_special_tokens=True)
        ms = round((perf_counter() - started) * 1000, 3)
        ends = _ends(model)
        answers = []
        for (request, _), row, mask, text in zip(
            asks, new.tolist(), inputs["attention_mask"], texts, strict=True
        ):
            length = next((n + 1 for n, token in enumerate(row) if token in ends), len(row))
            whole = bool(row) and row[length - 1] in ends
            usage = Usage(int(mask.sum()), length, images=len(request.pictures))
            answers.append(Answer(text, "stop" if whole else "length", usage, self.path, ms))
        return answers

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            import torch
            from transformers import AutoModelForImageTextToText, AutoProcessor

            device = self.settings.device
            if device == "auto":
                device = "cuda" if torch.cuda.is_available() else "cpu"
            try:
                processor = AutoProcessor.from_pretrained(self.path)
                model = AutoModelForImageTextToText.from_pretrained(self.path, dtype=self.settings.dtype)
                model = model.to(device).eval()
            except (OSError, ValueError, ImportError, RuntimeError) as error:
                words = " ".join(str(error).split())[:300]
                raise ModelRejected(f"{self.name} cannot be loaded: {words}") from None
            # Answers are read off the end of each row, so what fills a row up must stand before it.
            processor.tokenizer.padding_side = "left"
            self._loaded = model, processor
        return self._loaded


def _conversation(request: Request) -> list[dict[str, Any]]:
    from PIL import Image

    def part(given: Any) -> dict[str, Any]:
        if isinstance(given, str):
            return {"type": "text", "text": given}
        return {"type": "image", "image": Image.open(io.BytesIO(given.png())).convert("RGB")}

    return [{"role": m.role, "content": [part(given) for given in m.parts]} for m in request.messages]


def _drawing(sampling: Sampling) -> dict[str, Any]:
    """What `generate` is told; the model's own generation settings hold for the rest."""
    told: dict[str, Any] = {"max_new_tokens": sampling.max_tokens}
    if sampling.temperature is not None:
        told["do_sample"] = sampling.temperature > 0
        if sampling.temperature > 0:
            told["temperature"] = sampling.temperature
    if sampling.top_p is not None and sampling.temperature != 0:
        told["top_p"] = sampling.top_p
    return told


def _ends(model: Any) -> set[int]:
    end = model.generation_config.eos_token_id
    return set() if end is None else {end} if isinstance(end, int) else set(end)


def _out_of_memory(error: Exception) -> bool:
    return type(error).__name__ == "OutOfMemoryError"
