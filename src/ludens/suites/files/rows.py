"""Rows of benchmark files: VLMEvalKit's TSV (pictures in base64) and Parquet of Hugging Face `datasets`.

Columns: `index`, `question`, `answer` (or `answers`); `image` or `images`; options in columns `A`, `B`,
... or in a list `choices` or `options`; `hint`, `category`. A file names nothing that is opened:
pictures must be inside.
"""

from __future__ import annotations

import ast
import base64
import binascii
import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ludens.core.errors import BadFile, MissingExtra
from ludens.draw import Picture

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{64,}")
_LARGEST_FIELD = 2**27
_MISSING = ("", "nan", "none")


@dataclass(frozen=True, slots=True)
class FileRow:
    """One question."""

    index: str
    question: str
    answers: tuple[str, ...]
    """Every right answer; the letter where there are options."""
    options: tuple[str, ...] = ()
    pictures: tuple[bytes, ...] = ()
    hint: str = ""
    category: str = ""


def file_hash(path: Path) -> str:
    """A hash of the bytes of a file."""
    return _hash(path, *_stamp(path))


def read_rows(path: Path) -> tuple[FileRow, ...]:
    """All questions of a file; raises `BadFile` with the row that is wrong."""
    return _read(path, *_stamp(path))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError as error:
        raise BadFile(f"cannot read {str(path)!r}: {error.strerror}.") from None
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=16)
def _hash(path: Path, time: int, size: int) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()[:24]


@lru_cache(maxsize=4)
def _read(path: Path, time: int, size: int) -> tuple[FileRow, ...]:
    raw = list(_parquet(path) if path.suffix == ".parquet" else _tsv(path))
    if not raw:
        raise BadFile(f"{str(path)!r} has no questions.")
    shared = {str(row.get("index", "")): row for row in raw}
    return tuple(_row(row, number, shared, path) for number, row in enumerate(raw))


def _tsv(path: Path) -> Iterator[Mapping[str, Any]]:
    csv.field_size_limit(_LARGEST_FIELD)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file, delimiter="\t")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"cannot read {str(path)!r} as a TSV file: {error}.") from None


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet files", "data") from None
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=64):
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise BadFile(f"cannot read {str(path)!r} as a Parquet file: {error}.") from None


def _row(row: Mapping[str, Any], number: int, shared: Mapping[str, Mapping[str, Any]], path: Path) -> FileRow:
    question, answers = _text(row, "question"), _answers(row)
    if not question or not answers:
        missing = "answer" if question else "question"
        raise BadFile(f"row {number} of {str(path)!r} has no {missing}.")
    options = _options(row)
    if options:
        answers = tuple(letter for answer in answers if (letter := _letter(answer, options)))
        if not answers:
            raise BadFile(f"the answer of row {number} of {str(path)!r} is not one of its options.")
    pictures = tuple(_pictures(row, shared))
    try:
        for picture in pictures:
            Picture.from_bytes(picture)
    except BadFile as error:
        raise BadFile(f"row {number} of {str(path)!r} has a picture that cannot be read: {error}") from None
    index = _text(row, "index") or str(number)
    return FileRow(index, question, answers, options, pictures, _text(row, "hint"), _text(row, "category"))


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    text = "" if value is None else str(value).strip()
    return "" if text.lower() in _MISSING else text


def _answers(row: Mapping[str, Any]) -> tuple[str, ...]:
    several = _list(row.get("answers"))
    if several:
        return tuple(several)
    option, plain = _text(row, "answer_option"), _text(row, "answer")
    return tuple(filter(None, [option or plain]))


def _options(row: Mapping[str, Any]) -> tuple[str, ...]:
    lettered = [_text(row, letter) for letter in _LETTERS]
    count = next((place for place, text in enumerate(lettered) if not text), len(lettered))
    if count:
        return tuple(lettered[:count])
    listed = _list(row.get("choices")) or _list(row.get("options"))
    return tuple(listed[: len(_LETTERS)]) if len(listed) <= len(_LETTERS) else ()


def _letter(answer: str, options: tuple[str, ...]) -> str:
    """The letter of an answer that is one, or is one of the options."""
    if answer in options:
        return _LETTERS[options.index(answer)]
    bare = answer.strip("(). ").upper()
    return bare if len(bare) == 1 and bare in _LETTERS[: len(options)] else ""


def _list(value: Any) -> list[str]:
    """A list of texts; TSV files have them as Python writes them."""
    if isinstance(value, str) and value.startswith("[") and len(value) < 100_000:
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return []
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _pictures(row: Mapping[str, Any], shared: Mapping[str, Mapping[str, Any]]) -> Iterator[bytes]:
    for name in ("images", "image", "decoded_image"):
        value = row.get(name)
        if isinstance(value, str) and value in shared and len(value) < 64:
            value = shared[value].get(name)  # VLMEvalKit: the picture of another row
        if isinstance(value, str):
            yield from filter(None, map(_decoded, _BASE64.findall(value)))
            return
        parts = value if isinstance(value, list) else [value]
        files = [part.get("bytes") if isinstance(part, dict) else part for part in parts]
        data = [part for part in files if isinstance(part, bytes)]
        if data:
            yield from data
            return


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""
