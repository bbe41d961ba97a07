"""Writing files atomically."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ludens.core.files import write_atomically


def test_the_contents_are_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_atomically(file, b"first")
    write_atomically(file, b"second")
    assert file.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_keeps_the_old_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(b"old")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as partial:
            partial.write(data[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, b"new contents")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_bytes(b"old")
    link = tmp_path / "link.html"
    link.symlink_to("real.html")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "real.html").read_bytes() == b"new"


def test_a_device_is_written_directly() -> None:
    write_atomically(Path(os.devnull), b"anything")
    assert not Path(os.devnull).is_file()
