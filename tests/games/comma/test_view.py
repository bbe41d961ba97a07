"""Panels and manuals as shown: every theme and size, pages, text twins, words."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.core.templates import TemplateOverrides
from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, sprite_sheet
from ludens.games.comma.pages import Figure, Grid, Heading, Items, Paragraph, write
from ludens.games.comma.pages import draw_pages as pages
from ludens.testing import check_game
from tests.games.comma.common import PUZZLES, dialogue, make


@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param(name, options, marks=() if (puzzle + variant) % 2 else pytest.mark.slow)
        for puzzle, name in enumerate(PUZZLES)
        for variant, options in enumerate([{"manual": "random", "history": "last"}, {"variant": "released"}])
    ],
)
def test_conformance(name: str, options: dict[str, object]) -> None:
    check_game(make(name, **options), seeds=(0,), views=(RenderOptions(size=256),))


def test_released_prompts_are_the_same_for_every_puzzle() -> None:
    """The released code has one prompt for the Solver and one for the Expert, without limits of any kind."""
    for seat in ("solver", "expert"):
        released = {
            view_of(make(name, variant="released"), RenderOptions(), 0).rules(seat) for name in PUZZLES
        }
        ours = {view_of(make(name), RenderOptions(), 0).rules(seat) for name in PUZZLES}
        assert (len(released), len(ours)) == (1, len(PUZZLES))
        [prompt] = released
        assert not any(character.isdecimal() for character in prompt)


@pytest.mark.parametrize("name", PUZZLES)
@pytest.mark.parametrize("theme", THEMES)
def test_the_picture_shows_what_changes(name: str, theme: str) -> None:
    game = make(name)
    view = view_of(game, RenderOptions(theme), 4)
    pictures = {}
    for seed in range(12):
        state = dialogue(name, seed, seed % 4)
        pictures[view.image(state, "solver").hash] = view.text(state, "solver")
    assert len(set(pictures.values())) == len(pictures) == 12


@pytest.mark.parametrize("name", PUZZLES)
@pytest.mark.parametrize("size", [256, 512])
def test_the_manual_fits_its_pages(name: str, size: int) -> None:
    standard, random = make(name).start(0), make(name, manual="random").start(0)
    view = view_of(standard.game, RenderOptions(size=size), 0)
    for page in (*view.images(standard, "expert"), *view.images(random, "expert")):
        pixels = page.pixels  # type: ignore[attr-defined]
        rim = [pixels[:, -2:], pixels[:2], pixels[-2:]]
        assert all((edge == pixels[0, 0]).all() for edge in rim), "something sticks out over the rim"


def test_lists_and_headings_stay_together_on_pages() -> None:
    sheet = sprite_sheet("classic", 512)
    line = Paragraph("word " * 12)
    alone = len(pages(sheet, [Paragraph("a")] * 17))
    assert alone == 1
    blocks = [*[Paragraph("a")] * 17, Heading("Title"), Items(("one", "two"), numbered=True)]
    assert len(pages(sheet, blocks)) == 2
    first = pages(sheet, blocks)[0].pixels[:480]
    assert (first == pages(sheet, [Paragraph("a")] * 17)[0].pixels[:480]).all()
    assert len(pages(sheet, [line] * 60)) > 2


def test_tables_are_not_torn_and_long_ones_repeat_their_head() -> None:
    sheet = sprite_sheet("classic", 512)
    rows = (("name", "number"), *((f"line {n}", str(n)) for n in range(12)))
    table, above = Grid(rows), [Paragraph("a")] * 10
    alone = pages(sheet, [table])[0].pixels
    after = pages(sheet, [*above, table])
    assert len(after) == 2
    assert (after[1].pixels[:480] == alone[:480]).all()
    long = pages(sheet, [Grid((rows[0], *rows[1:] * 4))])
    assert len(long) == 3
    assert all((page.pixels[:34] == long[0].pixels[:34]).all() for page in long)


def test_no_page_holds_nothing_but_a_gap() -> None:
    sheet = sprite_sheet("classic", 512)
    counts = [len(pages(sheet, [Grid((("a", "b"), *[("1", "2")] * rows))])) for rows in range(16, 30)]
    assert counts == sorted(counts)
    for rows in range(16, 30):
        for page in pages(sheet, [Grid((("a", "b"), *[("1", "2")] * rows))]):
            assert (page.pixels[:480] != page.pixels[0, 0]).any()


def test_a_manual_is_written_as_plain_text() -> None:
    blocks = (
        Heading("Title"),
        Items(("a", "b"), numbered=True),
        Items(("c",)),
        Grid((("x", "y"), ("1", "2"))),
        Figure("a cat", 40, lambda canvas, x, y, w, h: canvas.fill(x, y, w, h, "red")),
    )
    assert write(blocks) == "TITLE\n\n1. a\n2. b\n\n- c\n\n| x | y |\n| 1 | 2 |\n\na cat"
    assert len(pages(sprite_sheet("classic", 512), blocks)) == 1


def test_words_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "comma.wire.md").write_text("# title\nCables\n\n# rules solver\nJust $turns turns.\n")
    view = view_of(make("comma/wire"), RenderOptions(templates=TemplateOverrides.read(tmp_path)), 0)
    assert view.rules("solver") == "Just 10 turns."
    assert view.text(make("comma/wire").start(0), "solver").startswith("Cables\n")
    assert "Expert in a game" in view.rules("expert")


def test_turns_and_mistakes_are_shown_even_when_many() -> None:
    state = make("comma/wire", mistakes=100, turns=100).start(0)
    view = view_of(state.game, RenderOptions(), 0)
    before = view.image(state, "solver")
    state.apply({"solver": "\n".join(state.puzzle.actions[:1] * 2)})
    assert view.image(state, "solver").hash != before.hash
