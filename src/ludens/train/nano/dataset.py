"""Demonstrations as arrays, made by many processes: tokens of prompts and replies, and shrunk pictures."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from logging import getLogger
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory, mkstemp
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.perceive import board_of
from ludens.models.chat import Message
from ludens.rebuild import Sample as Rebuilt
from ludens.train.batches import padded_table
from ludens.train.demonstrations import Map, SourceChunk, chunks_of, map_rounds, processes, replies
from ludens.train.nano.inputs import (
    Vocabulary,
    clipped,
    main_picture,
    numbers_like,
    pieces,
    places_like,
    short_prompt,
    shrink,
)
from ludens.train.nano.sketch import sketch
from ludens.train.recipe import Demonstration

if TYPE_CHECKING:  # processes that make samples do without torch, which takes seconds to import
    import torch
    from torch import Tensor

Array = np.ndarray[Any, Any]
log = getLogger("ludens.train")

VOCABULARY_EPISODES, VOCABULARY_ROUNDS = 256, 2
"""Most games of each source that are searched for pieces, and in how many rounds they are at most."""
PARTS = 4
"""In which a batch passes through the decoder, by length."""
HASHED = 101
"""The hash of a data set covers every 101st picture."""
SHARED, ROOM = Path("/dev/shm"), 8 * 2**30
"""Folder in memory for parts that wait for the trainer, used if it exists and has so many bytes free."""


@dataclass
class ImitationData:
    """Samples to imitate. Prompts are padded on the left, replies on the right."""

    prompts: Array
    replies: Array
    prompt_lengths: Array
    reply_lengths: Array
    picture: Array
    steady: Array
    """Whether pictures keep their geometry."""
    pictures: Array
    """(pictures, 3, side, side), bytes."""
    left_out: int = 0
    """Replies that are too long, or have pieces that cannot be said."""
    digest: str = ""
    """A hash of all tokens and of some pictures."""

    def __len__(self) -> int:
        return len(self.prompts)

    def batches(self, size: int, seed: str) -> Iterator[Array]:
        """Every sample at most once; each batch is a mixture of everything that is to be learnt.

        All batches have one size, for which kernels are compiled: the few samples that are left wait for the
        next order.
        """
        order = np.random.default_rng([*seed.encode()]).permutation(len(self))
        size = min(size, len(order))
        for start in range(0, len(order) - size + 1, size or 1):
            yield order[start : start + size]

    def parts(self, rows: Array) -> list[Array]:
        """These rows in parts of similar length: less padding."""
        lengths = self.prompt_lengths[rows] + self.reply_lengths[rows]
        ordered = rows[np.argsort(lengths, kind="stable")]
        return [part for part in np.array_split(ordered, PARTS) if len(part)]


@dataclass(frozen=True)
class SampleShape:
    side: int
    longest: int
    max_tokens: int


def vocabulary_of(sources: Iterable[Demonstration], workers: int = 0) -> Vocabulary:
    counts = ((source, min(VOCABULARY_ROUNDS * source.episodes, VOCABULARY_EPISODES)) for source in sources)
    chunks = chunks_of([replace(source, episodes=count, pool=0) for source, count in counts])
    run: Map[set[str]]
    with processes(workers, len(chunks)) as run:
        all_pieces = set[str]().union(*run(_pieces, chunks))
    return Vocabulary.of(all_pieces, places_like(all_pieces) | numbers_like(all_pieces))


def _pieces(chunk: SourceChunk) -> set[str]:
    texts = ((short_prompt(sample.game, sample.ask), sample.completion) for sample in replies(chunk))
    return {piece for pair in texts for text in pair for piece in pieces(text)}


def rounds(
    sources: Sequence[Demonstration],
    vocabulary: Vocabulary,
    shape: SampleShape,
    numbers: Iterable[int] = (0,),
    workers: int = 0,
    pinned: bool = False,
) -> Iterator[ImitationData]:
    """The data set of each round; the next one is made while one is used.

    Args:
        numbers: Of the rounds.
        pinned: Whether a GPU reads the pictures by itself, while other threads launch kernels.
    """
    scratch = SHARED if SHARED.is_dir() and disk_usage(SHARED).free > ROOM else None
    with TemporaryDirectory(dir=scratch) as folder:
        work = partial(_encoded, vocabulary, shape, folder)
        # Closed first: its processes write into the folder.
        with closing(map_rounds(work, sources, numbers, workers)) as files_of_rounds:
            for files in files_of_rounds:
                yield _joined(files, shape.side, pinned)


Part = dict[str, Array]
"""Samples of some episodes: `prompts` and `replies` one after the other, their lengths, `picture` (numbers),
`steady`, `pictures`, how many these are (`count`), and `left_out`."""


def _encoded(vocabulary: Vocabulary, shape: SampleShape, folder: str, chunk: SourceChunk) -> str:
    """Encode the replies of some episodes into a file, pictures last; returns its name.

    Episodes that fail are left out with a warning: a run of hours does not end because of one. What fails in
    every seed has failed before, when the vocabulary was made.
    """
    handle, name = mkstemp(dir=folder)
    source = chunk.source
    samples = map(sketched, replies(chunk)) if source.sketch else replies(chunk)
    try:
        part = encode(samples, vocabulary, shape, source.steady)
    except Exception as error:
        log.warning("%s, seeds from %d: left out: %s", source.game, chunk.seeds.start, error)
        part = encode((), vocabulary, shape)
    pictures = part.pop("pictures")
    with open(handle, "wb") as file:
        pickle.dump(part, file)
        file.write(pictures.data)
    return name


def sketched(sample: Rebuilt) -> Rebuilt:
    """A question of `perceive` about the same board, drawn in another way."""
    name, _, *numbers = sample.ask.observation.brief.split()
    board = make(f"perceive?board={name}").options["board"]
    codes = board_of(board, RenderOptions()).codes
    if numbers:  # codes=random
        codes = dict(zip(map(int, numbers), codes.values(), strict=True))
    names = [[codes[code] for code in row] for row in json.loads(sample.completion)]
    picture = sketch(board, names, stream(crc32(sample.pictures[-1].hash.encode()), "sketch"))
    return replace(sample, messages=[Message("user", (picture,))])


def encode(
    samples: Iterable[Rebuilt], vocabulary: Vocabulary, shape: SampleShape, steady: bool = False
) -> Part:
    """Samples as numbers. Equal ones (all voters of a game) are kept once; replies that are too long, or have
    pieces that cannot be said, are left out."""
    prompts, answers, numbers, pictures = list[list[int]](), list[list[int]](), list[int](), list[Array]()
    picture_numbers, encoded, left_out = dict[str, int](), set[tuple[Any, ...]](), 0
    for sample in samples:
        prompt = clipped(
            vocabulary.encode(short_prompt(sample.game, sample.ask)), shape.longest - shape.max_tokens
        )
        reply = [*vocabulary.encode(sample.completion), vocabulary.end]
        main = main_picture(sample.game, sample.ask, sample.pictures)
        picture_hash = main[0].hash if main else ""
        key = (*prompt, -1, *reply, picture_hash)
        if key in encoded:
            continue
        encoded.add(key)
        if len(reply) > shape.max_tokens or vocabulary.unknown in reply:
            left_out += 1
            continue
        if picture_hash not in picture_numbers:
            picture_numbers[picture_hash] = len(pictures)
            pictures.append(shrink(main[0] if main else None, shape.side))
        prompts.append(prompt)
        answers.append(reply)
        numbers.append(picture_numbers[picture_hash])
    empty = np.zeros((0, 3, shape.side, shape.side), np.uint8)
    return {
        "prompts": np.array([token for prompt in prompts for token in prompt], np.int16),
        "replies": np.array([token for reply in answers for token in reply], np.int16),
        "prompt_lengths": np.array(list(map(len, prompts)), np.int32),
        "reply_lengths": np.array(list(map(len, answers)), np.int32),
        "picture": np.array(numbers, np.int64),
        "steady": np.full(len(numbers), steady),
        "pictures": np.stack(pictures) if pictures else empty,
        "count": np.array([len(pictures)]),
        "left_out": np.array([left_out]),
    }


def _joined(names: Sequence[str], side: int, pinned: bool) -> ImitationData:
    """The parts in these files, which are removed.

    Pictures are read into place, so that they are in memory only once. Another thread trains meanwhile.
    """
    parts, offsets = zip(*map(_without_pictures, names), strict=True)
    arrays: dict[str, Any] = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    counts = arrays.pop("count")
    before = np.cumsum(counts) - counts
    arrays["picture"] += np.repeat(before, [len(part["picture"]) for part in parts])
    arrays["prompts"] = padded_table(arrays["prompts"], arrays["prompt_lengths"], left=True)
    arrays["replies"] = padded_table(arrays["replies"], arrays["reply_lengths"])
    arrays["left_out"] = int(arrays["left_out"].sum())
    pictures = _memory((int(counts.sum()), 3, side, side), pinned)
    for name, offset, start, count in zip(names, offsets, before, counts, strict=True):
        if count:
            with open(name, "rb") as file:
                file.seek(offset)
                file.readinto(pictures[start : start + count].data.cast("B"))
        Path(name).unlink()
    hashed = sha256(arrays["prompts"].tobytes() + arrays["replies"].tobytes())
    hashed.update(np.ascontiguousarray(pictures[::HASHED]).data)
    return ImitationData(**arrays, pictures=pictures, digest=hashed.hexdigest())


def _memory(shape: tuple[int, ...], pinned: bool) -> Array:
    if not pinned:
        return np.empty(shape, np.uint8)
    import torch

    array: Array = torch.empty(shape, dtype=torch.uint8, pin_memory=True).numpy()
    return array


def _without_pictures(name: str) -> tuple[Part, int]:
    with open(name, "rb") as file:
        return pickle.load(file), file.tell()


@dataclass
class DeviceData:
    """A data set with its arrays on the device: an update then copies nothing but the numbers of its rows."""

    dataset: ImitationData
    prompts: Tensor
    replies: Tensor
    prompt_lengths: Tensor
    reply_lengths: Tensor
    picture: Tensor
    steady: Tensor
    pictures: Tensor

    @staticmethod
    def of(dataset: ImitationData, device: torch.device) -> DeviceData:
        import torch

        arrays = [getattr(dataset, field.name) for field in fields(DeviceData)[1:]]
        tensors = (torch.from_numpy(array).to(device, non_blocking=True) for array in arrays)
        return DeviceData(dataset, *tensors)

    def number(self, rows: Array) -> Tensor:
        """Numbers of rows, copied to the device without waiting for it."""
        import torch

        numbers, device = torch.from_numpy(rows), self.picture.device
        return (numbers.pin_memory() if device.type == "cuda" else numbers).to(device, non_blocking=True)


def uploaded(
    datasets: Iterable[ImitationData], device: torch.device, meanwhile: Callable[[], None] | None = None
) -> Iterator[tuple[DeviceData, Callable[[], bool]]]:
    """Each data set on the device, and a function that tells whether the next one is ready.

    The next one is made and copied while one is used; `meanwhile` is called while the first is made.
    """
    import torch

    waiting = iter(datasets)
    stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def take() -> DeviceData | None:
        dataset = next(waiting, None)
        if dataset is None:
            return None
        with torch.cuda.stream(stream) if stream else nullcontext():
            data = DeviceData.of(dataset, device)
        if stream:
            stream.synchronize()
            dataset.pictures = np.empty((0, *dataset.pictures.shape[1:]), np.uint8)
        return data

    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(take)
        if meanwhile is not None:
            meanwhile()
        while (data := coming.result()) is not None:
            coming = ahead.submit(take)
            yield data, coming.done
            del data
