"""Filling a set: by one process or several, after a kill, with entries that cannot be made."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from ludens.core.errors import BadFile, BadOption, UsageError
from ludens.core.options import option
from ludens.pictures import PictureSetWriter, open_set
from ludens.pictures.writer import GENERATORS, EntryContents, Generator, Skip, checked_count, fill

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Colours(Generator):
    """Plain pictures; number 3 cannot be made."""

    seed: int = option(0, help="seed")
    fails: str = option("", help="how number 2 fails")

    name = "test/colours"
    version = "1"

    def make(self, number: int) -> EntryContents:
        while number > 1 and (gate := os.environ.get("GATE")) and not Path(gate).exists():
            time.sleep(0.05)
        if number == 3:
            raise Skip("blank")
        if number == 2 and self.fails == "file":
            raise BadFile("'x.png' is not a picture.")
        if number == 2 and self.fails == "exit":
            os._exit(7)
        return EntryContents(
            {role: _image(number, k) for k, role in enumerate(("original", "modified"))}, {"n": number}
        )


def _image(number: int, k: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), (number, k, 0)).save(out, "PNG")
    return out.getvalue()


def filled(folder: Path, generator: Colours, workers: int) -> str:
    writer = PictureSetWriter(folder, generator.header("colours"))
    fill(writer, generator, 6, workers)
    assert writer.skip_reasons() == {"000003": "blank"}
    return open_set(writer.finish()).hash


def test_one_process_and_several_give_the_same_set(tmp_path: Path) -> None:
    told: list[int] = []
    generator = Colours()
    writer = PictureSetWriter(tmp_path / "a", generator.header("colours"))
    fill(writer, generator, 6, 1, told.append)
    assert told == [0, 1, 2, 3, 4, 5, 6]
    assert [entry.id for entry in open_set(writer.finish()).entries] == [
        "000000", "000001", "000002", "000004", "000005",
    ]  # fmt: skip
    assert filled(tmp_path / "b", generator, 2) == open_set(tmp_path / "a").hash


@pytest.mark.parametrize(("fails", "error"), [("file", BadFile), ("exit", UsageError)])
def test_a_failure_in_a_process_is_told(fails: str, error: type[UsageError], tmp_path: Path) -> None:
    generator = Colours(fails=fails)
    writer = PictureSetWriter(tmp_path / "a", generator.header("colours"))
    with pytest.raises(error, match=r"not a picture|ended with code 7; what it made is kept"):
        fill(writer, generator, 6, 2)
    assert writer.written_ids() <= {"000000", "000001", "000003", "000004", "000005"}
    assert not (tmp_path / "a" / "manifest.jsonl").exists()


def test_a_killed_command_continues(tmp_path: Path) -> None:
    """SIGKILL while two processes write; they end too, and the finished set is that of an undisturbed run."""
    code = (
        "import sys; from pathlib import Path; from ludens.pictures import PictureSetWriter\n"
        "from ludens.pictures.writer import fill; from tests.pictures.test_generate import Colours\n"
        "if __name__ == '__main__':\n"
        "    g = Colours(); w = PictureSetWriter(Path(sys.argv[1]), g.header('colours'))\n"
        "    fill(w, g, 6, 2)\n"
    )
    script, folder = tmp_path / "script.py", tmp_path / "killed"
    script.write_text(code)
    gate = tmp_path / "gate"
    environment = {
        **os.environ,
        "GATE": str(gate),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    process = subprocess.Popen([sys.executable, str(script), str(folder)], env=environment)
    deadline = time.monotonic() + 120
    while len(list(folder.glob("parts/000*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with pytest.raises(BadFile, match="not finished"):
        open_set(folder)
    generator = Colours()
    kept = PictureSetWriter(folder, generator.header("colours")).written_ids()
    assert len(kept) == 2
    gate.touch()
    time.sleep(1.0)
    later = PictureSetWriter(folder, generator.header("colours")).written_ids()
    assert len(later) <= len(kept) + 2  # each process ends after the entry it was at
    assert filled(folder, generator, 1) == filled(tmp_path / "whole", generator, 2)


def test_counts_are_checked() -> None:
    assert checked_count(5) == 5
    for wrong in (0, -1, 10_000_000):
        with pytest.raises(BadOption, match="1 to 1000000"):
            checked_count(wrong)


def test_the_generators_of_the_package_are_known() -> None:
    assert {"spy/chart", "spy/clevr", "spy/photos"} <= set(GENERATORS.names())
