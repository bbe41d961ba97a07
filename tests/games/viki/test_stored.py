"""Scenes that were made in advance are those that the generator makes."""

from __future__ import annotations

from pathlib import Path

import pytest

import ludens
from ludens.core.errors import BadFile
from ludens.games.viki import source, stored, trace
from ludens.games.viki.level import Answered
from tests.games.viki.hand_kitchen import SCENE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path))
    monkeypatch.setattr(stored, "BLOCK", 2)
    forget()
    return tmp_path


def forget() -> None:
    source.shown.cache_clear()
    trace._with_paths.cache_clear()


@pytest.mark.parametrize("spec", ["viki/activate?split=ood", "viki/plan?split=ood", "viki/trace?split=ood"])
def test_stored_scenes_are_those_of_the_generator(
    spec: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = ludens.make(spec)
    before = [game.start(seed) for seed in (3, 4)]
    game.prepare([3, 4])
    assert len(list(folder.rglob("*.json.z"))) == 2
    forget()
    monkeypatch.setattr(source, "generate", None)
    for state, old in zip((game.start(3), game.start(4)), before, strict=True):
        assert isinstance(state, Answered)
        assert isinstance(old, Answered)
        assert (state.given.seed, state.scene) == (old.given.seed, old.scene)
        assert state.solution("planner") == old.solution("planner")
    with pytest.raises(TypeError):  # a seed that is not stored needs the generator
        game.start(8)


def test_blocks_are_made_once(folder: Path) -> None:
    asked: list[int] = []

    def make(seed: int) -> stored.Numbered:
        asked.append(seed)
        return seed, SCENE

    assert stored.store("generate", "id", [1], make) == 1
    assert stored.store("generate", "id", [0, 1, 2], make) == 1
    assert asked == [0, 1, 2, 3]
    assert stored.stored("generate", "id", 3) == (3, SCENE)
    assert stored.stored("generate", "id", 4) is None
    assert stored.stored("generate", "ood", 3) is None


@pytest.mark.parametrize("content", [b"", b"\x78", None])
def test_bad_files_are_named(content: bytes | None, folder: Path) -> None:
    stored.store("generate", "id", [0], lambda seed: (seed, SCENE))
    (file,) = folder.rglob("*.json.z")
    file.write_bytes(stored.zlib.compress(b'[{"seed": 0}]') if content is None else content)
    with pytest.raises(BadFile, match="delete it"):
        stored.stored("generate", "id", 0)


def test_the_hash_covers_what_determines_scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the sources has the same hash, until one of them changes."""
    here = Path(stored.__file__).parent
    for file in (*here.glob("*.py"), *here.glob("*.toml")):
        (tmp_path / file.name).write_bytes(file.read_bytes())

    def hashed(module: str) -> str:
        stored._hash.cache_clear()
        return stored._hash(module)

    whole = hashed("generate")
    monkeypatch.setattr(stored, "_HERE", tmp_path)
    assert hashed("generate") == whole != hashed("trace")
    for name, changes in {"views.py": False, "planner.py": True, "tasks.toml": True}.items():
        old = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(old + b"\n# changed\n")
        assert (hashed("generate") != whole) is changes
        (tmp_path / name).write_bytes(old)
    stored._hash.cache_clear()
