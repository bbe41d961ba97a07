import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from PIL import Image

from ludens.draw import png

PaletteImage = tuple[NDArray[np.uint8], NDArray[np.uint8]]


@st.composite
def palette_images(draw: st.DrawFn) -> PaletteImage:
    count = draw(st.integers(1, 256))
    palette = draw(arrays.arrays(np.uint8, (count, 3)))
    shape = (draw(st.integers(1, 40)), draw(st.integers(1, 40)))
    return draw(arrays.arrays(np.uint8, shape, elements=st.integers(0, count - 1))), palette


@given(palette_images(), st.booleans())
def test_pillow_reads_what_was_written(image: PaletteImage, fast: bool) -> None:
    pixels, palette = image
    with Image.open(io.BytesIO(png.write(pixels, palette, fast))) as read:
        read.load()
        assert read.mode == "P"
        assert np.array_equal(np.array(read), pixels)
        assert np.array_equal(np.array(read.convert("RGB")), palette[pixels])


def test_environment_chooses_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("isal")
    pixels = np.arange(4096, dtype=np.uint8).reshape(64, 64) % 7
    palette = np.zeros((7, 3), np.uint8)
    monkeypatch.setenv("LUDENS_PNG", "zlib")
    assert png.write(pixels, palette) == png.write(pixels, palette, False)
    monkeypatch.delenv("LUDENS_PNG")
    assert png.write(pixels, palette) == png.write(pixels, palette, True)
