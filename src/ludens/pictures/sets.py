"""Reading picture sets: found by name or path, checked when read, decoded when looked at."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from ludens.core.errors import BadFile, UnknownName
from ludens.core.files import file_error
from ludens.draw import Picture
from ludens.draw.bands import Cache
from ludens.pictures.manifest import MANIFEST, MAX_LINE, NAME, Entry, File, Header, read_header, read_manifest

PARTS = "parts"
SHIPPED = Path(__file__).parent / "sets"


def user_folder() -> Path:
    if folder := os.environ.get("LUDENS_DATA"):
        return Path(folder)
    return _cache() / "ludens"


def places() -> list[Path]:
    """The folders whose subfolders are picture sets, in the order they are searched."""
    return list(dict.fromkeys([user_folder(), _cache() / "ludens", SHIPPED]))


def _cache() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    folder = os.environ.get("XDG_CACHE_HOME", "")
    return Path(folder) if os.path.isabs(folder) else Path.home() / ".cache"


CACHE_BYTES = 64 << 20
"""Encoded pictures that one open set keeps in memory."""
MAX_FILE = 64 << 20
MAX_MANIFEST = 1 << 30


class PictureSet:
    """A folder of pictures with a manifest. Get one with `open_set`."""

    def __init__(self, folder: Path, header: Header, entries: Sequence[Entry]) -> None:
        self.folder = folder
        self.header = header
        self.entries = entries
        self._cache: Cache[Picture] = Cache(CACHE_BYTES, lambda picture: len(picture.encoded()[0]))

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def hash(self) -> str:
        """16 hex digits of the SHA-256 over the manifest, and so over the hashes of all files."""
        return self.header.sha256[:16]

    def picture(self, entry: Entry, role: str) -> Picture:
        """A picture of an entry. Its file is checked when it is read; recently used ones are kept."""
        file = entry.files.get(role)
        if file is None:
            raise UnknownName("picture", role, entry.files)
        return self._cache.get(file.sha256) or self._cache.add(file.sha256, self._load(file))

    def _load(self, file: File) -> Picture:
        """The picture in a file, after path, hash, type and size are checked."""
        path = self.folder / file.name
        data = _read(path, self.folder, MAX_FILE)
        if sha256(data).hexdigest() != file.sha256:
            raise BadFile(f"{str(path)!r} was changed: its hash is not the one in {MANIFEST}.")
        try:
            picture = Picture.from_bytes(data)
        except BadFile as error:
            raise BadFile(f"{str(path)!r}: {error}") from None
        if (picture.width, picture.height) != (file.width, file.height):
            size = f"{picture.width}x{picture.height}, not {file.width}x{file.height}"
            raise BadFile(f"{str(path)!r} is {size} as {MANIFEST} says.")
        if picture.encoded()[0] is not data:
            raise BadFile(
                f"{str(path)!r} is not an upright PNG or JPEG with grey, palette or RGB colours: import the "
                "pictures again, which converts them."
            )
        return picture

    def check(self) -> int:
        """Read and decode every file; returns their number. Anything wrong is a BadFile."""
        files = [file for entry in self.entries for file in entry.files.values()]
        for file in files:
            try:
                _ = self._load(file).pixels
            except BadFile as error:
                message = str(error)
                raise BadFile(message if file.name in message else f"{file.name!r}: {message}") from None
        return len(files)


def open_set(where: str | Path, hash: str = "") -> PictureSet:
    """A picture set by path or by name.

    Names are looked up in `LUDENS_DATA`, the user's cache folder and the sets in the package, in this order.

    Args:
        where: A folder, or the name of a set.
        hash: The set must have this hash; sets of other names are searched for it too.
    """
    folders = [folder for folder in _candidates(where) if (folder / MANIFEST).is_file()]
    if hash:
        fitting = [folder for folder in (*folders, *_installed()) if _hash(folder) == hash]
        if not fitting and folders:
            raise BadFile(
                f"picture set {str(where)!r} has the hash {_hash(folders[0])}, but {hash} is needed: put "
                "that version into the folder LUDENS_DATA."
            )
        folders = fitting
    if not folders:
        raise _not_found(where, hash)
    return _opened(folders[0])


def set_names() -> list[str]:
    return sorted({folder.name for folder in _installed()})


def installed_sets(kind: str) -> dict[str, Header]:
    """The readable sets of a kind that `open_set` finds by name, each with its header."""
    headers: dict[str, Header] = {}
    for folder in _installed():
        header = _header(folder)
        if header is not None and header.kind == kind:
            headers.setdefault(folder.name, header)
    return dict(sorted(headers.items()))


def _candidates(where: str | Path) -> Iterator[Path]:
    if not NAME.fullmatch(str(where)) or Path(where, MANIFEST).is_file():
        yield Path(where)
    if NAME.fullmatch(str(where)):
        yield from (place / str(where) for place in places())


def _installed() -> Iterator[Path]:
    for place in places():
        if place.is_dir():
            yield from (path.parent for path in sorted(place.glob(f"*/{MANIFEST}")))


def _not_found(where: str | Path, hash: str) -> BadFile | UnknownName:
    folder = Path(where)
    if folder.is_dir():
        unfinished = (folder / PARTS).is_dir()
        reason = (
            "is not finished: run the command that makes it again" if unfinished else f"has no {MANIFEST}"
        )
        return BadFile(f"picture set {str(where)!r} {reason}.")
    if hash:
        return BadFile(
            f"picture set {str(where)!r} with the hash {hash} is not here: put its folder into {places()[0]} "
            "or set LUDENS_DATA to the folder that holds it."
        )
    return UnknownName("picture set", str(where), set_names())


def _hash(folder: Path) -> str:
    header = _header(folder)
    return "" if header is None else header.sha256[:16]


def _header(folder: Path) -> Header | None:
    try:
        with open(folder / MANIFEST, "rb") as file:
            return read_header(file.readline(MAX_LINE))
    except (OSError, BadFile):
        return None


def _opened(folder: Path) -> PictureSet:
    try:
        stat = (folder / MANIFEST).stat()
    except OSError as error:
        raise BadFile(f"cannot read {str(folder / MANIFEST)!r}: {error.strerror}.") from None
    return _read_set(folder.resolve(), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=16)
def _read_set(folder: Path, mtime: int, size: int) -> PictureSet:
    try:
        return PictureSet(folder, *read_manifest(_read(folder / MANIFEST, folder, MAX_MANIFEST)))
    except BadFile as error:
        message = str(error).removesuffix(".")
        where = "" if str(folder) in message else f"picture set {str(folder)!r}: "
        raise BadFile(f"{where}{message}.") from None


def _read(path: Path, folder: Path, limit: int) -> bytes:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve()):
            raise BadFile(f"{str(path)!r} is a link to a file outside the folder of the set.")
        if not real.is_file() or real.stat().st_size > limit:
            raise BadFile(f"{str(path)!r} is not a file of at most {limit:,} bytes.")
        return real.read_bytes()
    except OSError as error:
        raise file_error("read", path, error) from None
