"""The picture suffices: display and labels are read from the PNG, and the panel solved from them."""

from __future__ import annotations

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, Canvas, Sprite, SpriteSheet
from ludens.games.comma.dialogue import advise, read, write
from ludens.games.comma.who import BUTTON, COLUMNS, DISPLAY, PLACES, POOL, ROWS, Who, WhoView
from tests.games.comma.reading import Pixels, best, best_centred, pixels
from tests.support.looks import themes_and_sizes


def lit(sheet: SpriteSheet, word: str) -> Sprite:
    """The display with a word on it."""
    canvas = Canvas(sheet, "black", sheet.px(DISPLAY[2]), sheet.px(DISPLAY[3]))
    canvas.text(canvas.width // 2, canvas.height // 2, word, sheet.px(44), "white", "black", "mm", bold=True)
    return canvas.pixels


def panel(seen: Pixels, sheet: SpriteSheet) -> dict[str, str]:
    """The facts the Expert needs."""
    word = best(
        seen,
        sheet,
        {word: lit(sheet, word) for word in ("", *POOL)},
        sheet.px(DISPLAY[0]),
        sheet.px(DISPLAY[1]),
    )
    buttons = {
        word: sheet.button(word, sheet.px(BUTTON[0]), sheet.px(BUTTON[1]), "wood", "page") for word in POOL
    }
    spots = [(column, row) for row in ROWS for column in COLUMNS]
    labels = [best_centred(seen, sheet, buttons, sheet.px(x), sheet.px(y)) for x, y in spots]
    return {"display": word or "(no text)", **dict(zip(PLACES, labels, strict=True))}


@themes_and_sizes(THEMES, [256, 512])
def test_the_panel_is_solved_from_its_picture(theme: str, size: int) -> None:
    game = Who(manual="random")
    for seed in range(2):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, WhoView)
        told = write(panel(pixels(view, state), view.sheet))
        place = read(advise(state.manual, [told]))["press"]
        state.apply({"solver": f"press_{place.replace(' ', '_')}_button"})
        assert state.solved, f"{theme} {size} seed {seed}: read {told!r}"


def test_an_empty_display_is_seen_as_empty() -> None:
    game = Who()
    view = view_of(game, RenderOptions(), 0)
    assert isinstance(view, WhoView)
    empty = next(
        state for state in map(game.start, range(200)) if state.puzzle.tell()["display"] == "(no text)"
    )
    assert panel(pixels(view, empty), view.sheet) == empty.puzzle.tell()
