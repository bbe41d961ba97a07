"""The `random` theme: a new look for every seed in which red still is red and text can still be read."""

from __future__ import annotations

from itertools import combinations

from ludens.core.random import Stream, stream
from ludens.draw.colour import BLACK, RGB, WHITE, contrast, distance, mix, parse, shade
from ludens.draw.themes import GROUNDS, Theme

STONES = ("disc", "disc", "square", "diamond", "hexagon", "octagon")
APART = 100
READABLE = 4.5

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

# How far a hue may turn (in turns) before it reads as another one.
_TURN = {
    "red": 0.012, "blue": 0.02, "green": 0.035, "yellow": 0.012, "purple": 0.015, "orange": 0.01,
    "cyan": 0.02, "magenta": 0.018, "brown": 0.012,
}  # fmt: skip


def _spread(rng: Stream, width: float) -> float:
    return (2 * rng.random() - 1) * width


def _hues(rng: Stream, base: Theme) -> dict[str, RGB]:
    """Jittered hues that stay apart: the jitter shrinks until they do, at worst to none."""
    for step in range(8):
        size = 1 - step / 7
        hues = {
            name: shade(
                base.colour(name),
                _spread(rng, turn * size),
                _spread(rng, 0.12 * size),
                _spread(rng, 0.08 * size),
            )
            for name, turn in _TURN.items()
        }
        white, black, gray = 255 - rng.below(14), 16 + rng.below(26), 128 + rng.below(32)
        hues |= {"white": (white,) * 3, "black": (black, black, black + rng.below(6)), "gray": (gray,) * 3}
        if all(distance(a, b) >= APART for a, b in combinations(hues.values(), 2)):
            break
    return hues


def _readable(colour: RGB, grounds: list[RGB], towards: RGB) -> RGB:
    """The colour, moved towards black or white until it can be read on every ground."""
    for step in range(21):
        moved = mix(colour, towards, step, 20)
        if min(contrast(moved, ground) for ground in grounds) >= READABLE:
            return moved
    return towards


def vary(base: Theme, seed: int) -> Theme:
    """The `random` theme of a seed."""
    rng = stream(seed, "theme")
    chosen = dict(zip((*GROUNDS, "line"), map(parse, rng.choice(_BOARDS)), strict=True))
    turn, wash = _spread(rng, 0.025), _spread(rng, 0.03)
    colours = {name: shade(rgb, turn, wash, _spread(rng, 0.012)) for name, rgb in chosen.items()}
    night = contrast(colours["page"], WHITE) > contrast(colours["page"], BLACK)
    towards = WHITE if night else BLACK
    grounds = [colours[name] for name in GROUNDS]
    tint = shade(parse("#e6e9ee" if night else "#22262c"), _spread(rng, 0.5), _spread(rng, 0.06))
    colours["ink"] = _readable(tint, grounds, towards)
    colours["muted"] = _readable(mix(colours["ink"], colours["page"], 3, 10), grounds[:2], towards)
    hues = _hues(rng, base)
    colours["accent"] = _readable(
        hues[rng.choice(("blue", "purple", "green", "magenta"))], grounds[:2], towards
    )
    colours["highlight"] = mix(hues["yellow"], colours["light"], 4 if night else 6, 20)
    colours |= hues
    order = [name for name, _ in base.palette]
    return Theme(
        "random",
        seed,
        tuple((name, colours[name]) for name in order),
        line_weight=rng.choice((0.75, 1.0, 1.0, 1.5)),
        bold_labels=rng.below(3) > 0,
        shapes=(("stone", rng.choice(STONES)), ("token", rng.choice(STONES))),
    )
