"""The pictures suffice: symbols and lamps are read from the panel's PNG, and columns from the manual's."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, SpriteSheet, sprite_sheet
from ludens.games.comma.dialogue import advise, read, write
from ludens.games.comma.keypad import (
    GAP,
    KEY,
    LAMP,
    PUBLISHED,
    SYMBOL,
    SYMBOLS,
    Keypad,
    KeypadPanel,
    KeypadView,
    sprite,
)
from tests.games.comma.reading import Known, Pixels, pixels
from tests.support.looks import themes_and_sizes


def keys(seen: Pixels, sheet: SpriteSheet) -> list[tuple[str, bool]]:
    """Symbol and lamp of each key, in the order of the actions."""
    px = sheet.px
    side = 2 * px(KEY) + 3 * px(GAP)
    left, top = (sheet.size - side) // 2, px(72) + (sheet.size - px(72) - side) // 2
    symbols = Known(sheet, {name: sprite(sheet, name, px(SYMBOL), "black", "white") for name in SYMBOLS})
    lamps = Known(sheet, {on: sheet.led("green", px(LAMP), "white", on) for on in (False, True)})
    found = []
    for index in range(4):
        x = left + px(GAP) + (index // 2) * (px(KEY) + px(GAP))
        y = top + px(GAP) + (index % 2) * (px(KEY) + px(GAP))
        symbol = symbols.around(seen, x + px(KEY) // 2, y + px(KEY) // 2 + px(8))
        found.append((symbol, lamps.at(seen, x + px(KEY) - px(LAMP) - px(6), y + px(6))))
    return found


@themes_and_sizes(THEMES, [256, 512])
def test_the_panel_is_solved_from_its_picture(theme: str, size: int) -> None:
    game = Keypad()
    for seed in range(3):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, KeypadView)
        while not state.over:
            seen = keys(pixels(view, state), view.sheet)
            told = write({"symbols": ", ".join(symbol for symbol, _ in seen)})
            state.apply({"solver": told})
            state.apply({"expert": advise(state.manual, [told])})
            order = read(state.messages[-1].text)["order"].split(", ")
            due = next(symbol for symbol in order if (symbol, False) in seen)
            state.apply({"solver": KeypadPanel.actions[[symbol for symbol, _ in seen].index(due)]})
            if not state.over:
                state.apply({"expert": "Go on."})
        assert (state.solved, state.mistakes) == (True, 0), f"{theme} {size} seed {seed}"


@pytest.mark.parametrize("size", [32, 44, 126])
def test_no_two_symbols_look_alike(size: int) -> None:
    """Any two differ in a tenth of their square at least, even in the manual's size."""
    sheet = sprite_sheet("classic", 512)
    images = {
        name: sheet.palette.colours[sprite(sheet, name, size, "black", "white")].mean(2) < 128
        for name in SYMBOLS
    }
    for name, image in images.items():
        assert image.mean() > 0.08
        nearest = min((float((image ^ other).mean()), each) for each, other in images.items() if each != name)
        assert nearest[0] > 0.1, f"{name} looks like {nearest[1]}"


def test_the_columns_are_read_from_the_manual() -> None:
    game = Keypad(manual="random")
    state = game.start(2)
    view = view_of(game, RenderOptions(), 0)
    assert isinstance(view, KeypadView)
    [page] = view.images(state, "expert")
    with Image.open(BytesIO(page.png())) as image:
        seen = np.array(image.convert("RGB"), np.int16)
    step = (364 - 22) // 7
    known = Known(view.sheet, {name: sprite(view.sheet, name, step - 7, "ink", "page") for name in SYMBOLS})
    width = (512 - 36) // 6
    line = np.array(view.sheet.rgb("line"))
    top = next(y for y in range(40, 140) if (seen[y, 23 : 18 + width - 5] == line).all())
    columns = tuple(
        tuple(
            known.around(seen, 18 + column * width + width // 2, top + row * step + step // 2)
            for row in range(7)
        )
        for column in range(6)
    )
    assert columns == state.manual.columns  # type: ignore[attr-defined]
    assert columns != PUBLISHED.columns
    assert all(name in view.text(state, "expert") for name in SYMBOLS)
