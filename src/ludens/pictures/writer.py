"""Writing picture sets entry by entry; what was written survives a killed process.

    writer = PictureSetWriter(folder, Header("my-pairs", "pair", "camera"))
    writer.add("00001", {"original": png, "modified": other_png})
    writer.finish()

Until `finish`, a folder has `parts/` and no manifest, and cannot be opened as a set. An entry counts as
written once its line is in `parts/`, after its pictures. Several processes may add entries to one folder.
"""

from __future__ import annotations

import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Self

import orjson

from ludens.core.errors import BadFile, BadOption, LudensError, UsageError
from ludens.core.files import file_error, save_file
from ludens.core.options import option_values
from ludens.core.processes import WorkerDied, cores, run_in_processes
from ludens.core.registry import Registry
from ludens.draw import Picture
from ludens.pictures.manifest import (
    MANIFEST,
    NAME,
    PAIR,
    Entry,
    File,
    Header,
    check_entry,
    check_size,
    entry_line,
    read_entry,
    write_manifest,
)
from ludens.pictures.sets import PARTS

_HEADER = "header.json"
_IMAGES = "images"


class PictureSetWriter:
    """Writes one set. A folder that was begun earlier with the same header is continued."""

    def __init__(self, folder: Path, header: Header) -> None:
        if not NAME.fullmatch(header.name):
            raise BadOption(f"{header.name!r} is not a name of a set: use small letters, digits, - and _.")
        self.folder = folder
        self.header = header
        self._parts = folder / PARTS
        begun = orjson.dumps(header, option=orjson.OPT_INDENT_2)
        earlier = _contents(self._parts / _HEADER)
        if earlier is not None and earlier != begun:
            raise BadOption(
                f"{str(folder)!r} was begun with other settings: continue with the same ones, "
                "or choose another folder."
            )
        if earlier is None:
            if folder.exists() and (not folder.is_dir() or any(p != self._parts for p in folder.iterdir())):
                raise BadOption(f"{str(folder)!r} is not an empty folder; choose another one.")
            self._save(f"{PARTS}/{_HEADER}", begun)

    def written_ids(self) -> set[str]:
        return {path.stem for path in self._parts.glob("*.json") if path.name != _HEADER}

    def add(
        self,
        id: str,
        pictures: Mapping[str, bytes],
        *,
        scene: Any = None,
        changes: Sequence[Any] = (),
        licence: str = "",
    ) -> Entry:
        """Write one entry. Pictures are files: PNG or JPEG files are kept, others are converted to PNG."""
        files, contents = {}, []
        for role in sorted(pictures):
            picture = decode_picture(pictures[role])
            data, mime = picture.encoded()
            suffix = "jpg" if mime == "image/jpeg" else "png"
            name = f"{_IMAGES}/{id}-{role}.{suffix}"
            files[role] = File(name, sha256(data).hexdigest(), picture.width, picture.height)
            contents.append((name, data))
        by = self.header
        entry = Entry(id, by.kind, files, scene, tuple(changes), licence, by.generator, by.version)
        check_entry(entry, by.kind)
        for name, data in contents:
            self._save(name, data)
        self._save(f"{PARTS}/{id}.json", entry_line(entry))
        return entry

    def skip(self, id: str, reason: str) -> None:
        self._save(f"{PARTS}/{id}.skipped", reason.encode())

    def skip_reasons(self) -> dict[str, str]:
        """The ids of entries that cannot be made, with the reasons."""
        return {path.stem: path.read_text("utf-8") for path in sorted(self._parts.glob("*.skipped"))}

    def finish(self, ids: Iterable[str] | None = None) -> Path:
        """Write the manifest, in the order of the ids (by default all that were written)."""
        written_ids = self.written_ids()
        ids = sorted(written_ids if ids is None else set(ids))
        if lacking := [id for id in ids if id not in written_ids]:
            count = f"{len(lacking)} entries, the first {lacking[0]!r}"
            raise BadOption(f"{str(self.folder)!r} is not finished: it lacks {count}.")
        if not ids:
            reasons = ", ".join(sorted(set(self.skip_reasons().values())))
            shutil.rmtree(self.folder)
            skipped = f": every entry was skipped ({reasons})" if reasons else ""
            raise BadFile(f"{str(self.folder)!r} would be an empty set{skipped}; nothing was written.")
        entries = [read_entry(_contents(self._parts / f"{id}.json") or b"", f"part {id!r}") for id in ids]
        keep = {file.name for entry in entries for file in entry.files.values()}
        for path in sorted((self.folder / _IMAGES).iterdir()):
            if f"{_IMAGES}/{path.name}" not in keep:  # of an entry that was never finished
                path.unlink()
        self._save(MANIFEST, write_manifest(self.header, entries))
        shutil.rmtree(self._parts)
        return self.folder

    def _save(self, name: str, data: bytes) -> None:
        save_file(self.folder / name, data)


@contextmanager
def removed_if_bad(folder: Path) -> Iterator[None]:
    """Remove a folder that was begun here if the files that it is made from turn out to be bad."""
    begun = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    try:
        yield
    except BadFile:
        if begun:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def decode_picture(data: bytes) -> Picture:
    """The picture in a file that may be damaged, huge, rotated or in other colours than RGB; decoded once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of sizes that are refused here
        picture = Picture.from_bytes(data)
    check_size(picture.width, picture.height)
    _ = picture.hash
    return picture


def _contents(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_error("read", path, error) from None


GENERATORS = Registry("picture set", "ludens.pictures")


@dataclass(frozen=True)
class EntryContents:
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
    def make(self, number: int) -> EntryContents:
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
        return cores()


def entry_id(number: int) -> str:
    return f"{number:06d}"


def fill(
    writer: PictureSetWriter,
    generator: Generator,
    count: int,
    workers: int,
    progress: Callable[[int], None] = lambda count: None,
) -> None:
    """Make all entries up to `count` that are missing; `progress` is told how many there are."""
    finished_ids = writer.written_ids() | writer.skip_reasons().keys()
    todo = [number for number in range(count) if entry_id(number) not in finished_ids]
    before = count - len(todo)
    progress(before)
    if workers == 1 or len(todo) < 2:
        for total, number in enumerate(todo, before + 1):
            _make(writer, generator, number)
            progress(total)
        return
    results = run_in_processes(
        _make_here, todo, workers, ordered=False, start=_start, args=(writer, generator)
    )
    try:
        for total, _ in enumerate(results, before + 1):
            progress(total)
    except WorkerDied as error:
        raise UsageError(f"{error}; what it made is kept: run the command again to continue.") from None


def _make(writer: PictureSetWriter, generator: Generator, number: int) -> None:
    id = entry_id(number)
    try:
        entry = generator.make(number)
    except Skip as reason:
        writer.skip(id, str(reason))
    else:
        writer.add(id, entry.pictures, scene=entry.scene, changes=entry.changes, licence=entry.licence)


_work: tuple[PictureSetWriter, Generator]


def _start(writer: PictureSetWriter, generator: Generator) -> None:
    global _work
    _work = writer, generator


def _make_here(number: int) -> None:
    try:
        _make(*_work, number)
    except UsageError as error:  # as an exception that can be pickled
        raise (BadFile if isinstance(error, BadFile) else UsageError)(str(error)) from None


def checked_count(count: int) -> int:
    """Raise an error for a number of entries that cannot be made."""
    if not 1 <= count <= 1_000_000:
        raise BadOption(f"a picture set has 1 to 1000000 entries, not {count}.")
    return count
