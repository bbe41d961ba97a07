"""The parts of the rules that come from `world.toml`: robots with their limits, primitives."""

from __future__ import annotations

from functools import lru_cache

from ludens.games.viki.data import PRECONDITIONS, PRIMITIVES, ROBOTS, RobotType


@lru_cache(maxsize=1)
def robots_text() -> str:
    """One line for each robot type."""
    return "\n".join(f"- {name}: {_robot(kind)}" for name, kind in ROBOTS.items())


def _robot(kind: RobotType) -> str:
    said = [kind.body]
    said.append("moves" if kind.mobile else "cannot leave the area it is in")
    if kind.arms:
        said.append(f"reaches things between {kind.low:g} m and {kind.high:g} m high")
    if kind.pushes:
        said.append("pushes boxes")
    return f"{', '.join(said)}; primitives: {', '.join(kind.primitives)}"


@lru_cache(maxsize=1)
def primitives_text() -> str:
    """One paragraph for each primitive: arguments, preconditions, effect."""
    lines = []
    for name, primitive in PRIMITIVES.items():
        arguments = ", ".join(f'"{argument}"' for argument in primitive.arguments)
        needs = "; ".join(PRECONDITIONS[need].rule for need in primitive.needs if need not in _OBVIOUS)
        lines.append(f'- ["{name}", {arguments}]: {primitive.text}. Needs: {needs or "nothing else"}. '
                     f"Then: {primitive.effect}.")  # fmt: skip
    return "\n".join(lines)


_OBVIOUS = ("capable", "exists", "second_exists")
"""Said once for all primitives."""
