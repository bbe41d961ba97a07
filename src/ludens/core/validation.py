"""Reads plain data, from JSON or TOML, into dataclasses, and checks every value against its annotation.

Annotations may be made of str, int, float, bool, None, Any, Literal, `X | None`, list, Sequence,
`tuple[X, ...]`, dict and Mapping with text keys, and dataclasses. Nothing is converted, except whole numbers
where any number may be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from operator import itemgetter
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import orjson

WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "null"}
_MAX_LENGTH = 200

T = TypeVar("T")
_Reader = Callable[[Any], Any]


class Invalid(Exception):
    """Data that does not fit a type: `at moves.0.seat: must be text, not 3`.

    Names and values come from the data, so the text is cut off where it gets long.
    """

    def __init__(self, problem: str, *place: str) -> None:
        self.problem, self.place = problem, list(place)  # innermost first

    def __str__(self) -> str:
        return f"at {'.'.join(reversed(self.place)) or 'the start'}: {self.problem}"[:_MAX_LENGTH]


def read_json(kind: type[T], data: bytes | str, *, extra: bool = False) -> T:
    """Read JSON; raises `Invalid`. With `extra`, unknown fields of dataclasses are ignored."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"not JSON: {error}") from None
    return read_value(kind, value, extra=extra)


def read_value(kind: type[T], value: Any, *, extra: bool = False) -> T:
    """Like `read_json`, of data that was parsed already; its lists and dictionaries are changed."""
    reader: Callable[[Any], T] = _reader(kind, extra)  # type: ignore[arg-type]
    return reader(value)


def fits(kind: type, value: object) -> bool:
    """Whether a value is a number, text or truth value of this kind."""
    return type(value) is kind or (kind is float and type(value) is int)


@cache
def _reader(kind: Any, extra: bool) -> _Reader:
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if kind in WORDS:
        return partial(_plain, kind)
    if origin is Literal:
        return partial(_choice, args)
    if origin in (Union, UnionType):
        [inner] = [_reader(arg, extra) for arg in args if arg is not NoneType]
        return lambda value: None if value is None else inner(value)
    if origin in (list, Sequence):
        return partial(_items, args[0], _reader(args[0], extra))
    if origin is tuple:
        items = _reader(list[args[0]], extra)  # type: ignore[valid-type]
        return lambda value: tuple(items(value))
    if origin in (dict, Mapping):
        return partial(_entries, args[1], _reader(args[1], extra))
    if is_dataclass(kind):
        return _dataclass_reader(kind, extra)
    raise TypeError(f"{kind} cannot be read.")


def _plain(kind: type, value: Any) -> Any:
    if not fits(kind, value):
        raise Invalid(f"must be {WORDS[kind]}, not {value!r}")
    try:
        return float(value) if kind is float else value
    except OverflowError:
        raise Invalid("is too large") from None


def _choice(values: tuple[Any, ...], value: Any) -> Any:
    if value in values:
        return value
    raise Invalid(f"must be one of {', '.join(map(str, values))}, not {value!r}")


def _items(exact: Any, read: _Reader, value: Any) -> Any:
    if type(value) is not list:
        raise Invalid(f"must be a list, not {value!r}")
    for index, item in enumerate(value):
        if type(item) is not exact:
            try:
                value[index] = read(item)
            except Invalid as error:
                error.place.append(str(index))
                raise
    return value


def _entries(exact: Any, read: _Reader, value: Any) -> Any:
    if type(value) is not dict:
        raise Invalid(f"must have names and values, and is {value!r}")
    if exact is not Any:
        for name, item in value.items():
            if type(item) is not exact:
                try:
                    value[name] = read(item)
                except Invalid as error:
                    error.place.append(name)
                    raise
    return value


def _dataclass_reader(kind: Any, extra: bool) -> _Reader:
    """Written for speed, because runs have millions of episodes: complete data is checked mostly in C."""
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name], extra) for field in fields(kind)}
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    plain = [name for name in readers if hints[name] in WORDS]
    plain_types = [hints[name] for name in plain]
    nested = [(number, name) for number, name in enumerate(readers) if name not in plain]
    plain_values, all_values = _getter(plain), _getter([*readers])

    def read(value: Any) -> Any:
        name = ""
        try:
            if (values := complete(value)) is not None:
                for number, name in nested:
                    values[number] = readers[name](values[number])
                return kind(*values)
            value = checked(value)
            for name, item in value.items():
                value[name] = readers[name](item)
        except Invalid as error:
            error.place += [name] if name else []
            raise
        return kind(**value)

    def complete(value: Any) -> list[Any] | None:
        """All values, if there are no others and those that are not nested are of their types."""
        try:
            if len(value) == len(readers) and [*map(type, plain_values(value))] == plain_types:
                return [*all_values(value)]
        except (KeyError, TypeError):
            pass
        return None

    def checked(value: Any) -> Any:
        if type(value) is not dict:
            raise Invalid(f"must have names and values, and is {value!r}")
        if extra:
            value = {name: item for name, item in value.items() if name in readers}
        if unknown := [name for name in value if name not in readers]:
            raise Invalid(f"is not one of the fields {', '.join(readers)}", unknown[0])
        if absent := [name for name in required if name not in value]:
            raise Invalid("is missing", absent[0])
        return value

    return read


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The function that takes the values of these names from a dictionary."""
    return itemgetter(*names) if len(names) > 1 else lambda value: tuple(value[name] for name in names)
