"""Text made safe to print: control characters and bidirectional overrides are replaced."""

from __future__ import annotations


def harmless(text: str) -> str:
    """The text with unprintable characters replaced, except newlines and tabs."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def one_line(text: str) -> str:
    """The same on one line."""
    return " ".join(harmless(text).split())
