"""The pictures suffice: the squares are read from each PNG, and the board turned white from that alone.

This Solver is as blind as any player: it clicks no square whose colour it has not seen.
"""

from __future__ import annotations

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES
from ludens.games.comma.color import COLOURS, LEFT, SIDE, STEP, TOP, Color, ColorView, squares, whiten
from ludens.games.comma.dialogue import Dialogue, advise, read, write
from tests.games.comma.reading import best, pixels
from tests.support.looks import themes_and_sizes


def board(view: ColorView, state: Dialogue) -> tuple[str, ...]:
    """The sixteen colours."""
    seen, px = pixels(view, state), view.sheet.px
    sprites = {colour: view.square(colour) for colour in (*COLOURS, "white")}
    return tuple(
        best(seen, view.sheet, sprites, px(LEFT + n % SIDE * STEP), px(TOP + n // SIDE * STEP))
        for n in range(16)
    )


def clicks(groups: list[str], seen: tuple[str, ...]) -> tuple[list[str], str]:
    """What can be clicked without looking again, and the last group that was."""
    actions, pressed = [], ""
    for group in groups:
        found = squares(group, seen)
        if not found:
            break
        actions.append(f"click_row_{found[0] // SIDE}_col_{found[0] % SIDE}")
        seen, pressed = whiten(group, seen), group
        if set(seen) == {"white"}:
            break
    return actions, pressed


@themes_and_sizes(THEMES, [256, 512])
def test_the_board_is_turned_white_from_its_pictures(theme: str, size: int) -> None:
    game = Color(turns=20)
    for seed in range(6):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, ColorView)
        pressed = "none"
        while not state.over:
            seen = board(view, state)
            rows = {f"row {row}": ", ".join(seen[row * SIDE : row * SIDE + SIDE]) for row in range(SIDE)}
            told = write({**rows, "pressed": pressed})
            actions, pressed = clicks(read(advise(state.manual, [told]))["press"].split(", "), seen)
            state.apply({"solver": "\n".join(actions)})
            assert state.mistakes == 0, f"{theme} {size} seed {seed}: read {told!r}"
            if not state.over:
                state.apply({"expert": "go on"})
        assert state.solved
