"""The sets in the package: whole, small, and what their descriptions say."""

from __future__ import annotations

import numpy as np
import pytest

from ludens.games.spy.scene import Pair
from ludens.pictures import open_set
from ludens.pictures.places import SHIPPED


@pytest.mark.parametrize("name", ["clevr-16", "chart-16"])
def test_shipped_sets_are_whole(name: str) -> None:
    pictures = open_set(SHIPPED / name)
    assert (pictures.name, len(pictures.entries), pictures.check()) == (name, 16, 32)
    for entry in pictures.entries:
        assert entry.licence == "CC0-1.0"
        assert entry.changes
        first, second = (pictures.picture(entry, role).rgb().astype(int) for role in ("original", "modified"))
        assert (np.abs(first - second).max(-1) > 40).mean() > 0.001


def test_shipped_scenes_are_pairs() -> None:
    for entry in open_set(SHIPPED / "clevr-16").entries:
        pair = Pair.from_json(entry.scene)
        assert 4 <= len(pair.original.objects) <= 6
        assert {change["object"] for change in entry.changes} == set(pair.changed)


def test_shipped_sets_are_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 3_000_000
