"""Scenes: pairs from the seed, their margins, and reading them back."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from ludens.core.errors import UsageError
from ludens.core.random import stream
from ludens.games.spy.scene import ATTRIBUTES, GAP, RADIUS, Scene, ScenePair, make_pair, parse_change


@pytest.mark.parametrize("change", ["color+shape", "size", "material", "color+shape+size+material"])
def test_pairs_differ_in_two_objects_and_only_in_the_attributes_named(change: str) -> None:
    counts = Counter[int]()
    for seed in range(200):
        pair = make_pair(stream(seed, "pair"), parse_change(change))
        before, after = pair.original.objects, pair.modified.objects
        counts[len(before)] += 1
        different = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
        assert tuple(different) == pair.changed
        assert len(different) == 2
        for i in different:
            changed = {name for name in ATTRIBUTES if getattr(before[i], name) != getattr(after[i], name)}
            assert changed == set(change.split("+"))
            assert (before[i].x, before[i].y, before[i].rotation) == (
                after[i].x,
                after[i].y,
                after[i].rotation,
            )
        assert Counter(thing.name for thing in before) != Counter(thing.name for thing in after)
    assert set(counts) == {4, 5, 6}


@pytest.mark.parametrize("change", ["color+shape", "size"])
def test_objects_do_not_touch_and_directions_are_unambiguous(change: str) -> None:
    for seed in range(200):
        pair = make_pair(stream(seed, "pair"), parse_change(change))
        for scene in (pair.original, pair.modified):
            for i, a in enumerate(scene.objects):
                assert abs(a.x) <= 3
                assert abs(a.y) <= 3
                for b in scene.objects[:i]:
                    assert abs(a.x - b.x) > 0.499
                    assert abs(a.y - b.y) > 0.499
                    distance = ((a.x - b.x) ** 2 + (a.y - b.y) ** 2) ** 0.5
                    assert distance >= RADIUS[a.size] + RADIUS[b.size] + GAP - 1e-9


def test_a_pair_survives_json_and_the_seed_decides() -> None:
    pair = make_pair(stream(3, "pair"))
    assert ScenePair.from_json(json.loads(json.dumps(pair.to_json()))) == pair
    assert make_pair(stream(3, "pair")) == pair != make_pair(stream(4, "pair"))


def _edited(**changes: Any) -> Any:
    data = make_pair(stream(0, "pair")).to_json()
    for place, value in changes.items():
        data[place] = value
    return data


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        _edited(original={"objects": []}),
        _edited(original={"objects": [{"shape": "cone"}]}),
        _edited(changed=[99]),
        _edited(changed=[True]),
        _edited(changed="0"),
        _edited(change=["colour"]),
        _edited(change=[1]),
        _edited(modified={"objects": make_pair(stream(0, "pair")).to_json()["original"]["objects"][:1]}),
    ],
)
def test_a_wrong_pair_is_one_sentence(data: Any) -> None:
    with pytest.raises(UsageError) as raised:
        ScenePair.from_json(data)
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize(
    ("field", "value"), [("x", "1"), ("y", None), ("x", float("nan")), ("rotation", True), ("name", "a")]
)
def test_wrong_objects_are_refused(field: str, value: Any) -> None:
    data = make_pair(stream(0, "pair")).original.to_json()
    Scene.from_json(data)
    data["objects"][0][field] = value
    with pytest.raises(UsageError):
        Scene.from_json(data)


def test_change_is_read_in_any_order_and_refused_when_unknown() -> None:
    assert parse_change("shape+color") == parse_change("color, shape") == ("color", "shape")
    with pytest.raises(UsageError, match="weight"):
        parse_change("color+weight")
