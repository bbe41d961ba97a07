"""Folders of pictures: given pairs, edited photographs, and everything that can be wrong with them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.games.spy.sources import photos
from ludens.games.spy.sources.edits import EDITORS, EDITS
from ludens.games.spy.sources.photos import Photos
from ludens.pictures.writer import EntryContents, Skip


def photo(seed: int = 0, size: tuple[int, int] = (160, 120)) -> Image.Image:
    """Smooth coloured blobs, as a photograph has."""
    small = np.random.default_rng(seed).integers(0, 256, (8, 10, 3), np.uint8)
    return Image.fromarray(small).resize(size, Image.Resampling.BICUBIC)


def pixels(data: bytes) -> np.ndarray:
    return np.array(Image.open(io.BytesIO(data)).convert("RGB"), int)


def test_pairs_are_kept_as_they_are(tmp_path: Path) -> None:
    for seed, role in enumerate(("original", "modified")):
        photo(seed).save(tmp_path / f"cat_{role}.png")
    generator = Photos(folder=str(tmp_path), licence="CC-BY-4.0").resolved()
    assert generator.prepare() == "1 pair"
    made = generator.make(0)
    assert made.pictures["modified"] == (tmp_path / "cat_modified.png").read_bytes()
    assert made.licence == "CC-BY-4.0"


def things(size: tuple[int, int] = (240, 180), seed: int = 0) -> Image.Image:
    """Coloured balls on an uneven ground, with the noise of a camera."""
    width, height = size
    dice = np.random.default_rng(seed)
    down, across = np.mgrid[:height, :width]
    pixels = 150 + 30 * np.sin(across / width * 3)[..., None] + dice.normal(0, 2, (height, width, 3))
    places = [(0.22, 0.3), (0.7, 0.25), (0.3, 0.72), (0.78, 0.7)]
    colours = [(200, 40, 40), (40, 60, 190), (30, 150, 60), (220, 180, 30)]
    for (x, y), colour in zip(places, colours, strict=True):
        far = np.hypot(across - x * width, down - y * height) / (0.08 * width)
        pixels[far < 1] = (np.array(colour) * (1.1 - 0.5 * far[..., None]))[far < 1]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def changed(made: EntryContents) -> np.ndarray:
    return np.abs(pixels(made.pictures["original"]) - pixels(made.pictures["modified"])).max(-1)


def made_by(folder: Path, picture: Image.Image | None = None, **options: Any) -> EntryContents:
    """The first pair that can be made of the picture."""
    (picture or things()).save(folder / "cat.png")
    for seed in range(20):
        try:
            return Photos(folder=str(folder), seed=seed, **options).resolved().make(0)
        except Skip:
            continue
    raise AssertionError("no seed makes a pair")


@pytest.mark.parametrize("edit", EDITS)
def test_edits_are_local_visible_and_logged(edit: str, tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    made, before = made_by(tmp_path, edits=edit), np.array(things(), int)
    assert [change["edit"] for change in made.changes] == [edit, edit]
    assert {change["in"] for change in made.changes} == {"original", "modified"}
    outside = np.ones(before.shape[:2], bool)
    for change in made.changes:
        other = {"move": "to", "add": "from"}.get(edit)
        assert set(change) == {"edit", "box", "in", *([other] if other else [])}
        if other:
            assert change[other][2:] == change["box"][2:], "the object keeps its size"
            assert change[other][:2] != change["box"][:2]
        for x, y, w, h in [change["box"], *([change["to"]] if edit == "move" else [])]:
            outside[max(0, y - 16) : y + h + 16, max(0, x - 16) : x + w + 16] = False
            for role, data in made.pictures.items():  # the other picture is as it was
                apart = np.abs(pixels(data) - before)[y : y + h, x : x + w].mean()
                assert bool(apart > 15) is (role == change["in"])
    assert np.median(changed(made)[outside]) < 4
    assert (changed(made)[outside] > 40).mean() < 0.001


def test_a_shadow_goes_with_its_object(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    before = np.array(things(), float)
    down, across = np.mgrid[: before.shape[0], : before.shape[1]]
    shade = 0 * before[..., 0]
    for x, y in ((0.22, 0.3), (0.7, 0.25), (0.3, 0.72), (0.78, 0.7)):
        far = np.hypot((across - x * 240 - 20) / 16, (down - y * 180 - 10) / 7)
        shade = np.maximum(shade, 40 * np.clip(2 - far, 0, 1))
    ball = before.max(-1) - before.min(-1) > 25
    dark = Image.fromarray(
        np.where(ball[..., None], before, before - shade[..., None]).clip(0).astype(np.uint8)
    )
    made = made_by(tmp_path, dark, edits="remove")
    for change in made.changes:
        x, y, w, h = change["box"]
        left = pixels(made.pictures[change["in"]])[y : y + h, x + w - 4 : x + w + 12].mean(-1)
        assert (np.array(dark, int).mean(-1)[y : y + h, x + w - 4 : x + w + 12]).min() < 135
        assert left.min() > 138


def test_chance_decides_what_is_edited_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cv2")

    def darker(pixels: np.ndarray, *rest: Any) -> Any:
        return pixels // 2, {"edit": "recolor", "box": [0, 0, 9, 9]}

    monkeypatch.setattr(photos, "edited", darker)
    monkeypatch.setattr(photos, "find_things", lambda pixels, random: [])
    things().save(tmp_path / "cat.png")
    made = [Photos(folder=str(tmp_path), seed=seed).make(0) for seed in range(5)]
    assert {pair.changes[0]["in"] for pair in made} == {"original", "modified"}


def _striped(pixels: np.ndarray, hole: np.ndarray, seed: int) -> np.ndarray:
    assert (hole.dtype, hole.shape) == (bool, pixels.shape[:2])
    stripes = np.where(np.arange(pixels.shape[1]) % 12 < 6, 60, 200).astype(np.uint8)
    return np.broadcast_to(stripes[None, :, None], pixels.shape).copy()


def test_an_editor_fills_what_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cv2")
    monkeypatch.setattr(EDITORS, "_added", {"stripes": _striped, "small": lambda pixels, *rest: pixels[:9]})
    made = made_by(tmp_path, edits="remove", editor="stripes")
    for change in made.changes:
        x, y, w, h = change["box"]
        inside = pixels(made.pictures[change["in"]])[y : y + h, x : x + w].mean(-1)
        assert np.abs(np.diff(inside, axis=1)).max() > 60
    assert Photos(folder=str(tmp_path), editor="stripes").settings()["editor"] == "stripes"
    with pytest.raises(BadOption, match="180x240x3"):
        made_by(tmp_path, edits="remove", editor="small")
    with pytest.raises(UnknownName, match="did you mean 'stripes'"):
        Photos(folder=str(tmp_path), editor="stripe").resolved()


def test_large_photographs_are_scaled(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    things((480, 360)).save(tmp_path / "cat.png")
    made = Photos(folder=str(tmp_path), size=240, edits="recolor").make(0)
    assert pixels(made.pictures["modified"]).shape == (180, 240, 3)


def test_failed_edits_are_skipped_unless_requested(tmp_path: Path) -> None:
    blank = Image.new("RGB", (160, 120), (9, 9, 9))
    blank.save(tmp_path / "a_original.png")
    photo().save(tmp_path / "a_modified.png")
    for role in ("original", "modified"):
        photo().save(tmp_path / f"b_{role}.png")
    strict = Photos(folder=str(tmp_path))
    for number, reason in enumerate(("blank", "identical")):
        with pytest.raises(Skip, match=reason):
            strict.make(number)
        assert len(Photos(folder=str(tmp_path), keep_failed=True).make(number).pictures) == 2


def test_a_blank_photograph_cannot_be_edited(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    Image.new("RGB", (160, 120), (9, 9, 9)).save(tmp_path / "a.png")
    with pytest.raises(Skip, match="without a trace"):
        Photos(folder=str(tmp_path)).make(0)
    kept = Photos(folder=str(tmp_path), keep_failed=True).make(0)
    assert kept.pictures["original"] == kept.pictures["modified"]
    assert {change["edit"] for change in kept.changes} == {"failed"}


def test_a_picture_without_objects_is_skipped(tmp_path: Path) -> None:
    """No disc is drawn into it as a last resort."""
    pytest.importorskip("cv2")
    across = np.linspace(60, 200, 160)[None, :, None] + np.zeros((120, 160, 3))
    Image.fromarray(across.astype(np.uint8)).save(tmp_path / "sky.png")
    with pytest.raises(Skip, match="without a trace"):
        Photos(folder=str(tmp_path)).make(0)


def pair(folder: Path, other: Image.Image) -> None:
    photo(0).save(folder / "x_original.png")
    other.save(folder / "x_modified.png")


def huge(folder: Path) -> None:
    pair(folder, photo(1))
    data = bytearray((folder / "x_modified.png").read_bytes())
    data[16:20] = (30_000).to_bytes(4, "big")
    import zlib

    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    (folder / "x_modified.png").write_bytes(data)


BAD: list[tuple[Callable[[Path], object], str]] = [
    (lambda f: photo().save(f / "x_original.png"), "half a pair .* x_original has no x_modified"),
    (lambda f: pair(f, photo(1, (80, 60))), "two sizes, 160x120 and 80x60|two sizes, 80x60 and 160x120"),
    (huge, "30000 by 120 pixels is too large"),
    (lambda f: (f / "x.png").write_text("hello"), "not a readable PNG"),
    (lambda f: (pair(f, photo(1)), photo().save(f / "y.png")), "'y.png' is not part of one"),
    (lambda f: None, "has no pictures"),
    (lambda f: f.rmdir(), "is not a folder"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD)
def test_bad_folders_are_refused_before_anything_is_made(
    spoil: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    spoil(folder)
    with pytest.raises(BadFile, match=message):
        Photos(folder=str(folder)).resolved().prepare()


def test_rotated_and_cmyk_photographs_are_converted(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    picture = things()
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(tmp_path / "a.jpg", exif=exif)
    picture.convert("CMYK").save(tmp_path / "b.jpg")
    generator = Photos(folder=str(tmp_path), edits="recolor")
    shapes = [pixels(generator.make(number).pictures["original"]).shape for number in (0, 1)]
    assert shapes == [(240, 180, 3), (180, 240, 3)]


def test_wrong_options() -> None:
    with pytest.raises(BadOption, match="--from FOLDER"):
        Photos().resolved()
    with pytest.raises(UnknownName, match="did you mean 'remove'"):
        Photos(folder="x", edits="remoove").resolved()


def test_settings_do_not_name_the_folder(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    photo().save(tmp_path / "a.png")
    settings = Photos(folder=str(tmp_path)).settings()
    assert "folder" not in settings
    photo(2).save(tmp_path / "b.png")
    assert Photos(folder=str(tmp_path)).settings()["files"] != settings["files"]
