"""Renders the overview pictures of the documentation: `python docs/make_images.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from ludens import make, stream
from ludens.core.view import RenderOptions

FOLDER = Path(__file__).parent / "images"
SIDE, GAP = 316, 4
OVERVIEWS = {
    "games": (
        "hanabi", "overcooked", "chess", "gomoku",
        "monster_hunt", "comma/maze", "comma/keypad", "minesweeper",
    ),
    "vs-bench": (
        "hanabi", "overcooked", "breakthrough", "kuhn_poker",
        "pong", "coin_dilemma", "monster_hunt", "battle_of_colors",
    ),
    "comma": (
        "comma/wire", "comma/keypad", "comma/who", "comma/led", "comma/memory",
        "comma/maze", "comma/password", "comma/color", "comma/atm", "comma/telehealth",
    ),
}  # fmt: skip
TWINS = 10
"""The first seed of the pair in `twins.png`."""
STEPS = {"gomoku": 60, "chess": 30, "breakthrough": 30, "pong": 12, "kuhn_poker": 1, "minesweeper": 3}


def rendered(name: str, size: int) -> Image.Image:
    """A position after some random moves, as the seat to move sees it."""
    game = make(name)
    seed = 12
    state, random = game.start(seed), stream(seed, "docs")
    for _ in range(0 if name.startswith("comma/") else STEPS.get(name, 8)):
        actions = {seat: state.legal(seat).sample(random) for seat in state.to_act}
        after = state.clone()
        after.apply(actions)
        if not after.to_act:
            break
        state = after
    picture = game.view(RenderOptions(size=512)).image(state, state.to_act[0])
    return Image.fromarray(np.asarray(picture.rgb())).resize((size, size), Image.Resampling.LANCZOS)


def spy() -> Image.Image:
    """Both pictures of a pair, and the first one in two more themes."""
    game, panels = make("spy"), []
    for theme, seat in (("classic", "civilian_1"), ("classic", "spy"), ("contrast", "spy"), ("plain", "spy")):
        picture = game.view(RenderOptions(theme, 512)).image(game.start(3), seat)
        panels.append(
            Image.fromarray(np.asarray(picture.rgb())).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        )
    sheet = Image.new("RGB", (len(panels) * (SIDE + GAP), SIDE), "white")
    for column, panel in enumerate(panels):
        sheet.paste(panel, (column * (SIDE + GAP), 0))
    return sheet


def twins() -> Image.Image:
    """Both worlds of a pair of questions."""
    game = make("qa?board=tic_tac_toe&kind=winner&twins=true")
    view, sheet = game.view(RenderOptions(size=512)), Image.new("RGB", (2 * SIDE + GAP, SIDE), "white")
    for world in (0, 1):
        picture = view.image(game.start(TWINS + world), "viewer")
        panel = Image.fromarray(np.asarray(picture.rgb())).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        sheet.paste(panel, (world * (SIDE + GAP), 0))
    return sheet


def main() -> None:
    twins().quantize(128).save(FOLDER / "twins.png", optimize=True)
    spy().save(FOLDER / "spy.png", optimize=True)
    for name, games in OVERVIEWS.items():
        columns = 4 if len(games) == 8 else 5
        side = SIDE if columns == 4 else 252
        sheet = Image.new("RGB", (columns * (side + GAP), 2 * (side + GAP)), "white")
        for index, game in enumerate(games):
            row, column = divmod(index, columns)
            sheet.paste(rendered(game, side), (column * (side + GAP), row * (side + GAP)))
        sheet.quantize(128).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
