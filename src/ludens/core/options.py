"""Options of games, agents and suites: dataclass fields with bounds that can be parsed from text.

@dataclass(frozen=True)
class Hanabi(Game):
    players: int = option(2, low=2, high=5, help="number of players")

An option whose value names something outside of the game, such as a file, declares it (`touches`). Who may
set such an option is decided by `ludens.core.policy`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import Field, field, fields
from enum import Enum
from math import isfinite
from typing import Any, TypeVar

from ludens.core.errors import BadOption, UnknownName
from ludens.core.plain import shorten
from ludens.core.validation import WORDS, fits

C = TypeVar("C")


class Touch(Enum):
    """What the value of an option names outside of the game. The text is what is done with it."""

    READ = "reads"
    WRITE = "writes to"
    RUN = "starts the program"
    CONNECT = "sends data, and an API key where one is set, to"
    KEY = "takes an API key from the environment variable"
    PAY = "may spend money on"
    GAME = "plays the game"
    """The spec of a game: touches what the options in it touch."""
    GAMES = "plays the games"
    """Specs of games, separated by commas, likewise."""
    PLAYER = "is played by"
    """The spec of a player, likewise."""


_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def option(
    default: Any,
    *,
    help: str,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] | None = None,
    kind: type | None = None,
    touches: Touch | None = None,
    installed: Callable[[], Collection[str]] = tuple,
) -> Any:
    """A dataclass field that users can set.

    Args:
        default: Its default, which anybody may use.
        help: One line for users.
        low: Its smallest value.
        high: Its largest value.
        choices: All values.
        kind: Its type, where the default is None; else it is that of the default.
        touches: What the value names outside of the game, where it names a file, a program, an address, ...
        installed: The values that name something that comes with Ludens or was installed on this machine on
            purpose, such as picture sets by name: visitors of the browser app may use them.
    """
    bounds = {"low": low, "high": high, "choices": choices, "touches": touches, "installed": installed}
    return field(default=default, metadata={"help": help, "kind": kind or type(default), **bounds})


def options_of(cls: type) -> dict[str, Field[Any]]:
    """The fields of a dataclass declared with `option`."""
    return {f.name: f for f in fields(cls) if "help" in f.metadata}


def option_values(instance: Any) -> dict[str, Any]:
    return {name: getattr(instance, name) for name in options_of(type(instance))}


def check_options(instance: Any, owner: str) -> None:
    """Check the option values of an instance against their declarations, for `__post_init__`."""
    for name, spec in options_of(type(instance)).items():
        value = getattr(instance, name)
        if value is not spec.default:
            _check(owner, spec, value)


def configure(cls: type[C], values: Mapping[str, Any], owner: str) -> C:
    """Build `cls` from options given as text or values, each checked against its declaration."""
    declared = options_of(cls)
    for name in values:
        if name not in declared:
            raise UnknownName(f"option of {owner}", name, declared)
    return cls(**{name: _read(owner, declared[name], value) for name, value in values.items()})


def _read(owner: str, spec: Field[Any], value: Any) -> Any:
    kind = spec.metadata["kind"]
    if isinstance(value, str) and kind is not str:
        value = _from_text(owner, spec.name, value, kind)
    if kind is float and type(value) is int:
        try:
            value = float(value)
        except OverflowError:
            raise BadOption(f"option {spec.name!r} of {owner} is too large.") from None
    _check(owner, spec, value)
    return value


def _check(owner: str, spec: Field[Any], value: Any) -> None:
    if not fits(spec.metadata["kind"], value):
        words = WORDS[spec.metadata["kind"]]
        raise BadOption(f"option {spec.name!r} of {owner} must be {words}, not {value!r}.")
    if spec.metadata["touches"] in (Touch.READ, Touch.WRITE) and not _can_be_path(value):
        raise BadOption(f"option {spec.name!r} of {owner} is not a path: {shorten(repr(value))}.")
    low, high, choices = (spec.metadata[key] for key in ("low", "high", "choices"))
    if choices is not None and value not in choices:
        raise UnknownName(f"value of option {spec.name!r} of {owner}", str(value), choices)
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        bounds = " and ".join(
            f"{word} {limit:g}" for word, limit in (("at least", low), ("at most", high)) if limit is not None
        )
        raise BadOption(f"option {spec.name!r} of {owner} must be {bounds}, not {value}.")
    if isinstance(value, float) and not isfinite(value):
        raise BadOption(f"option {spec.name!r} of {owner} must be a finite number, not {value}.")


_LONGEST_PATH, _LONGEST_PART = 4095, 255
"""Bytes of a path, and of the name of a file in it, beyond which systems raise errors of their own."""


def _can_be_path(text: str) -> bool:
    path = text.encode("utf-8", "surrogatepass")
    longest = max(map(len, path.split(b"/")))
    return b"\0" not in path and len(path) <= _LONGEST_PATH and longest <= _LONGEST_PART


def _from_text(owner: str, name: str, text: str, kind: type) -> Any:
    folded = text.strip().lower()
    if kind is bool and folded in _TRUE | _FALSE:
        return folded in _TRUE
    if kind in (int, float):
        try:
            return kind(folded)
        except ValueError:
            pass
    raise BadOption(f"option {name!r} of {owner} must be {WORDS[kind]}, not {text!r}.")
