"""Folders of pictures: given pairs, edited photographs, and everything that can be wrong with them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.games.spy.sources import photos
from ludens.games.spy.sources.photos import Photos
from ludens.pictures.writer import Skip


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


@pytest.mark.parametrize("edit", ["recolor", "remove", "move"])
def test_edits_are_local_and_visible(edit: str, tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    photo().save(tmp_path / "cat.jpg", quality=95)
    made = Photos(folder=str(tmp_path), edits=edit, seed=1).resolved().make(0)
    assert {change["edit"] for change in made.changes} == {edit}
    apart = np.abs(pixels(made.pictures["original"]) - pixels(made.pictures["modified"])).max(-1)
    assert 0.005 < (apart > 25).mean() < 0.3
    [decoy, change, *_] = made.changes
    assert (decoy["in"], change["in"]) in (("both", "original"), ("both", "modified"))
    x, y, w, h = change["box"]
    assert apart[y : y + h, x : x + w].mean() > 3 * np.median(apart) + 5
    x, y, w, h = decoy["box"]
    assert np.median(apart[y : y + h, x : x + w]) < 10


def test_a_decoy_does_not_take_the_only_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one(pixels: np.ndarray, kinds: object, random: object, taken: list[object]) -> object:
        return None if taken else (255 - pixels, {"edit": "recolor", "box": [0, 0, 9, 9]})

    monkeypatch.setattr(photos, "edited", one)
    monkeypatch.setattr(photos, "_PATCHES", 1)
    photo(size=(96, 72)).save(tmp_path / "cat.png")
    [change] = Photos(folder=str(tmp_path)).make(0).changes
    assert change["in"] in ("original", "modified")


def test_chance_decides_which_picture_is_edited(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    photo(size=(96, 72)).save(tmp_path / "cat.png")
    edited = set()
    for seed in (0, 1):
        made = Photos(folder=str(tmp_path), seed=seed, decoys=0, edits="recolor").make(0)
        [role, *_] = {change["in"] for change in made.changes}
        edited.add(role)
        other = {"original": "modified", "modified": "original"}[role]
        assert np.abs(pixels(made.pictures[other]) - np.array(photo(size=(96, 72)), int)).mean() < 6
        assert np.abs(pixels(made.pictures[role]) - np.array(photo(size=(96, 72)), int)).max() > 60
    assert edited == {"original", "modified"}


def test_large_photographs_are_scaled(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    photo(size=(300, 200)).save(tmp_path / "cat.png")
    made = Photos(folder=str(tmp_path), size=120).make(0)
    assert pixels(made.pictures["modified"]).shape == (80, 120, 3)


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
    with pytest.raises(Skip, match="identical"):
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
    picture = photo(size=(96, 72))
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(tmp_path / "a.jpg", exif=exif)
    picture.convert("CMYK").save(tmp_path / "b.jpg")
    generator = Photos(folder=str(tmp_path))
    shapes = [pixels(generator.make(number).pictures["original"]).shape for number in (0, 1)]
    assert shapes == [(96, 72, 3), (72, 96, 3)]


def test_wrong_options() -> None:
    with pytest.raises(BadOption, match="--from FOLDER"):
        Photos().resolved()
    with pytest.raises(UnknownName, match="did you mean 'remove'"):
        Photos(folder="x", edits="remoove").resolved()


def test_settings_do_not_name_the_folder(tmp_path: Path) -> None:
    photo().save(tmp_path / "a.png")
    settings = Photos(folder=str(tmp_path)).settings()
    assert "folder" not in settings
    photo(2).save(tmp_path / "b.png")
    assert Photos(folder=str(tmp_path)).settings()["files"] != settings["files"]
