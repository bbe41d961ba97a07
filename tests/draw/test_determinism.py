"""The pixels of a picture depend on theme, size and what was drawn; on nothing else."""

import os
import subprocess
import sys

import pytest

import ludens.draw
from ludens.draw import SpriteSheet, get_theme, sprite_sheet
from tests.draw.pictures import chess, everything, gomoku

GOLDEN = {
    ("classic", "gomoku"): "c28167617625baf1",
    ("classic", "chess"): "81cfc047cdb82a95",
    ("classic", "everything"): "05f730224e095b13",
    ("contrast", "gomoku"): "658d8c2d2a5f587b",
    ("contrast", "chess"): "9e738a6428e3ba69",
    ("contrast", "everything"): "d8df2a16b0c773d4",
    ("plain", "gomoku"): "0d598b2675956615",
    ("plain", "chess"): "8c619ffd8b3b0609",
    ("plain", "everything"): "0524d0588e8732c9",
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
    assert make(sprite_sheet(name, 512)).matches(GOLDEN[name, draw])


def test_public_names_are_pinned() -> None:
    assert sorted(ludens.draw.__all__) == [
        "Board", "Canvas", "CellCache", "HUES", "Overlay", "Picture", "Sprite", "SpriteSheet", "THEMES",
        "Theme", "animate", "draw_board", "get_theme", "sprite_sheet", "strip",
    ]  # fmt: skip
    assert all(getattr(ludens.draw, name) is not None for name in ludens.draw.__all__)
