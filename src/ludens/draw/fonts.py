"""Text as coverage masks, in the bundled typeface (a subset of DejaVu Sans).

Text is drawn at its real size with the font's hinting, which is sharper at 9 to 16 pixels than supersampling.
A character that the font lacks is drawn as a box.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

LONGEST = 400
FOLDER = Path(__file__).parent / "fonts"
_UNDRAWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=96)
def font(px: int, bold: bool = False, mono: bool = False) -> ImageFont.FreeTypeFont:
    """The typeface at a size in pixels; the monospaced one has no bold variant."""
    name = "DejaVuSansMono" if mono else "DejaVuSans-Bold" if bold else "DejaVuSans"
    return ImageFont.truetype(str(FOLDER / f"{name}.ttf"), max(4, px), layout_engine=ImageFont.Layout.BASIC)


def clean(string: str) -> str:
    """One drawable line: control characters become spaces, and a line above `LONGEST` ends in an ellipsis."""
    if len(string) > LONGEST:
        string = string[: LONGEST - 1] + "…"
    if string.isascii() and string.isprintable():
        return string
    return _SURROGATE.sub("\ufffd", _UNDRAWABLE.sub(" ", string))


def line_height(px: int, mono: bool = False) -> int:
    """Height of every text sprite of this size: ascent plus descent."""
    ascent, descent = font(px, False, mono).getmetrics()
    return ascent + descent


@lru_cache(maxsize=1 << 14)
def _step(character: str, following: str, px: int, bold: bool, mono: bool) -> float:
    """How far the pen moves from one character to the next, kerning included."""
    face = font(px, bold, mono)
    return face.getlength(character + following) - face.getlength(following)


@lru_cache(maxsize=1 << 12)
def _glyph(character: str, px: int, bold: bool, mono: bool) -> tuple[NDArray[np.uint8], int]:
    """Coverage of one character and its offset from the pen position."""
    face = font(px, bold, mono)
    ascent, descent = face.getmetrics()
    left, _, right, _ = face.getbbox(character, anchor="ls")
    start = int(np.floor(left))
    image = Image.new("L", (max(1, int(np.ceil(right)) - start), ascent + descent), 0)
    ImageDraw.Draw(image).text((-start, ascent), character, fill=255, font=face, anchor="ls")
    return np.array(image, np.uint8), start


def _pens(string: str, px: int, bold: bool, mono: bool) -> list[float]:
    """Pen positions before each character of a clean line, and after the last."""
    at, pens = 0.0, [0.0]
    for number, character in enumerate(string, 1):
        at += _step(character, string[number : number + 1], px, bold, mono)
        pens.append(at)
    return pens


@lru_cache(maxsize=1 << 13)
def width(string: str, px: int, bold: bool = False, mono: bool = False) -> int:
    """Width of a line in pixels."""
    return max(1, int(np.ceil(_pens(clean(string), px, bold, mono)[-1])))


def mask(string: str, px: int, bold: bool = False, mono: bool = False) -> NDArray[np.uint8]:
    """Coverage (0 to 255) of one line of text, `line_height` high.

    Composed of cached characters, which is five times as fast as drawing each new line.
    """
    string = clean(string)
    pens = _pens(string, px, bold, mono)
    out = np.zeros((line_height(px, mono), max(1, int(np.ceil(pens[-1])))), np.uint8)
    for character, pen in zip(string, pens, strict=False):
        if character != " ":
            glyph, start = _glyph(character, px, bold, mono)
            x = max(0, round(pen) + start)
            part = out[:, x : x + glyph.shape[1]]
            np.maximum(part, glyph[:, : part.shape[1]], out=part)
    return out


def fit(string: str, room: int, px: int, bold: bool = False, mono: bool = False) -> str:
    """The string, truncated with an ellipsis if it is wider than `room`."""
    string = clean(string)
    if width(string, px, bold, mono) <= room:
        return string
    low, high = 0, len(string)
    while low < high:
        middle = (low + high + 1) // 2
        if width(string[:middle].rstrip() + "…", px, bold, mono) <= room:
            low = middle
        else:
            high = middle - 1
    return string[:low].rstrip() + "…"


def wrap(string: str, room: int, px: int, bold: bool = False, mono: bool = False) -> list[str]:
    """The string broken into lines at most `room` wide; words longer than a line are broken, too."""
    lines: list[str] = []
    for paragraph in string.splitlines() or [""]:
        line = ""
        for word in paragraph.split():
            if line and width(f"{line} {word}", px, bold, mono) <= room and len(line) + len(word) < LONGEST:
                line = f"{line} {word}"
                continue
            if line:
                lines.append(line)
            while len(word) > 1 and (len(word) > LONGEST or width(word, px, bold, mono) > room):
                part = max(1, len(fit(word[:LONGEST], room, px, bold, mono)) - 1)
                lines.append(word[:part])
                word = word[part:]
            line = word
        lines.append(line)
    return lines
