"""The words that a player gets who sees no picture, and features of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from ludens.agents.prompt import prompt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.state import State
from ludens.core.view import Observation, View
from ludens.models.specs import PromptOptions

Place = tuple[int, int]
LINES, WORDS = 24, 24
"""How many of the last lines, and how many words of each, have a place of their own."""

_WORD = re.compile(r"[\w+#-]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def blind_words(view: View, state: State, seat: str, config: PlayConfig) -> str:
    """What a model with `blind=true` is told besides the rules, which never change. Draws no picture."""
    # The text twin is withheld next to pictures; a seat that is offered text alone keeps it.
    text = view.text(state, seat) if view.offers(seat) == "text" else ""
    seen = Observation(text=text, notes=view.notes(state, seat))
    ask = replace(build_ask(view, state, seat, "nothing", config), observation=seen)
    messages = prompt(ask, PromptOptions(blind=True))[1:]
    return "\n".join(part for message in messages for part in message.parts if isinstance(part, str))


@dataclass(frozen=True)
class Words:
    """The words of one question with the answers that are offered."""

    text: str
    answers: Sequence[str]
    listed: bool
    """Whether the answers are listed in the question, so that their order is known."""

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Its lines."""
        return tuple(line.strip() for line in self.text.splitlines() if line.strip())

    @cached_property
    def question(self) -> str:
        """The last line that asks something."""
        return next((line for line in reversed(self.lines) if "?" in line), "")

    @cached_property
    def places(self) -> dict[Place, str]:
        """The words of the last lines, by line from the end and place in the line."""
        return {
            (line, place): word
            for line, text in enumerate(reversed(self.lines[-LINES:]))
            for place, word in enumerate(_WORD.findall(text)[:WORDS])
        }

    @cached_property
    def pieces(self) -> frozenset[str]:
        """Lines, words, and pairs of words."""
        found = set(self.lines)
        for line in self.lines:
            words = _WORD.findall(line.lower())
            found.update(words, map(" ".join, pairwise(words)))
        return frozenset(found)

    @cached_property
    def texts(self) -> dict[str, str]:
        """What the question says about each answer: the rest of the last line that begins with it."""
        found = {}
        for answer in self.answers if self.listed else ():
            begins = (line for line in reversed(self.lines) if line.startswith(answer) and line != answer)
            rest = next((line[len(answer) :] for line in begins if not line[len(answer)].isalnum()), answer)
            found[answer] = rest.strip(" .:)")
        return found

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The order of the answers by the number that each names; empty unless all name one."""
        numbers = {answer: _NUMBER.fullmatch(text) for answer, text in self.texts.items()}
        if not numbers or not all(numbers.values()):
            return {}
        by_size = sorted(numbers, key=lambda answer: float(self.texts[answer]))
        return {answer: place for place, answer in enumerate(by_size)}
