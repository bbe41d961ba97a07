"""Text made safe to print or to store: what terminals or files cannot take is replaced."""

from __future__ import annotations


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


def storable(text: str) -> str:
    """The text without lone surrogates (half of a pair), which no file and no request can hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()
