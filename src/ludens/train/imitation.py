"""Imitation of demonstrations by models of transformers: by TRL, or round by round, while other processes
play, draw, tokenise and process the pictures of the next round."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import inf, isfinite
from pathlib import Path
from random import Random
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ludens.core.errors import BadOption, UsageError
from ludens.core.files import write_atomically
from ludens.models.chat import Request
from ludens.models.generation import end_tokens
from ludens.models.local import conversation
from ludens.models.torchvision_ops import import_torchvision
from ludens.models.vision import CachedImageProcessor
from ludens.train import ranks
from ludens.train.batches import BatchLimits, chunks
from ludens.train.checkpoint import save_whole
from ludens.train.demonstrations import (
    SourceChunk,
    map_rounds,
    replies,
    rows_from,
    train_supervised,
)
from ludens.train.nano.provenance import IMITATION
from ludens.train.policy import TokenSample
from ludens.train.recipe import Demonstration, Recipe
from ludens.train.transformers_policy import VISION, ProcessedPicture, TransformersPolicy, pil_image
from ludens.train.update import Diverged, Masters

if TYPE_CHECKING:
    from torch import Tensor

Array = np.ndarray[Any, Any]
Say = Callable[[str], None]

PICTURES = 64 * 2**20
"""Bytes of processed pictures that a worker keeps: several seats see the same ones."""
FINE = 100_000
"""Steps of the schedule of the learning rate, whatever the number of updates."""
MOST_SKIPPED = 5
"""Steps in turn whose gradients are not finite, after which training has diverged."""
LATEST = 20
"""Steps whose mean loss is reported and judged."""
RISEN = 0.5
"""How far the loss lies above the lowest one where training has diverged."""
MOST_RETURNS = 4
REPORTS = 10.0
"""Seconds between two lines about progress."""


def supervised_transformers(recipe: Recipe, folder: Path, say: Say) -> TransformersPolicy:
    """The policy with which play starts: read, and trained on demonstrations where there are any."""
    path, seed = recipe.model.path, recipe.run.seed
    if recipe.demonstrations:
        if not ranks.from_first(folder.is_dir):
            policy = _imitated(recipe, folder, say)
            ranks.check_equal(policy.parameters())
            save_whole(policy, folder)
        path = str(folder)
    return TransformersPolicy.read(path, recipe.model, seed)


def _imitated(recipe: Recipe, folder: Path, say: Say) -> TransformersPolicy:
    path, seed = recipe.model.path, recipe.run.seed
    if recipe.supervised.engine == "rounds":
        policy = TransformersPolicy.read(path, recipe.model, seed)
        imitate(policy, recipe, folder.parent, say)
        return policy
    # TRL's optimiser has no float32 copies of shorter weights; LoRA's are float32 in any case.
    model = recipe.model if recipe.model.lora else replace(recipe.model, dtype="float32")
    policy = TransformersPolicy.read(path, model, seed)
    rows = list(rows_from(recipe))
    say(f"imitating {len(rows):,} replies with TRL")
    train_supervised(policy, rows, recipe, folder.with_name(f".{folder.name}.trl"))
    return policy


@dataclass
class EncodedReplies:
    """Replies as numbers, as they travel between processes. Pictures are shared by their hashes."""

    prompts: list[Array] = field(default_factory=list)
    completions: list[Array] = field(default_factory=list)
    picture_hashes: list[list[str]] = field(default_factory=list)
    pictures: dict[str, dict[str, Array]] = field(default_factory=dict)

    def samples(self) -> Iterator[TokenSample]:
        import torch

        pictures = {
            key: ProcessedPicture(key, {name: torch.from_numpy(array) for name, array in features.items()})
            for key, features in self.pictures.items()
        }
        for prompt, completion, keys in zip(self.prompts, self.completions, self.picture_hashes, strict=True):
            images: Any = [pictures[key] for key in keys]
            yield TokenSample(prompt.tolist(), completion.tolist(), [], images)


@lru_cache(maxsize=1)
def _processor(path: str) -> tuple[Any, CachedImageProcessor]:
    import torch

    torch.set_num_threads(1)
    import_torchvision()
    from transformers import AutoProcessor

    processor = AutoProcessor.from_pretrained(path)
    images = CachedImageProcessor(processor.image_processor, PICTURES)
    processor.image_processor = images
    return processor, images


def encode(path: str, chunk: SourceChunk) -> EncodedReplies:
    """The replies of a chunk, with prompts exactly as in play, and the end token after each reply."""
    processor, images = _processor(path)
    words, encoded, samples = processor.tokenizer, EncodedReplies(), list(replies(chunk))
    if not samples:
        return encoded
    prompts = processor.apply_chat_template(
        [conversation(Request(sample.messages)) for sample in samples],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",  # the cache of pictures has tensors
        processor_kwargs={"padding": True, "padding_side": "left"},
    )
    ids = prompts["input_ids"].numpy().astype(np.int32)
    lengths = prompts["attention_mask"].sum(1).tolist()
    spoken = words([sample.completion for sample in samples], add_special_tokens=False)["input_ids"]
    for sample, row, length, reply in zip(samples, ids, lengths, spoken, strict=True):
        encoded.prompts.append(row[-length:].copy())
        encoded.completions.append(np.array([*reply, words.eos_token_id], np.int32))
        encoded.picture_hashes.append([picture.hash for picture in sample.pictures])
        for picture in sample.pictures:
            if picture.hash not in encoded.pictures:
                encoded.pictures[picture.hash] = _arrays(images.of(pil_image(picture)))
    return encoded


def _arrays(features: Any) -> dict[str, Array]:
    """Half the bytes are enough for pixels, which have 256 values each."""
    if features is None:
        raise BadOption(
            'supervised.engine = "rounds" does not know how this model is fed pictures: use engine = "trl".'
        )
    arrays = {name: tensor.numpy() for name, tensor in features.items()}
    return {
        name: array.astype(np.float16) if array.dtype == np.float32 else array
        for name, array in arrays.items()
    }


def rounds(
    path: str, sources: Sequence[Demonstration], count: int, workers: int = 0
) -> Generator[list[TokenSample], None, None]:
    """The samples of each round; the next one is made while one is learnt."""
    with closing(map_rounds(partial(encode, path), sources, range(count), workers)) as parts_of_rounds:
        for parts in parts_of_rounds:
            yield [sample for part in parts for sample in part.samples()]


class TransformersImitation:
    """Raises the likelihood of replies: the mean over all tokens of a batch."""

    def __init__(self, policy: TransformersPolicy, recipe: Recipe) -> None:
        import torch

        self.policy, self.options, self.optimizer = policy, recipe.supervised, recipe.optimizer
        weights = {name: w for name, w in policy.model.named_parameters() if w.requires_grad}
        self.masters = Masters([*weights.values()])
        of_vision = [any(part in name for part in VISION) for name in weights]
        pairs = [*zip(self.masters.parameters, of_vision, strict=True)]
        groups = [
            {"params": [master for master, sees in pairs if sees is vision]} for vision in (True, False)
        ]
        self.rates = (self.options.vision_lr or self.options.lr, self.options.lr)
        fused = policy.device.type == "cuda" or None
        decay = self.options.weight_decay
        self.adam = torch.optim.AdamW(groups, self.options.lr, (0.9, 0.95), weight_decay=decay, fused=fused)
        self.limits = BatchLimits(self.optimizer)
        self.skipped = self._bad_in_turn = 0
        """Steps whose gradients were not finite, in all and since the last that was."""
        self.returns = self._judged = 0
        """How often training went back to earlier weights, and the steps made by the last time."""
        self.norms = deque[float](maxlen=LATEST)
        """Of the latest gradients, before clipping."""
        self._lowest = inf
        self._good: list[Tensor] = []
        """The weights when the loss was lowest, in main memory."""
        self._read: list[float] = []
        self._unread: list[Tensor] = []

    @property
    def losses(self) -> list[float]:
        """Of every step. Reading them waits for the GPU, which is busy with the last step otherwise."""
        import torch

        if self._unread:
            self._read += torch.stack(self._unread).tolist()
            self._unread.clear()
            if not isfinite(sum(self._read)):
                raise Diverged("loss")
        return self._read

    def step(self, samples: Sequence[TokenSample], share: float) -> None:
        """Learn from a batch, when this share of all is done. Where memory is short, in smaller parts."""
        import torch

        loss = self.limits.fit(lambda: self._backward(samples), samples, self.policy)
        limit = self.optimizer.grad_norm or float("inf")
        if not self._usable(float(torch.nn.utils.clip_grad_norm_(self.masters.parameters, limit))):
            return
        scale = replace(self.optimizer, lr=1.0).rate(int(share * FINE), FINE)
        for group, rate in zip(self.adam.param_groups, self.rates, strict=True):
            group["lr"] = rate * scale
        self.adam.step()
        self.masters.publish()
        self._unread.append(loss)

    def latest(self) -> list[float]:
        """The latest losses, at most `LATEST`, since training last went back."""
        return self.losses[self._judged :][-LATEST:]

    def judge(self) -> bool:
        """Keep the weights if the latest losses are the lowest; return to those that were kept, with half the
        rates, if they have risen far. Returns whether it has."""
        latest = self.latest()
        if len(latest) < LATEST:
            return False
        mean = fmean(latest)
        if mean > self._lowest + RISEN:
            self._return("loss")
            return True
        if mean < self._lowest:
            self._lowest = mean
            self._good = [weight.detach().to("cpu", copy=True) for weight in self.masters.parameters]
        return False

    def line(self) -> str:
        """Loss and length of the gradients."""
        loss, norm = (fmean(values) if values else 0.0 for values in (self.latest(), self.norms))
        return f"loss {loss:.4f}  gradient {norm:.2f}" + (f"  skipped {self.skipped}" if self.skipped else "")

    def _usable(self, norm: float) -> bool:
        """Whether a step can be made with the gradients; a few that are not finite are left out."""
        if isfinite(norm):
            self.norms.append(norm)
            self._bad_in_turn = 0
            return True
        self.skipped += 1
        self._bad_in_turn += 1
        if self._bad_in_turn == MOST_SKIPPED:
            self._return("gradient")
        return False

    def _return(self, why: str) -> None:
        if not self._good or self.returns == MOST_RETURNS:
            raise Diverged(why)
        for weight, good in zip(self.masters.parameters, self._good, strict=True):
            weight.data.copy_(good)
        self.masters.publish()
        self.adam.state.clear()
        self.rates = (self.rates[0] / 2, self.rates[1] / 2)
        self.returns, self._judged, self._bad_in_turn = self.returns + 1, len(self.losses), 0

    def _backward(self, samples: Sequence[TokenSample]) -> Tensor:
        import torch

        self.adam.zero_grad(set_to_none=True)
        count = sum(len(sample.completion_ids) for sample in samples)
        parts = []
        for part in chunks(samples, self.limits.micro, self.limits.tokens):
            scores = self.policy.score(part)
            loss = -(scores.logprobs * scores.mask).sum() / count
            loss.backward()
            parts.append(loss.detach())
        return torch.stack(parts).sum()


def imitate(policy: TransformersPolicy, recipe: Recipe, folder: Path, say: Say) -> list[float]:
    """Train the policy on the demonstrations, for all rounds or until time is over; returns the losses."""
    options = recipe.supervised
    end = policy.processor.tokenizer.eos_token_id
    if end is None or end not in end_tokens(policy.base):
        raise BadOption(
            f"hf/{recipe.model.path}: replies do not end with the tokenizer's eos token, which "
            'supervised.engine = "rounds" teaches: use engine = "trl".'
        )
    imitation = TransformersImitation(policy, recipe)
    began = last_report = perf_counter()
    waited, learnt, first = 0.0, 0, None
    policy.train(True)
    source = rounds(recipe.model.path, recipe.sources, options.rounds, options.workers)
    try:
        for number in range(options.rounds):
            start = perf_counter()
            samples = next(source)
            if not samples:
                raise UsageError("the demonstrations of a round have no replies.")
            waited += 0.0 if first is None else perf_counter() - start
            first = first or perf_counter()
            batches = list(_batches(samples, options.batch, options.epochs, f"{recipe.run.seed} {number}"))
            for place, batch in enumerate(batches):
                share = (number + place / len(batches)) / options.rounds
                if options.minutes:
                    # Schedules begin with the first samples, for which processes have to be started.
                    seconds = max(1.0, 60 * options.minutes - (first - began))
                    share = max(share, (perf_counter() - first) / seconds)
                if share >= 1:
                    break
                imitation.step(batch, share)
                learnt += len(batch)
                if perf_counter() - last_report > REPORTS:
                    last_report = perf_counter()
                    progress, rate = f"{share:4.0%}  round {number + 1}", learnt / (last_report - first)
                    say(f"supervised {progress}  {imitation.line()}  {rate:.0f} replies/s")
                    if imitation.judge():
                        say("the loss has risen: back to earlier weights, with half the rates")
            else:
                continue
            break
    finally:
        source.close()
        policy.train(False)
    spent = perf_counter() - (first or began)
    summary = {
        "losses": [round(loss, 5) for loss in imitation.losses],
        "replies": learnt,
        "seconds": round(spent),
        "waited": round(waited),
        "skipped": imitation.skipped,
        "returns": imitation.returns,
        "rounds": number + 1 if options.rounds else 0,
    }
    write_atomically(folder / IMITATION, orjson.dumps(summary))
    steps, share = len(imitation.losses), waited / max(spent, 1e-9)
    say(f"supervised: {steps:,} steps, {learnt:,} replies, {share:.1%} of the time waiting")
    if imitation.skipped:
        say(f"{imitation.skipped} steps were left out: their gradients were not finite")
    return imitation.losses


def _batches(
    samples: Sequence[TokenSample], size: int, epochs: int, seed: str
) -> Iterator[list[TokenSample]]:
    """Every sample once an epoch, each batch a mixture of everything that is to be learnt."""
    for epoch in range(epochs):
        order = list(samples)
        Random(f"{seed} {epoch}").shuffle(order)
        for start in range(0, len(order), size):
            yield order[start : start + size]
