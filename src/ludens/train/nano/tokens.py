"""The vocabulary of a small model: words and pieces that occur in its texts, one token each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ludens.core.errors import BadFile

PAD, END, UNKNOWN = "<pad>", "<end>", "<unknown>"
# Cells of a matrix, what separates its lines, shapes (8x8) and places (37:) are one token each.
_PIECE = re.compile(
    r" ?\d+x\d+| ?\d\d:|-?\d+, |\[\[|\], ?\[|\]\]|\\boxed\{| ?[A-Za-z_]+| ?-?\d|\n| |[^\w\s]+|.", re.DOTALL
)


def pieces(text: str) -> list[str]:
    """The text cut into pieces; joined they give the text again."""
    return _PIECE.findall(text)


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
        """Numbers of the pieces; unknown ones share a number."""
        return [self.ids.get(piece, self.unknown) for piece in pieces(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text up to the end token."""
        said = []
        for number in ids:
            if number == self.end:
                break
            said.append(self.pieces[number] if number != self.unknown else "?")
        return "".join(said)
