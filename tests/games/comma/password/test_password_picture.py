"""The picture suffices: the letters are read from the PNG at every turn, and the lock opened from them."""

from __future__ import annotations

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, SpriteSheet
from ludens.games.comma.dialogue import advise, read, write
from ludens.games.comma.password import ALPHABET, LETTER, STEP, Password, PasswordView
from tests.games.comma.reading import Known, Pixels, pixels
from tests.support.looks import themes_and_sizes


def shown(seen: Pixels, sheet: SpriteSheet) -> str:
    """The five letters."""
    letters = Known(
        sheet, {a: sheet.text(a.upper(), sheet.px(LETTER), "black", "white", mono=True) for a in ALPHABET}
    )
    y = sheet.px(72) + sheet.px(174)
    return "".join(
        letters.around(seen, sheet.size // 2 + sheet.px(STEP) * (slot - 2), y) for slot in range(5)
    )


@themes_and_sizes(THEMES, [256, 512])
def test_the_lock_is_opened_from_its_picture(theme: str, size: int) -> None:
    game = Password(manual="random")
    for seed in range(4):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, PasswordView)
        seen: list[str] = []
        while len(seen) < 3:
            seen.append(shown(pixels(view, state), view.sheet))
            turns = [f"up_button_{slot}" for slot in range(1, 6)]
            state.apply({"solver": "\n".join([write({"letters": ", ".join(seen[-1])}), *turns])})
            state.apply({"expert": advise(state.manual, [message.text for message in state.of("solver")])})
        word = read(state.messages[-1].text)["words"].split(", ")[0]
        now = shown(pixels(view, state), view.sheet)
        assert now == seen[0]
        turns = []
        for slot, letters in enumerate(zip(*seen, strict=True)):
            turns += [f"up_button_{slot + 1}"] * letters.index(word[slot])
        state.apply({"solver": "\n".join([*turns, "submit"])})
        assert (state.solved, state.mistakes) == (True, 0), f"{theme} {size} seed {seed}: {seen}"
