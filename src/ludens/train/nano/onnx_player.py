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
from ludens.train.nano.inputs import HEAD, Mark, Offer, TextCursor, clipped, marks_of, offer_to, offers_of
from ludens.train.nano.margins import KIND, Margins
from ludens.train.nano.numpy_player import (
    TURNS,
    PictureMemory,
    TokenEmbedding,
    log_distribution,
    one_core,
    return_memory,
    threads,
)
from ludens.train.nano.onnx_network import CELL, PARTS, Precision, decoder_graph, encoder_graph, session
from ludens.train.nano.weights import Array, NanoSize, StoredModel


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
"""Tokens in turn."""


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
        seen: Array = looks[:, :, None]
        return seen


class OnnxDecoder:
    def __init__(
        self, size: NanoSize, weights: Mapping[str, Array], marks: Sequence[Mark], precision: Precision
    ) -> None:
        self.size, self.marks, self.embed = size, marks, TokenEmbedding(weights)
        self._session = session(decoder_graph(size, weights, precision))
        self._names = [f"{part}_{number}" for number in range(size.decoder) for part in PARTS]

    def extend(self, x: Array, looks: Array, past: Sequence[Array], asked: int) -> tuple[Array, list[Array]]:
        """Logits after the last tokens, (asked, vocabulary), and keys and values of all.

        Args:
            x: Embedded tokens, (tokens, width).
            past: Keys and values so far, of each layer.
            asked: After how many of the tokens.
        """
        layers = looks.reshape(-1, *looks.shape[2:])
        seen = {f"look_{name}": look for name, look in zip(self._names, layers, strict=True)}
        kept = dict(zip(self._names, past, strict=True))
        inputs = {"x": x[None], "first": np.array([-asked]), **seen, **kept}
        logits, *kept_all = self._session.run(None, inputs)
        return logits[0], kept_all


class OnnxSpeaker:
    """Takes the tokens of one prompt and its reply; what follows a wrong guess is taken back."""

    def __init__(self, decoder: OnnxDecoder, looks: Array) -> None:
        self._decoder, self._looks = decoder, looks
        size = decoder.size
        nothing = np.zeros((1, size.heads, 0, size.width // size.heads), np.float32)
        self._past = [nothing] * (2 * size.decoder)
        self._cursors = [TextCursor()]
        """After each token; the first before all."""

    def take(self, tokens: Sequence[int], asked: int) -> Array:
        """Logits after each of the last tokens: (asked, vocabulary)."""
        at, places = len(self._cursors) - 1, []
        for token in tokens:
            cursor = copy(self._cursors[-1])
            cursor.move(self._decoder.marks[token])
            self._cursors.append(cursor)
            places.append((cursor.line, cursor.column, *cursor.place))
        position = np.arange(at, at + len(tokens))
        x = self._decoder.embed(np.array(tokens), position, np.array(places, np.float32))
        logits, self._past = self._decoder.extend(x, self._looks, self._past, asked)
        return logits

    def forget(self, tokens: int) -> None:
        """Take back so many of the last tokens."""
        if tokens:
            del self._cursors[-tokens:]
            self._past = [np.ascontiguousarray(kept[:, :, :-tokens]) for kept in self._past]


class Guesses:
    """What a reply says next: what followed the same words in earlier ones.

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

    def after(self, prompt: Sequence[int], said: Sequence[int]) -> Iterator[int]:
        """One token after the other; where no words are known, those of the latest reply at this place."""
        kind, text = tuple(prompt[:HEAD]), [*prompt[-MOST_WORDS:], *said]
        followed, latest = self._followed[kind], self._latest.get(kind, ())
        place = len(said)
        while True:
            sizes = range(min(MOST_WORDS, len(text)), FEWEST_WORDS - 1, -1)
            known = (followed.get(tuple(text[-size:])) for size in sizes)
            token = next((token for token in known if token is not None), None)
            if token is None:
                if place >= len(latest):
                    return
                token = latest[place]
            yield token
            text.append(token)
            place += 1


class Said(NamedTuple):
    """The tokens of a reply, and their log-probabilities; of one that ends in doubt, the last has none."""

    tokens: list[int]
    values: list[float]

    @property
    def in_doubt(self) -> bool:
        return len(self.values) < len(self.tokens)


Question = tuple[tuple[int, ...], str, tuple[str, ...]]
"""Prompt, hash of the picture, and answers: what a reply depends on."""
REPLIES = 1_000
"""Latest replies that are kept: a blind player is often asked the same again."""


class OnnxSampler:
    """Network and vocabulary; replies are the most likely tokens."""

    def __init__(
        self, folder: Path, max_tokens: int, batch: int, rungs: Sequence[Rung], margins: Margins
    ) -> None:
        self._stored = stored = StoredModel.read(folder)
        self.vocabulary, self.prompts, self.batch = stored.vocabulary, stored.prompts, batch
        self.doubts = Counter[Rung]()
        """Replies that were in doubt."""
        self._folder, self._max_tokens, self._rungs, self._margins = folder, max_tokens, rungs, margins
        self._longest = stored.size.longest - max_tokens
        self._suppressed = (self.vocabulary.pad, self.vocabulary.unknown)
        self._seen: dict[Precision, PictureMemory] = {}
        self._decoders: dict[Precision, OnnxDecoder] = {}
        self._guesses = Guesses()
        self._known: dict[Question, Said] = {}

    def encode(self, prompt: str) -> list[int]:
        return clipped(self.vocabulary.encode(prompt), self._longest)

    def kind(self, prompt: Sequence[int]) -> str:
        return self.vocabulary.decode(prompt[:KIND])

    def sample(
        self,
        prompts: Sequence[list[int]],
        pictures: Sequence[Sequence[Picture]],
        *,
        answers: Sequence[Sequence[str]] = (),
    ) -> list[Tokens]:
        last = [some[-1] if some else None for some in pictures]
        hashes = [picture.hash if picture else "" for picture in last]
        offered = [tuple(some) for some in answers or [()] * len(prompts)]
        asked = [*zip(map(tuple, prompts), hashes, offered, strict=True)]
        with TURNS, one_core():
            known = {question: self._known[question] for question in asked if question in self._known}
            new = {question: n for n, question in enumerate(asked) if question not in known}
            offers = offers_of(self.vocabulary, [offered[n] for n in new.values()], len(new))
            said = self._replies([prompts[n] for n in new.values()], [last[n] for n in new.values()], offers)
            known |= zip(new, said, strict=True)
            self._keep(known)
        rows = zip(prompts, (known[question] for question in asked), pictures, strict=True)
        return [
            Tokens(prompt, [*reply.tokens], [*reply.values], 1.0, self._suppressed, some)
            for prompt, reply, some in rows
        ]

    def _keep(self, replies: Mapping[Question, Said]) -> None:
        for question, reply in replies.items():
            self._known.pop(question, None)
            self._known[question] = reply
        for question in [*islice(self._known, max(len(self._known) - REPLIES, 0))]:
            del self._known[question]

    def _replies(
        self,
        prompts: Sequence[list[int]],
        pictures: Sequence[Picture | None],
        offers: Sequence[Offer | None],
    ) -> list[Said]:
        replies: dict[int, Said] = {}
        drafts: dict[int, list[int]] = {}
        for number, rung in enumerate(self._rungs):
            margins = {
                n: self._margin(prompt, number) for n, prompt in enumerate(prompts) if n not in replies
            }
            asked = {n: margin for n, margin in margins.items() if margin is not None}
            if not asked:
                continue
            looks = self._memory(rung.look).looks([pictures[n] for n in asked])
            speakers = [OnnxSpeaker(self._decoder(rung.speak), look) for look in looks]
            questions = [prompts[n] for n in asked], speakers, [offers[n] for n in asked]
            begun = [drafts.get(n, ()) for n in asked]
            said = dict(
                zip(asked, threads().map(self._reply, *questions, asked.values(), begun), strict=True)
            )
            replies |= {n: reply for n, reply in said.items() if not reply.in_doubt}
            drafts = {n: reply.tokens for n, reply in said.items() if reply.in_doubt}
            self.doubts[rung] += sum(n not in replies for n in asked)
        return [replies[n] for n in range(len(prompts))]

    def _margin(self, prompt: Sequence[int], number: int) -> float | None:
        measured = self._margins.get(self.kind(prompt), ())
        return measured[number] if number < len(measured) else self._rungs[number].margin

    def logits(self, rung: Rung, prompt: Sequence[int], reply: Sequence[int], picture: Picture) -> Array:
        """Before each token of a reply, (tokens, vocabulary)."""
        with TURNS, one_core():
            [look] = self._memory(rung.look).looks([picture])
            found = OnnxSpeaker(self._decoder(rung.speak), look).take([*prompt, *reply[:-1]], len(reply))
        found[:, self._suppressed] = -np.inf
        return found

    def _memory(self, precision: Precision) -> PictureMemory:
        if precision not in self._seen:
            size = self._stored.size
            encoder = OnnxEncoder(size, self._stored.opened(self._folder), precision)
            fewest = 4 if precision is self._rungs[0].look else 1
            self._seen[precision] = PictureMemory(encoder.look, size.side, fewest)
            return_memory()
        return self._seen[precision]

    def _decoder(self, precision: Precision) -> OnnxDecoder:
        if precision not in self._decoders:
            weights, marks = self._stored.opened(self._folder), marks_of(self.vocabulary.pieces)
            made = OnnxDecoder(self._stored.size, weights, marks, precision)
            made.embed = next(iter(self._decoders.values()), made).embed
            self._decoders[precision] = made
            del weights
            return_memory()
        return self._decoders[precision]

    def _reply(
        self,
        prompt: list[int],
        speaker: OnnxSpeaker,
        offer: Offer | None,
        margin: float,
        draft: Sequence[int],
    ) -> Said:
        """Until two tokens differ by less than the margin. A draft is guessed first."""
        said: list[int] = []
        values: list[float] = []
        new, ahead = prompt, GUESSED
        while True:
            forced = offer.forced(said)[: self._max_tokens - len(said)] if offer is not None else []
            if forced and (forced[-1] == self.vocabulary.end or len(said) + len(forced) == self._max_tokens):
                return self._learnt(prompt, Said([*said, *forced], [*values, *[0.0] * len(forced)]))
            known = forced or draft[len(said) :]
            guess = chain(known, self._guesses.after(prompt, [*said, *known]))
            most = min(max(ahead, len(known)), self._max_tokens - 1 - len(said))
            guessed = list(takewhile(lambda token: token != self.vocabulary.end, islice(guess, most)))
            logits = speaker.take([*new, *guessed], len(guessed) + 1)
            logits[:, self._suppressed] = -np.inf
            right = 0
            for row, expected in zip(logits, [*guessed, None], strict=True):
                offer_to(row, offer, said)
                second, first = np.partition(row, -2)[-2:]
                token = int(row.argmax())
                said.append(token)
                if first - second < margin:
                    return Said(said, values)
                values.append(float(log_distribution(row[None])[0, token]))
                if token == self.vocabulary.end or len(said) == self._max_tokens:
                    return self._learnt(prompt, Said(said, values))
                if token != expected:
                    draft = ()
                    break
                right += 1
            speaker.forget(len(guessed) - right)
            new, ahead = said[-1:], min(2 * right + 2, MOST_GUESSED)

    def _learnt(self, prompt: Sequence[int], reply: Said) -> Said:
        self._guesses.learn(prompt, reply.tokens)
        return reply
