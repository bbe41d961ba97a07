import base64
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from PIL import Image

from ludens.core.errors import BadFile, BadOption
from ludens.draw import Canvas, Picture, animate, bands, picture, sprite_sheet, strip
from tests.draw.pictures import gomoku

PaletteImage = tuple[NDArray[np.uint8], NDArray[np.uint8]]
ROTATED = 6


def decoded(data: bytes) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(data)) as image:
        return np.array(image.convert("RGB"))


def saved(image: Image.Image, format: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def photograph(width: int = 60, height: int = 40) -> Image.Image:
    noise = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(noise)


@st.composite
def palette_images(draw: st.DrawFn) -> PaletteImage:
    count = draw(st.integers(1, 256))
    palette = draw(arrays.arrays(np.uint8, (count, 3)))
    shape = (draw(st.integers(1, 40)), draw(st.integers(1, 40)))
    return draw(arrays.arrays(np.uint8, shape, elements=st.integers(0, count - 1))), palette


@given(palette_images(), st.sampled_from([True, False, None]))
def test_png_files_hold_pixels_and_palette(image: PaletteImage, fast: bool | None) -> None:
    pixels, palette = image
    drawn = Picture(pixels, palette)
    file = drawn.png(fast)
    with Image.open(io.BytesIO(file)) as read:
        assert read.mode == "P"
        assert np.array_equal(np.array(read), pixels)
    assert np.array_equal(decoded(file), palette[pixels])
    read_back = Picture.from_bytes(file)
    assert read_back.hash == drawn.hash
    assert read_back.encoded() == (file, "image/png")


def test_without_isal_files_are_written_by_zlib(monkeypatch: pytest.MonkeyPatch) -> None:
    zlib = gomoku(sprite_sheet("classic", 256)).png(False)
    monkeypatch.setattr(bands, "isal_zlib", None)
    assert gomoku(sprite_sheet("classic", 256)).png() == zlib
    assert gomoku(sprite_sheet("classic", 256)).png(True) == zlib


def test_hash_covers_size_palette_and_pixels() -> None:
    pixels, palette = np.zeros((2, 8), np.uint8), np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    one = pixels.copy()
    one[1, 1] = 1
    turned, swapped = pixels.reshape(8, 2), palette[::-1].copy()
    variants = [
        (pixels, palette),
        (one, palette),
        (turned, palette),
        (pixels, swapped),
        (pixels, palette[:1]),
    ]
    assert len({Picture(*variant).hash for variant in variants}) == 5
    assert Picture(pixels, palette) == Picture(pixels.copy(), palette.copy())
    assert len(Picture(pixels, palette).hash) == 16


def test_a_picture_does_not_change_when_its_canvas_does() -> None:
    canvas = Canvas(sprite_sheet("classic", 256))
    shown = canvas.picture()
    before, copy = shown.hash, canvas.copy()
    with pytest.raises(ValueError, match="read-only"):
        canvas.fill(0, 0, 50, 50, "red")
    copy.fill(0, 0, 50, 50, "red")
    assert Picture(shown.pixels, shown.palette).hash == before != copy.picture().hash
    with pytest.raises(ValueError, match="read-only"):
        shown.pixels[0, 0] = 1


def test_arrays_in_any_memory_order_give_the_same_picture() -> None:
    pixels, palette = np.arange(24, dtype=np.uint8).reshape(4, 6), np.zeros((24, 3), np.uint8)
    view = np.asfortranarray(pixels)
    view.setflags(write=False)
    assert Picture(view, palette).hash == Picture(pixels, palette).hash == Picture(pixels[:], palette).hash
    assert Picture(view, palette).png() == Picture(pixels, palette).png()


@pytest.mark.parametrize("colours", [1, 7, 256])
def test_true_colours_are_those_of_the_palette(colours: int) -> None:
    numbers = np.random.default_rng(colours)
    pixels = numbers.integers(0, colours, (33, 41), dtype=np.uint8)
    palette = numbers.integers(0, 256, (colours, 3), dtype=np.uint8)
    rgb = Picture(pixels, palette).rgb()
    assert np.array_equal(rgb, palette[pixels])
    assert not rgb.flags.writeable


def test_encoding_keeps_pixels_palette_and_hash() -> None:
    first, second = gomoku(sprite_sheet("classic", 256)), gomoku(sprite_sheet("classic", 256))
    uri = first.data_uri()
    assert first.hash == second.hash
    assert np.array_equal(first.pixels, second.pixels)
    assert np.array_equal(first.rgb(), second.rgb())
    assert first.data_uri() == uri
    with pytest.raises(ValueError, match="read-only"):
        first.pixels[0, 0] = 1


def test_data_uri_holds_the_png() -> None:
    shown = gomoku(sprite_sheet("classic", 256))
    head, body = shown.data_uri().split(",", 1)
    assert head == "data:image/png;base64"
    assert base64.b64decode(body) == shown.png()
    assert shown.jpeg().startswith(b"\xff\xd8")


def test_blank_is_one_grey_of_the_same_size() -> None:
    blank = Canvas(sprite_sheet("classic", 256), width=100, height=60).picture().blank()
    assert (blank.width, blank.height) == (100, 60)
    assert np.unique(blank.rgb()).tolist() == [128]


def test_true_colour_arrays_have_the_same_methods() -> None:
    rgb = np.array(photograph())
    shown = Picture(rgb)
    assert shown.palette is None
    assert np.array_equal(shown.rgb(), rgb)
    assert np.array_equal(decoded(shown.png()), rgb)
    assert Picture.from_bytes(shown.png()).hash == shown.hash
    assert (shown.blank().width, shown.blank().height) == (60, 40)
    assert shown.resized(30).rgb().shape == (20, 30, 3)
    assert shown.image().mode == "RGB"


@pytest.mark.parametrize(("format", "mime"), [("JPEG", "image/jpeg"), ("PNG", "image/png")])
def test_a_file_keeps_its_bytes(format: str, mime: str) -> None:
    data = saved(photograph(), format)
    shown = Picture.from_bytes(data)
    assert shown.encoded() == (data, mime)
    assert shown.data_uri() == f"data:{mime};base64,{base64.b64encode(data).decode()}"
    assert (shown.jpeg() if format == "JPEG" else shown.png()) == data
    assert (shown.width, shown.height) == (60, 40)
    assert np.array_equal(shown.rgb(), decoded(data))
    assert np.array_equal(decoded(shown.png()), decoded(data))
    assert shown.hash == Picture(decoded(data)).hash
    assert shown.blank().rgb().shape == (40, 60, 3)
    assert max(shown.resized(20).rgb().shape) == 20


def test_files_are_decoded_when_pixels_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Picture.from_bytes(saved(photograph(), "JPEG"))
    monkeypatch.setattr(picture, "_pixels", None)
    assert shown.data_uri()
    assert shown.blank().width == 60


def test_a_rotated_photograph_is_turned_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = ROTATED
    image = Image.new("RGB", (60, 40), "red")
    image.paste("blue", (0, 0, 30, 40))
    shown = Picture.from_bytes(saved(image, "JPEG", exif=exif))
    assert (shown.width, shown.height) == (40, 60)
    assert shown.encoded()[1] == "image/png"
    assert decoded(shown.png()).shape == (60, 40, 3)
    assert shown.rgb()[5, 20, 2] > 200
    exif[0x0112] = 1
    assert Picture.from_bytes(saved(image, "JPEG", exif=exif)).encoded()[1] == "image/jpeg"


@pytest.mark.parametrize("mode", ["CMYK", "RGBA", "LA"])
def test_unusual_colour_modes_become_rgb(mode: str) -> None:
    image = Image.new("RGB", (6, 4), "red").convert(mode)
    shown = Picture.from_bytes(saved(image, "JPEG" if mode == "CMYK" else "PNG"))
    assert decoded(shown.png()).shape == (4, 6, 3)
    assert shown.encoded()[1] == "image/png"
    assert Image.open(io.BytesIO(shown.png())).mode == "RGB"


def test_transparent_parts_are_put_on_white() -> None:
    clear = Picture.from_bytes(saved(Image.new("RGBA", (4, 4), (255, 0, 0, 0)), "PNG"))
    assert np.unique(clear.rgb()).tolist() == [255]
    palette = Image.new("P", (4, 4), 0)
    palette.putpalette([0, 0, 255, 9, 9, 9])
    shown = Picture.from_bytes(saved(palette, "PNG", transparency=0))
    assert np.unique(decoded(shown.png())).tolist() == [255]


def test_animations_show_their_first_frame() -> None:
    frames = [Image.new("RGB", (8, 6), colour) for colour in ("red", "blue")]
    for format in ("GIF", "PNG", "WEBP"):
        shown = Picture.from_bytes(
            saved(frames[0], format, save_all=True, append_images=frames[1:], lossless=True)
        )
        assert shown.encoded()[1] == "image/png"
        assert getattr(Image.open(io.BytesIO(shown.png())), "n_frames", 1) == 1
        assert shown.rgb()[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("data", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"<svg/>"])
def test_a_broken_file_is_refused(data: bytes) -> None:
    with pytest.raises(BadFile, match="not a readable"):
        Picture.from_bytes(data)


@pytest.mark.parametrize("format", ["PNG", "JPEG"])
def test_a_truncated_file_is_refused_when_it_is_decoded(format: str) -> None:
    whole = saved(photograph(), format)
    shown = Picture.from_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadFile, match="not a readable"):
        _ = shown.hash


def test_size_is_checked_before_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    data = saved(photograph(60, 40), "PNG")
    monkeypatch.setattr(picture, "MAX_PIXELS", 60 * 40)
    assert Picture.from_bytes(data).width == 60
    monkeypatch.setattr(picture, "MAX_PIXELS", 60 * 40 - 1)
    monkeypatch.setattr(picture, "_pixels", None)
    with pytest.raises(BadFile, match="60 by 40"):
        Picture.from_bytes(data)


def test_strip_keeps_a_shared_palette_and_the_pixels() -> None:
    shown = gomoku(sprite_sheet("classic", 256))
    row = strip([shown] * 3, 2, ["a", "b", "ü漢"])
    assert row.palette is shown.palette
    frames = row.rgb()
    assert (row.width, row.height) == (2 * 256 + 24, frames.shape[0])
    assert np.array_equal(frames[-264:-8, 8:264], shown.rgb())
    for other in (gomoku(sprite_sheet("plain", 256)), Picture(np.array(photograph()))):
        mixed = strip([shown, other])
        assert mixed.palette is None
        assert np.array_equal(mixed.rgb()[8:264, 8:264], shown.rgb())


def test_strip_and_animation_refuse_invalid_input() -> None:
    shown = Canvas(sprite_sheet("classic", 256)).picture()
    with pytest.raises(BadOption):
        strip([])
    with pytest.raises(BadOption):
        strip([shown], captions=["a", "b"])
    with pytest.raises(BadOption):
        animate([shown, Canvas(sprite_sheet("classic", 300)).picture()], 100)


def test_animation_has_every_frame() -> None:
    sheet = sprite_sheet("classic", 256)
    frames = []
    for x in range(4):
        canvas = Canvas(sheet)
        canvas.fill(x * 40, 10, 30, 30, "red")
        frames.append(canvas.picture())
    with Image.open(io.BytesIO(animate(frames, 200))) as film:
        assert getattr(film, "n_frames", 1) == 4
        for number, frame in enumerate(frames):
            film.seek(number)
            assert np.array_equal(np.array(film.convert("RGB")), frame.rgb())
