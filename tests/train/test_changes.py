"""Changes of pictures in training: what moves, what fades, and what stays as it is."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.train.nano.changes import (  # noqa: E402
    STEPS,
    PictureDraws,
    blanked,
    blurred,
    changed,
    compressed,
    jittered,
    noisy,
    warped,
    worn,
)
from ludens.train.nano.inputs import GREY  # noqa: E402
from ludens.train.recipe import SupervisedOptions  # noqa: E402


def draws(count: int, rows: slice = slice(None)) -> PictureDraws:
    return PictureDraws(torch.Generator().manual_seed(0), count, rows)


def board(count: int, side: int = 64) -> torch.Tensor:
    """A black square in the middle of each grey picture."""
    pictures = torch.full((count, 3, side, side), 200, dtype=torch.uint8)
    pictures[:, :, side // 4 : side * 3 // 4, side // 4 : side * 3 // 4] = 0
    return pictures


def test_some_pictures_are_blank() -> None:
    pictures = torch.arange(1000 * 3 * 4, dtype=torch.uint8).reshape(1000, 3, 2, 2)
    shown = blanked(pictures, 0.1, draws(1000))
    blank = (shown == GREY).flatten(1).all(1)
    assert 60 < blank.sum() < 140
    assert torch.equal(shown[~blank], pictures[~blank])


def test_jitter_changes_colours_only() -> None:
    pictures = torch.randint(0, 256, (4, 3, 8, 8), dtype=torch.uint8)
    shown = jittered(pictures, 0.3, draws(4))
    assert shown.dtype == torch.uint8
    assert not torch.equal(shown, pictures)
    order = pictures[0, 0].flatten().argsort(stable=True)
    assert (shown[0, 0].flatten()[order].int().diff() >= 0).all()


def test_steady_pictures_are_moved_by_whole_pixels() -> None:
    pictures = torch.randint(0, 256, (60, 3, 64, 64), dtype=torch.uint8)
    shown = warped(pictures, 0.1, draws(60), torch.ones(60, dtype=torch.bool))
    ways = set[tuple[int, int]]()
    for before, after in zip(pictures, shown, strict=True):
        inner = after[:, STEPS:-STEPS, STEPS:-STEPS]
        found = [
            (x, y)
            for x in range(2 * STEPS + 1)
            for y in range(2 * STEPS + 1)
            if torch.equal(inner, before[:, y : y + 64 - 2 * STEPS, x : x + 64 - 2 * STEPS])
        ]
        assert len(found) == 1
        ways.add(found[0])
    assert len(ways) > 25
    assert max(max(way) for way in ways) >= 2 * STEPS - 2


def test_pictures_are_moved_and_shrunk_unless_they_are_steady() -> None:
    pictures, steady = board(400), torch.arange(400) % 4 == 0
    shown = warped(pictures, 0.1, draws(400), steady)
    dark = (shown < 40).all(1)
    rows, columns = dark.any(2).float(), dark.any(1).float()
    moved = (shown != pictures).flatten(1).any(1)
    assert 0.5 < moved[~steady].float().mean() < 0.8  # the others are seen as they are
    inside = shown[:, 0, 32, 32] < 40
    assert inside.all()  # never so far that the middle leaves the square
    heights, widths = rows.sum(1)[moved], columns.sum(1)[moved]
    framed = heights < 60  # not those in a black frame
    assert heights[framed].min() < 28
    assert heights[framed].max() > 32
    assert (heights[framed] != widths[framed]).any()


def test_a_shift_moves_everything_by_as_much() -> None:
    pictures = board(200)
    shown = warped(pictures, 0.1, draws(200), torch.zeros(200, dtype=torch.bool))
    centres = []
    for picture in shown:
        dark = (picture < 40).all(0)
        if 0 < dark.sum() < 34 * 34:
            centres.append(dark.nonzero().float().mean(0) - 31.5)
    spread = torch.stack(centres).abs().amax(0)
    assert (spread > 3).all()
    assert (spread < 64 * (0.1 + 0.2 / 3) + 1).all()


def test_worn_pictures_are_a_share_and_stay_alike() -> None:
    pictures = board(100)
    shown = worn(pictures, 0.1, draws(100))
    touched = (shown != pictures).flatten(1).any(1)
    assert 20 <= touched.sum() <= 30
    assert (shown.float() - pictures.float()).abs().mean() < 5


@pytest.mark.parametrize("wear", [compressed, blurred, noisy])
def test_wear_grows_with_its_strength(wear: object) -> None:
    pictures = torch.rand(2, 3, 16, 16) * 255
    grain = torch.rand(3, 16, 16) - 0.5
    strength = torch.tensor([0.0, 1.0])[:, None, None, None]
    after = wear(pictures, strength, grain)  # type: ignore[operator]
    weak, strong = (after - pictures).abs().flatten(1).mean(1)
    assert weak < strong


def test_compression_keeps_a_smooth_picture() -> None:
    smooth = torch.linspace(0, 255, 16)[None, None, None].expand(1, 3, 16, 16)
    after = compressed(smooth, torch.zeros(1, 1, 1, 1), torch.zeros(3, 16, 16))
    assert (after - smooth).abs().max() < 4


def test_a_rank_changes_its_pictures_as_one_alone_would() -> None:
    options = SupervisedOptions(warp=0.1, jitter=0.2, blank=0.1)
    pictures, steady = board(8), torch.zeros(8, dtype=torch.bool)
    alone = changed(pictures, options, draws(8), steady)
    half = slice(1, None, 2)
    assert torch.equal(changed(pictures[half], options, draws(8, half), steady[half]), alone[half])
