"""Scenes of all levels: where they come from (the generator, a picture set, released data), and what their
states share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self, cast

from ludens.core.errors import BadFile, BadOption, MissingExtra, MoveError
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.state import Legal, State
from ludens.draw import Picture
from ludens.games.viki.floor import SIDE
from ludens.games.viki.generate import HELD_OUT_FAMILY, SPLITS, Split, generate, generate_short, stored
from ludens.games.viki.replies import plan_of, read_value
from ludens.games.viki.world import RELEASED, ROBOTS, Area, Asset, Condition, KitchenTask, Robot, Scene, Stage
from ludens.pictures import Entry, PictureSet, open_set

LevelNumber = Literal[1, 2, 3]


@dataclass(frozen=True, slots=True)
class ReleasedRow:
    """One released sample."""

    level: LevelNumber
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


def read_row(row: dict[str, Any], where: str, seed: int = 0) -> ReleasedRow:
    """One row; the level follows from its ground truth."""
    try:
        system, user = row["prompt"][0]["content"], row["prompt"][1]["content"]
        image = row["images"][0]["bytes"]
        truth = row["reward_model"]["ground_truth"]
        if not (isinstance(system, str) and isinstance(user, str) and isinstance(image, bytes)):
            raise ValueError("prompt or picture is missing")
        text = user.replace("<image>", "", 1).strip()
        if isinstance(truth, dict):
            return ReleasedRow(2, system, text, image, scene=released_scene(strip_none(truth), where, seed))
        value = read_value(truth, what="ground truth")
        if value and all(isinstance(one, str) for one in value):
            if not set(value) <= set(ROBOTS):
                raise ValueError("unknown robot type")
            return ReleasedRow(1, system, text, image, types=tuple(sorted(set(value))))
        traces = tuple(tuple((float(x), float(y)) for x, y in trace) for trace in value)
        return ReleasedRow(3, system, text, image, traces=traces)
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
        task=KitchenTask(
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


_NO_PICTURE = [{"bytes": b""}]


@dataclass(frozen=True, slots=True)
class RowPlace:
    """Where a row is."""

    file: Path
    group: int
    row: int
    """Within its group."""
    number: int
    """Within its file, from 1."""

    def read(self, seed: int) -> ReleasedRow:
        columns = ["prompt", "reward_model", "images"]
        with _reading(self.file) as parquet:
            values = parquet.read_row_group(self.group, columns=columns).to_pylist()[self.row]
        return read_row(values, f"{self.file.name}, row {self.number}", seed)


def read_folder(folder: Path | str, level: LevelNumber, seed: int = 0) -> Iterator[ReleasedRow]:
    """The rows of a level in all Parquet files of a folder and below it, in the order of file names."""
    columns = ["prompt", "reward_model", "images"]
    return (row for _, row in _rows(folder, columns, seed) if row.level == level)


@lru_cache(maxsize=16)
def index(folder: str, level: LevelNumber, split: str) -> tuple[RowPlace, ...]:
    """Where the rows of a level are; of level 2 only those of the split, `id` or `ood`."""
    places = tuple(
        place
        for place, row in _rows(folder, ["prompt", "reward_model"])
        if row.level == level
        and (row.scene is None or (split == "ood") == (row.scene.task.family == HELD_OUT_FAMILY))
    )
    if not places:
        raise BadOption(f"{folder!r} has no rows of level {level} for split={split}.")
    return places


def _rows(folder: Path | str, columns: list[str], seed: int = 0) -> Iterator[tuple[RowPlace, ReleasedRow]]:
    files = sorted(Path(folder).rglob("*.parquet"))
    if not files:
        raise BadFile(f"{str(folder)!r} has no Parquet files.")
    for file in files:
        number = 0
        with _reading(file) as parquet:
            for group in range(parquet.num_row_groups):
                rows = parquet.read_row_group(group, columns=columns).to_pylist()
                for at, values in enumerate(rows):
                    number += 1
                    row = read_row({"images": _NO_PICTURE, **values}, f"{file.name}, row {number}", seed)
                    yield RowPlace(file, group, at, number), row


@contextmanager
def _reading(file: Path) -> Iterator[Any]:
    """The open Parquet file; `BadFile` where it cannot be read."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet files", "data") from None
    try:
        yield pq.ParquetFile(file)
    except (OSError, ValueError) as error:
        raise BadFile(f"{str(file)!r} cannot be read as Parquet: {str(error)[:200]}.") from None


__all__ = [
    "LOOKS",
    "SEAT",
    "SPLITS",
    "SPLIT_HELP",
    "SceneSetup",
    "SceneState",
    "setup_of",
    "short_module",
    "short_setup",
]

SEAT = "planner"
SPLIT_HELP = "train, in-domain (id), out-of-domain (ood: a family held out), or held-out layouts"
LOOKS = ("map", "camera")

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class SceneSetup:
    """A scene as one seed shows it."""

    seed: int
    scene: Scene
    pictures: tuple[Picture, ...] = ()
    """Where they come from files; drawn as a map where there are none."""
    points: tuple[Points, ...] | None = None
    """The paths of level 3 where they come with the pictures."""
    positions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Where things are in a picture that comes from a file, for the text twin of level 3."""
    prompt: str = ""
    """The question of released data; ours where it is empty."""
    system: str = ""
    """The system message of released data."""
    size: tuple[int, int] = (SIDE, SIDE)
    """Width and height in the coordinates of level 3."""


@lru_cache(maxsize=512)
def setup_of(level: str, look: str, split: str, pictures: str, data: str, seed: int) -> SceneSetup:
    """What a level shows for a seed."""
    if data:
        return _released(level, data, split, seed)
    return _photographed(level, pictures, split, seed) if look == "camera" else _generated(split, seed)


@lru_cache(maxsize=512)
def _generated(split: str, seed: int) -> SceneSetup:
    """The same scene for all levels."""
    return SceneSetup(*(stored("generate", split, seed) or (seed, generate(seed, cast(Split, split)))))


def short_module(steps: int, mixed: bool) -> str:
    """The name under which scenes of at most so many steps are stored."""
    return f"steps-{steps}{'-mixed' * mixed}"


@lru_cache(maxsize=512)
def short_setup(split: str, steps: int, mixed: bool, seed: int) -> SceneSetup:
    """A scene whose shortest plan has at most so many steps."""
    made = stored(short_module(steps, mixed), split, seed)
    return SceneSetup(*(made or (seed, generate_short(seed, cast(Split, split), steps, mixed=mixed))))


def _released(level: str, data: str, split: str, seed: int) -> SceneSetup:
    """A row of released data; rows are taken in their order, so that as many seeds as rows play them all."""
    places = index(data, _LEVELS[level], split)
    row = places[seed % len(places)].read(seed)
    picture = Picture.from_bytes(row.image)
    robots = tuple(Robot(f"R{n}", kind, "room") for n, kind in enumerate(row.types, 1))
    task = KitchenTask(row.text, 0, "0-0", "released", ())
    scene = row.scene or Scene("", 0, 0.0, 0.0, (), (), robots, task)
    size = picture.width, picture.height
    return SceneSetup(
        seed, scene, (picture,), row.traces or None, prompt=row.text, system=row.system, size=size
    )


_LEVELS: dict[str, LevelNumber] = {"viki/activate": 1, "viki/plan": 2, "viki/trace": 3}


def _photographed(level: str, pictures: str, split: str, seed: int) -> SceneSetup:
    """An entry of a picture set: views of the room, or the view of one robot at level 3."""
    pictures_set = open_set(pictures)
    entries = _entries(pictures_set, level, split)
    entry = entries[stream(seed, "entry").below(len(entries))]
    scene, trace = Scene.from_json(entry.scene["scene"]), entry.scene["trace"]
    if level != "viki/trace":
        views = [role for role in entry.files if not role.startswith("ego_")]
        return SceneSetup(
            seed, scene, tuple(pictures_set.picture(entry, role) for role in sorted(views, reverse=True))
        )
    picture = pictures_set.picture(entry, trace["view"])
    points = tuple(tuple((float(x), float(y)) for x, y in path) for path in trace["points"])
    positions = {str(name): (int(x), int(y)) for name, (x, y) in trace["positions"].items()}
    size = picture.width, picture.height
    return SceneSetup(trace["seed"], scene, (picture,), points, positions, size=size)


@lru_cache(maxsize=64)
def _entries(pictures: PictureSet, level: str, split: str) -> tuple[Entry, ...]:
    entries = tuple(
        entry
        for entry in pictures.entries
        if isinstance(entry.scene, dict) and "scene" in entry.scene and _fits(entry, level, split)
    )
    if not entries:
        raise BadOption(f"the picture set {pictures.name!r} has no scene for {level} with split={split}.")
    return entries


def _fits(entry: Entry, level: str, split: str) -> bool:
    scene = entry.scene["scene"]
    fits = (split == "ood") == (scene["task"]["family"] == HELD_OUT_FAMILY)
    return fits and (level != "viki/trace" or entry.scene.get("trace") is not None)


class SceneState(State):
    """A state with a scene, whose actions are texts in a canonical form."""

    longest = 2_000
    """Characters of an answer."""

    def __init__(self, game: Game, setup: SceneSetup) -> None:
        self.game = game
        self.setup = setup

    @property
    def scene(self) -> Scene:
        return self.setup.scene

    def legal(self, seat: str) -> Legal:
        return Legal.text(self.longest) if seat in self.to_act else Legal()

    def canonical(self, answer: str) -> str:
        """The canonical form of an answer; raises a `MoveError` where there is none."""
        raise NotImplementedError

    def refusal(self, seat: str, action: str) -> str | None:
        reason = super().refusal(seat, action)
        if reason is None and action:
            try:
                if self.canonical(action) != action:
                    return "the answer is not in its canonical form."
            except MoveError as error:
                return str(error)
        return reason

    def fallback(self, seat: str) -> str | None:
        """No readable answer is an empty one: it is wrong, or a lost step."""
        return ""

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy
