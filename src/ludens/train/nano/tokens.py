"""The vocabulary of a small model: words and pieces that occur in its texts, one token each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ludens.core.errors import BadFile

PAD, END, UNKNOWN = "<pad>", "<end>", "<unknown>"
# Cells of a matrix, what separates its lines, shapes (8x8), places (37:, 0714:), numbers below 1000 and
# joined words are one token each: an option of a question is then found again by one token.
_PIECE = re.compile(
    r" ?\d+x\d+| ?(?<!\d)\d\d(?:\d\d)?:|-?\d+, |\[\[|\], ?\[|\]\]|\\boxed\{| ?[A-Za-z_]+"
    r"| ?-?(?<!\d)\d\d\d?(?!\d|, )| ?-?\d|\n| |[^\w\s]+|.",
    re.DOTALL,
)
_NUMBER = re.compile(r"( ?)(\d{1,3})")
_DIGIT, _WORD = re.compile(r" ?-?\d"), re.compile(r" ?[A-Za-z]+")


def pieces(text: str) -> list[str]:
    """The text cut into pieces; joined they give the text again."""
    return _PIECE.findall(text)


def numbers_like(found: Iterable[str]) -> set[str]:
    """All numbers up to the largest, and at least those below 100: which of them occur first is chance."""
    ends: dict[str, int] = {}
    for piece in found:
        if number := _NUMBER.fullmatch(piece):
            ends[number[1]] = max(100, ends.get(number[1], 0), int(number[2]) + 1)
    return {f"{space}{number}" for space, end in ends.items() for number in range(end)}


class Vocabulary:
    """Pieces and their numbers."""

    def __init__(self, known: Sequence[str]) -> None:
        if list(known[:3]) != [PAD, END, UNKNOWN] or len(set(known)) != len(known):
            raise BadFile("the vocabulary is not valid.")
        self.pieces = list(known)
        self.ids = {piece: number for number, piece in enumerate(known)}
        self.pad, self.end, self.unknown = 0, 1, 2

    @staticmethod
    def of(texts: Iterable[str], marks: Iterable[str] = ()) -> Vocabulary:
        """The vocabulary of these texts; `marks` are further pieces that texts do not contain."""
        found = sorted({piece for text in texts for piece in pieces(text)} | set(marks))
        return Vocabulary(
            [PAD, END, UNKNOWN, *(piece for piece in found if piece not in (PAD, END, UNKNOWN))]
        )

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, text: str) -> list[int]:
        """Numbers of the pieces; unknown ones share a number.

        An unknown number is read as digits, and joined words as words: older vocabularies have those.
        """
        ids, encoded = self.ids, list[int]()
        for piece in pieces(text):
            if piece in ids:
                encoded.append(ids[piece])
            else:
                encoded += self._finer(piece)
        return encoded

    def _finer(self, piece: str) -> list[int]:
        if piece[-1].isdigit():
            return [self.ids.get(digit, self.unknown) for digit in _DIGIT.findall(piece)]
        words = [self.ids.get(word, self.unknown) for word in _WORD.findall(piece.replace("_", " "))]
        return words if words and self.unknown not in words else [self.unknown]

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the end token."""
        said = []
        for number in ids:
            if number == self.end:
                break
            said.append(self.pieces[number] if number != self.unknown else "?")
        return "".join(said)
