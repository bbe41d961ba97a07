"""The network: a convolutional stem and a transformer see; a decoder with cross-attention speaks."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ludens.train.nano.inputs import LINES, NOWHERE, marks_of
from ludens.train.nano.weights import SHARPNESS, STRIDE, WAVES, NanoSize


@dataclass(frozen=True)
class Marks:
    """How each piece of a vocabulary moves the cursor."""

    new_line: Tensor
    places: Tensor
    place: Tensor
    """(pieces, 2): x and y in the unit square; `NOWHERE` for a piece that sets none."""
    shape: Tensor
    """(pieces, 2): columns and lines of a matrix; 0 for a piece that says none."""

    @staticmethod
    def of(pieces: Sequence[str], device: torch.device) -> Marks:
        columns = zip(*marks_of(pieces), strict=True)
        return Marks(*(torch.tensor(column, device=device) for column in columns))


class Cursor(NamedTuple):
    """Where some tokens of each row are. All fields are (rows, tokens) or (rows, tokens, 2)."""

    line: Tensor
    column: Tensor
    point: Tensor
    shape: Tensor

    @staticmethod
    def of(ids: Tensor, marks: Marks) -> Cursor:
        starts = marks.new_line[ids]
        line = starts.cumsum(1).clamp(max=LINES - 1)
        at = torch.arange(ids.shape[1], device=ids.device)[None].expand_as(ids)
        column = (at - _latest(starts, at)).clamp(max=LINES - 1).where(line > 0, 0)
        point = _at_latest(marks.place, marks.places[ids], ids, at, NOWHERE)
        shape = _at_latest(marks.shape, marks.shape[ids][..., 0] > 0, ids, at, 0.0)
        return Cursor(line, column, point, shape)

    def after(self, token: Tensor, marks: Marks) -> Cursor:
        """The cursor at a token, (rows, 1), that follows the last one."""
        new_line = marks.new_line[token]
        line = (self.line[:, -1:] + new_line).clamp(max=LINES - 1)
        column = (self.column[:, -1:] + 1).clamp(max=LINES - 1).where((line > 0) & ~new_line, 0)
        point = marks.place[token].where(marks.places[token][..., None], self.point[:, -1:])
        shape = marks.shape[token].where(marks.shape[token][..., :1] > 0, self.shape[:, -1:])
        return Cursor(line, column, point, shape)

    def last(self) -> Cursor:
        """A copy of the cursor at the last token of each row."""
        return Cursor(*(field[:, -1:].clone() for field in self))

    def set(self, other: Cursor) -> None:
        """Take the values of another one, in place."""
        for own, new in zip(self, other, strict=True):
            own.copy_(new)

    @property
    def place(self) -> Tensor:
        """The place of the cell of the matrix that comes next, or the place that was named."""
        inside = (self.line > 0) & (self.column < self.shape[..., 0]) & (self.line <= self.shape[..., 1])
        cell = torch.stack([self.column + 0.5, self.line - 0.5], -1) / self.shape.clamp(min=1)
        return cell.where(inside[..., None], self.point)


def _latest(marked: Tensor, at: Tensor) -> Tensor:
    """Of each token, the position of the last marked one up to it; -1 where there is none."""
    return at.where(marked, -1).cummax(1).values


def _at_latest(table: Tensor, marked: Tensor, ids: Tensor, at: Tensor, none: float) -> Tensor:
    """Of each token, the entry of the last marked one up to it."""
    latest = _latest(marked, at)
    entries = table[ids.gather(1, latest.clamp(min=0))]
    return entries.where((latest >= 0)[..., None], torch.full_like(entries, none))


CAPTURES = -1
"""The priority of streams in which graphs are captured."""


class Graphs:
    """Makes graphs one after the other in the same memory: only the latest one may be called."""

    def __init__(self) -> None:
        self._last: torch.cuda.CUDAGraph | None = None

    @staticmethod
    def on(device: torch.device) -> Graphs | None:
        """Graphs where there can be any: on GPUs of NVIDIA."""
        return Graphs() if device.type == "cuda" else None

    def capture(self, function: Callable[[], None]) -> torch.cuda.CUDAGraph:
        """Record the kernels of a function without running them. Other threads may use the GPU."""
        # Streams are taken in turn from a few, others for each priority: the one of an update in another
        # thread, which has the usual priority, must not be among those that capture.
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream(priority=CAPTURES)
        pool = None if self._last is None else self._last.pool()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), no_collection():
            graph.capture_begin(pool, capture_error_mode="thread_local")
            try:
                function()
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
        self._last = graph
        return graph


@contextmanager
def no_collection() -> Iterator[None]:
    """Switch garbage collection off: an old graph that is freed during a capture ends the capture."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class GraphedStep:
    """Runs a function that changes tensors in place, the same one each time.

    The first call runs it, so that libraries are set up; the second captures its kernels; that and every
    later call launch all of them at once.
    """

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs
        self._warm = False
        self._graph: torch.cuda.CUDAGraph | None = None

    def run(self, function: Callable[[], None]) -> None:
        if not self._warm:
            function()
            self._warm = True
            return
        if self._graph is None:
            self._graph = self._graphs.capture(function)
        self._graph.replay()


PULL = 2.0
"""How much stronger places are than contents in the first keys and queries."""


def fourier(x: Tensor, y: Tensor) -> Tensor:
    frequencies = math.pi * torch.arange(1, WAVES + 1, device=x.device, dtype=torch.float32)
    a, b = x[..., None].float() * frequencies, y[..., None].float() * frequencies
    return torch.cat([a.sin(), a.cos(), b.sin(), b.cos()], -1)


def opponent(pictures: Tensor) -> Tensor:
    """Lightness and two differences of colours, relative to the mean of the picture: colours count as much as
    lightness, and an empty background is near 0."""
    red, green, blue = (pictures - pictures.mean((2, 3), keepdim=True)).unbind(1)
    light = (red + green + blue) / 1.5
    return torch.stack([light, 2 * (red - green), 2 * blue - red - green], 1)


def rms(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), eps=1e-5)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys(self, x: Tensor) -> tuple[Tensor, Tensor]:
        key, value = self.key_value(x).chunk(2, -1)
        return rms(self._split(key)), self._split(value)

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None = None) -> Tensor:
        query = rms(self._split(self.query(x)))
        scale = SHARPNESS / query.shape[-1]
        mixed = F.scaled_dot_product_attention(query, *keys_values, attn_mask=mask, scale=scale)
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return out


class Mlp(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(F.relu(self.up(x)).square())
        return out


class Block(nn.Module):
    def __init__(self, width: int, heads: int, cross: bool) -> None:
        super().__init__()
        self.attention, self.mlp = Attention(width, heads), Mlp(width)
        self.look = Attention(width, heads) if cross else None


class Encoder(nn.Module):
    """Pictures to features, one per patch."""

    places: Tensor

    def __init__(self, size: NanoSize) -> None:
        super().__init__()
        width, grid = size.width, size.side // STRIDE
        self.stem = nn.ModuleList(
            [nn.Conv2d(3, 64, 4, 4), nn.Conv2d(64, 128, 3, 2, 1), nn.Conv2d(128, width, 3, 2, 1)]
        )
        at = (torch.arange(grid) + 0.5) / grid
        places = fourier(at[None, :].expand(grid, -1), at[:, None].expand(-1, grid)).flatten(0, 1)
        self.register_buffer("places", places, persistent=False)
        self.position = nn.Linear(4 * WAVES, width, bias=False)
        self.key = nn.Linear(4 * WAVES, width, bias=False)
        self.blocks = nn.ModuleList(Block(width, size.heads, cross=False) for _ in range(size.encoder))

    def forward(self, pictures: Tensor) -> Tensor:
        x = opponent(pictures)
        for number, layer in enumerate(self.stem):
            x = layer(F.relu(x) if number else x)
        x = rms(x.flatten(2).transpose(1, 2)) + self.position(self.places)
        for block in self.blocks:
            normed = rms(x)
            x = x + block.attention(normed, block.attention.keys(normed))
            x = x + block.mlp(rms(x))
        features: Tensor = rms(x) + self.key(self.places)
        return features


Pairs = list[tuple[Tensor, Tensor]]
"""Keys and values of every layer."""


class Decoder(nn.Module):
    """Tokens and features to logits."""

    def __init__(self, size: NanoSize, vocabulary: int) -> None:
        super().__init__()
        width = size.width
        self.embedding = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(size.longest, width)
        self.line, self.column = nn.Embedding(LINES, width), nn.Embedding(LINES, width)
        self.place = nn.Linear(4 * WAVES, width, bias=False)
        self.blocks = nn.ModuleList(Block(width, size.heads, cross=True) for _ in range(size.decoder))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def embed(self, ids: Tensor, position: Tensor, cursor: Cursor) -> Tensor:
        x = self.embedding(ids) + self.position(position)
        x = x + self.line(cursor.line) + self.column(cursor.column)
        place = cursor.place
        somewhere = (place[..., 0] != NOWHERE)[..., None]
        features: Tensor = self.place(fourier(place[..., 0], place[..., 1]) * somewhere)
        return x + features

    def look(self, features: Tensor) -> Pairs:
        """Keys and values of the picture for every layer."""
        return [block.look.keys(features) for block in self.blocks]

    def forward(
        self, x: Tensor, looks: Pairs, mask: Tensor, past: Pairs | None = None, at: Tensor | None = None
    ) -> Tensor:
        """Hidden states. Keys and values of every layer are appended to `past`; those of one further token
        are written into it `at` one place."""
        for number, (block, look) in enumerate(zip(self.blocks, looks, strict=True)):
            normed = rms(x)
            pair = block.attention.keys(normed)
            if past is not None and at is not None:
                for cache, new in zip(past[number], pair, strict=True):
                    cache.index_copy_(2, at, new)
                pair = past[number]
            elif past is not None:
                past.append(pair)
            x = x + block.attention(normed, pair, mask)
            x = x + block.look(rms(x), look)
            x = x + block.mlp(rms(x))
        return rms(x)


class Network(nn.Module):
    def __init__(self, size: NanoSize, vocabulary: int) -> None:
        super().__init__()
        self.size = size
        self.encoder, self.decoder = Encoder(size), Decoder(size, vocabulary)
        embeddings = ("embedding", "position", "line", "column")
        for name, parameter in self.named_parameters():
            owner = name.split(".")[-2]
            if parameter.ndim == 2:
                embedded = name.startswith("decoder") and owner in embeddings
                nn.init.normal_(parameter, std=0.3 if embedded else parameter.shape[1] ** -0.5)
            if owner in ("out", "down"):
                parameter.data.mul_(0.5)
        with torch.no_grad():
            self.decoder.place.weight.copy_(self.encoder.key.weight.mul_(PULL))
            for block in self.decoder.blocks:
                block.look.query.weight.copy_(block.look.key_value.weight[: size.width])

    def forward(
        self, pictures: Tensor, numbers: Tensor, tokens: TokenBatch, last: int
    ) -> tuple[Tensor, Tensor]:
        """Logits after each of the last tokens, and the hidden state after the first of these.

        Args:
            pictures: From -1 to 1, (pictures, 3, side, side).
            numbers: The number of the picture of each row.
        """
        hidden = self._hidden(self.encoder(pictures)[numbers], tokens)[:, -last:]
        return self.decoder.head(hidden), hidden[:, 0].clone()  # a view would lose hooks of FSDP

    def logits(self, features: Tensor, tokens: TokenBatch, last: int) -> Tensor:
        out: Tensor = self.decoder.head(self._hidden(features, tokens)[:, -last:])
        return out

    def _hidden(self, features: Tensor, tokens: TokenBatch) -> Tensor:
        looks = self.decoder.look(features)
        x = self.decoder.embed(tokens.ids, tokens.position, tokens.cursor)
        hidden: Tensor = self.decoder(x, looks, tokens.mask())
        return hidden


@dataclass
class TokenBatch:
    """Token ids padded on the left, with what the network derives from them."""

    ids: Tensor
    padding: Tensor
    cursor: Cursor

    @staticmethod
    def of(ids: Tensor, padding: Tensor, marks: Marks) -> TokenBatch:
        return TokenBatch(ids, padding, Cursor.of(ids, marks))

    @property
    def position(self) -> Tensor:
        """Of each token in its row, counted without padding."""
        at = torch.arange(self.ids.shape[1], device=self.ids.device)[None]
        return (at - self.padding[:, None]).clamp(min=0)

    def mask(self) -> Tensor:
        """(rows, 1, tokens, tokens): causal, without padding; padding looks at itself."""
        n = self.ids.shape[1]
        at = torch.arange(n, device=self.ids.device)
        causal = at[None, :] <= at[:, None]
        real = at[None, None, :] >= self.padding[:, None, None]
        itself = torch.eye(n, dtype=torch.bool, device=self.ids.device)
        return ((causal[None] & real) | itself[None])[:, None]


class Speaker:
    """Says one token after the other, with keys and values of earlier ones in a cache of fixed size.

    With `graphs`, on a GPU, the step of a token is captured once as a CUDA graph: launching its kernels one
    by one would take several times as long as they run.
    """

    def __init__(
        self,
        network: Network,
        features: Tensor,
        tokens: TokenBatch,
        marks: Marks,
        longest: int,
        graphs: Graphs | None = None,
    ) -> None:
        decoder, device = network.decoder, tokens.ids.device
        self._decoder, self._looks = decoder, decoder.look(features)
        length = tokens.ids.shape[1]
        past: Pairs = []
        x = decoder.embed(tokens.ids, tokens.position, tokens.cursor)
        hidden = decoder(x, self._looks, tokens.mask(), past)
        self._past = [(_longer(key, longest), _longer(value, longest)) for key, value in past]
        places = torch.arange(length + longest, device=device)
        self._visible = (places >= tokens.padding[:, None]) & (places < length)
        self._at = torch.tensor([length], device=device)
        self._token = tokens.ids[:, -1:].clone()
        self._position = length - tokens.padding[:, None]
        self._cursor, self._marks = tokens.cursor.last(), marks
        # It keeps no method of this object: only garbage collection, rare while games are played, would free
        # the caches then.
        self._graphed = None if graphs is None else GraphedStep(graphs)
        self.logits: Tensor = decoder.head(hidden[:, -1])

    def say(self, token: Tensor) -> None:
        self._token.copy_(token[:, None])
        if self._graphed is None:
            self._step()
        else:
            self._graphed.run(self._step)

    def _step(self) -> None:
        """Everything in place, so that a graph of it can be replayed."""
        self._visible.index_fill_(1, self._at, True)
        self._cursor.set(self._cursor.after(self._token, self._marks))
        x = self._decoder.embed(self._token, self._position, self._cursor)
        hidden = self._decoder(x, self._looks, self._visible[:, None, None], self._past, self._at)
        self.logits.copy_(self._decoder.head(hidden[:, -1]))
        self._at += 1
        self._position += 1


def _longer(x: Tensor, by: int) -> Tensor:
    return torch.cat([x, x.new_zeros(*x.shape[:2], by, x.shape[3])], 2)
