"""The picture suffices: the screen is read from the PNG at every turn, and the machine worked from it."""

from __future__ import annotations

import re
from string import ascii_letters

import numpy as np

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, SpriteSheet
from ludens.games.comma.atm import LEFT, OPTIONS, TEXT, TOLD, Atm, AtmView, advance
from ludens.games.comma.dialogue import advise, read
from tests.games.comma.reading import Known, Pixels, pixels
from tests.support.looks import themes_and_sizes

CHARACTERS = f"{ascii_letters}0123456789$:.?*"


def characters(sheet: SpriteSheet) -> Known[str]:
    found = {a: sheet.text(a, sheet.px(TEXT), "black", "white", mono=True) for a in CHARACTERS}
    return Known(sheet, {**found, " ": np.full_like(found["a"], sheet.index("white"))})


def line(seen: Pixels, sheet: SpriteSheet, known: Known[str], x: int, y: int) -> str:
    places = range(x, sheet.size - sheet.px(34) - known.width, advance(sheet.px(TEXT)))
    return "".join(known.at(seen, place, y - known.height // 2) for place in places).rstrip()


def screen(seen: Pixels, sheet: SpriteSheet) -> tuple[list[str], list[str], int]:
    """What the screen tells, its two lines to choose from, and which of them has the arrow."""
    px, known = sheet.px, characters(sheet)
    top = px(72) + px(26)
    told = [line(seen, sheet, known, px(48), top + px(y)) for y in TOLD]
    options = [line(seen, sheet, known, px(LEFT), top + px(y)) for y in OPTIONS]
    white = np.array(sheet.rgb("white"))
    inked = [int((seen[top + px(y), px(50) : px(74)] != white).any(1).sum()) for y in OPTIONS]
    return told, options, inked.index(max(inked))


def keys(seen: tuple[list[str], list[str], int], table: dict[str, str], pin: str) -> list[str]:
    """What to press on this screen, by the screen, the Expert's table and the PIN alone."""
    told, options, _ = seen
    if options[0] == "Deposit":
        return ["press_enter"]
    if options[0].startswith("PIN:"):
        return [*(f"press_{digit}" for digit in pin), "press_enter"]
    balance = int(re.sub(r"\D", "", told[1]))
    least = max(int(name.split()[1]) for name in table if int(name.split()[1]) <= balance)
    kind, amount = table[f"from {least}"].split()
    if kind not in told[0]:
        return [
            "press_down_arrow",
            "press_enter",
            f"press_{'up' if kind == 'deposit' else 'down'}_arrow",
            "press_enter",
        ]
    return [*(f"press_{digit}" for digit in amount), "press_enter"]


@themes_and_sizes(THEMES, [256, 512])
def test_the_machine_is_worked_from_its_picture(theme: str, size: int) -> None:
    game = Atm(manual="random")
    for seed in range(3):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, AtmView)
        table = read(advise(state.manual, []))
        pin = state.puzzle.briefing["The PIN of your bank account"]
        while not state.over:
            seen = screen(pixels(view, state), view.sheet)
            told = [line for line in seen[0] if line]
            lines = [f"{'->' if n == seen[2] else '  '} {words}" for n, words in enumerate(seen[1])]
            assert "\n".join([*told, *lines]) in view.text(state, "solver")
            state.apply({"solver": "\n".join(keys(seen, table, pin))})
            if not state.over:
                state.apply({"expert": "Go on."})
        assert (state.solved, state.mistakes) == (True, 0), f"{theme} {size} seed {seed}"
