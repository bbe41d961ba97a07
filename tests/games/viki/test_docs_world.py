"""The page on the world says what the data say."""

from __future__ import annotations

from pathlib import Path

from ludens.games.viki.generate import TEMPLATES
from ludens.games.viki.world import KINDS, PRECONDITIONS, PRIMITIVES, ROBOTS

PAGE = (Path(__file__).parents[3] / "docs" / "viki-world.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]


def test_robots() -> None:
    rows = {row[0].strip("`"): row for row in ROWS if row[0].startswith("`")}
    assert set(rows) == set(ROBOTS)
    for name, robot in ROBOTS.items():
        assert rows[name][1:3] == [robot.body, str(robot.arms)]
        assert rows[name][-1] == ", ".join(robot.primitives)
        if robot.arms:
            assert rows[name][5:7] == [f"{robot.low} m", f"{robot.high} m"]


def test_primitives_with_their_preconditions_in_order() -> None:
    rows = {row[0]: row for row in ROWS if len(row) == 4}
    for name, primitive in PRIMITIVES.items():
        row = rows[" ".join([name, *primitive.arguments])]
        assert row[2] == "; ".join(PRECONDITIONS[need].rule for need in primitive.needs)
        assert row[3] == primitive.effect


def test_things_and_templates() -> None:
    assert all(name in PAGE for name in KINDS)
    rows = {row[0]: row for row in ROWS if len(row) == 4}
    for name, template in TEMPLATES.items():
        assert rows[name][1:3] == [template.name, str(template.share)]
