"""The data of `world.toml`: robot types, kinds of things, areas, preconditions and primitives."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class RobotType:
    """What robots of one type are and can do."""

    name: str
    body: str
    arms: int
    mobile: bool
    pushes: bool
    reach: float
    low: float
    high: float
    primitives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing."""

    holds: bool = False
    opens: bool = False
    starts: tuple[str, ...] = ()
    fixture: bool = False
    pushable: bool = False
    height: float | None = None
    activates: str = ""
    group: str = "furniture"


@dataclass(frozen=True, slots=True)
class Precondition:
    """One precondition: the rule and the sentence when it is broken."""

    rule: str
    broken: str


@dataclass(frozen=True, slots=True)
class Primitive:
    """A primitive: its arguments, preconditions in the order they are tested, effect."""

    name: str
    arguments: tuple[str, ...]
    text: str
    needs: tuple[str, ...]
    effect: str


@dataclass(frozen=True, slots=True)
class Released:
    """Names that the released checker treats specially."""

    containers: frozenset[str]
    closed: frozenset[str]
    opens: frozenset[str]
    boxes: frozenset[str]


def _load() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("world.toml").read_text(encoding="utf-8"))


def _tuples(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


_DATA = _load()
ROBOTS: dict[str, RobotType] = {name: RobotType(**_tuples(table)) for name, table in _DATA["robots"].items()}
KINDS: dict[str, Kind] = {name: Kind(**_tuples(table)) for name, table in _DATA["things"].items()}
AREAS: dict[str, tuple[float, ...]] = {name: tuple(area["heights"]) for name, area in _DATA["areas"].items()}
"""Names of areas, each with the heights that a layout may choose from."""
PRECONDITIONS: dict[str, Precondition] = {
    name: Precondition(**table) for name, table in _DATA["preconditions"].items()
}
PRIMITIVES: dict[str, Primitive] = {
    name: Primitive(name=name, **_tuples(table)) for name, table in _DATA["primitives"].items()
}
RELEASED = Released(**{name: frozenset(names) for name, names in _DATA["released"].items()})
