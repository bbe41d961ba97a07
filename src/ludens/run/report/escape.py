"""HTML from text that nobody vouches for. Everything a page shows passes through here.

Markup is escaped; characters that steer a reader's eye without being seen (controls, changes of writing
direction, invisible marks, halves of characters) are shown by their number.
"""

from __future__ import annotations

from html import escape
from unicodedata import category

_JOINERS = "\u200c\u200d"  # Persian and emoji need them, and they steer nothing.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def esc(text: object) -> str:
    """Text for elements and attributes."""
    return "".join(escape(c) if _plain(c) else f"[{_number(c)}]" for c in str(text))


def said(text: str, most: int) -> str:
    """What a player said, up to so many characters, odd characters set apart."""
    shown = "".join(escape(c) if _plain(c) else f'<span class="odd">{_number(c)}</span>' for c in text[:most])
    left = len(text) - most
    return shown + (f'<span class="cut"> ... {left:,} more characters</span>' if left > 0 else "")


def _plain(c: str) -> bool:
    return c in "\n\t" or c in _JOINERS or category(c) not in _UNSEEN


def _number(c: str) -> str:
    return f"U+{ord(c):04X}"
