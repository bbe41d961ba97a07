"""The picture suffices: wires and serial number are read from the PNG, and the panel solved from them."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, SpriteSheet
from ludens.games.comma.dialogue import advise, read, write
from ludens.games.comma.wire import COLOURS, Wire, WireView
from tests.support.looks import themes_and_sizes

Pixels = NDArray[np.int32]


def nearest(rgb: Pixels, sheet: SpriteSheet) -> str:
    """The wire colour a pixel is nearest to."""
    return min(COLOURS, key=lambda colour: int(np.abs(rgb - np.array(sheet.rgb(colour))).sum()))


def wires(pixels: Pixels, sheet: SpriteSheet) -> list[str]:
    """Where the sockets at the left post are dark there is a wire, of the colour just beside the socket."""
    post, beside = sheet.px(60), sheet.px(104)
    top, bottom = sheet.px(72 + 26), sheet.size - sheet.px(26)
    socket = np.abs(pixels[top:bottom, post] - np.array(sheet.rgb("black"))).sum(1) < 24
    starts = [top + y for y in range(1, len(socket)) if socket[y] and not socket[y - 1]]
    return [nearest(pixels[y + sheet.px(34) // 2, beside], sheet) for y in starts]


def serial(pixels: Pixels, sheet: SpriteSheet) -> str:
    """Each digit on the plate is the one whose sprite fits best."""
    digits = ""
    for index in range(6):
        fits = {}
        for digit in "0123456789":
            sprite = sheet.palette.colours[
                sheet.text(digit, max(9, sheet.px(17)), "black", "white", mono=True)
            ].astype(int)
            h, w = sprite.shape[:2]
            x, y = sheet.px(298) + index * sheet.px(18) - w // 2, sheet.px(20) - h // 2
            fits[digit] = int(np.abs(pixels[y : y + h, x : x + w] - sprite).sum())
        digits += min(fits, key=lambda digit: fits[digit])
    return digits


@themes_and_sizes(THEMES, [256, 512])
def test_the_panel_is_solved_from_its_picture(theme: str, size: int) -> None:
    game = Wire()
    for seed in range(25):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, WireView)
        with Image.open(BytesIO(view.image(state, "solver").png())) as image:
            pixels = np.array(image.convert("RGB"), np.int32)
        told = write({"wires": ", ".join(wires(pixels, view.sheet)), "serial": serial(pixels, view.sheet)})
        state.apply({"solver": told})
        state.apply({"expert": advise(state.manual, [told])})
        state.apply({"solver": f"cut_wire_{read(state.messages[-1].text)['cut']}"})
        assert state.solved, f"{theme} {size} seed {seed}: read {told!r}"


def test_a_cut_wire_is_drawn_cut() -> None:
    game = Wire()
    state = game.start(8)
    view = view_of(game, RenderOptions(), 0)
    panel = state.puzzle
    whole = view.image(state, "solver").pixels  # type: ignore[attr-defined]
    state.apply({"solver": f"cut_wire_{state.manual.right(panel.wires, panel.serial)}"})  # type: ignore[attr-defined]
    changed = np.argwhere(view.image(state, "solver").pixels != whole)  # type: ignore[attr-defined]
    below_head = changed[changed[:, 0] > 72]
    assert len(below_head)
    assert np.ptp(below_head[:, 0]) < 34
    assert "cut" in view.text(state, "solver")
