"""The picture suffices: stage, display and labels are read from the PNGs, and all stages solved from them."""

from __future__ import annotations

import pytest

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, Kit, Sprite
from ludens.games.comma.language import advise, read, write
from ludens.games.comma.memory.rules import Memory
from ludens.games.comma.memory.view import BUTTON, BUTTONS_AT, DISPLAY, LIGHT, LIGHTS_AT, MemoryView
from tests.games.comma.reading import Pixels, best, best_centred, pixels

NUMBERS = ("1", "2", "3", "4")


def lit(kit: Kit, number: str) -> Sprite:
    canvas = kit.canvas("black", kit.px(DISPLAY[2]), kit.px(DISPLAY[3]))
    canvas.text(canvas.width // 2, canvas.height // 2, number, kit.px(150), "white", "black", "mm", bold=True)
    return canvas.pixels


def panel(seen: Pixels, kit: Kit) -> dict[str, str]:
    """The facts the Expert needs."""
    display = best(seen, kit, {n: lit(kit, n) for n in NUMBERS}, kit.px(DISPLAY[0]), kit.px(DISPLAY[1]))
    buttons = {n: kit.button(n, kit.px(BUTTON[0]), kit.px(BUTTON[1]), "wood", "panel") for n in NUMBERS}
    labels = [best_centred(seen, kit, buttons, kit.px(x), kit.px(y)) for x, y in BUTTONS_AT]
    done = 0
    for stage, (x, y) in enumerate(LIGHTS_AT, 1):
        lights = {
            on: kit.led("green" if on else "gray", kit.px(LIGHT), "panel", on, str(stage))
            for on in (False, True)
        }
        done += best_centred(seen, kit, lights, kit.px(x), kit.px(y))
    return {"stage": str(done + 1), "display": display, "labels": ", ".join(labels)}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [256, 512])
def test_the_panel_is_solved_from_its_pictures(theme: str, size: int) -> None:
    game = Memory()
    for seed in range(5):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, MemoryView)
        told: list[str] = []
        while not state.over:
            told.append(write(panel(pixels(view, state), view.kit)))
            state.apply({"solver": f"press_{read(advise(state.manual, told))['press']}"})
            assert state.mistakes == 0, f"{theme} {size} seed {seed}: read {told}"
            if not state.over:
                state.apply({"expert": "go on"})
        assert state.solved
        assert len(told) == 5
