"""The picture suffices: lights, stage and letters are read from the PNG, and every stage solved from them."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, SpriteSheet
from ludens.games.comma.dialogue import advise, read, write
from ludens.games.comma.led import (
    BUTTON,
    COLOURS,
    CORNERS,
    CORNERS_AT,
    LIGHT,
    LIGHTS_AT,
    Led,
    LedView,
    light_at,
)
from tests.games.comma.reading import Pixels, best_centred, pixels
from tests.support.looks import themes_and_sizes


def light(seen: Pixels, sheet: SpriteSheet) -> str:
    """The colour of the light on the white plate, found by the plate's dark rim."""
    dark = np.array(sheet.rgb("ink"))
    for lights in range(2, 6):
        for number in range(lights):
            x = sheet.px(light_at(number, lights))
            left = x - sheet.px(84) // 2
            rim = seen[sheet.px(100) : sheet.px(180), left - sheet.px(3) : left]
            if (rim == dark).all():
                sprites = {colour: sheet.led(colour, sheet.px(LIGHT), "white") for colour in COLOURS}
                return best_centred(seen, sheet, sprites, x, sheet.px(LIGHTS_AT))
    raise AssertionError("no light is marked")


def letters(seen: Pixels, sheet: SpriteSheet) -> dict[str, str]:
    side = sheet.px(BUTTON)
    buttons = {letter: sheet.button(letter, side, side, "wood", "panel") for letter in ascii_uppercase}
    found = [best_centred(seen, sheet, buttons, sheet.px(x), sheet.px(y)) for x, y in CORNERS_AT]
    return dict(zip(CORNERS, found, strict=True))


@themes_and_sizes(THEMES, [256, 512])
def test_the_panel_is_solved_from_its_pictures(theme: str, size: int) -> None:
    game = Led()
    for seed in range(4):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, LedView)
        while not state.over:
            seen = pixels(view, state)
            told = write({"light": light(seen, view.sheet), **letters(seen, view.sheet)})
            corner = read(advise(state.manual, [told]))["press"]
            state.apply({"solver": f"press_{corner.replace(' ', '_')}_button"})
            assert state.mistakes == 0, f"{theme} {size} seed {seed}: read {told!r}"
            if not state.over:
                state.apply({"expert": "go on"})
        assert state.solved
