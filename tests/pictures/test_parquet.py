"""Export to Parquet and import: the same bytes; a changed export is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption
from ludens.pictures import Header, PictureSetWriter, open_set
from ludens.pictures import parquet as sets_as_parquet
from ludens.pictures.parquet import export_set, import_set
from tests.pictures.test_sets import image, write

pq = pytest.importorskip("pyarrow.parquet")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("rows", [2, 2000])
def test_export_and_import_give_the_same_files(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets_as_parquet, "ROWS_PER_FILE", rows)
    folder = write(tmp_path / "a")
    paths = export_set(open_set(folder), tmp_path / "out")
    assert len(paths) == (2 if rows == 2 else 1)
    assert import_set(tmp_path / "out", tmp_path / "b").hash == open_set(folder).hash
    assert contents(tmp_path / "b") == contents(folder)


def test_scenes_with_different_roles_survive(tmp_path: Path) -> None:
    writer = PictureSetWriter(tmp_path / "a", Header("robots", "scene", "test"))
    writer.add("one", {"front": image(1), "top": image(2)}, scene={"b": [1, 2.5], "a": None})
    writer.add("two", {"front": image(3)})
    export_set(open_set(writer.finish()), tmp_path / "out")
    import_set(tmp_path / "out", tmp_path / "b")
    assert contents(tmp_path / "b") == contents(tmp_path / "a")


@pytest.mark.slow
def test_hugging_face_reads_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder = write(tmp_path / "a")
    export_set(open_set(folder), tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == 3
    assert loaded[1]["original"].size == (12, 8)
    assert loaded[1]["original"].getpixel((0, 0)) == (1, 10, 200)


def edited(folder: Path, column: str, value: object) -> None:
    [path] = (folder / "data").glob("*.parquet")
    table = pq.read_table(path)
    values = table.column(column).to_pylist()
    values[0] = value
    place = table.column_names.index(column)
    field = table.schema.field(column)
    import pyarrow as pa

    pq.write_table(table.set_column(place, field, pa.array(values, field.type)), path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("scene", '{"k": 7}', "was changed after its export"),
        ("scene", "{", "not an exported picture set"),
        ("scene", None, "not an exported picture set"),
        ("id", "../../evil", "other characters"),
        ("original", None, "half a pair"),
        ("original", {"bytes": b"text", "path": "x.png"}, "not a readable PNG"),
        ("original", {"bytes": None, "path": "/etc/passwd"}, "not a readable PNG"),
    ],
)
def test_a_changed_export_is_refused_and_nothing_left(
    column: str, value: object, message: str, tmp_path: Path
) -> None:
    export_set(open_set(write(tmp_path / "a")), tmp_path / "out")
    edited(tmp_path / "out", column, value)
    with pytest.raises(BadFile, match=message):
        import_set(tmp_path / "out", tmp_path / "b")
    assert sorted(os.listdir(tmp_path)) == ["a", "out"]


def test_folders_that_are_no_export_or_not_empty(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="not an exported picture set"):
        import_set(tmp_path, tmp_path / "b")
    pictures = open_set(write(tmp_path / "a"))
    with pytest.raises(BadOption, match="not an empty folder"):
        export_set(pictures, tmp_path / "a")
    export_set(pictures, tmp_path / "out")
    for path in (tmp_path / "out" / "data").iterdir():
        path.write_bytes(b"not parquet")
    with pytest.raises(BadFile, match="not an exported picture set"):
        import_set(tmp_path / "out", tmp_path / "b")
