"""The picture suffices: lights, stage and letters are read from the PNG, and every stage solved from them."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np
import pytest

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, Kit
from ludens.games.comma.language import advise, read, write
from ludens.games.comma.led.manual import COLOURS, CORNERS
from ludens.games.comma.led.rules import Led
from ludens.games.comma.led.view import BUTTON, CORNERS_AT, LIGHT, LIGHTS_AT, LedView, light_at
from tests.games.comma.reading import Pixels, best_centred, pixels


def light(seen: Pixels, kit: Kit) -> str:
    """The colour of the light on the white plate, found by the plate's dark rim."""
    dark = np.array(kit.rgb("ink"))
    for lights in range(2, 6):
        for number in range(lights):
            x = kit.px(light_at(number, lights))
            left = x - kit.px(84) // 2
            rim = seen[kit.px(100) : kit.px(180), left - kit.px(3) : left]
            if (rim == dark).all():
                sprites = {colour: kit.led(colour, kit.px(LIGHT), "white") for colour in COLOURS}
                return best_centred(seen, kit, sprites, x, kit.px(LIGHTS_AT))
    raise AssertionError("no light is marked")


def letters(seen: Pixels, kit: Kit) -> dict[str, str]:
    side = kit.px(BUTTON)
    buttons = {letter: kit.button(letter, side, side, "wood", "panel") for letter in ascii_uppercase}
    found = [best_centred(seen, kit, buttons, kit.px(x), kit.px(y)) for x, y in CORNERS_AT]
    return dict(zip(CORNERS, found, strict=True))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [256, 512])
def test_the_panel_is_solved_from_its_pictures(theme: str, size: int) -> None:
    game = Led()
    for seed in range(4):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, LedView)
        while not state.over:
            seen = pixels(view, state)
            told = write({"light": light(seen, view.kit), **letters(seen, view.kit)})
            corner = read(advise(state.manual, [told]))["press"]
            state.apply({"solver": f"press_{corner.replace(' ', '_')}_button"})
            assert state.mistakes == 0, f"{theme} {size} seed {seed}: read {told!r}"
            if not state.over:
                state.apply({"expert": "go on"})
        assert state.solved
