"""A small model in onnxruntime, faster than the plain numpy player, with the same replies.

It looks at a picture in coarse numbers first. Where these cannot tell which of two tokens is the more likely
one (`margins`), it looks again in finer numbers. `int8` never looks again, and where moves are equally good
it may choose another one than the plain player.

What earlier replies to questions of the same kind said is a guess: its tokens are checked many at a time, and
the first that is wrong ends the guess. The rest of the only legal move that is left is not computed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ludens.core.view import Picture
from ludens.models.chat import Tokens
from ludens.train.nano.inputs import HEAD, Mark, NanoQuestion, TextCursor, marks_of, offer_to
from ludens.train.nano.margins import KIND, Margins
from ludens.train.nano.numpy_player import (
    TURNS,
    PictureMemory,
    StoredSampler,
    TokenEmbedding,
    log_distribution,
    one_core,
    return_memory,
    threads,
)
from ludens.train.nano.onnx_network import CELL, PARTS, Precision, decoder_graph, encoder_graph, session
from ludens.train.nano.weights import Array, NanoSize


class Rung(NamedTuple):
    """How exactly it looks and speaks.

    Replies are in doubt where the two best tokens differ by less than the margin. This one is for questions
    of a kind that was not measured. None: such questions begin on the next rung.
    """

    look: Precision
    speak: Precision
    margin: float | None


EQUAL = (
    Rung(Precision.ONCE, Precision.TWICE, None),
    Rung(Precision.TWICE, Precision.TWICE, 0.05),
    Rung(Precision.THRICE, Precision.THRICE, 0.0),
)
"""In turn as long as a reply is in doubt: the replies of the plain player."""
FAST = (Rung(Precision.ONCE, Precision.ONCE, 0.0),)

GUESSED = 6
"""Tokens that are guessed first; more after right guesses, at most `MOST_GUESSED`."""
MOST_GUESSED = 24
FEWEST_WORDS, MOST_WORDS = 2, 6
"""How many of the last tokens must be the same: at first `MOST_WORDS`, then fewer."""
SEQUENCES = 50_000
"""Of tokens that are kept of one kind of question."""

Run = tuple[int, ...]
"""Successive tokens."""


class OnnxEncoder:
    def __init__(self, size: NanoSize, weights: Mapping[str, Array], precision: Precision) -> None:
        self._cells = size.side // CELL
        self._session = session(encoder_graph(size, weights, precision))

    def look(self, picture: Array) -> Array:
        """Of a picture, (3, side, side), keys and values: (layers, 2, 1, heads, patches, head width)."""
        side = self._cells
        # The bytes of a cell's row are one number while the cells are put in order, which is faster.
        by_cell = picture.view(np.uint32).reshape(3, side, CELL, side).transpose(1, 3, 0, 2)
        cells = np.ascontiguousarray(by_cell).view(np.uint8).reshape(side * side, -1).astype(np.float32)
        cells -= np.repeat(picture.mean((1, 2)).astype(np.float32), CELL * CELL)
        [looks] = self._session.run(None, {"cells": cells})
        keys_values: Array = looks[:, :, None]
        return keys_values


class OnnxDecoder:
    def __init__(
        self, size: NanoSize, weights: Mapping[str, Array], marks: Sequence[Mark], precision: Precision
    ) -> None:
        self.size, self.marks, self.embed = size, marks, TokenEmbedding(weights)
        self._session = session(decoder_graph(size, weights, precision))
        self._names = [f"{part}_{number}" for number in range(size.decoder) for part in PARTS]

    def extend(self, x: Array, looks: Array, past: Sequence[Array], count: int) -> tuple[Array, list[Array]]:
        """Logits after the last tokens, (count, vocabulary), and keys and values of all.

        Args:
            x: Embedded tokens, (tokens, width).
            past: Keys and values so far, of each layer.
            count: After how many of the tokens.
        """
        layers = looks.reshape(-1, *looks.shape[2:])
        look_inputs = {f"look_{name}": look for name, look in zip(self._names, layers, strict=True)}
        past_inputs = dict(zip(self._names, past, strict=True))
        inputs = {"x": x[None], "first": np.array([-count]), **look_inputs, **past_inputs}
        logits, *caches = self._session.run(None, inputs)
        return logits[0], caches


class OnnxSpeaker:
    """Takes the tokens of one prompt and its reply; what follows a wrong guess is taken back."""

    def __init__(self, decoder: OnnxDecoder, looks: Array) -> None:
        self._decoder, self._looks = decoder, looks
        size = decoder.size
        nothing = np.zeros((1, size.heads, 0, size.width // size.heads), np.float32)
        self._past = [nothing] * (2 * size.decoder)
        self._cursors = [TextCursor()]
        """After each token; the first before all."""

    def take(self, tokens: Sequence[int], count: int) -> Array:
        """Logits after each of the last `count` tokens: (count, vocabulary)."""
        at, places = len(self._cursors) - 1, []
        for token in tokens:
            cursor = copy(self._cursors[-1])
            cursor.move(self._decoder.marks[token])
            self._cursors.append(cursor)
            places.append((cursor.line, cursor.column, *cursor.place))
        position = np.arange(at, at + len(tokens))
        x = self._decoder.embed(np.array(tokens), position, np.array(places, np.float32))
        logits, self._past = self._decoder.extend(x, self._looks, self._past, count)
        return logits

    def forget(self, tokens: int) -> None:
        """Remove this number of tokens from the end."""
        if tokens:
            del self._cursors[-tokens:]
            self._past = [np.ascontiguousarray(cache[:, :, :-tokens]) for cache in self._past]


class Guesses:
    """Guesses the next tokens of a reply: those that followed the same words in earlier replies.

    A wrong guess costs time and changes nothing else.
    """

    def __init__(self) -> None:
        self._followed: defaultdict[Run, dict[Run, int]] = defaultdict(dict)
        self._latest: dict[Run, Sequence[int]] = {}

    def learn(self, prompt: Sequence[int], reply: Sequence[int]) -> None:
        kind, text = tuple(prompt[:HEAD]), (*prompt[-MOST_WORDS:], *reply)
        followed, begin = self._followed[kind], len(text) - len(reply)
        if len(followed) > SEQUENCES:
            followed.clear()
        for at in range(begin, len(text)):
            for size in range(FEWEST_WORDS, min(MOST_WORDS, at) + 1):
                followed[text[at - size : at]] = text[at]
        self._latest[kind] = reply

    def after(self, prompt: Sequence[int], reply: Sequence[int]) -> Iterator[int]:
        """One token after the other; where no words are known, those of the latest reply at this place."""
        kind, text = tuple(prompt[:HEAD]), [*prompt[-MOST_WORDS:], *reply]
        followed, latest = self._followed[kind], self._latest.get(kind, ())
        place = len(reply)
        while True:
            sizes = range(min(MOST_WORDS, len(text)), FEWEST_WORDS - 1, -1)
            candidates = (followed.get(tuple(text[-size:])) for size in sizes)
            token = next((token for token in candidates if token is not None), None)
            if token is None:
                if place >= len(latest):
                    return
                token = latest[place]
            yield token
            text.append(token)
            place += 1


class TokenReply(NamedTuple):
    """The tokens of a reply, and their log-probabilities; of one that ends in doubt, the last has none."""

    tokens: list[int]
    values: list[float]

    @property
    def in_doubt(self) -> bool:
        return len(self.values) < len(self.tokens)


Key = tuple[tuple[int, ...], str, tuple[str, ...]]
"""Prompt, hash of the picture, and answers: a reply depends on nothing else."""
REPLIES = 1_000
"""Latest replies that are kept: a blind player is often asked the same again."""


def _key(question: NanoQuestion) -> Key:
    picture = question.picture
    return tuple(question.prompt), picture.hash if picture else "", tuple(question.answers)


class OnnxSampler(StoredSampler):
    """Its replies are the most likely tokens."""

    def __init__(
        self, folder: Path, max_tokens: int, batch: int, rungs: Sequence[Rung], margins: Margins
    ) -> None:
        super().__init__(folder, max_tokens, batch)
        self.doubts = Counter[Rung]()
        """Replies that were in doubt."""
        self._rungs, self._margins = rungs, margins
        self._memories: dict[Precision, PictureMemory] = {}
        self._decoders: dict[Precision, OnnxDecoder] = {}
        self._guesses = Guesses()
        self._latest: dict[Key, TokenReply] = {}

    def kind(self, prompt: Sequence[int]) -> str:
        return self.vocabulary.decode(prompt[:KIND])

    def sample(self, questions: Sequence[NanoQuestion]) -> list[Tokens]:
        keys = [_key(question) for question in questions]
        with TURNS, one_core():
            replies = {key: self._latest[key] for key in keys if key in self._latest}
            pairs = zip(keys, questions, strict=True)
            new = {key: question for key, question in pairs if key not in replies}
            replies |= zip(new, self._replies([*new.values()]), strict=True)
            self._keep(replies)
        rows = zip(questions, (replies[key] for key in keys), strict=True)
        return [
            Tokens(row.prompt, [*reply.tokens], [*reply.values], 1.0, self._suppressed, row.pictures)
            for row, reply in rows
        ]

    def _keep(self, replies: Mapping[Key, TokenReply]) -> None:
        for key, reply in replies.items():
            self._latest.pop(key, None)
            self._latest[key] = reply
        for key in [*islice(self._latest, max(len(self._latest) - REPLIES, 0))]:
            del self._latest[key]

    def _replies(self, questions: Sequence[NanoQuestion]) -> list[TokenReply]:
        replies: dict[int, TokenReply] = {}
        drafts: dict[int, list[int]] = {}
        for number, rung in enumerate(self._rungs):
            pending = [n for n in range(len(questions)) if n not in replies]
            all_margins = {n: self._margin(questions[n].prompt, number) for n in pending}
            margins = {n: margin for n, margin in all_margins.items() if margin is not None}
            if not margins:
                continue
            rows = [questions[n] for n in margins]
            decoder = self._decoder(rung.speak)  # before pictures take memory: it needs more while it is made
            looks = self._memory(rung.look).looks([row.picture for row in rows])
            speakers = [OnnxSpeaker(decoder, look) for look in looks]
            begun = [drafts.get(n, ()) for n in margins]
            spoken = threads().map(self._reply, rows, speakers, margins.values(), begun)
            attempts = dict(zip(margins, spoken, strict=True))
            replies |= {n: reply for n, reply in attempts.items() if not reply.in_doubt}
            drafts = {n: reply.tokens for n, reply in attempts.items() if reply.in_doubt}
            self.doubts[rung] += sum(n not in replies for n in margins)
        return [replies[n] for n in range(len(questions))]

    def _margin(self, prompt: Sequence[int], number: int) -> float | None:
        margins = self._margins.get(self.kind(prompt), ())
        return margins[number] if number < len(margins) else self._rungs[number].margin

    def logits(self, rung: Rung, prompt: Sequence[int], reply: Sequence[int], picture: Picture) -> Array:
        """Before each token of a reply, (tokens, vocabulary)."""
        with TURNS, one_core():
            [look] = self._memory(rung.look).looks([picture])
            logits = OnnxSpeaker(self._decoder(rung.speak), look).take([*prompt, *reply[:-1]], len(reply))
        logits[:, self._suppressed] = -np.inf
        return logits

    def _memory(self, precision: Precision) -> PictureMemory:
        if precision not in self._memories:
            size = self.model.size
            encoder = OnnxEncoder(size, self.model.opened(), precision)
            fewest = 2 if precision is self._rungs[0].look else 1
            self._memories[precision] = PictureMemory(encoder.look, size.side, fewest)
            return_memory()
        return self._memories[precision]

    def _decoder(self, precision: Precision) -> OnnxDecoder:
        if precision not in self._decoders:
            weights, marks = self.model.opened(), marks_of(self.vocabulary.pieces)
            decoder = OnnxDecoder(self.model.size, weights, marks, precision)
            decoder.embed = next(iter(self._decoders.values()), decoder).embed
            self._decoders[precision] = decoder
            del weights
            return_memory()
        return self._decoders[precision]

    def _reply(
        self, question: NanoQuestion, speaker: OnnxSpeaker, margin: float, draft: Sequence[int]
    ) -> TokenReply:
        """Until two tokens differ by less than the margin. A draft is guessed first."""
        prompt, offer = question.prompt, question.offer(self.vocabulary)
        tokens: list[int] = []
        values: list[float] = []
        new, ahead = prompt, GUESSED
        while True:
            forced = offer.forced(tokens)[: self._max_tokens - len(tokens)] if offer is not None else []
            if forced and (
                forced[-1] == self.vocabulary.end or len(tokens) + len(forced) == self._max_tokens
            ):
                return self._learnt(prompt, TokenReply([*tokens, *forced], [*values, *[0.0] * len(forced)]))
            first_guess = forced or draft[len(tokens) :]
            guess = chain(first_guess, self._guesses.after(prompt, [*tokens, *first_guess]))
            most = min(max(ahead, len(first_guess)), self._max_tokens - 1 - len(tokens))
            guessed = list(takewhile(lambda token: token != self.vocabulary.end, islice(guess, most)))
            logits = speaker.take([*new, *guessed], len(guessed) + 1)
            logits[:, self._suppressed] = -np.inf
            right = 0
            for row, expected in zip(logits, [*guessed, None], strict=True):
                offer_to(row, offer, tokens)
                second, first = np.partition(row, -2)[-2:]
                token = int(row.argmax())
                tokens.append(token)
                if first - second < margin:
                    return TokenReply(tokens, values)
                values.append(float(log_distribution(row[None])[0, token]))
                if token == self.vocabulary.end or len(tokens) == self._max_tokens:
                    return self._learnt(prompt, TokenReply(tokens, values))
                if token != expected:
                    draft = ()
                    break
                right += 1
            speaker.forget(len(guessed) - right)
            new, ahead = tokens[-1:], min(2 * right + 2, MOST_GUESSED)

    def _learnt(self, prompt: Sequence[int], reply: TokenReply) -> TokenReply:
        self._guesses.learn(prompt, reply.tokens)
        return reply
