"""Toy games in which a player that never looks can win, each by another leak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ludens.core.agent import Bot
from ludens.core.config import PlayConfig
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import stream
from ludens.core.reply import ActionFormat, MessageFormat, ReplyFormat
from ludens.core.state import Legal, Question, State
from ludens.core.view import RenderOptions, View
from ludens.run.task import MODEL, Task, rate_of
from tests.support.pebbles import FlatPicture

LETTERS = ("A", "B", "C", "D")
QUESTION_LEAKS = ("prior", "position", "length", "rank", "word", "number", "none")
GAME_LEAKS = ("script", "refusals", "notes", "listing", "talk", "agreement", "mistakes", "none")
RIGHT = rate_of("right", lambda result: max(result.episode.returns.values()) > 0)


class LeakyQuestion(Question):
    """Four texts, of which one is right."""

    def __init__(self, leak: str, seed: int) -> None:
        dice = stream(seed, "leak")
        texts = ["".join(dice.choice("abcdefgh") for _ in range(5)) for _ in LETTERS]
        self.number, place = dice.between(0, 99), dice.below(4)
        self.hint = dice.choice(["sunny", "rainy", "windy", "foggy"])
        if leak == "prior":
            place = 2 if dice.below(20) else place
        elif leak == "position":
            place = 3
        elif leak == "length":
            texts[place] += "i" * (1 + dice.below(3))
        elif leak == "rank":
            texts = [str(dice.between(0, 50) * 4 + extra) for extra in range(4)]
            place = max(range(4), key=lambda one: int(texts[one]))
        elif leak == "word":
            place = ["sunny", "rainy", "windy", "foggy"].index(self.hint)
        elif leak == "number":
            place = 0 if self.number < 30 else 3 if self.number < 70 else 1
        self.texts, self.right = texts, LETTERS[place]
        super().__init__("viewer", Legal(LETTERS))

    @property
    def returns(self) -> dict[str, float]:
        return {"viewer": float(self.answer == self.right)}

    def solution(self, seat: str) -> str:
        return self.right


class LeakyState(State):
    """A secret, the step, and whether the game is won or lost."""

    def __init__(self, game: LeakyGame, seed: int) -> None:
        dice = stream(seed, "secret")
        self.game, self.secret = game, dice.below(12)
        self.word = "".join(dice.choice("abcdefghij") for _ in range(8))
        self.step, self.said, self.note = 0, "", ""
        self.won: bool | None = None

    @property
    def to_act(self) -> tuple[str, ...]:
        if self.won is not None:
            return ()
        if self.game.leak == "talk":
            return ("other",) if self.step == 0 else ("player",)
        return ("player", "other") if self.game.leak == "agreement" else ("player",)

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        if self.game.leak in ("talk", "agreement"):
            return Legal.text(200)
        names = "abcdefghijkl"
        if self.game.leak == "listing":
            return Legal(sorted(names[(self.secret + more) % 12] for more in (0, 1, 5)))
        if self.game.leak == "refusals" and self.step == 0:
            return Legal("ab" if self.secret % 2 else "cd")
        return Legal(names[:4] if self.game.leak != "mistakes" else names[:5])

    def solution(self, seat: str) -> str:
        leak, names = self.game.leak, "abcdefghijkl"
        if leak == "talk":
            return f"I heard that the word is {self.word}"
        if leak == "agreement":
            return f"My picture shows {self.secret}"
        if leak == "script":
            return "acbd"[self.step]
        if leak == "listing":
            return names[self.secret]
        if leak == "mistakes":
            return names[self.secret % 5]
        if leak == "refusals":
            return ("a" if self.secret % 2 else "c") if self.step == 0 else "d" if self.secret % 2 else "b"
        if leak == "notes":
            return "a" if self.step == 0 else names[self.secret % 4]
        return names[self.secret % 4]

    def _advance(self, actions: Mapping[str, str]) -> None:
        leak, right = self.game.leak, {seat: self.solution(seat) for seat in actions}
        self.step += 1
        if leak == "agreement":
            self.won = len(set(actions.values())) == 1 and all(actions.values())
        elif leak == "talk":
            if self.step == 1:
                self.said = f"The word is {self.word}"
            else:
                self.won = self.word in actions["player"]
        elif leak == "mistakes":
            if actions != right:
                self.note = "That was wrong."
            self.won = True if actions == right else False if self.step == 5 else None
        elif leak == "notes" and self.step == 1:
            self.note = ["It is cold.", "It is cool.", "It is warm.", "It is hot."][self.secret % 4]
        else:
            lasts = {"script": 4, "refusals": 2, "notes": 2}.get(leak, 1)
            self.won = False if actions != right else True if self.step == lasts else None

    @property
    def returns(self) -> dict[str, float]:
        return dict.fromkeys(self.game.seats, float(bool(self.won)))

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy


class LeakyView(View):
    """The secret is in the picture; some of it in the words."""

    templates_file = "pebbles.md"

    def image(self, state: Any, seat: str) -> FlatPicture:
        return FlatPicture(self.text(state, seat), self.render.size)

    def text(self, state: Any, seat: str) -> str:
        return str(sorted((name, str(value)) for name, value in vars(state).items() if name != "game"))

    def notes(self, state: Any, seat: str) -> str:
        if isinstance(state, LeakyQuestion):
            options = "\n".join(
                f"{letter}. {text}" for letter, text in zip(LETTERS, state.texts, strict=True)
            )
            return f"It is {state.hint}, page {state.number}.\nWhich one is it?\n{options}"
        return f'Other: "{state.said}"' if state.said else state.note

    def format(self, state: Any, seat: str) -> ReplyFormat:
        return MessageFormat() if state.legal(seat).is_text else ActionFormat()


@dataclass
class Teller(Bot):
    """Says the word."""

    kind = "bot/teller"

    def choose(self, state: LeakyState) -> str:
        return f"The word is {state.word}"


@dataclass(frozen=True)
class LeakyGame(Game):
    """A game or question with a leak."""

    name = "test/leaky"
    best = "bot/oracle"
    bots: ClassVar[Mapping[str, str]] = {"teller": "tests.support.leaks:Teller"}
    leak: str = option("none", help="what gives the answer away")
    asks: bool = option(False, help="whether it is a question")

    @property
    def question(self) -> bool:
        return self.asks

    @property
    def seats(self) -> tuple[str, ...]:
        if self.asks:
            return ("viewer",)
        return ("player", "other") if self.leak in ("talk", "agreement") else ("player",)

    def start(self, seed: int) -> State:
        return LeakyQuestion(self.leak, seed) if self.asks else LeakyState(self, seed)

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        return LeakyView(self, render, seed)


def leaky_task(leak: str, asks: bool = False) -> Task:
    """A task whose game has this leak."""
    seating = {"viewer": MODEL} if asks else {"player": MODEL}
    if not asks and leak in ("talk", "agreement"):
        seating["other"] = MODEL if leak == "agreement" else "bot/teller"
    config = PlayConfig()
    if leak == "refusals":
        config = PlayConfig(retries=2, fallback="forfeit", listed=False, reasons="kind")
    spec = f"test/leaky?leak={leak}" + "&asks=true" * asks
    return Task(leak, spec, (seating,), 40, (RIGHT,), config)
