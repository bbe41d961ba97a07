"""The pixels of a picture depend on theme, size and what was drawn; on nothing else."""

import os
import subprocess
import sys

import pytest

import ludens.draw
from ludens.draw import SpriteSheet, get_theme, sprite_sheet
from tests.draw.pictures import chess, everything, gomoku

GOLDEN = {
    ("classic", "gomoku"): "cb694802162f0d37",
    ("classic", "chess"): "6e1951636bfb5198",
    ("classic", "everything"): "2dfec82f1fe76ebc",
    ("contrast", "gomoku"): "52cd89dabf335a22",
    ("contrast", "chess"): "32cb676d1745181b",
    ("contrast", "everything"): "20ff8653626952c9",
    ("plain", "gomoku"): "8a7b75a694694b24",
    ("plain", "chess"): "170c9a6579064b0c",
    ("plain", "everything"): "d18886a6984a851d",
}

SCRIPT = """
import sys
from ludens.draw import sprite_sheet
from tests.draw.pictures import chess, everything, gomoku
order = [chess, everything, gomoku]
hashes = {}
for name, seed in (("classic", 0), ("random", 7)):
    sheet = sprite_sheet(name, 512, seed)
    if sys.argv[1] == "b":
        sheet.token("purple", 33, "dark"); sheet.text("something else", 31)
    for draw in order if sys.argv[1] == "a" else order[::-1]:
        hashes[name, draw.__name__] = draw(sheet).hash
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
    assert gomoku(sprite_sheet("classic", 512)).hash in first


def test_order_of_stones_does_not_matter() -> None:
    assert gomoku(SpriteSheet(get_theme("random", 3), 512)) == gomoku(
        SpriteSheet(get_theme("random", 3), 512), backwards=True
    )


@pytest.mark.parametrize(("name", "draw"), GOLDEN)
def test_golden(name: str, draw: str) -> None:
    make = {"gomoku": gomoku, "chess": chess, "everything": everything}[draw]
    assert make(sprite_sheet(name, 512)).hash == GOLDEN[name, draw]


def test_public_names_are_pinned() -> None:
    assert sorted(ludens.draw.__all__) == [
        "Board", "Canvas", "CellCache", "HUES", "Overlay", "Picture", "Sprite", "SpriteSheet", "THEMES",
        "Theme", "animate", "draw_board", "get_theme", "sprite_sheet", "strip",
    ]  # fmt: skip
    assert all(getattr(ludens.draw, name) is not None for name in ludens.draw.__all__)
