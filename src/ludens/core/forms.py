"""Forms: how a person answers, with clicks, drawing, lists and words; the stored action is that of a model.

A view returns the form of a question (`View.form`). A browser is sent what the form offers (`describe`), and
sends back a text: a name or words as they are, everything else as JSON. `read` turns it into the canonical
action, or explains in one sentence for people what is missing.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

from ludens.core.errors import Illegal, MoveError, Unreadable
from ludens.core.reply import ReplyFormat, fold, read_action
from ludens.core.state import Legal


class Place(NamedTuple):
    """A rectangle on a picture, in fractions of its width and height; (0, 0) is the top left corner."""

    x: float
    y: float
    width: float
    height: float

    @classmethod
    def of_pixels(cls, box: tuple[int, int, int, int], width: int, height: int) -> Self:
        """The place of a box (x, y, width, height) in pixels on a picture of this width and height."""
        return cls(box[0] / width, box[1] / height, box[2] / width, box[3] / height)

    def pixels(self, width: int, height: int) -> tuple[int, int, int, int]:
        """The box (x, y, width, height) in pixels on a picture of this width and height."""
        left, top = round(self.x * width), round(self.y * height)
        right, bottom = round((self.x + self.width) * width), round((self.y + self.height) * height)
        return left, top, right - left, bottom - top


Places = Mapping[str, tuple[Place, ...]]
"""For each action that can be clicked, the places to click in order: a cell, or from and to for a piece.

Where several actions have the same places (promotions, the digits of a cell), the player chooses among them
after the last click.
"""


def places_to_json(places: Places) -> dict[str, Any]:
    """Plain values for a browser: each rectangle once in `places`, and for each action their indices."""
    numbers: dict[Place, int] = {}
    actions = {
        action: [numbers.setdefault(place, len(numbers)) for place in path] for action, path in places.items()
    }
    return {"places": [[round(value, 6) for value in place] for place in numbers], "actions": actions}


_NAME = re.compile(r"[a-z]+[a-z0-9]*(?:_[A-Za-z0-9]+)+")
_KEYS = {"UP": "ArrowUp", "DOWN": "ArrowDown", "LEFT": "ArrowLeft", "RIGHT": "ArrowRight"}


def readable(action: str) -> str:
    """The name of an action for people: `cut_wire_1` is "Cut wire 1", `STAY` is "Stay"."""
    if _NAME.fullmatch(action):
        words = action.replace("_", " ")
        return words[0].upper() + words[1:]
    return action.capitalize() if len(action) > 1 and action.isalpha() and action.isupper() else action


def keys_of(actions: Sequence[str]) -> dict[str, str]:
    """Keys of a keyboard to the actions of a game of directions; empty for other games."""
    keys = {key: action for action, key in _KEYS.items() if action in actions}
    if keys:
        keys |= {key: name for name, key in (("STAY", "."), ("INTERACT", " ")) if name in actions}
        if " " not in keys and "STAY" in actions:
            keys[" "] = "STAY"
    return keys


class Form(ABC):
    """A way for a person to answer."""

    kind: ClassVar[str]
    is_action: ClassVar[bool] = True
    """Whether `read` returns an action, and not a reply that the reply format still has to read."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What a browser needs to show the form, as plain values."""

    @abstractmethod
    def read(self, text: str) -> str:
        """The action in what a browser sent; raises a `MoveError` that tells a person what is wrong."""


@dataclass(frozen=True)
class Choose(Form):
    """One of some actions: from a list, by its places on the picture, by a key, or typed."""

    legal: Legal
    labels: Mapping[str, str] = field(default_factory=dict)
    """The names for people of the actions that are listed; one that has none is called what it is."""
    places: Places = field(default_factory=dict)
    format: ReplyFormat | None = None
    """Reads what was typed and is no name of an action."""
    listed: bool = True
    """Whether the actions are shown."""
    prompt: str = ""

    kind = "choose"

    def describe(self) -> dict[str, Any]:
        if not self.listed:
            return {"kind": self.kind, "labels": {}, "keys": {}, "prompt": self.prompt}
        labels = {name: self.labels.get(name, name) for name in self.legal}
        return {
            "kind": self.kind,
            "labels": {name: label for name, label in labels.items() if label != name},
            "keys": keys_of(self.legal),
            "prompt": self.prompt,
            **places_to_json(self.places),
        }

    def read(self, text: str) -> str:
        if text in self.legal:
            return text
        folded = fold(text)
        if not folded:
            raise Unreadable("Choose or type a move first.")
        same = {name for name in self.legal if folded in (fold(name), fold(self.labels.get(name, name)))}
        if len(same) == 1:
            return same.pop()
        try:
            return read_action(self.format, text, self.legal) if self.format else text
        except MoveError:
            return text  # the game says why this is no move


@dataclass(frozen=True)
class Sentence(Form):
    """Words, and lines that stand for actions: those are chosen from a list or on the picture."""

    format: ReplyFormat
    limit: int
    lines: Mapping[str, str] = field(default_factory=dict)
    """Lines that can be chosen, with their names for people."""
    places: Places = field(default_factory=dict)
    words: bool = True
    """Whether there is a field for words."""
    sends_places: bool = False
    """Whether choosing a place is the whole answer, and not a line of it."""
    prompt: str = "Your message"
    help: str = ""

    kind = "sentence"
    is_action = False

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "limit": self.limit,
            "lines": dict(self.lines),
            "words": self.words,
            "sends_places": self.sends_places,
            "prompt": self.prompt,
            "help": self.help,
            **places_to_json(self.places),
        }

    def read(self, text: str) -> str:
        if not fold(text):
            raise Unreadable("Write something first." if self.words else "Choose an action first.")
        if len(text) > self.limit:
            raise Illegal(f"The message has {len(text):,} characters; at most {self.limit:,} are allowed.")
        return self.format.typed(text)


@dataclass(frozen=True)
class Select(Form):
    """Several of some names, in no order."""

    labels: Mapping[str, str]
    write: Callable[[Sequence[str]], str]
    """The action of the chosen names."""
    prompt: str = ""

    kind = "select"

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "labels": dict(self.labels), "prompt": self.prompt}

    def read(self, text: str) -> str:
        names = _value(text)
        choices = tuple(self.labels)
        if not isinstance(names, list) or not all(name in choices for name in names):
            raise Unreadable("Choose from the list.")
        if not names:
            raise Unreadable("Choose at least one.")
        return self.write(list(dict.fromkeys(names)))


@dataclass(frozen=True)
class Fill(Form):
    """A short text for each of some fields."""

    fields: Mapping[str, str]
    """Names, with what people read."""
    write: Callable[[Mapping[str, str]], str]
    """The action of the fields that were filled in."""
    prompt: str = ""
    longest: int = 400

    kind = "fill"

    def describe(self) -> dict[str, Any]:
        fields = [[name, label] for name, label in self.fields.items()]
        return {"kind": self.kind, "fields": fields, "longest": self.longest, "prompt": self.prompt}

    def read(self, text: str) -> str:
        value = _value(text)
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            raise Unreadable("The fields were not understood.")
        words = {name: " ".join(value.get(name, "").split()) for name in self.fields}
        if any(len(each) > self.longest for each in words.values()):
            raise Illegal(f"A field has more than {self.longest} characters.")
        filled = {name: each for name, each in words.items() if each}
        if not filled:
            raise Unreadable("Fill in at least one field.")
        return self.write(filled)


@dataclass(frozen=True)
class Plan(Form):
    """What robots do, step by step: a robot, a command, and its objects from lists or on the picture."""

    robots: Mapping[str, tuple[str, Sequence[str]]]
    """For each robot its name for people and the commands it knows."""
    commands: Mapping[str, Sequence[tuple[str, Sequence[str]]]]
    """For each command its objects: what kind of object, and which there are."""
    write: Callable[[Sequence[Mapping[str, tuple[str, ...]]], str], str]
    """The action of steps (robot to command with objects) and a message."""
    places: Places = field(default_factory=dict)
    steps: int | None = None
    """The most steps; None for as many as one likes."""
    message: int = 0
    """The most characters of a message; 0 where none is sent."""
    waits: bool = False
    """Whether doing nothing is an answer."""
    prompt: str = ""

    kind = "plan"

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "robots": {robot: [label, list(names)] for robot, (label, names) in self.robots.items()},
            "commands": {
                name: [[kind, list(names)] for kind, names in objects]
                for name, objects in self.commands.items()
            },
            "steps": self.steps,
            "message": self.message,
            "waits": self.waits,
            "prompt": self.prompt,
            **places_to_json(self.places),
        }

    def read(self, text: str) -> str:
        value = _value(text)
        match value:
            case {"steps": list(steps), "message": str(message)}:
                pass
            case _:
                raise Unreadable("The plan was not understood.")
        if self.steps is not None and len(steps) > self.steps:
            raise Illegal(f"At most {self.steps} step{'s' * (self.steps > 1)} can be sent.")
        if len(message) > self.message:
            raise Illegal(f"The message has {len(message):,} characters; at most {self.message:,} are sent.")
        plan = [self._step(number, step) for number, step in enumerate(steps, 1)]
        if not any(plan) and not self.waits:
            raise Unreadable("Give at least one robot something to do.")
        return self.write(plan, message)

    def _step(self, number: int, step: object) -> dict[str, tuple[str, ...]]:
        if not isinstance(step, dict):
            raise Unreadable(f"Step {number} was not understood.")
        for robot, words in step.items():
            if robot not in self.robots:
                raise Illegal(f"In step {number} there is no such robot.")
            if not isinstance(words, list) or not words or words[0] not in self.robots[robot][1]:
                raise Illegal(f"In step {number}, {robot} does not know this command.")
            objects = self.commands[words[0]]
            if len(words) - 1 != len(objects):
                raise Illegal(f"In step {number}, choose what {robot} should {words[0].lower()}.")
            if any(word not in names for word, (_, names) in zip(words[1:], objects, strict=True)):
                raise Illegal(f"In step {number}, {robot} cannot {words[0].lower()} that.")
        return {robot: tuple(words) for robot, words in step.items()}


@dataclass(frozen=True)
class Draw(Form):
    """Points on the picture, a fixed number for each of some paths."""

    paths: Sequence[str]
    """What each path is called."""
    points: int
    size: tuple[int, int]
    """Width and height of the picture in the units of the answer."""
    write: Callable[[Sequence[Sequence[tuple[float, float]]]], str]
    prompt: str = ""

    kind = "draw"

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "paths": list(self.paths), "points": self.points, "prompt": self.prompt}

    def read(self, text: str) -> str:
        value = _value(text)
        if not isinstance(value, list) or len(value) != len(self.paths):
            raise Unreadable("The drawing was not understood.")
        paths = [self._path(name, path) for name, path in zip(self.paths, value, strict=True)]
        return self.write(paths)

    def _path(self, name: str, path: object) -> list[tuple[float, float]]:
        if not isinstance(path, list) or len(path) != self.points:
            count = len(path) if isinstance(path, list) else 0
            raise Illegal(f"{name} has {count} of {self.points} points.")
        width, height = self.size
        points = []
        for point in path:
            match point:
                case [int() | float() as x, int() | float() as y] if 0 <= x <= 1 and 0 <= y <= 1:
                    points.append((round(x * width, 1), round(y * height, 1)))
                case _:
                    raise Illegal(f"A point of {name} is outside the picture.")
        return points


@dataclass(frozen=True)
class Matrix(Form):
    """The content of every cell of a grid."""

    rows: Sequence[str]
    columns: Sequence[str]
    """The names of rows and columns."""
    contents: Mapping[int, tuple[str, str]]
    """For each code a mark of a letter or two, and its meaning; the empty cell comes first."""
    places: Sequence[Place]
    """Of the cells, row by row."""
    write: Callable[[Sequence[Sequence[int]]], str]
    prompt: str = ""

    kind = "matrix"

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "contents": [[code, mark, meaning] for code, (mark, meaning) in self.contents.items()],
            "prompt": self.prompt,
            **places_to_json({str(number): (place,) for number, place in enumerate(self.places)}),
        }

    def read(self, text: str) -> str:
        match _value(text):
            case list(cells) if len(cells) == len(self.rows) * len(self.columns):
                pass
            case _:
                raise Unreadable("The grid was not understood.")
        if not all(type(code) is int and code in self.contents for code in cells):
            raise Illegal("Every cell needs one of the contents.")
        width = len(self.columns)
        return self.write([cells[start : start + width] for start in range(0, len(cells), width)])


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
