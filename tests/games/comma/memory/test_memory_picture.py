"""The picture suffices: stage, display and labels are read from the PNGs, and all stages solved from them."""

from __future__ import annotations

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, Canvas, Sprite, SpriteSheet
from ludens.games.comma.dialogue import advise, read, write
from ludens.games.comma.memory import BUTTON, BUTTONS_AT, DISPLAY, LIGHT, LIGHTS_AT, Memory, MemoryView
from tests.games.comma.reading import Pixels, best, best_centred, pixels
from tests.support.looks import themes_and_sizes

NUMBERS = ("1", "2", "3", "4")


def lit(sheet: SpriteSheet, number: str) -> Sprite:
    canvas = Canvas(sheet, "black", sheet.px(DISPLAY[2]), sheet.px(DISPLAY[3]))
    canvas.text(
        canvas.width // 2, canvas.height // 2, number, sheet.px(150), "white", "black", "mm", bold=True
    )
    return canvas.pixels


def panel(seen: Pixels, sheet: SpriteSheet) -> dict[str, str]:
    """The facts the Expert needs."""
    display = best(
        seen, sheet, {n: lit(sheet, n) for n in NUMBERS}, sheet.px(DISPLAY[0]), sheet.px(DISPLAY[1])
    )
    buttons = {n: sheet.button(n, sheet.px(BUTTON[0]), sheet.px(BUTTON[1]), "wood", "panel") for n in NUMBERS}
    labels = [best_centred(seen, sheet, buttons, sheet.px(x), sheet.px(y)) for x, y in BUTTONS_AT]
    done = 0
    for stage, (x, y) in enumerate(LIGHTS_AT, 1):
        lights = {
            on: sheet.led("green" if on else "gray", sheet.px(LIGHT), "panel", on, str(stage))
            for on in (False, True)
        }
        done += best_centred(seen, sheet, lights, sheet.px(x), sheet.px(y))
    return {"stage": str(done + 1), "display": display, "labels": ", ".join(labels)}


@themes_and_sizes(THEMES, [256, 512])
def test_the_panel_is_solved_from_its_pictures(theme: str, size: int) -> None:
    game = Memory()
    for seed in range(5):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, MemoryView)
        told: list[str] = []
        while not state.over:
            told.append(write(panel(pixels(view, state), view.sheet)))
            state.apply({"solver": f"press_{read(advise(state.manual, told))['press']}"})
            assert state.mistakes == 0, f"{theme} {size} seed {seed}: read {told}"
            if not state.over:
                state.apply({"expert": "go on"})
        assert state.solved
        assert len(told) == 5
