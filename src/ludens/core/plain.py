"""Text made safe to print or to store: what terminals or files cannot take is replaced."""

from __future__ import annotations

import re


def harmless(text: str) -> str:
    """The text with unprintable characters replaced, except newlines and tabs."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def one_line(text: str) -> str:
    return " ".join(harmless(text).split())


def plural(number: int, noun: str) -> str:
    """`1 reply`, `2 replies`."""
    several = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else several}"


def shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


_LONGEST_VALUE, _LONGEST_MESSAGE = 160, 1_500
_VALUE = re.compile(r"""(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*"|[^\s'"]+""", re.DOTALL)


def shorten_values(message: str) -> str:
    """The message with whatever is quoted, or without a blank, cut in the middle where it is very long."""
    if len(message) <= _LONGEST_VALUE:
        return message
    values_cut = _VALUE.sub(lambda value: _without_middle(value[0], _LONGEST_VALUE), message)
    return _without_middle(values_cut, _LONGEST_MESSAGE)


def _without_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = limit // 3
    return f"{text[: limit - end - 3]}...{text[-end:]}"


def storable(text: str) -> str:
    """The text without lone surrogates (half of a pair), which no file and no request can hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()
