"""What a small model reads: prompts, vocabulary, shrunk pictures, and marks that say where in text and
picture it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from ludens.core.ask import Ask
from ludens.core.errors import BadFile
from ludens.core.reply import ActionFormat
from ludens.core.view import Picture
from ludens.draw import Picture as Drawn
from ludens.games.boards import grouped

LISTED = frozenset(("breakthrough", "chess", "reversi"))
"""Games whose legal moves are in the prompt where players are shown them: elsewhere they are too many, always
the same, or each empty cell."""
MOST_LISTED = 64
LONGEST_REFUSED = 60
HEAD = 8
"""Tokens at the beginning of a prompt that are kept where it is too long: they name the game."""


PROMPTS = 3
"""The latest form of prompts. A model is asked in the form in which it was trained."""
SUCCESSIVE = frozenset(("pong",))
"""Games that show successive screens, which a small model sees as one: the latest is the strongest."""


def short_prompt(game: str, ask: Ask, form: int = PROMPTS) -> str:
    """What a small model is told: game, role or seat, stage, the notes in short, legal moves of some games,
    and refused replies. Rules are learnt.

    Form 1 had neither moves nor refused replies, and longer notes. Form 3 does not count decisions where
    screens are successive: their number says nothing.
    """
    parts = [part for part in (game, ask.role or ask.seat, ask.stage) if part]
    lines = [" ".join(parts), ask.observation.brief]
    if form > 1:
        lines[1] = condensed(lines[1]) if game.startswith("comma/") else lines[1]
        if form > 2 and game in SUCCESSIVE:
            lines[1] = _COUNTED.sub("100 of 300", lines[1])
        if ask.listed and game in LISTED and 0 < len(ask.legal) <= MOST_LISTED:
            lines.append(grouped(ask.legal))
        lines += [f"not {last_line(reply)}" for reply, _ in ask.refused]
    return "\n".join([*lines, ""])


def offered(ask: Ask, form: int = PROMPTS) -> tuple[str, ...]:
    """Where players are shown the legal moves, the answers that name one, without refused ones; else none."""
    if form < 2 or not ask.listed or ask.legal.is_text or not isinstance(ask.format, ActionFormat):
        return ()
    refused = {last_line(reply) for reply, _ in ask.refused}
    return tuple(ask.format.write(move) for move in ask.legal if move not in refused)


def main_picture(game: str, ask: Ask, pictures: Sequence[Picture], form: int = PROMPTS) -> Sequence[Picture]:
    """The picture in a prompt that a small model looks at: that of the current position.

    Form 3 puts successive screens on top of each other, as a motion leaves a trace.
    """
    screens = pictures[-len(ask.observation.images) :]
    if form > 2 and game in SUCCESSIVE and len(screens) > 1:
        return (overlaid(screens),)
    return screens[ask.observation.main :][:1]


def overlaid(screens: Sequence[Picture]) -> Picture:
    """The weighted mean of some pictures of one size: each counts more than the one before."""
    weights = range(1, len(screens) + 1)
    mean = np.average([screen.rgb() for screen in screens], axis=0, weights=weights)
    return Drawn(mean.astype(np.uint8))


_COUNTED = re.compile(r"\d+ of \d+")
_REQUEST = re.compile(r"^ *Please answer: .*\n?", re.MULTILINE)
_ACTIONS = re.compile(r"^Your actions:\n(?:\w+\n)*\n?", re.MULTILINE)


def condensed(notes: str) -> str:
    """Notes of a puzzle without its actions and the instructions for questions, which never change."""
    short = _ACTIONS.sub("", _REQUEST.sub("", notes))
    return re.sub(r"^ +", "", short, flags=re.MULTILINE).removeprefix("The conversation so far:\n").strip()


def last_line(reply: str) -> str:
    """The last line of a reply, without the label of an action."""
    lines = reply.strip().splitlines() or [""]
    return lines[-1].removeprefix("Action:").strip()[-LONGEST_REFUSED:]


def clipped(prompt: list[int], most: int) -> list[int]:
    """A prompt of at most `most` tokens: its beginning and its end are kept."""
    if len(prompt) <= most:
        return prompt
    head = min(HEAD, most // 2)
    return [*prompt[:head], *prompt[len(prompt) - (most - head) :]]


GREY = 127


def shrink(picture: Picture | None, side: int) -> np.ndarray[Any, Any]:
    """A picture as bytes, (3, side, side), by averaging; grey where there is none."""
    if picture is None:
        return np.full((3, side, side), GREY, np.uint8)
    image = picture.image() if isinstance(picture, Drawn) else Image.fromarray(picture.rgb())
    image = image.convert("RGB")
    if image.width % side or image.height % side:
        image = image.resize((side, side), Image.Resampling.BOX)
    else:
        image = image.reduce((image.width // side, image.height // side))
    return np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))


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
    return _PIECE.findall(text)


def numbers_like(words: Iterable[str]) -> set[str]:
    """All numbers up to the largest, and at least those below 100: which of them occur first is chance."""
    ends: dict[str, int] = {}
    for piece in words:
        if number := _NUMBER.fullmatch(piece):
            ends[number[1]] = max(100, ends.get(number[1], 0), int(number[2]) + 1)
    return {f"{space}{number}" for space, end in ends.items() for number in range(end)}


class Vocabulary:
    """Pieces and their numbers."""

    def __init__(self, all_pieces: Sequence[str]) -> None:
        if list(all_pieces[:3]) != [PAD, END, UNKNOWN] or len(set(all_pieces)) != len(all_pieces):
            raise BadFile("the vocabulary is not valid.")
        self.pieces = list(all_pieces)
        self.ids = {piece: number for number, piece in enumerate(all_pieces)}
        self.pad, self.end, self.unknown = 0, 1, 2
        self._answers: dict[str, tuple[int, ...]] = {}

    @staticmethod
    def of(texts: Iterable[str], marks: Iterable[str] = ()) -> Vocabulary:
        """The vocabulary of these texts; `marks` are further pieces that texts do not contain."""
        ordered = sorted({piece for text in texts for piece in pieces(text)} | set(marks))
        return Vocabulary(
            [PAD, END, UNKNOWN, *(piece for piece in ordered if piece not in (PAD, END, UNKNOWN))]
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

    def answer(self, text: str) -> tuple[int, ...]:
        """The numbers of a whole answer, its end included; there are few, which are asked for often."""
        if text not in self._answers:
            self._answers[text] = (*self.encode(text), self.end)
        return self._answers[text]

    def _finer(self, piece: str) -> list[int]:
        if piece[-1].isdigit():
            return [self.ids.get(digit, self.unknown) for digit in _DIGIT.findall(piece)]
        words = [self.ids.get(word, self.unknown) for word in _WORD.findall(piece.replace("_", " "))]
        return words if words and self.unknown not in words else [self.unknown]

    def decode(self, ids: Iterable[int]) -> str:
        words = []
        for number in ids:
            if number == self.end:
                break
            words.append(self.pieces[number] if number != self.unknown else "?")
        return "".join(words)


class NanoQuestion(NamedTuple):
    """A prompt with its pictures, to which a sampler replies."""

    prompt: list[int]
    pictures: Sequence[Picture] = ()
    seed: int | None = None
    """Of the draws of a policy in training, which must not depend on the batch."""
    answers: Sequence[str] = ()
    """The answers from which the reply must choose; empty if the reply is free."""

    @property
    def picture(self) -> Picture | None:
        """The last one: a small model looks at no other."""
        return self.pictures[-1] if self.pictures else None

    def offer(self, vocabulary: Vocabulary) -> Offer | None:
        return Offer(vocabulary, self.answers) if self.answers else None


_LABEL = re.compile(r"\\boxed\{|[^:]*:")


class Offer:
    """The answers that are allowed in a reply.

    A reply may begin with any text. Only after the label of an answer (`Action: e2e4`), or in a box, it must
    go on like one of the answers.
    """

    def __init__(self, vocabulary: Vocabulary, answers: Sequence[str]) -> None:
        encoded = map(vocabulary.answer, answers)
        self._answers = [answer for answer in encoded if vocabulary.unknown not in answer]
        label = _LABEL.match(answers[0])
        self._label = vocabulary.encode(label[0] if label else answers[0])

    def following(self, reply: Sequence[int]) -> list[int]:
        """The tokens that may be said next; none for all of them."""
        size = len(self._label)
        for at in range(len(reply) - size, -1, -1):
            if list(reply[at : at + size]) == self._label:
                begun = tuple(reply[at:])
                answers = (answer for answer in self._answers if answer[: len(begun)] == begun)
                return sorted({answer[len(begun)] for answer in answers if len(answer) > len(begun)})
        return []

    def forced(self, reply: Sequence[int]) -> list[int]:
        """The tokens that follow because nothing else may be said."""
        tokens: list[int] = []
        while len(only := self.following([*reply, *tokens])) == 1:
            tokens += only
        return tokens


def offer_to(row: np.ndarray[Any, Any], offer: Offer | None, reply: Sequence[int]) -> None:
    """Take all tokens that an offer does not have next out of a row of logits."""
    if offer is not None and (tokens := offer.following(reply)):
        logits = row[tokens]
        row[:] = -np.inf
        row[tokens] = logits


LINES = 32
"""Most lines and columns that are told apart."""
NOWHERE = -1.0
_NEW_LINE = frozenset({"[[", "], [", "],["})
_ENDS = frozenset({"\n", "\\boxed{", "</"})
_PLACE = re.compile(r"( ?)(\d\d|\d{4}):")
_SHAPE = re.compile(r" ?(\d+)x(\d+)")


class Mark(NamedTuple):
    """The meaning of one piece for the cursor."""

    new_line: bool = False
    """Whether it begins a line of a matrix."""
    places: bool = False
    """Whether it sets the place, or ends it."""
    place: tuple[float, float] = (NOWHERE, NOWHERE)
    """x and y in the unit square; `NOWHERE` for a piece that sets none."""
    shape: tuple[float, float] = (0.0, 0.0)
    """Columns and lines of a matrix; 0 for a piece that says none."""

    @staticmethod
    def of(piece: str) -> Mark:
        if match := _PLACE.fullmatch(piece):
            width, parts = _fineness(match[2])
            x, y = int(match[2][:width]), int(match[2][width:])
            return Mark(places=True, place=((x + 0.5) / parts, (y + 0.5) / parts))
        if match := _SHAPE.fullmatch(piece):
            return Mark(shape=(float(match[2]), float(match[1])))
        return Mark(new_line=piece in _NEW_LINE, places=piece in _ENDS)


def marks_of(pieces: Sequence[str]) -> list[Mark]:
    return [Mark.of(piece) for piece in pieces]


def places_like(pieces: Iterable[str]) -> set[str]:
    """All places, where the pieces have some: which of them occur first is chance."""
    kinds = {(match[1], *_fineness(match[2])) for match in map(_PLACE.fullmatch, pieces) if match}
    cells = ((*kind[:2], x, y) for kind in kinds for x in range(kind[2]) for y in range(kind[2]))
    return {f"{space}{x:0{width}}{y:0{width}}:" for space, width, x, y in cells}


def _fineness(digits: str) -> tuple[int, int]:
    """Of a place: how many digits each axis has, and into how many parts it is cut: tenths or twentieths."""
    width = len(digits) // 2
    return width, 10 * width


class TextCursor:
    """Where one text is after the pieces so far."""

    def __init__(self) -> None:
        self.line = self.column = 0
        self._point = (NOWHERE, NOWHERE)
        self._shape = (0.0, 0.0)

    def move(self, mark: Mark) -> None:
        if mark.new_line:
            self.line, self.column = min(self.line + 1, LINES - 1), 0
        elif self.line:
            self.column = min(self.column + 1, LINES - 1)
        if mark.places:
            self._point = mark.place
        if mark.shape[0]:
            self._shape = mark.shape

    @property
    def place(self) -> tuple[float, float]:
        """The place of the cell of the matrix that comes next, or the place that was named."""
        columns, lines = self._shape
        if 0 < self.line <= lines and self.column < columns:
            return (self.column + 0.5) / columns, (self.line - 0.5) / lines
        return self._point
