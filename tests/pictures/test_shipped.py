"""The sets in the package: whole, small, and what their descriptions say."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from ludens.core.random import stream
from ludens.games.spy.scene import ScenePair, make_pair
from ludens.games.spy.sources.charts import ChartPairs
from ludens.games.spy.sources.clevr import Clevr
from ludens.pictures import open_set
from ludens.pictures.sets import SHIPPED
from ludens.pictures.writer import Generator


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
        pair = ScenePair.from_json(entry.scene)
        assert 4 <= len(pair.original.objects) <= 6
        assert {change["object"] for change in entry.changes} == set(pair.changed)


def test_shipped_sets_are_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.parametrize(("name", "generator"), [("clevr-16", Clevr), ("chart-16", ChartPairs)])
def test_shipped_sets_are_of_the_present_version(name: str, generator: type[Generator]) -> None:
    header = open_set(SHIPPED / name).header
    assert (header.generator, header.version) == (generator.name, generator.version)
    assert header.settings["seed"] == 16


def test_shipped_charts_can_be_made_again() -> None:
    pictures = open_set(SHIPPED / "chart-16")
    chart = ChartPairs(seed=16)
    if chart.settings() != pictures.header.settings:
        pytest.skip("made with another version of matplotlib")
    made, entry = chart.make(0), pictures.entries[0]
    assert made.scene == entry.scene
    assert {role: sha256(data).hexdigest() for role, data in made.pictures.items()} == {
        role: file.sha256 for role, file in entry.files.items()
    }


def test_shipped_scenes_can_be_made_again() -> None:
    """Without rendering: the scenes, before those are left out in which an object is hidden."""
    for number, entry in enumerate(open_set(SHIPPED / "clevr-16").entries):
        shown = ScenePair.from_json(entry.scene)
        attempts = (make_pair(stream(16, "clevr", number, attempt)) for attempt in range(200))
        assert shown in attempts
