"""A trained model that needs no torch: short prompts and pictures to replies, in plain numpy."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

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
        looks = [self._look(shown[-1] if shown else None) for shown in pictures]
        speaker = NumpySpeaker(self.network, looks, prompts, self._max_tokens)
        drawn: list[list[int]] = [[] for _ in prompts]
        values: list[list[float]] = [[] for _ in prompts]
        speaking = list(range(len(prompts)))
        while True:
            logprobs = self._distribution(speaker.logits)
            tokens = self._draw(logprobs)
            for place, (row, token) in enumerate(zip(speaking, tokens, strict=True)):
                if not self._ended(drawn[row]):
                    drawn[row].append(token)
                    values[row].append(float(logprobs[place, token]))
            going = [place for place, row in enumerate(speaking) if not self._ended(drawn[row])]
            if not going or len(drawn[speaking[going[0]]]) == self._max_tokens:
                break
            # Dropping rows copies the others: only when it halves the work.
            if 2 * len(going) <= len(speaking):
                speaker.keep(going)
                speaking, tokens = [speaking[place] for place in going], [tokens[place] for place in going]
            speaker.say(tokens)
        scale = self._temperature or 1.0
        return [
            Tokens(prompt, ids, logprobs, scale, self._suppressed, shown)
            for prompt, ids, logprobs, shown in zip(prompts, drawn, values, pictures, strict=True)
        ]

    def _ended(self, ids: Sequence[int]) -> bool:
        return bool(ids) and ids[-1] == self.vocabulary.end

    def _distribution(self, logits: Array) -> Array:
        """Log-probabilities; padding and unknown pieces are never said."""
        scaled = logits / np.float32(self._temperature or 1.0)
        scaled[:, self._suppressed] = -np.inf
        scaled -= scaled.max(-1, keepdims=True)
        scaled -= np.log(np.exp(scaled).sum(-1, keepdims=True))
        return scaled

    def _draw(self, logprobs: Array) -> list[int]:
        if self._temperature == 0:
            return [int(token) for token in logprobs.argmax(-1)]
        # The largest of log-probabilities plus Gumbel noise is a draw from the distribution.
        return [int(token) for token in (logprobs + self._random.gumbel(size=logprobs.shape)).argmax(-1)]

    def _look(self, picture: Picture | None) -> Array:
        """What the network sees in a picture; computed once for equal pictures."""
        key = picture.hash if picture else ""
        if key not in self._looks:
            self._looks[key] = self.network.look(shrink(picture, self._side))
        self._looks.move_to_end(key)
        look = self._looks[key]
        while len(self._looks) > 1 and len(self._looks) * look.nbytes > LOOKS:
            self._looks.popitem(last=False)
        return look
