import base64
import io

import numpy as np
import pytest
from PIL import Image

from ludens.core.errors import BadFile, BadOption
from ludens.draw import FilePicture, Picture, animate, kit, strip
from tests.draw.pictures import gomoku


def test_png_round_trip_keeps_the_hash_whatever_the_encoder() -> None:
    picture = gomoku(kit("classic", 256))
    for fast in (True, False):
        assert Picture.from_png(picture.png(fast)).hash == picture.hash
    assert len(picture.hash) == 16
    assert (picture.width, picture.height) == (256, 256)


def test_hash_sees_size_palette_and_pixels() -> None:
    pixels, palette = np.zeros((2, 8), np.uint8), np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    one = pixels.copy()
    one[1, 1] = 1
    turned, swapped = pixels.reshape(8, 2), palette[::-1].copy()
    variants = [(pixels, palette), (one, palette), (turned, palette), (pixels, swapped)]
    assert len({Picture(*variant).hash for variant in variants}) == 4
    assert Picture(pixels, palette) == Picture(pixels.copy(), palette.copy())


def test_picture_is_frozen_and_unmoved_by_later_drawing() -> None:
    canvas = kit("classic", 256).canvas()
    picture = canvas.picture()
    before = picture.hash
    canvas.fill(0, 0, 50, 50, "red")
    assert Picture(picture.pixels, picture.palette).hash == before
    with pytest.raises(ValueError, match="read-only"):
        picture.pixels[0, 0] = 1
    with pytest.raises(AttributeError):
        picture.pixels = canvas.pixels  # type: ignore[misc]


def test_blank_is_one_grey_of_the_same_size() -> None:
    blank = kit("classic", 256).canvas(width=100, height=60).picture().blank()
    assert (blank.width, blank.height) == (100, 60)
    assert np.unique(blank.rgb()).tolist() == [128]


def test_data_uri_holds_the_file() -> None:
    picture = gomoku(kit("classic", 256))
    for format, kind in (("png", "PNG"), ("jpeg", "JPEG")):
        head, body = picture.data_uri(format).split(",", 1)
        assert head == f"data:image/{format};base64"
        assert Image.open(io.BytesIO(base64.b64decode(body))).format == kind
    with pytest.raises(BadOption, match="tiff"):
        picture.data_uri("tiff")


def test_true_colour_files_have_the_same_methods() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (30, 40, 3)).astype(np.uint8)
    picture = Picture.from_image(Image.fromarray(rgb))
    assert isinstance(picture, FilePicture)
    assert np.array_equal(picture.rgb(), rgb)
    assert Picture.from_png(picture.png()).hash == picture.hash
    assert picture.blank().width == 40
    assert max(picture.resized(20).rgb().shape[:2]) == 20


def test_transparent_parts_lie_on_white() -> None:
    clear = Picture.from_image(Image.new("RGBA", (4, 4), (255, 0, 0, 0)))
    assert np.unique(clear.rgb()).tolist() == [255]


@pytest.mark.parametrize("data", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 40])
def test_a_broken_file_is_one_sentence(data: bytes) -> None:
    with pytest.raises(BadFile):
        Picture.from_png(data)


def test_a_truncated_file_is_one_sentence() -> None:
    whole = kit("classic", 256).canvas().picture().png(False)
    with pytest.raises(BadFile):
        Picture.from_png(whole[: len(whole) // 2])


def test_strip_keeps_a_shared_palette_and_the_pixels() -> None:
    picture = gomoku(kit("classic", 256))
    row = strip([picture] * 3, 2, ["a", "b", "ü漢"])
    assert row.palette is picture.palette
    frames = row.rgb()
    assert (row.width, row.height) == (2 * 256 + 24, frames.shape[0])
    window = frames[-264:-8, 8:264]
    assert np.array_equal(window, picture.rgb())
    mixed = strip([picture, gomoku(kit("plain", 256))])
    assert isinstance(mixed, FilePicture)
    assert np.array_equal(mixed.rgb()[8:264, 8:264], picture.rgb())


def test_strip_and_animation_refuse_nonsense() -> None:
    picture = kit("classic", 256).canvas().picture()
    with pytest.raises(BadOption):
        strip([])
    with pytest.raises(BadOption):
        strip([picture], captions=["a", "b"])
    with pytest.raises(BadOption):
        animate([picture, kit("classic", 300).canvas().picture()], 100)


def test_animation_has_every_frame() -> None:
    pens = kit("classic", 256)
    frames = []
    for x in range(4):
        canvas = pens.canvas()
        canvas.fill(x * 40, 10, 30, 30, "red")
        frames.append(canvas.picture())
    with Image.open(io.BytesIO(animate(frames, 200))) as film:
        assert getattr(film, "n_frames", 1) == 4
        for number, frame in enumerate(frames):
            film.seek(number)
            assert np.array_equal(np.array(film.convert("RGB")), frame.rgb())
