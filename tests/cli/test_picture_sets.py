"""`ludens data` makes, lists, checks, exports and imports picture sets; wrong input is one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ludens.pictures import open_set
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


def photos(folder: Path) -> Path:
    folder.mkdir()
    for seed, name in enumerate(("a_original", "a_modified", "b_original", "b_modified")):
        noise = np.random.default_rng(seed).integers(0, 256, (40, 60, 3), np.uint8)
        Image.fromarray(noise).save(folder / f"{name}.png")
    Image.open(folder / "b_original.png").save(folder / "b_modified.png")
    return folder


def test_a_set_is_made_listed_checked_exported_and_imported(
    ludens: Run, tmp_path: Path, data_folder: Path
) -> None:
    pytest.importorskip("pyarrow")
    source = str(photos(tmp_path / "in"))
    ran = ludens("data", "spy/photos", "--from", source, "--out", str(data_folder / "mine"), "--workers", "1")
    assert ran.code == 0, ran.err
    assert "1 pair, hash" in ran.out
    assert "skipped: 1 (identical)" in ran.out
    assert "spy/photos: 2 of 2" in ran.err
    made = open_set("mine")
    listed = json.loads(ludens("data", "list", "--json").out)
    assert {"mine": made.hash}.items() <= {each["name"]: each["hash"] for each in listed}.items()
    assert f"1 pair, 2 files, hash {made.hash}" in ludens("data", "check", "mine").out
    out = str(tmp_path / "parquet")
    assert ludens("data", "export", "mine", "--out", out).code == 0
    ran = ludens("data", "import", out, "--out", str(tmp_path / "again"))
    assert f"hash {made.hash}" in ran.out
    ran = ludens("data", "import", out)
    assert ran.code == 2
    assert "not an empty folder" in ran.err


def test_failed_pairs_can_be_kept(ludens: Run, tmp_path: Path) -> None:
    source = str(photos(tmp_path / "in"))
    ran = ludens("data", "spy/photos", "--from", source, "-o", "keep_failed=yes", "--workers", "1", "--json")
    described = json.loads(ran.out)
    assert (described["entries"], described["skipped"]) == (2, {})
    assert described["name"] == "spy-photos-2"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["data", "spy/clever"], "did you mean 'spy/clevr'"),
        (["data", "spy/clevr", "--pairs", "0"], "1 to 1000000"),
        (["data", "spy/clevr", "--change", "smell"], "not 'smell'"),
        (["data", "spy/clevr", "-o", "variant=abacus"], "abacus"),
        (["data", "spy/clevr", "-o", "speed=3"], "speed"),
        (["data", "spy/photos"], "--from FOLDER"),
        (["data", "spy/photos", "--from", "nowhere"], "is not a folder"),
        (["data", "spy/chart", "--out", "My Set"], "not a name of a set"),
        (["data", "export"], "missing argument"),
        (["data", "export", "nothing", "--out", "x"], "unknown picture set 'nothing'"),
        (["data", "export", "nothing"], "missing option --out"),
        (["data", "import", "nowhere"], "not an exported picture set"),
        (["data", "check", "nowhere"], "unknown picture set"),
        (["data", "list", "more"], "unexpected argument 'more'"),
        (["data", "vs-bench/hanabi", "--out", "x", "--change", "color"], "options of picture sets"),
    ],
)
def test_usage_errors(
    ludens: Run, words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("mitsuba", "matplotlib", "pyarrow"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    ran = ludens(*words)
    assert ran.code == 2
    assert says in ran.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("spy/clevr", "mitsuba", "scenes"),
        ("spy/chart", "matplotlib", "charts"),
        ("spy/photos", "cv2", "photos"),
    ],
)
def test_a_missing_extra_is_named(
    ludens: Run, name: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    folder = tmp_path / "in"
    folder.mkdir()
    Image.effect_noise((80, 80), 50).save(folder / "a.png")
    given = ["--from", str(folder)] if name == "spy/photos" else []
    ran = ludens("data", name, *given)
    assert ran.code == 2
    assert f"ludens[{extra}]" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_bad_picture_leaves_nothing(ludens: Run, tmp_path: Path, data_folder: Path) -> None:
    folder = photos(tmp_path / "in")
    data = (folder / "b_modified.png").read_bytes()
    (folder / "b_modified.png").write_bytes(data[: len(data) // 2])
    ran = ludens("data", "spy/photos", "--from", str(folder), "--workers", "1")
    assert ran.code == 2
    assert "b_modified.png" in ran.err
    assert not data_folder.exists() or not list(data_folder.iterdir())
