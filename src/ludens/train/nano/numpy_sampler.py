"""A trained model that needs no torch: short prompts and pictures to replies, in plain numpy."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np
from threadpoolctl import ThreadpoolController

from ludens.core.cores import cores
from ludens.core.view import Picture
from ludens.models.chat import Tokens
from ludens.train.nano.marks import marks_of
from ludens.train.nano.numpy_network import NumpyNetwork
from ludens.train.nano.numpy_speaker import NumpySpeaker
from ludens.train.nano.pictures import shrink
from ludens.train.nano.stored import Stored
from ludens.train.nano.weights import Array

LOOKS = 256 * 2**20
"""Most bytes of seen pictures kept in memory."""
TURNS = Lock()
"""One model computes at a time, with all cores."""


class NumpySampler:
    """Network and vocabulary.

    Args:
        stored: Settings of the model.
        network: Speaks.
        temperature: Of sampling; 0 is greedy.
        max_tokens: Most tokens in a reply.
        batch: Most requests in a batch.
    """

    def __init__(
        self, stored: Stored, network: NumpyNetwork, temperature: float, max_tokens: int, batch: int
    ) -> None:
        self.vocabulary, self.network, self.batch = stored.vocabulary, network, batch
        self._temperature, self._max_tokens = temperature, max_tokens
        self._longest, self._side = stored.size.longest - max_tokens, stored.size.side
        self._suppressed = (self.vocabulary.pad, self.vocabulary.unknown)
        self._random = np.random.default_rng(0)
        self._looks: OrderedDict[str, Array] = OrderedDict()

    @staticmethod
    def read(folder: Path, temperature: float, max_tokens: int, batch: int) -> NumpySampler:
        """Read the folder of a trained model."""
        stored = Stored.read(folder)
        network = NumpyNetwork(stored.size, stored.weights(folder), marks_of(stored.vocabulary.pieces))
        return NumpySampler(stored, network, temperature, max_tokens, batch)

    def encode(self, prompt: str) -> list[int]:
        """The ids of a prompt; of one that is too long, the end."""
        return self.vocabulary.encode(prompt)[-self._longest :]

    def sample(self, prompts: Sequence[list[int]], pictures: Sequence[Sequence[Picture]]) -> list[Tokens]:
        """Draw a reply to each prompt."""
        with TURNS, one_core():
            looks = self._look([shown[-1] if shown else None for shown in pictures])
            groups = alike(prompts, cores())
            texts = ([prompts[number] for number in group] for group in groups)
            shown = ([looks[number] for number in group] for group in groups)
            drawn = _threads().map(self._speak, texts, shown, self._random.spawn(len(groups)))
            replies = dict(zip(chain(*groups), chain(*drawn), strict=True))
        scale = self._temperature or 1.0
        return [
            Tokens(prompts[number], *replies[number], scale, self._suppressed, pictures[number])
            for number in range(len(prompts))
        ]

    def _speak(
        self, prompts: Sequence[list[int]], looks: Sequence[Array], random: np.random.Generator
    ) -> list[tuple[list[int], list[float]]]:
        """Tokens of a reply to each prompt, with their log-probabilities."""
        speaker = NumpySpeaker(self.network, looks, prompts, self._max_tokens)
        drawn: list[tuple[list[int], list[float]]] = [([], []) for _ in prompts]
        speaking = list(range(len(prompts)))
        while True:
            logprobs = self._distribution(speaker.logits)
            tokens = self._draw(logprobs, random)
            for place, (row, token) in enumerate(zip(speaking, tokens, strict=True)):
                ids, values = drawn[row]
                if not self._ended(ids):
                    ids.append(token)
                    values.append(float(logprobs[place, token]))
            going = [place for place, row in enumerate(speaking) if not self._ended(drawn[row][0])]
            if not going or len(drawn[speaking[going[0]]][0]) == self._max_tokens:
                return drawn
            # Dropping rows copies the others: not for a few.
            if 4 * len(going) <= 3 * len(speaking):
                speaker.keep(going)
                speaking, tokens = [speaking[place] for place in going], [tokens[place] for place in going]
            speaker.say(tokens)

    def _ended(self, ids: Sequence[int]) -> bool:
        return bool(ids) and ids[-1] == self.vocabulary.end

    def _distribution(self, logits: Array) -> Array:
        """Log-probabilities; padding and unknown pieces are never said."""
        scaled = logits / np.float32(self._temperature or 1.0)
        scaled[:, self._suppressed] = -np.inf
        scaled -= scaled.max(-1, keepdims=True)
        scaled -= np.log(np.exp(scaled).sum(-1, keepdims=True))
        return scaled

    def _draw(self, logprobs: Array, random: np.random.Generator) -> list[int]:
        if self._temperature == 0:
            return [int(token) for token in logprobs.argmax(-1)]
        # The largest of log-probabilities plus Gumbel noise is a draw from the distribution.
        return [int(token) for token in (logprobs + random.gumbel(size=logprobs.shape)).argmax(-1)]

    def _look(self, pictures: Sequence[Picture | None]) -> list[Array]:
        """What the network sees in each picture; computed once for equal pictures."""
        keys = [picture.hash if picture else "" for picture in pictures]
        new = {key: picture for key, picture in zip(keys, pictures, strict=True) if key not in self._looks}
        seen = _threads().map(lambda shown: self.network.look(shrink(shown, self._side)), new.values())
        self._looks.update(zip(new, seen, strict=True))
        for key in keys:
            self._looks.move_to_end(key)
        looks = [self._looks[key] for key in keys]
        while len(self._looks) > 1 and len(self._looks) * looks[0].nbytes > LOOKS:
            self._looks.popitem(last=False)
        return looks


def alike(prompts: Sequence[list[int]], parts: int) -> list[list[int]]:
    """Numbers of the prompts in groups: padding takes as long as text, so that a group has prompts of similar
    length; and there are enough groups for so many threads."""
    found: dict[int, list[int]] = {}
    for number, prompt in enumerate(prompts):
        found.setdefault(len(prompt).bit_length(), []).append(number)
    most = -(-len(prompts) // parts)
    return [group[at : at + most] for group in found.values() for at in range(0, len(group), most)]


@cache
def _threads() -> ThreadPoolExecutor:
    """Matrices are small: computing several things at once is faster than one with all cores."""
    return ThreadPoolExecutor(cores(), "nano")


def one_core() -> AbstractContextManager[object]:
    """Matrices are multiplied on one core meanwhile.

    Numpy's own threads wait for each other busily, which takes minutes where other processes run.
    """
    limit: AbstractContextManager[object] = _blas().limit(limits=1)
    return limit


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
