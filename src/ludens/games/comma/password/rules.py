"""The letter lock, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ludens.core.random import Stream
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.password.manual import (
    ALPHABET,
    PUBLISHED,
    RELEASED,
    RING,
    SLOTS,
    PasswordManual,
    draw_manual,
)
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting

_UP = tuple(f"up_button_{slot}" for slot in range(1, SLOTS + 1))
_DOWN = tuple(f"down_button_{slot}" for slot in range(1, SLOTS + 1))


class PasswordPanel(Puzzle[PasswordManual]):
    """Five slots, each of which cycles through a letter of the answer and two others."""

    asks = "words = <the words that open the lock, with commas>, or turn = up"
    actions = (*(name for slot in zip(_UP, _DOWN, strict=True) for name in slot), "submit")

    def __init__(self, manual: PasswordManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        random = setting.random
        self.answer = random.choice(manual.words)
        places = [ALPHABET.index(letter) for letter in self.answer]
        self.rings = tuple(
            tuple(ALPHABET[(place + step) % len(ALPHABET)] for step in (-1, 0, 1)) for place in places
        )
        self.turned: tuple[int, ...] = (1,) * SLOTS
        while not self.wrong:
            self.turned = tuple(random.below(RING) for _ in range(SLOTS))
        self.far = self.wrong
        """The number of wrong letters at the start."""
        self.refused: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """The word shown."""
        return "".join(ring[at] for ring, at in zip(self.rings, self.turned, strict=True))

    @property
    def accepted(self) -> tuple[str, ...]:
        """The words that open the lock: in the released code only the one the panel was made from."""
        return self.manual.spelt(self.rings) if self.manual.any_opens else (self.answer,)

    @property
    def wrong(self) -> int:
        """How many letters must be turned to show a word that opens the lock."""
        shown = self.word
        return min(
            (sum(a != b for a, b in zip(shown, word, strict=True)) for word in self.accepted), default=SLOTS
        )

    def act(self, action: str) -> Outcome:
        if action == "submit":
            shown = self.word
            if shown in self.accepted:
                return "solved"
            self.refused = (*self.refused, shown)
            return "mistake"
        slot = int(action[-1]) - 1
        step = 1 if action in _UP else -1
        at = (self.turned[slot] + step) % RING
        self.turned = (*self.turned[:slot], at, *self.turned[slot + 1 :])
        return "done"

    @property
    def progress(self) -> float:
        return 0.0 if self.released else max(0, self.far - self.wrong) / (self.far + 1)

    def describe(self) -> str:
        lines = [f"Slot {slot}: {letter.upper()}" for slot, letter in enumerate(self.word, 1)]
        return "\n".join(["Five letters, from left to right:", *lines])

    def tell(self, advice: Facts) -> Facts:
        return {"letters": ", ".join(self.word)}

    def follow(self, advice: Facts) -> Sequence[str]:
        if advice.get("turn") == "up":
            return _UP
        words = [word.strip().lower() for word in advice.get("words", "").split(",")]
        spelt = [
            word
            for word in words
            if len(word) == SLOTS and all(a in ring for a, ring in zip(word, self.rings, strict=True))
        ]
        # Where several can be spelt the released lock takes only one, and no message can tell which.
        spelt.sort(key=lambda word: word not in self.accepted)
        return self._spell(spelt[0]) if spelt else ()

    def _spell(self, word: str) -> list[str]:
        actions = []
        for slot, letter in enumerate(word):
            steps = (self.rings[slot].index(letter) - self.turned[slot]) % RING
            actions += [(_UP if steps == 1 else _DOWN)[slot]] if steps else []
        return [*actions, "submit"]


@dataclass(frozen=True)
class Password(Comma):
    """Turn five letters until they spell a listed word.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
    Observation: the Solver gets a picture of five letters with buttons above and below, the serial number,
        the status light, mistakes and turns, and reads its actions, their results and the conversation;
        the Expert reads the list of words and the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `up_button_1` to `up_button_5` or `down_button_1` to
        `down_button_5` turns that slot to its next or previous letter, and `submit` submits the word shown.
        Each slot has three letters. Every listed word that can be spelt opens the lock (released: only the
        one that the panel was made from); submitting anything else is a mistake.
    Rewards: both seats get the partial score: 1 when solved, else (w - v) / (w + 1), where w letters were
        wrong at the start and v after the best message so far, by the nearest word that opens the lock; the
        last step is to submit. What is shown in the middle of a message does not count, or turning through
        all words in one message would be worth most of the score. Released: 0 unless solved.
    """

    name = "comma/password"
    view_class = "ludens.games.comma.password.view:PasswordView"
    skills = ("grounding", "multi-step")
    published = PUBLISHED
    puzzle_class = PasswordPanel

    @property
    def standard_manual(self) -> PasswordManual:
        return RELEASED if self.released else PUBLISHED

    def random_manual(self, random: Stream) -> PasswordManual:
        return replace(draw_manual(random), any_opens=not self.released)

    def imagined_manual(self, puzzle: Puzzle[Any], random: Stream) -> PasswordManual:
        assert isinstance(puzzle, PasswordPanel)
        return replace(draw_manual(random, puzzle.answer, puzzle.refused), any_opens=not self.released)
