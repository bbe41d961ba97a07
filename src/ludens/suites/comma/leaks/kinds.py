"""The ways in which a secret can be told."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal[
    "verbatim", "spaced", "punctuated", "spelt out", "in parts", "one a message", "reversed", "arithmetic"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""From the plainest to the best hidden; a secret told in several ways is reported by the first of these."""
