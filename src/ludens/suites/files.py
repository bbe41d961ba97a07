"""A user's own benchmark file as a question task: `ludens eval files --data mathvista.tsv --model ...`.

For transfer: the same file before and after training, with blind control, intervals and paired comparisons
as in every other task. Without a file, four small example questions are asked.

Files are VLMEvalKit's TSV (pictures in base64) and Parquet of Hugging Face `datasets`. Columns: `index`,
`question`, `answer` (or `answers`); `image` or `images`; options in columns `A`, `B`, ... or in a list
`choices` or `options`; `hint`, `category`. A file names nothing that is opened: pictures must be inside.
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
from hashlib import file_digest
from pathlib import Path
from typing import Any

from ludens.core.config import PlayConfig
from ludens.core.errors import BadFile, MissingExtra
from ludens.core.game import Game
from ludens.core.options import Touch, option
from ludens.core.random import stream
from ludens.core.reply import ActionFormat, fold
from ludens.core.spec import Spec
from ludens.core.state import Legal, Question
from ludens.core.view import Picture, View
from ludens.draw import Picture as Drawn
from ludens.run.task import MODEL, Suite, SuiteBuilder, Task, fact, rate_of

SEAT = "reader"
LONGEST_ANSWER = 500
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMBER = re.compile(r"[-+]?(\d[\d,]*)?(\.\d+)?(e[-+]?\d+)?")
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
        return file_digest(file, "sha256").hexdigest()[:24]


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
        column = "answer" if question else "question"
        raise BadFile(f"row {number} of {str(path)!r} has no {column}.")
    options = _options(row)
    if options:
        answers = tuple(letter for answer in answers if (letter := _letter(answer, options)))
        if not answers:
            raise BadFile(f"the answer of row {number} of {str(path)!r} is not one of its options.")
    pictures = tuple(_pictures(row, shared))
    try:
        for picture in pictures:
            Drawn.from_bytes(picture)
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


@dataclass(frozen=True)
class FileQuestions(Game):
    """Answer a question of a file: the letter of an option, or a word or number.

    Seats: `reader`, alone, for one move.
    Observation: the pictures and the question of one row of the file named by the option `data`.
    Actions: the letter of an option, or a text where the row has no options.
    Rewards: 1 for the right answer, 0 for another. A number is right if it equals the answer at the answer's
    number of decimals; a text, if it is the same but for case, spaces and punctuation around it.
    """

    name = "files"
    seats = (SEAT,)
    view_class = "ludens.suites.files:FileView"
    best = "bot/oracle"
    question = True

    data: str = option(
        "", help="VLMEvalKit TSV or Parquet file of questions; examples when empty", touches=Touch.READ
    )
    hash: str = option("", help="hash of the file's bytes; another file is refused")

    @property
    def rows(self) -> tuple[FileRow, ...]:
        if self.hash and self.data and file_hash(Path(self.data)) != self.hash:
            raise BadFile(f"{self.data!r} is not the file that this run used: its bytes have another hash.")
        return read_rows(Path(self.data)) if self.data else _EXAMPLES

    def actions(self, seat: str) -> tuple[str, ...] | None:
        counts = [len(row.options) for row in self.rows]
        return tuple(_LETTERS[: max(counts)]) if all(counts) else None

    def start(self, seed: int) -> FileQuestion:
        rows = self.rows
        return FileQuestion(rows[seed % len(rows)], seed % len(rows))


class FileQuestion(Question):
    """One row, and what was answered."""

    def __init__(self, row: FileRow, number: int) -> None:
        self.row, self.number = row, number
        super().__init__(
            SEAT, Legal(_LETTERS[: len(row.options)]) if row.options else Legal.text(LONGEST_ANSWER)
        )

    def solution(self, seat: str) -> str | None:
        return self.row.answers[0]

    @property
    def right(self) -> bool:
        return self.answer is not None and any(same_answer(self.answer, right) for right in self.row.answers)

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.right)}

    @property
    def facts(self) -> dict[str, Any]:
        row = self.row
        return {
            "index": row.index,
            "category": row.category,
            "correct": row.answers[0],
            "answer": self.answer,
            "right": self.right,
        }


def same_answer(answer: str, right: str) -> bool:
    """Whether an answer is right: numbers by value, at the decimals of the right one; texts by words."""
    if fold(answer) == fold(right):
        return True
    number, truth = _number(answer), _number(right)
    if number is None or truth is None:
        return False
    decimals = len(right.partition(".")[2].rstrip("%° ")) if "e" not in right.lower() else 12
    return round(number, decimals) == round(truth, decimals)


def _number(text: str) -> float | None:
    bare = text.strip().strip("$%° ").lower()
    return float(bare.replace(",", "")) if any(map(str.isdigit, bare)) and _NUMBER.fullmatch(bare) else None


class FileView(View):
    """The pictures of a row, reduced to the requested size if they are larger, and its question."""

    @property
    def enlarges(self) -> bool:
        return False

    def image(self, state: FileQuestion, seat: str) -> Picture:
        return self.images(state, seat)[0]

    def images(self, state: FileQuestion, seat: str) -> tuple[Picture, ...]:
        return tuple(Drawn.from_bytes(data).within(self.render.size) for data in state.row.pictures)

    def notes(self, state: FileQuestion, seat: str) -> str:
        row = state.row
        options = "\n".join(f"{letter}. {text}" for letter, text in zip(_LETTERS, row.options, strict=False))
        return "\n\n".join(filter(None, [row.hint, row.question, options]))

    def format(self, state: FileQuestion, seat: str) -> ActionFormat:
        options = zip(_LETTERS, state.row.options, strict=False)
        spellings = {
            f"{letter}{mark} {text}": letter for letter, text in options for mark in (".", ")", ":", "")
        }
        return AnswerLine("Answer", spellings)


class AnswerLine(ActionFormat):
    """A last line `Answer: ...`."""

    def ask(self, legal: Legal) -> str:
        content = "your answer, a word or number" if legal.is_text else "the letter of the right option"
        return f"End your reply with one line: {self.label}: <{content}>"


ACCURACY = rate_of("accuracy", fact("right"), about="share of right answers")


@dataclass(frozen=True)
class Files(SuiteBuilder):
    """The questions of a file, in its order."""

    data: str = option("", help="VLMEvalKit TSV or Parquet file of questions", touches=Touch.READ)

    def build(self) -> Suite:
        name, options = "example", dict[str, str]()
        if self.data:
            path = Path(self.data)
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem) or "file"
            options = {"data": self.data, "hash": file_hash(path)}
        game = str(Spec("files", None, options))
        rows = FileQuestions(**options).rows
        task = Task(
            name, game, ({SEAT: MODEL},), len(rows), (ACCURACY,), PlayConfig(retries=0, fallback="forfeit")
        )
        return Suite(
            name="files",
            about="The questions of a benchmark file: of VLMEvalKit (TSV) or of Hugging Face (Parquet).",
            tasks=(task,),
            deviations=(
                "Answers are read from a line `Answer: ...` and compared by rule, where VLMEvalKit asks a "
                "model to extract and judge some: compare entrants of one run, not with published numbers.",
            ),
        )


def _example(number: int) -> FileRow:
    """A square in one of four places, in one of two colours."""
    import numpy as np

    random = stream(number, "files", "example")
    palette = np.array([[250, 250, 245], [196, 40, 40], [30, 90, 190]], np.uint8)
    colour, left, top = random.choice((1, 2)), random.choice((0, 1)), random.choice((0, 1))
    pixels = np.zeros((256, 256), np.uint8)
    pixels[128 * top + 32 : 128 * top + 96, 128 * left + 32 : 128 * left + 96] = colour
    corner = ("top left", "top right", "bottom left", "bottom right")[2 * top + left]
    picture = Drawn(pixels, palette).png(fast=False)
    if number % 2:
        return FileRow(
            str(number), "What colour is the square?", (("red", "blue")[colour - 1],), (), (picture,)
        )
    options = ("top left", "top right", "bottom left", "bottom right")
    return FileRow(
        str(number), "Where is the square?", (_LETTERS[options.index(corner)],), options, (picture,)
    )


_EXAMPLES = tuple(map(_example, range(4)))
