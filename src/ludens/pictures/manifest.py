"""The manifest of a picture set: `manifest.jsonl`, a header and one line per entry.

The header has the number of entries and a SHA-256 over itself and all lines, which have the SHA-256 of every
file, so that an edit of a line, a file or the header is detected. The name of the set is not part of it: the
same pictures have the same hash in every folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeVar

import orjson

from ludens.core.errors import BadFile
from ludens.core.validation import Invalid, read_json

MANIFEST = "manifest.jsonl"
FORMAT = 2
NAMED_HASH = 1
"""The format whose hash depends on the name of the set; such sets can be read."""
PAIR = "pair"
PAIR_ROLES = ("original", "modified")
MAX_LINE = 1 << 20
MAX_SIDE = 16_384
MAX_PIXELS = 1 << 26
ROLE = re.compile(r"[a-z][a-z0-9_]{0,30}")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,150}"
_FILE = re.compile(rf"{_PART}(/{_PART}){{0,3}}\.(png|jpg)")
_SHA256 = re.compile(r"[0-9a-f]{64}")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class File:
    name: str
    """Path relative to the set's folder, with forward slashes."""
    sha256: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    kind: str
    """What the entry is: `pair`, `scene` ..."""
    files: Mapping[str, File]
    """Role of a picture, such as `original`, to its file."""
    scene: Any = None
    """Description of what the pictures show, as JSON; None where it is not known."""
    changes: Sequence[Any] = ()
    """What differs between the pictures, as JSON objects."""
    licence: str = ""
    generator: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    name: str
    kind: str
    """What all entries are: `pair`, `scene` ..."""
    generator: str
    version: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Everything that determines the contents, as JSON."""
    format: int = FORMAT
    entries: int = 0
    sha256: str = ""


def write_manifest(header: Header, entries: Sequence[Entry]) -> bytes:
    """The contents of `manifest.jsonl`; count and hash of the header are filled in."""
    body = b"".join(entry_line(entry) for entry in entries)
    header = replace(header, entries=len(entries), sha256="")
    return _header_line(replace(header, sha256=_digest(header, body))) + body


def read_manifest(data: bytes) -> tuple[Header, tuple[Entry, ...]]:
    """Header and entries, checked; a BadFile says what is wrong, without the name of the file."""
    first, _, body = data.partition(b"\n")
    header = read_header(first)
    if _digest(replace(header, sha256=""), body) != header.sha256:
        raise BadFile("the manifest was edited after it was written: its hash does not fit its lines")
    lines = body.splitlines()
    if len(lines) != header.entries:
        raise BadFile(f"the manifest has {len(lines)} entries, but its header says {header.entries}")
    entries = tuple(read_entry(line, f"line {number}") for number, line in enumerate(lines, 2))
    ids: set[str] = set()
    names: set[str] = set()
    for entry in entries:
        check_entry(entry, header.kind)
        files = {file.name.lower() for file in entry.files.values()}
        if entry.id in ids or files & names or len(files) < len(entry.files):
            raise BadFile(f"entry {entry.id!r} has the id or a file of another one")
        ids.add(entry.id)
        names |= files
    return header, entries


def read_header(line: bytes) -> Header:
    header = _parsed(Header, line, "line 1")
    if header.format not in (NAMED_HASH, FORMAT):
        raise BadFile(
            f"the set has format {header.format}; this version of Ludens reads formats up to {FORMAT}"
        )
    if not NAME.fullmatch(header.name):
        raise BadFile(f"{header.name!r} is not a name of a set: use small letters, digits, - and _")
    if not _SHA256.fullmatch(header.sha256):
        raise BadFile("the manifest's header has no hash")
    return header


def check_entry(entry: Entry, kind: str) -> None:
    """Raise a BadFile where an entry breaks a rule of the format."""
    where = f"entry {entry.id!r}"
    if not NAME.fullmatch(entry.id):
        raise BadFile(f"{where} has an id with other characters than small letters, digits, - and _")
    if entry.kind != kind:
        raise BadFile(f"{where} is a {entry.kind!r} in a set of kind {kind!r}")
    if not entry.files or not all(ROLE.fullmatch(role) for role in entry.files):
        raise BadFile(f"{where} has no files, or roles that are not lower-case words")
    if kind == PAIR and set(entry.files) != set(PAIR_ROLES):
        raise BadFile(f"{where} is half a pair: it needs one file 'original' and one 'modified'")
    for file in entry.files.values():
        if not _FILE.fullmatch(file.name) or ".." in file.name:
            raise BadFile(f"{where} names {file.name!r}, which is not a .png or .jpg inside the folder")
        if not _SHA256.fullmatch(file.sha256):
            raise BadFile(f"{where} has no SHA-256 of {file.name!r}")
        check_size(file.width, file.height)
    if kind == PAIR and len({(file.width, file.height) for file in entry.files.values()}) > 1:
        sizes = " and ".join(f"{file.width}x{file.height}" for file in entry.files.values())
        raise BadFile(f"{where} has pictures of two sizes, {sizes}")


def check_size(width: int, height: int) -> None:
    """Raise a BadFile where a picture is too large to be decoded safely."""
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise BadFile(
            f"a picture of {width} by {height} pixels is too large: at most {MAX_SIDE:,} a side and "
            f"{MAX_PIXELS:,} in all are allowed"
        )


def _digest(header: Header, body: bytes) -> str:
    if header.format != NAMED_HASH:
        header = replace(header, name="")
    return sha256(_header_line(header) + body).hexdigest()


def _header_line(header: Header) -> bytes:
    return orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE)


def entry_line(entry: Entry) -> bytes:
    return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)


def read_entry(line: bytes, where: str) -> Entry:
    return _parsed(Entry, line, where)


def _parsed(kind: type[T], line: bytes, where: str) -> T:
    if len(line) > MAX_LINE:
        raise BadFile(f"{where} is longer than {MAX_LINE:,} bytes")
    try:
        return read_json(kind, line, extra=True)
    except Invalid as error:
        raise BadFile(f"{where} is not valid {error}") from None
