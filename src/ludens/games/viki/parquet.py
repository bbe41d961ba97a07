"""Released data: scenes, questions and pictures from the published Parquet files, for `viki?data=FOLDER`.

A row has `prompt` (system message; user message with an `<image>` mark), `images` (with `bytes`) and
`reward_model.ground_truth`: for level 1 a list of types as text, for level 2 a dict filled up with None,
for level 3 nested lists as text. Files are untrusted: what does not fit is refused with its file and row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ludens.core.errors import BadFile, MissingExtra, MoveError
from ludens.core.random import stream
from ludens.games.viki.data import RELEASED, ROBOTS
from ludens.games.viki.parse import plan_of, read_value
from ludens.games.viki.scene import Area, Asset, Condition, Robot, Scene, Stage, Task

Level = Literal[1, 2, 3]


@dataclass(frozen=True, slots=True)
class Row:
    """One released sample."""

    level: Level
    system: str
    """The system message."""
    text: str
    """The user message, without the mark of the picture."""
    image: bytes
    """PNG or JPEG."""
    types: tuple[str, ...] = ()
    """Level 1: the robot types needed, sorted."""
    scene: Scene | None = None
    """Level 2: the scene, to be checked with `variant="released"`."""
    traces: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Level 3: pixel points of the player and the partner."""


def read_folder(folder: Path | str, level: Level, seed: int = 0) -> Iterator[Row]:
    """The rows of a level in all Parquet files of a folder and below it, in the order of file names."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet files", "data") from None
    files = sorted(Path(folder).rglob("*.parquet"))
    if not files:
        raise BadFile(f"{folder} has no Parquet files.")
    for file in files:
        try:
            parquet = pq.ParquetFile(file)
            number = 0
            for batch in parquet.iter_batches(batch_size=64):
                for row in batch.to_pylist():
                    number += 1
                    read = read_row(row, f"{file.name}, row {number}", seed)
                    if read.level == level:
                        yield read
        except (OSError, ValueError) as error:
            raise BadFile(f"{file} cannot be read as Parquet: {str(error)[:200]}.") from None


def read_row(row: dict[str, Any], where: str, seed: int = 0) -> Row:
    """One row; the level follows from its ground truth."""
    try:
        system, user = row["prompt"][0]["content"], row["prompt"][1]["content"]
        image = row["images"][0]["bytes"]
        truth = row["reward_model"]["ground_truth"]
        if not (isinstance(system, str) and isinstance(user, str) and isinstance(image, bytes)):
            raise ValueError("prompt or picture is missing")
        text = user.replace("<image>", "", 1).strip()
        if isinstance(truth, dict):
            return Row(2, system, text, image, scene=released_scene(strip_none(truth), where, seed))
        value = read_value(truth, what="ground truth")
        if value and all(isinstance(one, str) for one in value):
            if not set(value) <= set(ROBOTS):
                raise ValueError("unknown robot type")
            return Row(1, system, text, image, types=tuple(sorted(set(value))))
        traces = tuple(tuple((float(x), float(y)) for x, y in trace) for trace in value)
        return Row(3, system, text, image, traces=traces)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, MoveError) as error:
        raise BadFile(f"{where} is not a sample of the released data: {str(error)[:120]}.") from None


def strip_none(value: Any) -> Any:
    """Without the None that Parquet puts where other rows have a key."""
    if isinstance(value, dict):
        return {key: strip_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [strip_none(item) for item in value if item is not None]
    return value


def released_scene(truth: dict[str, Any], where: str = "", seed: int = 0) -> Scene:
    """The scene of a level 2 row.

    Robots start at themselves, as in the released checker. Where a row allows several start places for a
    thing (which their evaluation redraws every time), one is drawn from the seed.
    """
    random = stream(seed, "viki", "released", str(truth.get("task_id", where)))
    places: dict[str, str] = {}
    for name, options in truth["init_pos"].items():
        if name[:1] == "R" and name[1:].isdigit():
            continue
        options = [options] if isinstance(options, str) else options
        places[name.rsplit("_", 1)[0]] = random.choice(options)
    robots: dict[str, str] = dict(truth["robots"])
    for kind in robots.values():
        if kind not in ROBOTS:
            raise ValueError(f"unknown robot type {kind!r}")
    goals = [condition for group in truth["goal_constraints"] for condition in _stage(group)]
    orders = tuple(tuple(map(_stage, order)) for order in truth.get("temporal_constraints") or ())
    plan = plan_of(truth.get("time_steps") or [], "default")
    named = [*places.values(), *(c.place for c in goals if c.place is not None)]
    areas = [name for name in dict.fromkeys(named) if name not in places and name not in robots]
    family = str(truth.get("task_id", "")).rsplit("_", 1)
    template = next((part for part in reversed(family) if "-" in part), "0-0")
    return Scene(
        layout=str(truth.get("layout_id", "")),
        style=0,
        width=0.0,
        depth=0.0,
        areas=tuple(Area(name, 0.0, 0.0, 0.0, 0.0, 0.0) for name in areas),
        assets=tuple(Asset(name, name, place, name in RELEASED.closed) for name, place in places.items()),
        robots=tuple(Robot(name, kind, name) for name, kind in robots.items()),
        task=Task(
            text=str(truth.get("description", "")),
            family=int(template.split("-")[0]),
            template=template,
            name=str(truth.get("task_name", "")),
            goals=tuple(goals),
            orders=orders,
        ),
        limit=len(truth.get("time_steps") or ()) or None,
        plan=tuple(plan),
    )


def _stage(group: Any) -> Stage:
    conditions = []
    for one in group if isinstance(group, list) else [group]:
        while isinstance(one, list) and len(one) == 1:
            one = one[0]
        status = one["status"]
        if not set(status) <= {"pos.name", "is_activated"}:
            raise ValueError(f"unknown status {sorted(status)}")
        conditions.append(
            Condition(
                thing=one["name"],
                place=status.get("pos.name"),
                active=status.get("is_activated"),
                holds=bool(one.get("is_satisfied", True)),
                along=one.get("check_pos_type", "static") == "aligned",
            )
        )
    return tuple(conditions)
