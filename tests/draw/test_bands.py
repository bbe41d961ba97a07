"""Bands of rows: reused between pictures, and never wrong for it."""

import io
import struct
import zlib
from base64 import b64decode
from hashlib import blake2b, sha256

import numpy as np
import pytest
from PIL import Image

from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.errors import ReplayMismatch
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.verify import verify
from ludens.core.view import RenderOptions
from ludens.draw import Picture, bands, board

PALETTE = np.arange(30, dtype=np.uint8).reshape(10, 3)


def noise(seed: int, height: int = 70, width: int = 41) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 10, (height, width), dtype=np.uint8)


def read(file: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(file)) as image:
        return np.array(image)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> bands.Cache[bands.Band]:
    return empty_cache(monkeypatch)


def empty_cache(monkeypatch: pytest.MonkeyPatch, limit: int = 2**20) -> bands.Cache[bands.Band]:
    cache: bands.Cache[bands.Band] = bands.Cache(limit, lambda band: len(band.pixels))
    monkeypatch.setattr(bands, "band_cache", cache)
    monkeypatch.setattr(board, "band_cache", cache)
    monkeypatch.setattr(board, "digest_cache", bands.Cache(limit, len))
    return cache


def test_hash_is_made_of_the_hashes_of_bands() -> None:
    pixels = noise(1)
    rows = [blake2b(pixels[top : top + 32].tobytes(), digest_size=32).digest() for top in (0, 32, 64)]
    head = struct.pack("<III", 41, 70, PALETTE.nbytes) + PALETTE.tobytes()
    assert Picture(pixels, PALETTE).hash == sha256(head + b"".join(rows)).hexdigest()[:16]


def test_unchanged_bands_are_shared_between_pictures(cache: bands.Cache[bands.Band]) -> None:
    pixels = noise(2)
    changed = pixels.copy()
    changed[40, 3] += 1
    first, second = bands.split_bands(pixels), bands.split_bands(changed)
    assert [a is b for a, b in zip(first, second, strict=True)] == [True, False, True]


@pytest.mark.parametrize("fast", [True, False])
def test_bands_with_equal_checksums_are_told_apart(
    cache: bands.Cache[bands.Band], monkeypatch: pytest.MonkeyPatch, fast: bool
) -> None:
    plain = {seed: Picture(noise(seed), PALETTE).hash for seed in range(3)}
    monkeypatch.setattr(bands, "_checksum", lambda data, start=0: 7)
    for seed in (0, 1, 2, 0, 1, 2):
        picture = Picture(noise(seed), PALETTE)
        assert picture.hash == plain[seed]
        monkeypatch.undo()
        assert np.array_equal(read(picture.png(fast)), noise(seed))
        monkeypatch.setattr(bands, "band_cache", cache)
        monkeypatch.setattr(bands, "_checksum", lambda data, start=0: 7)


def test_cache_is_bounded_and_keeps_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 20 * 41 * 32
    cache = empty_cache(monkeypatch, limit)
    kept = bands.split_bands(noise(0, 32))[0]
    for seed in range(1, 200):
        bands.split_bands(noise(seed, 32))
        assert bands.split_bands(noise(0, 32))[0] is kept
        held = [*cache._recent.values(), *cache._older.values()]
        assert sum(len(band.pixels) for band in held) <= limit


@pytest.mark.parametrize("limit", [0, 2**16, 2**20])
@pytest.mark.parametrize("name", ["tic_tac_toe", "gomoku", "hanabi"])
def test_frames_of_a_game_do_not_depend_on_what_is_cached(
    monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    empty_cache(monkeypatch, limit)
    game = make(name)
    view, state, random = game.view(RenderOptions(size=256)), game.start(3), stream(3, "test")
    for _ in range(30):
        if state.over:
            break
        picture = view.image(state, state.to_act[0])
        pixels, palette = picture.pixels.copy(), picture.palette
        with monkeypatch.context() as patch:
            empty_cache(patch)
            assert picture.hash == Picture(pixels, palette).hash
        assert np.array_equal(read(picture.png()), pixels)
        state.apply({seat: random.choice(list(state.legal(seat))) for seat in state.to_act})


@pytest.mark.parametrize("width", range(40, 46))
def test_data_uri_is_the_file(width: int) -> None:
    for picture in (Picture(noise(width, 70, width), PALETTE), Picture(PALETTE[noise(width, 70, width)])):
        uri = picture.data_uri()
        assert uri == picture.data_uri()
        assert b64decode(uri.removeprefix("data:image/png;base64,"), validate=True) == picture.png()


@pytest.mark.parametrize("fast", [True, False])
def test_checksum_is_that_of_all_lines(fast: bool) -> None:
    """Pillow reads files whose checksum is wrong."""
    file, offset, data = Picture(noise(5), PALETTE).png(fast), 8, b""
    while offset < len(file):
        length, kind = struct.unpack_from(">I4s", file, offset)
        if kind == b"IDAT":
            data += file[offset + 8 : offset + 8 + length]
        offset += length + 12
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(70, 42)
    assert np.array_equal(lines[:, 1:], noise(5))


def hash_of_all_pixels(picture: Picture) -> str:
    """The hash that episodes contained before pictures were hashed in bands."""
    colours = b"" if picture.palette is None else picture.palette.tobytes()
    head = struct.pack("<III", picture.width, picture.height, len(colours)) + colours
    return sha256(head + picture.pixels.tobytes()).hexdigest()[:16]


def test_episodes_with_hashes_of_all_pixels_are_verified() -> None:
    game = make("tic_tac_toe")
    episode = play_sync(game, {seat: agent("bot/random", game) for seat in game.seats}, seed=1)
    view, state = game.view(RenderOptions()), game.start(episode.seed)
    for move in episode.moves:
        move.pictures[:] = [hash_of_all_pixels(picture) for picture in view.images(state, move.seat)]
        state.apply({move.seat: move.action})
    episode.sees = dict.fromkeys(game.seats, "image")
    assert verify(episode).pictures == len(episode.moves)
    episode.moves[2].pictures[0] = episode.moves[1].pictures[0]
    with pytest.raises(ReplayMismatch):
        verify(episode)
