"""Themes: which colour stands for which meaning, and how tokens are shaped.

`classic` is the default look, `contrast` is safe for colour-blind eyes, `plain` needs no colour at all, and
`random` is another look for every seed, so that a model cannot learn one set of pixels by heart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from ludens.core.errors import UnknownName
from ludens.draw.colour import RGB, parse

THEMES = ("classic", "contrast", "plain", "random")

SURFACES = ("page", "panel", "light", "dark", "wood", "line", "ink", "muted", "accent", "highlight")
HUES = ("red", "blue", "green", "yellow", "purple", "orange",
        "cyan", "magenta", "brown", "white", "black", "gray")  # fmt: skip
GROUNDS = ("page", "panel", "light", "dark", "wood")

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


@dataclass(frozen=True)
class Theme:
    """One look. Equal themes draw equal pixels, so a theme may be a cache key.

    Attributes:
        name: One of `THEMES`.
        seed: Which variant of `random`; 0 for the others.
        lettered: Tokens whose meaning is their colour also carry its letter (black and white need none).
        plain: Greys only: nothing may depend on colour.
        line_weight: Multiplies the width of board lines.
        bold_labels: Whether board labels are bold.
    """

    name: str
    seed: int
    palette: tuple[tuple[str, RGB], ...]
    lettered: bool = False
    plain: bool = False
    line_weight: float = 1.0
    bold_labels: bool = True
    shapes: tuple[tuple[str, str], ...] = ()
    _colours: dict[str, RGB] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._colours.update(self.palette)

    @property
    def colours(self) -> dict[str, RGB]:
        """Every named colour (a copy)."""
        return dict(self._colours)

    def colour(self, name: str) -> RGB:
        """The RGB of a colour's name, or of `#rrggbb`."""
        found = self._colours.get(name)
        if found is not None:
            return found
        try:
            return parse(name)
        except ValueError:
            raise UnknownName("colour", name, self._colours) from None

    def shape(self, kind: str) -> str:
        """The outline a kind of thing ("stone", "token") has in this theme."""
        for known, outline in self.shapes:
            if known == kind:
                return outline
        return "disc"

    def letter(self, hue: str) -> str:
        """The letter a token of this hue carries: empty unless the theme is lettered."""
        return LETTERS.get(hue, "") if self.lettered else ""


def freeze(colours: dict[str, str]) -> tuple[tuple[str, RGB], ...]:
    """Colour names with their RGB, in the order palettes are built."""
    return tuple((name, parse(colours[name])) for name in (*SURFACES, *HUES))


@lru_cache(maxsize=256)
def theme(name: str = "classic", seed: int = 0) -> Theme:
    """The theme of this name; the seed only matters to `random`."""
    if name == "random":
        from ludens.draw.variety import vary

        return vary(theme("classic"), seed)
    if seed:
        return theme(name)
    if name == "classic":
        return Theme(name, 0, freeze(_CLASSIC))
    if name == "contrast":
        return Theme(name, 0, freeze(_CONTRAST), lettered=True)
    if name == "plain":
        return Theme(name, 0, freeze(_PLAIN), lettered=True, plain=True)
    raise UnknownName("theme", name, THEMES)
