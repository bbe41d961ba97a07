"""The text twin of the map: the same information in words, no more."""

from __future__ import annotations

from ludens.games.viki.data import KINDS
from ludens.games.viki.floor import GROUND, Floor
from ludens.games.viki.scene import Asset


def describe(floor: Floor, you: str = "") -> str:
    """Areas with their things, then robots."""
    lines = []
    for area in sorted(floor.scene.areas, key=lambda one: _reading_order(floor, one.name)):
        things = "; ".join(_thing(floor, asset) for asset in floor.seen_in(area.name)) or "nothing"
        things = things if floor.sees(area.name) else "not in view"
        height = "floor" if area.name == GROUND else f"{area.height:g} m high"
        lines.append(f"{area.name} ({height}): {things}")
    for robot in floor.present:
        held = ", ".join(_thing(floor, asset) for asset in floor.seen_in(robot.id))
        reached = ", ".join(floor.snapshot.reached.get(robot.id, ()))
        name = f"{robot.id} (you)" if robot.id == you else robot.id
        said = [f"{name}: {robot.type} at {floor.snapshot.robots[robot.id]}"]
        said += [f"holds {held}"] if held else []
        said += [f"reaches for {reached}"] if reached else []
        lines.append(", ".join(said))
    return "\n".join(lines)


def _reading_order(floor: Floor, area: str) -> tuple[float, float]:
    box = floor.surfaces[area]
    return box.y, box.x


def _thing(floor: Floor, asset: Asset) -> str:
    kind, marks = KINDS[asset.kind], []
    if kind.opens:
        marks.append("closed" if asset.name in floor.snapshot.closed else "open")
    if kind.height is not None:
        marks.append(f"{kind.height:g} m high inside")
    if asset.name in floor.snapshot.active:
        marks.append("used")
    said = f"{asset.name} ({', '.join(marks)})" if marks else asset.name
    inside = floor.seen_in(asset.name)
    return f"{said} with {' and '.join(_thing(floor, one) for one in inside)}" if inside else said
