"""Charts are well-formed SVG, contain their numbers as text, and stay inside their frame."""

from __future__ import annotations

import re
from math import inf, nan
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.run.report.charts import (
    Bar,
    BarChart,
    HeatMap,
    RadarChart,
    Ring,
    bar_charts,
    confusion_charts,
    radar_chart,
)
from ludens.run.report.page import environment
from ludens.run.results import SuiteResults
from tests.support.reported import LABELS

SVG = "{http://www.w3.org/2000/svg}"
LABEL = st.text(max_size=40)


Chart = BarChart | RadarChart | HeatMap


def draw(chart: Chart) -> str:
    templates: Any = environment().get_template("charts.html").module
    return str(templates.draw(chart))


def read(chart: Chart) -> ElementTree.Element:
    root = ElementTree.fromstring(draw(chart))
    assert root.tag == SVG + "svg"
    assert [child.tag for child in root[:2]] == [SVG + "title", SVG + "desc"]
    return root


def words(root: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(SVG + "text")]


NUMBER = st.one_of(st.floats(-50, 150), st.sampled_from([nan, inf, -inf]))


@given(st.lists(st.tuples(LABEL, NUMBER, NUMBER, NUMBER, st.one_of(st.none(), NUMBER)), max_size=6))
def test_bars_are_well_formed_whatever_the_numbers(
    rows: list[tuple[str, float, float, float, float | None]],
) -> None:
    made = [
        Bar(label, v, low, high, "n", i % 8, mark=mark) for i, (label, v, low, high, mark) in enumerate(rows)
    ]
    root = read(BarChart("<title> & more", made, -50.0, 150.0))
    assert root[0].text == "<title> & more"
    width = float(root.attrib["viewBox"].split()[2])
    for rect in root.iter(SVG + "rect"):
        left, wide = float(rect.attrib["x"]), float(rect.attrib["width"])
        assert 0 <= left <= left + wide <= width


def test_a_bar_reaches_from_zero_to_its_value() -> None:
    rows = [Bar("a", 50.0, 40.0, 60.0, "50.0", 0, mark=25.0), Bar("b", 100.0, nan, nan, "100.0", 1)]
    root = read(BarChart("t", rows, 0.0, 100.0))
    half, whole = (float(rect.attrib["width"]) for rect in root.iter(SVG + "rect"))
    assert whole == pytest.approx(2 * half, abs=0.2)
    kinds = [path.attrib["class"] for path in root.iter(SVG + "path")]
    assert kinds == ["whisker", "mark"]
    assert {"a", "b", "50.0", "100.0"} <= set(words(root))


def test_bars_below_zero_lie_left_of_it() -> None:
    bars = [Bar("a", -1.0, nan, nan, "-1", 0), Bar("b", 1.0, nan, nan, "1", 1)]
    root = read(BarChart("t", bars, -1.0, 1.0))
    left, right = (float(rect.attrib["x"]) for rect in root.iter(SVG + "rect"))
    assert left < right


def test_published_bars_have_no_interval() -> None:
    root = read(BarChart("t", [Bar("a", 5.0, 5.0, 5.0, "5", 0, "published")], 0.0, 10.0))
    assert list(root.iter(SVG + "path")) == []


@given(st.lists(LABEL, min_size=3, max_size=9), st.lists(st.floats(-20, 120), min_size=9, max_size=9))
def test_a_radar_has_an_axis_for_each_task(axes: list[str], values: list[float]) -> None:
    made = [Ring("one", values[: len(axes)], 0), Ring("two", [0.0] * len(axes), 1)]
    root = read(RadarChart("t", axes, made))
    rings = [p for p in root.iter(SVG + "polygon") if "ring" in p.attrib["class"]]
    assert len(rings) == 2
    assert all(len(ring.attrib["points"].split()) == len(axes) for ring in rings)
    assert len(words(root)) == len(axes) + 2
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for point in rings[0].attrib["points"].split():
        x, y = map(float, point.split(","))
        assert 0 <= x <= width
        assert 0 <= y <= height


def test_a_heat_map_shows_every_count_and_shades_by_row() -> None:
    root = read(HeatMap("t", ["cat", "<dog>"], ["cat", "<dog>", "unreadable"], [[8, 2, 0], [0, 5, 5]]))
    assert {"8", "2", "5", "cat", "<dog>", "unreadable"} <= set(words(root))
    shades = [float(rect.attrib["fill-opacity"]) for rect in root.iter(SVG + "rect")]
    assert len(shades) == 6
    assert shades[0] > shades[4] == shades[5] > shades[1] > shades[2] == shades[3]


def test_the_charts_of_a_suite(suite: SuiteResults) -> None:
    drawn = {chart.title: chart for chart in bar_charts(suite, ())}
    assert list(drawn) == ["turns: won %", "see: exact %", "duel: return, 0 random to 100 optimal"]
    for chart in drawn.values():
        bars_ = [rect.attrib["class"].split()[1] for rect in read(chart).iter(SVG + "rect")]
        assert bars_ == ["ours", "blind", "ours", "blind", "ours", "ours", "published"]
    marks = [
        path for path in read(drawn["see: exact %"]).iter(SVG + "path") if path.attrib["class"] == "mark"
    ]
    assert len(marks) == 2
    around = radar_chart(suite)
    assert around is not None
    assert "seer" in words(read(around))
    assert "seer, blind" not in words(read(around))
    confusion = list(confusion_charts(suite))
    assert [heading for heading, *_ in confusion] == [f"{label}: see, exact" for label in LABELS]
    assert all(chart is not None and read(chart) is not None for _, chart, _ in confusion)


def test_long_labels_are_cut_and_titles_have_them_in_full() -> None:
    rows = [
        Bar("doubao-1-5-thinking (published)", 5, 5, 5, "5.0", 0, "published", short="doubao-1-5-thinking"),
        Bar("gpt-4.1 (published)", 5, 5, 5, "5.0", 0, "published", short="gpt-4.1"),
        Bar("a model with a long name", 5, 4, 6, "5.0", 0),
    ]
    drawn = draw(BarChart("won", rows, 0, 10))
    labels = re.findall(r'<text class="label"[^>]*>([^<]*)</text>', drawn)
    assert labels == ["doubao-1-5-thin…", "gpt-4.1", "a model with a …"]
    for row in rows:
        assert f"<title>{row.label}: 5.0</title>" in drawn
