"""Questions, and how their options are drawn so that the text gives nothing away.

The options come first, then one of them is made the right one, each as likely, and only then is the position
changed until it agrees. So the words of a question and its options say nothing about the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ludens.core.legal import Legal
from ludens.core.random import Stream
from ludens.games.boards import BoardView, Matrix

T = TypeVar("T")

LETTERS = "ABCD"
OPTIONS = 4


@dataclass(frozen=True, slots=True)
class Item:
    """One question about one position."""

    text: str
    options: tuple[str, ...]
    right: int
    """The index of the right option."""
    matrix: Matrix
    work: str = ""
    """How the answer is found, step by step: where to look, and what is there."""

    @property
    def letters(self) -> Legal:
        """The letters of the options."""
        return Legal(LETTERS[: len(self.options)])

    @property
    def answer(self) -> str:
        """The letter of the right option."""
        return LETTERS[self.right]

    @property
    def lettered(self) -> list[str]:
        """Each option as one word, followed by its letter."""
        return [
            f"{joined(option)} {letter}" for letter, option in zip(self.letters, self.options, strict=True)
        ]

    def written(self) -> str:
        """The question with its options, one per line."""
        lines = [f"{letter}. {option}" for letter, option in zip(self.letters, self.options, strict=True)]
        return "\n".join([f"Question: {self.text}", *lines])


def joined(option: str) -> str:
    """An option as one word, for small models."""
    return option.replace(" ", "_")


QuestionType = Callable[[BoardView, Stream], Item]
"""A type of question: makes one about a board."""


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """Options in the order they are offered, and the one that will be right."""

    values: tuple[T, ...]
    right: int

    @property
    def target(self) -> T:
        """The value of the right option."""
        return self.values[self.right]

    def ask(
        self, text: str, matrix: Matrix, name: Callable[[T], str] = str, work: str = "", at: str = ""
    ) -> Item:
        """The question, once the position agrees with the target.

        Args:
            text: The question.
            matrix: The position.
            name: Of an option.
            work: How the answer is found.
            at: Where it is to be seen, if that is all there is to it.
        """
        options = tuple(name(value) for value in self.values)
        return Item(
            text, options, self.right, matrix, work or (f"{at} {joined(options[self.right])}" if at else "")
        )


def choose(values: Sequence[T], random: Stream, most: int = OPTIONS) -> Choice[T]:
    """Offer these values, or a sample where there are many, in random order; any may be the right one."""
    offered = random.sample(values, min(most, len(values)))
    return Choice(tuple(offered), random.below(len(offered)))


def choose_near(natural: int, top: int, random: Stream, bottom: int = 0) -> Choice[int]:
    """Offer four numbers from `bottom` to `top` near a given one, spaced wider where numbers are large."""
    reach = max(OPTIONS - 1, top // 12)
    low = max(bottom, min(natural - reach, top - OPTIONS + 1))
    high = min(top, max(natural + reach, bottom + OPTIONS - 1))
    return choose(range(low, high + 1), random)
