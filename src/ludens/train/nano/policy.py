"""Nano as a policy: short prompts, its own vocabulary, batched sampling with log-probabilities."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import orjson
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn import Parameter

from ludens.core.errors import BadOption
from ludens.core.files import write_atomically
from ludens.core.spending import spending
from ludens.core.view import Picture
from ludens.models.chat import Tokens as TokenRecord
from ludens.models.generation import Draws
from ludens.train import sharding
from ludens.train.batches import drawn_values, each, entropies, left_padded, moved, prompts_and_replies
from ludens.train.nano.inputs import PROMPTS, NanoQuestion, Offer, Vocabulary, clipped, shrink
from ludens.train.nano.model import LivePolicy
from ludens.train.nano.network import Graphs, Marks, Network, Speaker, TokenBatch
from ludens.train.nano.weights import SETTINGS, WEIGHTS, NanoSize, StoredModel
from ludens.train.policy import Scores, TokenSample

_ONE_BY_ONE = Lock()
"""Threads that share a GPU take turns: a graph is not captured while another one runs."""
PICTURES = 2**29
"""Most bytes of pictures kept in memory, shrunk: ten times those of an iteration of the spy recipe."""
THREADS = 4
"""Number of threads that shrink pictures."""
ALIGNED = 16
"""Lengths that kernels handle fastest; if all are multiples of it, the decoder is compiled only once."""
FEW = 64
"""Numbers of pictures above it are rounded up to a multiple of it, and lower ones to a power of two."""


def padding_of(prompt: int, reply: int) -> int:
    """How many tokens of padding make what the decoder reads, all but the last token, a multiple of 16."""
    return (1 - prompt - reply) % ALIGNED


def pictures_in_batch(count: int) -> int:
    """The size of a batch for at least `count` pictures, from a few possible sizes."""
    return -(-count // FEW) * FEW if count > FEW else 1 << (count - 1).bit_length()


class NanoPolicy(LivePolicy):
    """Network and vocabulary. Sampling at temperature 0 is greedy."""

    def __init__(
        self,
        size: NanoSize,
        vocabulary: Vocabulary,
        *,
        temperature: float = 1.0,
        max_tokens: int = 32,
        batch: int = 512,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        if max_tokens >= size.longest:
            raise BadOption(f"nano needs max_tokens below its longest = {size.longest}, not {max_tokens}.")
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self._device = torch.device(device)
        self.aligned = self._device.type == "cuda"
        """Whether batches are padded to few shapes: for each new one, cuDNN plans its convolutions again,
        which takes longer than they do."""
        if self.aligned:
            torch.backends.cuda.enable_cudnn_sdp(False)  # its attention is planned again for each shape too
        self.size, self.vocabulary = size, vocabulary
        self.prompts = PROMPTS
        self.temperature, self.max_tokens, self.batch = temperature, max_tokens, batch
        self.longest_reply = max_tokens
        """Most tokens that `sample` draws: a game may need fewer than the longest reply that was learnt."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.network = Network(size, len(vocabulary)).to(self.device)
        self.generator = torch.Generator(self.device).manual_seed(seed)
        self._marks = Marks.of(vocabulary.pieces, self.device)
        self._suppressed = [vocabulary.pad, vocabulary.unknown]
        self._never = torch.tensor(self._suppressed, device=self.device)
        self._pictures: OrderedDict[str, Tensor] = OrderedDict()
        self._graphs = Graphs.on(self.device)

    @property
    def device(self) -> torch.device:
        return self._device

    def parameters(self) -> list[Parameter]:
        return [parameter for parameter in self.network.parameters() if parameter.requires_grad]

    def train(self, training: bool) -> None:
        self.network.train(training)

    def encode(self, prompt: str) -> list[int]:
        return clipped(self.vocabulary.encode(prompt), self.size.longest - self.max_tokens)

    def score(self, samples: Sequence[TokenSample], *, entropy: bool = False, state: bool = False) -> Scores:
        ids, mask = prompts_and_replies(samples, self.vocabulary.pad)
        prompt, reply = ids.shape[1] - mask.shape[1], mask.shape[1]
        more = padding_of(prompt, reply) if self.aligned else 0
        ids = moved(F.pad(ids, (more, 0), value=self.vocabulary.pad), self.device)
        mask, width = moved(mask, self.device), more + prompt
        padding = moved(torch.tensor([width - len(s.prompt_ids) for s in samples]), self.device)
        temperatures = moved(each(samples, lambda sample: sample.temperature), self.device)
        pictures, numbers = self._picture_batch(samples)
        tokens = TokenBatch.of(ids[:, :-1], padding, self._marks)
        with self._precision():
            logits, states = self.network(centred(pictures), numbers, tokens, reply)
        values = self._distribution(logits, temperatures[:, None, None])
        return Scores(
            drawn_values(values, ids, mask),
            mask,
            entropies(values) if entropy else None,
            states if state else None,
        )

    def see(self, pictures: Tensor) -> Tensor:
        """Features of pictures: bytes, (rows, 3, side, side)."""
        with self._precision():
            features: Tensor = self.network.encoder(centred(pictures))
        return features

    def values(
        self, ids: Tensor, padding: Tensor, mask: Tensor, features: Tensor, temperature: Tensor | float = 1.0
    ) -> Tensor:
        """Log-probabilities of replies, 0 where the mask is.

        Args:
            ids: Prompts, padded on the left, and replies, padded on the right.
            padding: Number of padding tokens before each prompt.
        """
        longest = mask.shape[1]
        tokens = TokenBatch.of(ids[:, :-1], padding, self._marks)
        with self._precision():
            logits = self.network.logits(features, tokens, longest)
        return drawn_values(self._distribution(logits, temperature), ids, mask)

    def sample(self, questions: Sequence[NanoQuestion]) -> list[TokenRecord]:
        """Draw a reply to each question; if all have seeds, no reply depends on the others.

        Log-probabilities are those of free replies, also where a reply gives one of some answers.
        """
        with spending("sample"), torch.no_grad(), _ONE_BY_ONE if self._graphs is not None else nullcontext():
            return self._sample(questions)

    def _sample(self, questions: Sequence[NanoQuestion]) -> list[TokenRecord]:
        seeds = [question.seed for question in questions if question.seed is not None]
        draws = Draws(seeds, self.longest_reply) if len(seeds) == len(questions) else None
        offers = [question.offer(self.vocabulary) for question in questions]
        prompts = [question.prompt for question in questions]
        ids = left_padded(prompts, self.vocabulary.pad).to(self.device)
        if self.aligned:
            more = padding_of(ids.shape[1], self.longest_reply + 1)  # it reads its last token, too
            ids = F.pad(ids, (more, 0), value=self.vocabulary.pad)
        padding = torch.tensor([ids.shape[1] - len(prompt) for prompt in prompts], device=self.device)
        temperature, end = self.temperature or 1.0, self.vocabulary.end
        tokens, values, features = list[Tensor](), list[Tensor](), self._features(questions)
        replies: list[list[int]] = [[] for _ in offers] if any(offers) else []
        complete = torch.zeros(len(questions), dtype=torch.bool, device=self.device)
        # Threads share the cache of autocast: another one would free what a graph of this one reads.
        with self._precision(cached=self._graphs is None):
            batch = TokenBatch.of(ids, padding, self._marks)
            speaker = Speaker(self.network, features, batch, self._marks, self.longest_reply, self._graphs)
            for number in range(self.longest_reply):
                logprobs = self._distribution(speaker.logits, temperature)
                token = self._draw(restrict_to_offers(logprobs, offers, replies), draws)
                tokens.append(token)
                if replies:
                    for reply, spoken_id in zip(replies, token.tolist(), strict=True):
                        reply.append(spoken_id)
                values.append(logprobs.gather(1, token[:, None])[:, 0])
                complete |= token == end
                # Asking whether all have ended waits for the device: not at every token.
                if number + 1 == self.longest_reply or (number % 4 == 3 and bool(complete.all())):
                    break
                speaker.say(token)
        ids_drawn, logprobs_drawn = torch.stack(tokens, 1).tolist(), torch.stack(values, 1).tolist()
        records = []
        for question, ids_row, values_row in zip(questions, ids_drawn, logprobs_drawn, strict=True):
            length = ids_row.index(end) + 1 if end in ids_row else len(ids_row)
            fields = ids_row[:length], values_row[:length], temperature, (*self._suppressed,)
            records.append(TokenRecord(question.prompt, *fields, question.pictures))
        return records

    def _distribution(self, logits: Tensor, temperature: Tensor | float) -> Tensor:
        scaled = logits.float() / temperature
        # Their numbers are on the device already: to copy them there would wait for everything before.
        return scaled.index_fill_(-1, self._never, -torch.inf).log_softmax(-1)

    def _draw(self, logprobs: Tensor, draws: Draws | None) -> Tensor:
        if self.temperature == 0:
            return logprobs.argmax(-1)
        if draws is not None:
            tokens: Tensor = draws(logprobs)
            return tokens
        return torch.multinomial(logprobs.exp(), 1, generator=self.generator)[:, 0]

    def _precision(self, cached: bool = True) -> Any:
        on = self.device.type == "cuda"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=on, cache_enabled=cached)

    def _features(self, samples: Iterable[TokenSample | NanoQuestion]) -> Tensor:
        """Features of the last picture of every sample."""
        pictures, numbers = self._picture_batch(samples)
        return self.see(pictures)[numbers]

    def _picture_batch(self, samples: Iterable[TokenSample | NanoQuestion]) -> tuple[Tensor, Tensor]:
        """The last pictures of all samples, each once although players share them, and which is whose."""
        last_pictures = [sample.pictures[-1] if sample.pictures else None for sample in samples]
        unlike = {_key(picture): picture for picture in last_pictures}
        numbers = {key: number for number, key in enumerate(unlike)}
        pictures = self._shrunk(unlike)
        if self.aligned:
            pictures += [torch.zeros_like(pictures[0])] * (pictures_in_batch(len(pictures)) - len(pictures))
        rows = torch.tensor([numbers[_key(picture)] for picture in last_pictures])
        batch = torch.empty(
            len(pictures), *pictures[0].shape, dtype=torch.uint8, pin_memory=self.device.type == "cuda"
        )
        torch.stack(pictures, out=batch)
        return batch.to(self.device, non_blocking=True), moved(rows, self.device)

    def _shrunk(self, pictures: Mapping[str, Picture | None]) -> list[Tensor]:
        """Bytes of pictures; each is met again in every pass and by every player."""
        kept_tensors = {key: self._pictures.get(key) for key in pictures}
        new = [key for key, shrunk in kept_tensors.items() if shrunk is None]
        # Pillow gives up the interpreter lock while it computes.
        arrays = _threads().map(partial(shrink, side=self.size.side), map(pictures.__getitem__, new))
        tensors = kept_tensors | dict(zip(new, map(torch.from_numpy, arrays), strict=True))
        for key in tensors:
            self._pictures.pop(key, None)
        self._pictures |= tensors  # the latest ones last
        while len(self._pictures) * 3 * self.size.side**2 > PICTURES:
            self._pictures.popitem(last=False)
        return list(tensors.values())

    def shard(self) -> None:
        self._skeleton = sharding.skeleton(self.network)
        sharding.share_out(self.network, (), self.device)
        self.sharded, self._graphs = True, None  # a graph knows weights by where they were

    @contextmanager
    def unsharded(self) -> Iterator[None]:
        with sharding.unsharded(self.network) if self.sharded else nullcontext():
            yield

    def whole(self) -> NanoPolicy:
        if not self.sharded:
            return self
        weights = {name: sharding.whole(value) for name, value in self.network.named_parameters()}
        twin = self._twin()
        twin.network, twin.sharded = copy.deepcopy(self._skeleton), False
        sharding.fill(twin.network, weights, dict(self.network.named_buffers()))
        return twin

    def frozen(self) -> NanoPolicy:
        twin = self._twin()
        if self.sharded:
            share = partial(sharding.share_out, units=(), device=self.device)
            twin.network = sharding.frozen_copy(self.network, self._skeleton, share, self.device)
        else:
            twin.network = copy.deepcopy(self.network).requires_grad_(False).eval()
        twin.generator = torch.Generator(self.device).manual_seed(self.generator.initial_seed() + 1)
        twin._graphs = None if self.sharded else Graphs.on(self.device)
        return twin

    def save(self, folder: Path) -> None:
        from safetensors.torch import save_file

        settings = {
            "size": {name: getattr(self.size, name) for name in NanoSize.__dataclass_fields__},
            "vocabulary": self.vocabulary.pieces,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "prompts": self.prompts,
        }
        write_atomically(folder / SETTINGS, orjson.dumps(settings, option=orjson.OPT_INDENT_2))
        save_file(self.network.state_dict(), folder / WEIGHTS)

    def load(self, folder: Path) -> None:
        weights = StoredModel.read(folder).weights()
        tensors = {name: torch.tensor(array) for name, array in weights.items()}
        if self.sharded:
            sharding.set_weights(self.network, tensors)
        else:
            self.network.load_state_dict(tensors)

    @staticmethod
    def read(folder: Path, **settings: Any) -> NanoPolicy:
        model = StoredModel.read(folder)
        sampling = {"temperature": model.temperature, "max_tokens": model.max_tokens}
        policy = NanoPolicy(NanoSize(**asdict(model.size)), model.vocabulary, **{**sampling, **settings})
        policy.load(folder)
        policy.prompts = model.prompts
        policy.network.eval()
        return policy


def centred(pictures: Tensor) -> Tensor:
    """Bytes as numbers from -1 to 1."""
    return pictures.float() / 127.5 - 1


def restrict_to_offers(
    logprobs: Tensor, offers: Sequence[Offer | None], replies: Sequence[Sequence[int]]
) -> Tensor:
    """The distributions without tokens that are not offered next; unchanged where all of them are free."""
    pairs = enumerate(zip(offers, replies, strict=False))
    following = {row: offer.following(reply) for row, (offer, reply) in pairs if offer is not None}
    limited = {row: tokens for row, tokens in following.items() if tokens}
    if not limited:
        return logprobs
    free = logprobs.clone()
    for row, tokens in limited.items():
        free[row] = -torch.inf
        free[row, tokens] = logprobs[row, tokens]
    return free.log_softmax(-1)


def _key(picture: Picture | None) -> str:
    return picture.hash if picture else ""


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "pictures")


def with_pieces(policy: NanoPolicy, vocabulary: Vocabulary, seed: int = 0) -> NanoPolicy:
    """The policy with further pieces of another vocabulary; itself where it has all of them."""
    new = [piece for piece in vocabulary.pieces if piece not in policy.vocabulary.ids]
    if not new:
        return policy
    grown = NanoPolicy(
        policy.size,
        Vocabulary([*policy.vocabulary.pieces, *new]),
        temperature=policy.temperature,
        max_tokens=policy.max_tokens,
        batch=policy.batch,
        seed=seed,
        device=str(policy.device),
    )
    weights = grown.network.state_dict()
    with torch.no_grad():
        for name, weight in policy.network.state_dict().items():
            weights[name][: len(weight)].copy_(weight)
    return grown
