"""Generators of picture sets, and filling a set with several processes.

A generator makes the entry of a number from its options, so that entries can be made in any order and by any
process, and a set that was interrupted continues where it stopped.
"""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from time import sleep
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ludens.core.cores import cores
from ludens.core.errors import BadFile, BadOption, LudensError, UsageError
from ludens.core.options import option_values
from ludens.core.registry import Registry
from ludens.pictures.manifest import PAIR, Header
from ludens.pictures.writer import PictureSetWriter

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

GENERATORS = Registry("picture set", "ludens.pictures")
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Made:
    """The contents of one entry."""

    pictures: Mapping[str, bytes]
    scene: Any = None
    changes: Sequence[Any] = field(default_factory=tuple)
    licence: str = ""


class Skip(LudensError):
    """An entry that cannot be made; it is counted and left out."""


@dataclass(frozen=True)
class Generator(ABC):
    """Makes the entries of a picture set. A subclass is a frozen dataclass whose options are its fields."""

    name: ClassVar[str]
    version: ClassVar[str]
    kind: ClassVar[str] = PAIR
    entries: ClassVar[int] = 0
    """How many there are where the options determine it, else 0."""

    def resolved(self) -> Self:
        """The same with checked options, and what depends on the machine filled in."""
        return self

    @abstractmethod
    def make(self, number: int) -> Made:
        """The entry of this number, or `Skip`."""

    def prepare(self) -> str:
        """Check that everything needed is installed, before anything is written; returns a line to print."""
        return ""

    def settings(self) -> dict[str, Any]:
        """Everything that determines the entries, as JSON."""
        return option_values(self)

    def header(self, name: str) -> Header:
        return Header(name, self.kind, self.name, self.version, self.settings())

    def workers(self) -> int:
        """How many processes make entries by default."""
        return cores()


def entry_id(number: int) -> str:
    """The id of a numbered entry."""
    return f"{number:06d}"


def fill(
    writer: PictureSetWriter,
    generator: Generator,
    count: int,
    workers: int,
    progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Make all entries up to `count` that are missing; `progress` is told how many there are."""
    done = writer.written() | writer.skipped().keys()
    todo = [number for number in range(count) if entry_id(number) not in done]
    before = count - len(todo)
    progress(before)
    if workers == 1 or len(todo) < 2:
        for made, number in enumerate(todo, before + 1):
            _make(writer, generator, number)
            progress(made)
        return
    context = get_context("spawn")
    shares = [share for share in (todo[k::workers] for k in range(workers)) if share]
    pipes = [context.Pipe(duplex=False) for _ in shares]
    processes = [
        context.Process(target=_work, args=(writer, generator, share, sender), daemon=True)
        for share, (_, sender) in zip(shares, pipes, strict=True)
    ]
    try:
        for process in processes:
            process.start()
        while any(process.is_alive() for process in processes):
            sleep(_POLL_SECONDS)
            _raise_failure(processes, [receiver for receiver, _ in pipes])
            progress(len(writer.written()) + len(writer.skipped()))
        _raise_failure(processes, [receiver for receiver, _ in pipes])
    finally:
        for process in processes:
            if process.pid is not None:
                process.terminate()
                process.join()


def _make(writer: PictureSetWriter, generator: Generator, number: int) -> None:
    id = entry_id(number)
    try:
        made = generator.make(number)
    except Skip as reason:
        writer.skip(id, str(reason))
    else:
        writer.add(id, made.pictures, scene=made.scene, changes=made.changes, licence=made.licence)


def _work(
    writer: PictureSetWriter, generator: Generator, numbers: Sequence[int], failure: Connection
) -> None:
    """A process that makes its share. It ends when the command that started it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command that started this stops it
    parent = parent_process()
    try:
        for number in numbers:
            if parent is not None and not parent.is_alive():
                return
            _make(writer, generator, number)
    except UsageError as error:
        failure.send((isinstance(error, BadFile), str(error)))
        raise SystemExit(1) from None


def _raise_failure(processes: Sequence[SpawnProcess], receivers: Sequence[Connection]) -> None:
    for process, receiver in zip(processes, receivers, strict=True):
        if receiver.poll():
            bad_file, message = receiver.recv()
            raise BadFile(message) if bad_file else UsageError(message)
        if process.exitcode:
            raise UsageError(
                f"a process that made pictures ended with code {process.exitcode}; what it made is kept: run "
                "the command again to continue."
            )


def checked_count(count: int) -> int:
    """Raise an error for a number of entries that cannot be made."""
    if not 1 <= count <= 1_000_000:
        raise BadOption(f"a picture set has 1 to 1000000 entries, not {count}.")
    return count
