"""Scenes that were made in advance are those that the generator makes."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

import ludens
from ludens.core.errors import BadFile
from ludens.games.viki import generate, levels, sources
from ludens.games.viki.levels import AnswerState
from tests.games.viki.hand_kitchen import SCENE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path))
    monkeypatch.setattr(generate, "BLOCK", 2)
    forget()
    return tmp_path


def forget() -> None:
    sources.setup_of.cache_clear()
    sources._generated.cache_clear()
    levels._with_paths.cache_clear()


@pytest.mark.parametrize("spec", ["viki/activate?split=ood", "viki/plan?split=ood", "viki/trace?split=ood"])
def test_stored_scenes_are_those_of_the_generator(
    spec: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = ludens.make(spec)
    before = [game.start(seed) for seed in (3, 4)]
    game.prepare([3, 4])
    assert len(list(folder.rglob("*.json.z"))) == 2
    forget()
    monkeypatch.setattr(sources, "generate", None)
    for state, old in zip((game.start(3), game.start(4)), before, strict=True):
        assert isinstance(state, AnswerState)
        assert isinstance(old, AnswerState)
        assert (state.setup.seed, state.scene) == (old.setup.seed, old.scene)
        assert state.solution("planner") == old.solution("planner")
    with pytest.raises(TypeError):  # a seed that is not stored needs the generator
        game.start(8)


def test_blocks_are_made_once(folder: Path) -> None:
    asked: list[int] = []

    def make(seed: int) -> generate.Numbered:
        asked.append(seed)
        return seed, SCENE

    assert generate.store("generate", "id", [1], make) == 1
    assert generate.store("generate", "id", [0, 1, 2], make) == 1
    assert asked == [0, 1, 2, 3]
    assert generate.stored("generate", "id", 3) == (3, SCENE)
    assert generate.stored("generate", "id", 4) is None
    assert generate.stored("generate", "ood", 3) is None


@pytest.mark.parametrize("content", [b"", b"\x78", None])
def test_bad_files_are_named(content: bytes | None, folder: Path) -> None:
    generate.store("generate", "id", [0], lambda seed: (seed, SCENE))
    (file,) = folder.rglob("*.json.z")
    file.write_bytes(generate.zlib.compress(b'[{"seed": 0}]') if content is None else content)
    with pytest.raises(BadFile, match="delete it"):
        generate.stored("generate", "id", 0)


def test_scenes_of_another_version_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> int:
        return generate.store("generate", "id", [0], lambda seed: (seed, SCENE))

    assert (made(), made()) == (1, 0)
    monkeypatch.setattr(type(ludens.make("viki/plan")), "version", 1000)
    assert generate.stored("generate", "id", 0) is None
    assert (made(), made()) == (1, 0)
    monkeypatch.setattr(generate, "STREAMS_VERSION", 1000)
    assert generate.stored("generate", "id", 0) is None
    assert generate.stored("trace", "id", 0) is None


def test_comments_in_the_sources_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "BLOCK", 100)
    generate.store("generate", "id", [0], lambda seed: (seed, SCENE))
    read_text, read_bytes = Path.read_text, Path.read_bytes
    comment = "\n# changed\n"

    def text(file: Path, *args: Any, **options: Any) -> str:
        return read_text(file, *args, **options) + (comment if file.suffix == ".py" else "")

    def data(file: Path) -> bytes:
        return read_bytes(file) + (comment.encode() if file.suffix == ".py" else b"")

    monkeypatch.setattr(Path, "read_text", text)
    monkeypatch.setattr(Path, "read_bytes", data)
    read_again = run_path(generate.__file__)["stored"]
    assert read_again("generate", "id", 0) == (0, SCENE)
