"""A user's own benchmark file as a question task: `ludens eval files --data mathvista.tsv --model ...`.

For transfer: the same file before and after training, with blind control, intervals and paired comparisons
as in every other task. Without a file, four small example questions are asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludens.core.config import PlayConfig
from ludens.core.errors import BadFile
from ludens.core.game import Game
from ludens.core.options import Touch, option
from ludens.core.random import stream
from ludens.core.reply import ActionFormat, fold
from ludens.core.spec import Spec
from ludens.core.state import Legal, Question
from ludens.core.view import Picture, View
from ludens.draw import Picture as Drawn
from ludens.run.task import MODEL, Suite, SuiteBuilder, Task, fact, rate_of
from ludens.suites.files.rows import FileRow, file_hash, read_rows

SEAT = "reader"
LONGEST_ANSWER = 500
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMBER = re.compile(r"[-+]?(\d[\d,]*)?(\.\d+)?(e[-+]?\d+)?")


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


def same_answer(said: str, right: str) -> bool:
    """Whether an answer is right: numbers by value, at the decimals of the right one; texts by words."""
    if fold(said) == fold(right):
        return True
    number, truth = _number(said), _number(right)
    if number is None or truth is None:
        return False
    decimals = len(right.partition(".")[2].rstrip("%° ")) if "e" not in right.lower() else 12
    return round(number, decimals) == round(truth, decimals)


def _number(text: str) -> float | None:
    bare = text.strip().strip("$%° ").lower()
    return float(bare.replace(",", "")) if any(map(str.isdigit, bare)) and _NUMBER.fullmatch(bare) else None


class FileView(View):
    """The pictures of a row, smaller where they are larger than the size asked for, and its question."""

    @property
    def enlarges(self) -> bool:
        return False

    def image(self, state: FileQuestion, seat: str) -> Picture:
        return self.images(state, seat)[0]

    def images(self, state: FileQuestion, seat: str) -> tuple[Picture, ...]:
        pictures = (Drawn.from_bytes(data) for data in state.row.pictures)
        px = self.render.size
        return tuple(p if max(p.width, p.height) <= px else p.resized(px) for p in pictures)

    def notes(self, state: FileQuestion, seat: str) -> str:
        row = state.row
        options = "\n".join(f"{letter}. {text}" for letter, text in zip(_LETTERS, row.options, strict=False))
        return "\n\n".join(filter(None, [row.hint, row.question, options]))

    def format(self, state: FileQuestion, seat: str) -> ActionFormat:
        named = zip(_LETTERS, state.row.options, strict=False)
        spellings = {
            f"{letter}{mark} {text}": letter for letter, text in named for mark in (".", ")", ":", "")
        }
        return AnswerLine("Answer", spellings)


class AnswerLine(ActionFormat):
    """A last line `Answer: ...`."""

    def ask(self, legal: Legal) -> str:
        what = "your answer, a word or number" if legal.is_text else "the letter of the right option"
        return f"End your reply with one line: {self.label}: <{what}>"


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
