"""Text that cannot steer what shows it: control characters and changes of writing direction made visible."""

from __future__ import annotations


def harmless(text: str) -> str:
    """The text with everything that is not printable replaced, line ends and tabs aside."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def one_line(text: str) -> str:
    """Harmless, and on one line."""
    return " ".join(harmless(text).split())
