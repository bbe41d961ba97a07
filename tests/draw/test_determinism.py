"""The pixels of a picture depend on theme, size and what was drawn; on nothing else."""

import os
import subprocess
import sys

import pytest

import ludens.draw
from ludens.draw import Kit, kit, theme
from tests.draw.pictures import chess, everything, gomoku

GOLDEN = {
    ("classic", "gomoku"): "3e8baae75491d442",
    ("classic", "chess"): "f7299f3cbdd7b7ad",
    ("classic", "everything"): "5866ba673d11d803",
    ("contrast", "gomoku"): "e11699807c7f3b06",
    ("contrast", "chess"): "87f89d1be557806c",
    ("contrast", "everything"): "b1929e4c7f2c2e6c",
    ("plain", "gomoku"): "aef4c5e06e10bbc4",
    ("plain", "chess"): "a9a5d0e846d9dd6e",
    ("plain", "everything"): "ee2690d911032b7e",
}

SCRIPT = """
import sys
from ludens.draw import kit
from tests.draw.pictures import chess, everything, gomoku
order = [chess, everything, gomoku]
hashes = {}
for name, seed in (("classic", 0), ("random", 7)):
    pens = kit(name, 512, seed)
    if sys.argv[1] == "b":
        pens.token("purple", 33, "dark"); pens.text("something else", 31)
    for draw in order if sys.argv[1] == "a" else order[::-1]:
        hashes[name, draw.__name__] = draw(pens).hash
print(sorted(hashes.items()))
"""


def _run(order: str) -> str:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = os.pathsep.join([root, os.path.join(root, "src")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "1" if order == "a" else "2"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, order], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_two_processes_and_two_orders_agree() -> None:
    first = _run("a")
    assert first == _run("b")
    assert gomoku(kit("classic", 512)).hash in first


def test_order_of_stones_does_not_matter() -> None:
    assert gomoku(Kit(theme("random", 3), 512)) == gomoku(Kit(theme("random", 3), 512), backwards=True)


@pytest.mark.parametrize(("name", "draw"), GOLDEN)
def test_golden(name: str, draw: str) -> None:
    make = {"gomoku": gomoku, "chess": chess, "everything": everything}[draw]
    assert make(kit(name, 512)).hash == GOLDEN[name, draw]


def test_public_names_are_pinned() -> None:
    assert sorted(ludens.draw.__all__) == [
        "Board", "Canvas", "FilePicture", "HUES", "Kit", "Overlay", "Picture", "Sprite", "THEMES", "Theme",
        "animate", "board", "kit", "strip", "theme",
    ]  # fmt: skip
    assert all(getattr(ludens.draw, name) is not None for name in ludens.draw.__all__)


def test_importing_the_package_does_not_load_pillow() -> None:
    code = "import sys, ludens.draw; sys.exit('PIL' in sys.modules)"
    source = os.path.dirname(os.path.dirname(os.path.dirname(ludens.draw.__file__)))
    environment = {**os.environ, "PYTHONPATH": source}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def test_kits_are_shared_and_few_are_kept() -> None:
    assert kit("classic", 512, 1) is kit("classic", 512, 2)
    first = kit("random", 256, 1)
    assert kit("random", 256, 1) is first
    for seed in range(64):
        kit("random", 256, 100 + seed)
    assert kit("random", 256, 1) is not first


def test_measure_has_a_row_for_each_way() -> None:
    from ludens.draw.bench import measure

    rows = measure(0.01)
    assert [row["name"] for row in rows][:2] == ["pillow", "zlib"]
    assert all(set(row) == {"name", "images_per_second", "ratio_to_pillow"} for row in rows)
