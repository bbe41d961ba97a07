"""Password: turn five letters until they spell a word from the manual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ludens.core.random import Stream
from ludens.draw import Canvas
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, read_blocks, table
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, read_tables
from ludens.games.comma.view import Box, CommaView, centred

_TABLES = read_tables(__file__)
PUBLISHED_WORDS: tuple[str, ...] = tuple(_TABLES["published"].split())
STOCK: tuple[str, ...] = tuple(_TABLES["stock"].split())

SLOTS, RING = 5, 3
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_COLUMNS = 5


@dataclass(frozen=True)
class PasswordManual(Manual):
    """The listed words in alphabetical order."""

    words: tuple[str, ...]
    any_opens: bool = True
    """Whether every word that can be spelt opens the lock; by the released rules only one does."""

    def spelt(self, slots: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """Every listed word that can be spelt with one letter from each slot."""
        pairs = ((word, zip(word, slots, strict=True)) for word in self.words)
        return tuple(word for word, letters in pairs if all(letter in slot for letter, slot in letters))

    def blocks(self) -> tuple[Block, ...]:
        several = "any of them opens" if self.any_opens else "only one of them opens"
        words = [word.upper() for word in self.words]
        rows = [words[start : start + _COLUMNS] for start in range(0, len(words), _COLUMNS)]
        head = ["Words", *[""] * (_COLUMNS - 1)]
        return read_blocks(__file__, several=several, words=table(head, *rows))

    def advise(self, messages: Sequence[Facts]) -> Facts:
        slots: list[set[str]] = [set() for _ in range(SLOTS)]
        for facts in messages:
            if "letters" in facts:
                for slot, letter in zip(slots, _letters(facts["letters"]), strict=True):
                    slot.add(letter)
        if not slots[0]:
            need((), _NEEDS)
        if any(len(slot) < RING for slot in slots):
            return {"turn": "up"}
        words = self.spelt([sorted(slot) for slot in slots])
        if not words:
            raise Unclear("None of my words can be spelt with these letters; tell me all of them again.")
        return {"words": ", ".join(words)}


_NEEDS: Mapping[str, str] = {"letters": "the five letters shown now, with commas"}


def _letters(listed: str) -> list[str]:
    letters = [letter.strip().lower() for letter in listed.split(",")]
    if len(letters) != SLOTS or any(len(letter) != 1 or letter not in ALPHABET for letter in letters):
        raise Unclear(f"A lock shows {SLOTS} letters from A to Z; not {listed!r}.")
    return letters


PUBLISHED = PasswordManual(PUBLISHED_WORDS)
RELEASED = PasswordManual(PUBLISHED_WORDS, any_opens=False)


def draw_manual(random: Stream, answer: str = "", refused: Sequence[str] = ()) -> PasswordManual:
    """A random list as long as the published one: with this answer, if given, and without refused words."""
    words = [word for word in (*STOCK, *PUBLISHED_WORDS) if word not in refused and word != answer]
    sample = random.sample(words, len(PUBLISHED_WORDS) - bool(answer))
    return PasswordManual(tuple(sorted([*sample, answer] if answer else sample)))


_UP = tuple(f"up_button_{slot}" for slot in range(1, SLOTS + 1))
_DOWN = tuple(f"down_button_{slot}" for slot in range(1, SLOTS + 1))


class PasswordPanel(Puzzle[PasswordManual]):
    """Five slots, each of which cycles through a letter of the answer and two others."""

    asks = "words = <the words that open the lock, with commas>, or turn = up"
    actions = (*(name for slot in zip(_UP, _DOWN, strict=True) for name in slot), "submit")

    def set_up(self) -> None:
        random = self.random
        self.answer = random.choice(self.manual.words)
        places = [ALPHABET.index(letter) for letter in self.answer]
        self.rings = tuple(
            tuple(ALPHABET[(place + step) % len(ALPHABET)] for step in (-1, 0, 1)) for place in places
        )
        self.turned: tuple[int, ...] = (1,) * SLOTS
        while not self.wrong:
            self.turned = tuple(random.below(RING) for _ in range(SLOTS))
        self.far = self.wrong
        self.refused: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        return "".join(ring[at] for ring, at in zip(self.rings, self.turned, strict=True))

    @property
    def accepted(self) -> tuple[str, ...]:
        """The words that open the lock: in the released code only the one the panel was made from."""
        return self.manual.spelt(self.rings) if self.manual.any_opens else (self.answer,)

    @property
    def wrong(self) -> int:
        """How many letters must be turned to show a word that opens the lock."""
        accepted = (zip(self.word, word, strict=True) for word in self.accepted)
        return min((sum(a != b for a, b in pairs) for pairs in accepted), default=SLOTS)

    def act(self, action: str) -> Outcome:
        if action == "submit":
            if self.word in self.accepted:
                return "solved"
            self.refused = (*self.refused, self.word)
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

    def tell(self) -> Facts:
        return {"letters": ", ".join(self.word)}

    def follow(self, advice: Facts) -> Sequence[str]:
        if advice.get("turn") == "up":
            return _UP
        words = [word.strip().lower() for word in advice.get("words", "").split(",")]
        letters = [word for word in words if len(word) == SLOTS]
        spelt = [word for word in letters if all(a in ring for a, ring in zip(word, self.rings, strict=True))]
        # Where several can be spelt the released lock takes only one, and no message can tell which.
        spelt.sort(key=lambda word: word not in self.accepted)
        return self._spell(spelt[0]) if spelt else ()

    def working(self) -> Sequence[str]:
        """The word that opens the lock, and how far each letter is from its own."""
        turns = ("", " up", " down")
        lines = [f"words = {(word := self.accepted[0])}"]
        for ring, at, letter in zip(self.rings, self.turned, word, strict=True):
            lines.append(f"{ring[at]} {letter}{turns[(ring.index(letter) - at) % RING]}")
        return lines

    def solution(self) -> Sequence[str]:
        return self._spell(self.accepted[0])

    def apart(self, other: Self) -> bool:
        """The same turns lead to an accepted word on one panel only."""
        return self._turns().isdisjoint(other._turns())

    def _turns(self) -> set[tuple[int, ...]]:
        """How far each slot is from its letter, for every word that opens the lock."""
        return {
            tuple(
                (self.rings[slot].index(letter) - self.turned[slot]) % RING
                for slot, letter in enumerate(word)
            )
            for word in self.accepted
        }

    def _spell(self, word: str) -> list[str]:
        actions = []
        for slot, letter in enumerate(word):
            steps = (self.rings[slot].index(letter) - self.turned[slot]) % RING
            actions += [(_UP if steps == 1 else _DOWN)[slot]] if steps else []
        return [*actions, "submit"]


@dataclass(frozen=True)
class Password(Comma):
    """Turn five letters until they spell a listed word.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
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
    view_class = "ludens.games.comma.password:PasswordView"
    skills = ("grounding", "multi-step")
    published = PUBLISHED
    puzzle_class = PasswordPanel

    @property
    def standard_manual(self) -> PasswordManual:
        return RELEASED if self.released else PUBLISHED

    def random_manual(self, random: Stream) -> PasswordManual:
        return replace(draw_manual(random), any_opens=not self.released)

    def imagined_manual(self, puzzle: PasswordPanel, random: Stream) -> PasswordManual:
        return replace(draw_manual(random, puzzle.answer, puzzle.refused), any_opens=not self.released)


STEP, WINDOW, LETTER = 92, (78, 110), 72
"""Distance of the slots, size of a window and of its letter, in units; a picture is 512 wide."""


class PasswordView(CommaView):
    """Letters in black on white, capitals of equal width."""

    inks = ("black", "blue")
    grounds = ("page", "panel", "white", "wood", "gray")

    def boxes(self, box: Box, puzzle: PasswordPanel) -> Mapping[str, Box]:
        px, (_, top, width, _) = self.sheet.px, box
        boxes = {}
        for slot in range(len(puzzle.word)):
            x, y = width // 2 + px(STEP) * (slot - 2), top + px(174)
            for direction, middle in (("up", y - px(92)), ("down", y + px(92))):
                boxes[f"{direction}_button_{slot + 1}"] = centred(x, middle, px(WINDOW[0]), px(56))
        return {**boxes, "submit": centred(width // 2, top + px(376), px(190), px(62))}

    def draw(self, canvas: Canvas, box: Box, puzzle: PasswordPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        boxes, (_, top, width, _) = self.boxes(box, puzzle), box
        canvas.rounded(px(16), top + px(20), width - px(32), px(300), "wood")
        for slot, letter in enumerate(puzzle.word):
            x, y = width // 2 + px(STEP) * (slot - 2), top + px(174)
            w, h = map(px, WINDOW)
            size = sheet.font_px(15)
            canvas.text(x, top + px(40), str(slot + 1), size, ground="wood", anchor="mm", bold=True)
            for direction in ("up", "down"):
                key = boxes[f"{direction}_button_{slot + 1}"]
                canvas.rounded(*key, "gray", "wood")
                canvas.centre(sheet.arrow(direction, "black", px(40), "gray"), x, key[1] + key[3] // 2)
            canvas.rounded(x - w // 2, y - h // 2, w, h, "white", "wood", px(4))
            canvas.frame(x - w // 2, y - h // 2, w, h, "line", px(2))
            canvas.text(x, y, letter.upper(), px(LETTER), "black", "white", "mm", mono=True)
        left, upper, w, h = boxes["submit"]
        canvas.place(sheet.button("SUBMIT", w, h, "blue", "page"), left, upper)
