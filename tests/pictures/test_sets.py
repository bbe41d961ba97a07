"""Picture sets: found by name, path and hash; everything wrong with one is found when it is read."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import orjson
import pytest
from PIL import Image

from ludens.core.errors import BadFile, BadOption, UnknownName, UsageError
from ludens.pictures import Header, PictureSetWriter, open_set, set_names, sets, user_folder
from ludens.pictures.manifest import read_manifest, write_manifest

HEADER = Header("tiny", "pair", "test", "1", {"seed": 3})


def image(colour: int, size: tuple[int, int] = (12, 8), mode: str = "RGB", kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (colour, 10, 200)).convert(mode).save(out, kind)
    return out.getvalue()


def rotated() -> bytes:
    out = io.BytesIO()
    picture = Image.new("RGB", (12, 8), (200, 0, 0))
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(out, "JPEG", exif=exif)
    return out.getvalue()


def write(folder: Path, header: Header = HEADER, n: int = 3) -> Path:
    writer = PictureSetWriter(folder, header)
    for k in range(n):
        pair = {"original": image(k), "modified": image(100 + k, kind="JPEG")}
        writer.add(f"{k:03d}", pair, scene={"k": k}, changes=[{"what": "colour"}], licence="CC0-1.0")
    return writer.finish()


@pytest.fixture(autouse=True)
def no_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LUDENS_DATA", raising=False)


def test_a_set_gives_back_what_was_written(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    opened = open_set(folder)
    assert (opened.name, len(opened.entries), opened.check()) == ("tiny", 3, 6)
    entry = opened.entries[1]
    assert (entry.id, entry.scene, entry.licence) == ("001", {"k": 1}, "CC0-1.0")
    assert (entry.kind, entry.generator, entry.version) == ("pair", "test", "1")
    assert list(entry.changes) == [{"what": "colour"}]
    picture = opened.picture(entry, "modified")
    assert picture.encoded() == (image(101, kind="JPEG"), "image/jpeg")
    assert opened.picture(entry, "original").rgb()[0, 0].tolist() == [1, 10, 200]
    assert opened.picture(entry, "original") is opened.picture(entry, "original")
    with pytest.raises(UnknownName, match="picture"):
        opened.picture(entry, "front")


def test_the_hash_depends_on_the_contents_only(tmp_path: Path) -> None:
    hashes = {open_set(write(tmp_path / name)).hash for name in "ab"}
    assert len(hashes) == 1
    assert open_set(write(tmp_path / "c", n=2)).hash not in hashes
    assert open_set(write(tmp_path / "d", replace(HEADER, settings={"seed": 4}))).hash not in hashes


def test_the_hash_is_the_one_the_page_describes(tmp_path: Path) -> None:
    """Computed here from the file, without the code that writes or reads it."""
    lines = (write(tmp_path / "a") / "manifest.jsonl").read_bytes().splitlines(keepends=True)
    written = orjson.loads(lines[0])["sha256"]
    unsigned = lines[0].replace(written.encode(), b"").replace(b'"name":"tiny"', b'"name":""')
    assert sha256(unsigned + b"".join(lines[1:])).hexdigest() == written
    assert open_set(tmp_path / "a").hash == written[:16]


def test_names_are_looked_up_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="picture set 'tiny'"):
        open_set("tiny")
    write(tmp_path / "cache" / "ludens" / "tiny", n=2)
    assert len(open_set("tiny").entries) == 2
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path / "data"))
    assert len(open_set("tiny").entries) == 2
    write(tmp_path / "data" / "tiny", n=1)
    assert len(open_set("tiny").entries) == 1
    assert "tiny" in set_names()
    with pytest.raises(UnknownName, match="did you mean 'tiny'"):
        open_set("tinny")


def test_a_hash_chooses_between_sets_of_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path / "data"))
    old = open_set(write(tmp_path / "cache" / "ludens" / "tiny", n=2))
    new = open_set(write(tmp_path / "data" / "tiny", n=1))
    assert open_set("tiny", old.hash).folder == old.folder
    assert open_set("tiny", new.hash).folder == new.folder
    assert open_set("/another/machine/tiny", new.hash).folder == new.folder
    with pytest.raises(BadFile, match=f"has the hash {new.hash}, but 0123 is needed"):
        open_set("tiny", "0123")
    with pytest.raises(BadFile, match="with the hash 0123 is not here: put its folder into"):
        open_set("nothing", "0123")


@pytest.mark.parametrize(
    ("platform", "variable", "value", "folder"),
    [
        ("linux", "XDG_CACHE_HOME", "/x", "/x/ludens"),
        ("linux", "XDG_CACHE_HOME", "relative", "/home/me/.cache/ludens"),
        ("darwin", "XDG_CACHE_HOME", "/x", "/home/me/Library/Caches/ludens"),
        ("win32", "LOCALAPPDATA", "/local", "/local/ludens"),
        ("linux", "LUDENS_DATA", "/mine", "/mine"),
    ],
)
def test_the_folder_of_each_platform(
    platform: str, variable: str, value: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv(variable, value)
    assert user_folder() == Path(folder)


def test_the_hash_is_that_of_the_contents(tmp_path: Path) -> None:
    """The same pictures have one hash under every name; in the first format the name was part of it."""
    for number in (1, 2):
        first = open_set(write(tmp_path / f"a{number}", replace(HEADER, format=number)))
        renamed = open_set(write(tmp_path / f"b{number}", replace(HEADER, name="other", format=number)))
        assert (first.name, renamed.name) == ("tiny", "other")
        assert (first.hash == renamed.hash) is (number == 2)
    settings = open_set(write(tmp_path / "c", replace(HEADER, settings={"seed": 4})))
    assert settings.hash != open_set(tmp_path / "a2").hash


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "a")
    monkeypatch.setattr(sets, "CACHE_BYTES", 2 * (folder / "images/000-original.png").stat().st_size)
    opened = open_set(folder)
    first = opened.picture(opened.entries[0], "original")
    for entry in opened.entries:
        opened.picture(entry, "original")
    held = {**opened._cache._recent, **opened._cache._older}
    assert 0 < sum(len(picture.encoded()[0]) for picture in held.values()) <= sets.CACHE_BYTES
    again = opened.picture(opened.entries[0], "original")
    assert again is not first
    assert again == first


def replaced(folder: Path, old: str, new: str) -> None:
    path = folder / "manifest.jsonl"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def signed(folder: Path, old: str, new: str) -> None:
    """Edit the manifest and sign it again, as a forger would."""
    path = folder / "manifest.jsonl"
    first, _, body = path.read_bytes().partition(b"\n")
    head = orjson.loads(first)
    body = body.replace(old.encode(), new.encode(), 1)
    unnamed = orjson.dumps(head | {"sha256": "", "name": ""})
    head["sha256"] = sha256(unnamed + b"\n" + body).hexdigest()
    path.write_bytes(orjson.dumps(head) + b"\n" + body)


def test_forging_works_at_all(tmp_path: Path) -> None:
    signed(write(tmp_path / "a"), '"scene":{"k":0}', '"scene":null')
    assert open_set(tmp_path / "a").entries[0].scene is None


OTHER = {"original": "images/000-original.png", "modified": "images/000-modified.jpg"}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda f: replaced(f, '"k":1', '"k":2'), "edited after"),
        (lambda f: replaced(f, '"seed":3', '"seed":4'), "edited after"),
        (lambda f: replaced(f, '"entries":3', '"entries":2'), "edited after"),
        (lambda f: replaced(f, '"name":"', '"name":"another-'), ""),
        (lambda f: replaced(f, '"format":2', '"format":3'), "format 3"),
        (lambda f: replaced(f, '"format":2', '"format":1'), "edited after"),
        (lambda f: (f / "manifest.jsonl").write_text(""), "line 1 is not valid"),
        (lambda f: (f / "manifest.jsonl").write_bytes(b"\xff\n"), "line 1 is not valid"),
        (lambda f: (f / "manifest.jsonl").unlink(), "has no manifest.jsonl"),
        (lambda f: signed(f, '"id":"001"', '"id":"000"'), "id or a file of another"),
        (lambda f: signed(f, "images/001-original", "images/000-original"), "id or a file of another"),
        (lambda f: signed(f, OTHER["original"], "../x.png"), "inside the folder"),
        (lambda f: signed(f, OTHER["original"], "/etc/x.png"), "inside the folder"),
        (lambda f: signed(f, OTHER["original"], "images/../../x.png"), "inside the folder"),
        (lambda f: signed(f, OTHER["original"], "C:\\\\x.png"), "inside the folder"),
        (lambda f: signed(f, OTHER["original"], "images/x.gif"), "inside the folder"),
        (lambda f: signed(f, '"modified":', '"extra":'), "half a pair"),
        (lambda f: signed(f, '"width":12', '"width":13'), "two sizes, 13x8 and 12x8"),
        (lambda f: signed(f, '"width":12', '"width":30000'), "30000 by 8 pixels is too large"),
        (lambda f: signed(f, '"width":12', '"width":"12"'), "width"),
        (lambda f: signed(f, '"kind":"pair"', '"kind":"scene"'), "in a set of kind 'pair'"),
        (lambda f: signed(f, '"licence"', '"licenze"'), ""),
    ],
)  # fmt: skip
def test_a_bad_manifest_is_refused(edit: Callable[[Path], object], message: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    assert open_set(folder)
    edit(folder)
    if message:
        with pytest.raises(BadFile, match=message) as caught:
            open_set(folder)
        assert str(caught.value).count(str(folder)) == 1
        assert str(caught.value).endswith(".")
    else:
        assert open_set(folder)


def test_a_bad_count_is_refused() -> None:
    head = orjson.loads(write_manifest(HEADER, [])) | {"entries": 1}
    head["sha256"] = sha256(orjson.dumps(head | {"sha256": "", "name": ""}) + b"\n").hexdigest()
    with pytest.raises(BadFile, match="has 0 entries, but its header says 1"):
        read_manifest(orjson.dumps(head) + b"\n")


def swapped(folder: Path, data: bytes, size: tuple[int, int] = (12, 8)) -> None:
    """Put other bytes into a file, and their hash and size into a signed manifest."""
    path = folder / OTHER["original"]
    old = sha256(path.read_bytes()).hexdigest()
    path.write_bytes(data)
    signed(folder, old, sha256(data).hexdigest())
    for name in OTHER.values():
        name = f'{name}","sha256":"{sha256((folder / name).read_bytes()).hexdigest()}"'
        signed(folder, f'{name},"width":12,"height":8', f'{name},"width":{size[0]},"height":{size[1]}')


def linked(folder: Path) -> None:
    path = folder / OTHER["original"]
    outside = path.rename(folder.parent / "outside.png")
    path.symlink_to(outside)


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is huge, without the pixels."""
    small = bytearray(image(0))
    small[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    import zlib

    small[29:33] = zlib.crc32(small[12:29]).to_bytes(4, "big")
    return bytes(small)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda f: (f / OTHER["original"]).write_bytes(image(9)), "was changed"),
        (lambda f: (f / OTHER["original"]).unlink(), "cannot read .*no such file"),
        (linked, "outside the folder"),
        (lambda f: swapped(f, b"just text"), "not a readable PNG"),
        (lambda f: swapped(f, image(0, (8, 12))), "is 8x12, not 12x8"),
        (lambda f: swapped(f, bomb(30_000, 30_000)), "30000|900000000"),
        (lambda f: swapped(f, bomb(9_000, 9_000)), "9000 by 9000 pixels is too large"),
        (lambda f: swapped(f, rotated()), "is 8x12|upright"),
        (lambda f: swapped(f, image(0, mode="CMYK", kind="JPEG")), "upright PNG or JPEG"),
        (lambda f: swapped(f, image(0, mode="RGBA")), "upright PNG or JPEG"),
        (lambda f: swapped(f, image(0, kind="WEBP")), "upright PNG or JPEG"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused(edit: Callable[[Path], object], message: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    edit(folder)
    opened = open_set(folder)
    with pytest.raises(BadFile, match=message):
        opened.picture(opened.entries[0], "original")
    with pytest.raises(BadFile, match=message):
        opened.check()
    assert opened.picture(opened.entries[1], "original").width == 12


def test_the_writer_converts_photographs(tmp_path: Path) -> None:
    writer = PictureSetWriter(tmp_path / "a", HEADER)
    writer.add("cmyk", {"original": image(0, mode="CMYK", kind="JPEG"), "modified": image(1)})
    writer.add("rotated", {"original": rotated(), "modified": image(1, (8, 12))})
    opened = open_set(writer.finish())
    assert opened.check() == 4
    cmyk, turned = (opened.picture(entry, "original") for entry in opened.entries)
    assert np.abs(cmyk.rgb()[0, 0].astype(int) - [0, 10, 200]).max() < 30
    assert (turned.width, turned.height) == (8, 12)


@pytest.mark.parametrize(
    ("pictures", "message"),
    [
        ({"original": image(0)}, "half a pair"),
        ({"original": image(0), "modified": image(1, (8, 8))}, "two sizes, 8x8 and 12x8"),
        ({"original": image(0), "modified": b"just text"}, "not a readable PNG"),
        ({"original": image(0), "modified": bomb(30_000, 30)}, "30000 by 30 pixels is too large"),
        ({"original": image(0), "modified": bomb(10_000, 9_500)}, "10000 by 9500 pixels is too large"),
        ({"original": image(0), "modified": bomb(30_000, 30_000)}, "exceeds limit"),
        ({"original": image(0), "modified": image(1)[:45]}, "not a readable PNG"),
    ],
)
def test_the_writer_refuses(pictures: dict[str, bytes], message: str, tmp_path: Path) -> None:
    writer = PictureSetWriter(tmp_path / "a", HEADER)
    with pytest.raises(UsageError, match=message):
        writer.add("x", pictures)
    assert writer.written_ids() == set()
    assert not (tmp_path / "a" / "images").exists()
    with pytest.raises(BadFile, match="empty set; nothing was written"):
        writer.finish()
    assert not (tmp_path / "a").exists()


def test_a_set_continues_after_a_crash(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole")
    folder = tmp_path / "part"
    writer = PictureSetWriter(folder, HEADER)
    writer.add("000", {"original": image(0), "modified": image(100, kind="JPEG")}, scene={"k": 0},
               changes=[{"what": "colour"}], licence="CC0-1.0")  # fmt: skip
    (folder / "images" / "001-original.png").write_bytes(image(1)[:50])
    (folder / "images" / "009-original.png.part").write_bytes(b"")
    (folder / "parts" / "002.json.part").write_bytes(b"{")
    with pytest.raises(BadFile, match="not finished"):
        open_set(folder)
    with pytest.raises(BadOption, match="other settings"):
        PictureSetWriter(folder, replace(HEADER, settings={"seed": 5}))
    assert PictureSetWriter(folder, HEADER).written_ids() == {"000"}
    with pytest.raises(BadOption, match="lacks 2 entries, the first '001'"):
        PictureSetWriter(folder, HEADER).finish(["000", "001", "002"])
    for path in (folder / "parts").glob("000.json"):
        assert path.stat().st_size > 100
    write(folder)
    assert open_set(folder).hash == open_set(whole).hash
    assert sorted(os.listdir(folder)) == ["images", "manifest.jsonl"]
    assert sorted(os.listdir(folder / "images")) == sorted(os.listdir(whole / "images"))


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BadOption, match="not an empty folder"):
        PictureSetWriter(tmp_path, HEADER)
    assert os.listdir(tmp_path) == ["letter.txt"]
    with pytest.raises(BadOption, match="not a name of a set"):
        PictureSetWriter(tmp_path / "a", replace(HEADER, name="My Set"))
