"""Themes: which colour stands for which meaning, and the shapes of tokens.

`classic` is the default, `contrast` is safe for colour-blind readers, `plain` uses greys only, and `random`
is a different look for every seed in which hues keep their names and text stays readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from ludens.core.errors import UnknownName
from ludens.core.random import Stream, stream
from ludens.draw.palette import BLACK, RGB, WHITE, contrast, distance, mix, parse, shade

THEMES = ("classic", "contrast", "plain", "random")

SURFACES = ("page", "panel", "light", "dark", "wood", "line", "ink", "muted", "accent", "highlight")
HUES = ("red", "blue", "green", "yellow", "purple", "orange",
        "cyan", "magenta", "brown", "white", "black", "gray")  # fmt: skip
GROUNDS = ("page", "panel", "light", "dark", "wood")
DEFAULT_INKS = ("ink", "line", "muted", "accent", *HUES)

LETTERS = {
    "red": "R", "blue": "B", "green": "G", "yellow": "Y", "purple": "P", "orange": "O",
    "cyan": "C", "magenta": "M", "brown": "N", "gray": "A", "white": "", "black": "",
}  # fmt: skip

_CLASSIC = {
    "page": "#fbfaf7", "panel": "#eeece6", "light": "#f1e2c6", "dark": "#bd9268", "wood": "#e7c48c",
    "line": "#6d5a45", "ink": "#1e2227", "muted": "#5f6772", "accent": "#2f6fde", "highlight": "#ffdf5e",
    "red": "#d8383a", "blue": "#2667cf", "green": "#2c9a4b", "yellow": "#f4c81f", "purple": "#7740b5",
    "orange": "#f17f22", "cyan": "#20b6c9", "magenta": "#dc4aa6", "brown": "#85532c", "white": "#ffffff",
    "black": "#23252b", "gray": "#8c939d",
}  # fmt: skip

_CONTRAST = {
    "page": "#ffffff", "panel": "#ececec", "light": "#ffffff", "dark": "#b9bcc0", "wood": "#efe3c8",
    "line": "#303030", "ink": "#000000", "muted": "#4a4a4a", "accent": "#0072b2", "highlight": "#f0e442",
    "red": "#d55e00", "blue": "#0072b2", "green": "#009e73", "yellow": "#f0e442", "purple": "#5b2a86",
    "orange": "#e69f00", "cyan": "#56b4e9", "magenta": "#cc79a7", "brown": "#663c14", "white": "#ffffff",
    "black": "#000000", "gray": "#808080",
}  # fmt: skip

_PLAIN = {
    "page": "#ffffff", "panel": "#efefef", "light": "#fafafa", "dark": "#c2c2c2", "wood": "#e8e8e8",
    "line": "#4a4a4a", "ink": "#000000", "muted": "#555555", "accent": "#303030", "highlight": "#9c9c9c",
    "red": "#7a7a7a", "blue": "#4c4c4c", "green": "#989898", "yellow": "#e0e0e0", "purple": "#3c3c3c",
    "orange": "#b4b4b4", "cyan": "#c4c4c4", "magenta": "#888888", "brown": "#5c5c5c", "white": "#ffffff",
    "black": "#101010", "gray": "#a6a6a6",
}  # fmt: skip

_FIXED = {"classic": _CLASSIC, "contrast": _CONTRAST, "plain": _PLAIN}

MIN_HUE_DISTANCE = 100
_TEXT_CONTRAST = 4.5
_OUTLINES = ("disc", "disc", "square", "diamond", "hexagon", "octagon")

# page, panel, light, dark, wood, line
_BOARDS = (
    ("#fbfaf7", "#eeece6", "#f1e2c6", "#bd9268", "#e7c48c", "#6d5a45"),
    ("#f7f9fb", "#e6ebf0", "#e9eef3", "#9fb4c7", "#dfe6ec", "#4d5f70"),
    ("#f8faf5", "#e8eee2", "#eef2dc", "#a5bf88", "#dbe6c5", "#4f6340"),
    ("#ffffff", "#f0f0f2", "#f2f2f4", "#b5b7bd", "#e9e4da", "#5a5c62"),
    ("#fdf8f6", "#f3e8e4", "#f6e6df", "#cfa293", "#ecd0c2", "#74503f"),
    ("#faf8fd", "#ece8f4", "#eee9f5", "#b9abd3", "#e4dcee", "#5b4d78"),
    ("#262a31", "#333943", "#5b6676", "#38404c", "#665440", "#b4bcc7"),
    ("#20262a", "#2c363b", "#4f686e", "#2d3e42", "#5a5040", "#aebfc0"),
)

# How far a hue may be rotated (in turns) before it reads as another one.
_MAX_ROTATION = {
    "red": 0.012, "blue": 0.02, "green": 0.035, "yellow": 0.012, "purple": 0.015, "orange": 0.01,
    "cyan": 0.02, "magenta": 0.018, "brown": 0.012,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Theme:
    """One look.

    Attributes:
        name: One of `THEMES`.
        seed: Which variant of `random`; 0 for the others.
        colours: RGB by colour name, in the order in which palettes are built.
        lettered: Tokens whose meaning is their colour also carry its letter (black and white need none).
        plain: Greys only: nothing may depend on colour.
        line_weight: Multiplies the width of board lines.
        bold_labels: Whether board labels are bold.
        shapes: Outline by kind of thing ("stone", "token"); "disc" where there is none.
    """

    name: str
    seed: int
    colours: Mapping[str, RGB]
    lettered: bool = False
    plain: bool = False
    line_weight: float = 1.0
    bold_labels: bool = True
    shapes: Mapping[str, str] = field(default_factory=dict)

    def colour(self, name: str) -> RGB:
        """The RGB of a colour's name, or of `#rrggbb`."""
        colour = self.colours.get(name)
        if colour is not None:
            return colour
        try:
            return parse(name)
        except ValueError:
            raise UnknownName("colour", name, self.colours) from None

    def shape(self, kind: str) -> str:
        """The outline a kind of thing has in this theme."""
        return self.shapes.get(kind, "disc")

    def letter(self, hue: str) -> str:
        """The letter a token of this hue carries: empty unless the theme is lettered."""
        return LETTERS.get(hue, "") if self.lettered else ""


@lru_cache(maxsize=256)
def get_theme(name: str = "classic", seed: int = 0) -> Theme:
    """The theme of this name. Only `random` depends on the seed; `random:7` is what it is for seed 7."""
    base, _, look = name.partition(":")
    if base == "random" and (name == base or look.isdecimal()):
        return _random_theme(int(look or seed))
    if name not in _FIXED:
        raise UnknownName("theme", name, THEMES)
    if seed:
        return get_theme(name)
    colours = {colour: parse(_FIXED[name][colour]) for colour in (*SURFACES, *HUES)}
    return Theme(name, 0, colours, lettered=name != "classic", plain=name == "plain")


def _jitter(rng: Stream, width: float) -> float:
    return (2 * rng.random() - 1) * width


def _random_hues(rng: Stream, base: Theme) -> dict[str, RGB]:
    """Jittered hues; the jitter shrinks until they are distinct, at worst to none."""
    for step in range(8):
        size = 1 - step / 7
        hues = {
            name: shade(
                base.colour(name),
                _jitter(rng, rotation * size),
                _jitter(rng, 0.12 * size),
                _jitter(rng, 0.08 * size),
            )
            for name, rotation in _MAX_ROTATION.items()
        }
        white, black, gray = 255 - rng.below(14), 16 + rng.below(26), 128 + rng.below(32)
        hues |= {"white": (white,) * 3, "black": (black, black, black + rng.below(6)), "gray": (gray,) * 3}
        if all(distance(a, b) >= MIN_HUE_DISTANCE for a, b in combinations(hues.values(), 2)):
            break
    return hues


def _readable(colour: RGB, grounds: list[RGB], towards: RGB) -> RGB:
    """The colour, moved towards black or white until it can be read on every ground."""
    for step in range(21):
        moved = mix(colour, towards, step, 20)
        if min(contrast(moved, ground) for ground in grounds) >= _TEXT_CONTRAST:
            return moved
    return towards


def _random_theme(seed: int) -> Theme:
    rng, classic = stream(seed, "theme"), get_theme("classic")
    board = dict(zip((*GROUNDS, "line"), map(parse, rng.choice(_BOARDS)), strict=True))
    rotation, wash = _jitter(rng, 0.025), _jitter(rng, 0.03)
    colours = {name: shade(rgb, rotation, wash, _jitter(rng, 0.012)) for name, rgb in board.items()}
    dark_page = contrast(colours["page"], WHITE) > contrast(colours["page"], BLACK)
    towards = WHITE if dark_page else BLACK
    grounds = [colours[name] for name in GROUNDS]
    tint = shade(parse("#e6e9ee" if dark_page else "#22262c"), _jitter(rng, 0.5), _jitter(rng, 0.06))
    colours["ink"] = _readable(tint, grounds, towards)
    colours["muted"] = _readable(mix(colours["ink"], colours["page"], 3, 10), grounds[:2], towards)
    hues = _random_hues(rng, classic)
    colours["accent"] = _readable(
        hues[rng.choice(("blue", "purple", "green", "magenta"))], grounds[:2], towards
    )
    colours["highlight"] = mix(hues["yellow"], colours["light"], 4 if dark_page else 6, 20)
    colours |= hues
    return Theme(
        "random",
        seed,
        {name: colours[name] for name in classic.colours},
        line_weight=rng.choice((0.75, 1.0, 1.0, 1.5)),
        bold_labels=rng.below(3) > 0,
        shapes={"stone": rng.choice(_OUTLINES), "token": rng.choice(_OUTLINES)},
    )
