"""Reference scores of tasks: what a player reaches that never looks, and one that knows everything.

`ludens baselines` measures them and writes a TOML file; `Suite.references` names the file, and reports show
its scores next to results. An entry belongs to the definition of a task, not to its name: several suites may
share it, and a task whose game, version, seats or rules have changed has none until it is measured again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import count
from math import isfinite, nan
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from ludens.core.errors import BadFile
from ludens.core.files import write_atomically
from ludens.core.options import options_of
from ludens.core.registry import make
from ludens.core.validation import Invalid, read_json, read_value
from ludens.run.plan import hash_json
from ludens.run.stats import Estimate
from ludens.run.task import Metric, Suite, Task

Kind = Literal["chance", "blind", "cue", "upper"]
KINDS: tuple[Kind, ...] = get_args(Kind)
BLIND, DEAF, UPPER = "blind baseline", "deaf baseline", "upper bound"
"""The rows of tables, and the scores they show."""


@dataclass(frozen=True)
class Score:
    """What one player reached in one metric of a task; proportions are 0 to 1."""

    kind: Kind
    """Random answers, the best player that never looks, one that sees a cue alone (`State.cues`), or the best
    player of all."""
    metric: str
    player: str
    mean: float
    low: float
    high: float
    n: int
    standard_error: float

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.mean, self.low, self.high, self.n, self.standard_error)


@dataclass(frozen=True)
class ReferencePlayer:
    """A player that a search found, and what it can be rebuilt from (`run.search.rebuilt`)."""

    name: str
    """As scores call it."""
    kind: str
    memory: bool
    """Whether it uses what happened earlier in the episode."""
    definition: str
    """JSON; in the file, the name of a file next to it where the text is long."""


@dataclass(frozen=True)
class TaskReferences:
    suite: str
    task: str
    game: str
    version: int
    episodes: int
    scores: tuple[Score, ...]
    players: tuple[ReferencePlayer, ...] = ()
    """Those among the scores that were searched for."""
    searched: int = 0
    """Episodes or questions in which the search fitted players; 0 before a search."""

    def blind_share(self, metric: Metric) -> float:
        """How far a player that never looks comes on the way from chance to the upper bound; NaN if unknown.

        Where no score of random answers is known, the worst possible value is used instead.
        """
        blind, upper = self.get("blind", metric), self.get("upper", metric)
        if blind is None or upper is None:
            return nan
        chance, least = self.get("chance", metric), metric.limits[0 if metric.higher_is_better else 1]
        low = chance.mean if chance is not None else least
        return (blind.mean - low) / (upper.mean - low) if isfinite(low) and upper.mean != low else nan

    def get(self, kind: Kind, metric: Metric) -> Score | None:
        matches = (s for s in self.scores if s.kind == kind and s.metric == metric.name)
        return next(matches, None)


References = Mapping[str, TaskReferences]
"""By the definition of a task."""


def definition(task: Task) -> str:
    """A hash of what a player faces and what is measured; the number of episodes and seeds do not matter.

    Of options only those that differ from their defaults count: a new one does not make scores out of date.
    """
    game = make(task.game)
    defaults = {name: declared.default for name, declared in options_of(type(game)).items()}
    options = {name: value for name, value in game.options.items() if value != defaults[name]}
    seatings = [sorted(seating.items()) for seating in task.seatings]
    metrics, config = sorted(metric.name for metric in task.metrics), asdict(task.config)
    parts = [task.game, game.version, options, seatings, config, metrics]
    return hash_json(parts)


def references_of(whole: Suite, tasks: Iterable[Task]) -> dict[str, TaskReferences]:
    """The references of some tasks of a suite, by the name of the task; those that were measured."""
    if whole.references is None or not whole.references.is_file():
        return {}
    references_by_definition = read_references(whole.references)
    by_task = {task.name: references_by_definition.get(definition(task)) for task in tasks}
    return {name: references for name, references in by_task.items() if references is not None}


def read_references(file: Path) -> References:
    try:
        return _parsed(file.read_text("utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read the reference scores in {str(file)!r}: {error}.") from None


@lru_cache(maxsize=16)
def _parsed(text: str, name: str) -> References:
    import tomllib

    try:
        return read_value(dict[str, TaskReferences], tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"the reference scores in {name!r} are not TOML: {error}.") from None
    except Invalid as error:
        raise BadFile(f"the reference scores in {name!r} are not valid {error}.") from None


LONGEST = 1_000
"""Characters of a definition that is written into the file itself."""
PLAYERS = "players"
"""The folder of longer ones, next to the file."""


def definition_of(file: Path, player: ReferencePlayer) -> dict[str, Any]:
    """What a player in a file of references can be rebuilt from."""
    text: str | bytes = player.definition
    try:
        if not player.definition.startswith("{"):
            text = (file.parent / PLAYERS / Path(player.definition).name).read_bytes()
        return read_json(dict[str, Any], text)
    except (OSError, Invalid) as error:
        raise BadFile(f"cannot read the player {player.name!r} of {str(file)!r}: {error}.") from None


def _with_files(file: Path, key: str, one: TaskReferences) -> TaskReferences:
    """The references, with long definitions in files of their own."""
    players, names_in_use = [], {player.definition for player in one.players}
    names = (name for n in count() if (name := f"{file.stem}-{key}-{n}.json") not in names_in_use)
    for player in one.players:
        if player.definition.startswith("{") and len(player.definition) > LONGEST:
            name = next(names)
            (file.parent / PLAYERS).mkdir(exist_ok=True)
            write_atomically(file.parent / PLAYERS / name, player.definition.encode())
            player = replace(player, definition=name)
        players.append(player)
    return replace(one, players=tuple(players))


def write_references(file: Path, new: References) -> None:
    """Add references to a file; they replace those of the same suite and task."""
    earlier = dict(read_references(file)) if file.is_file() else {}
    names = {(references.suite, references.task) for references in new.values()}
    unchanged = {
        key: references
        for key, references in earlier.items()
        if (references.suite, references.task) not in names
    }
    _write(file, {**unchanged, **{key: _with_files(file, key, one) for key, one in new.items()}})


def keep_references(file: Path, definitions: Collection[str]) -> None:
    """Remove the references of all other definitions: of tasks that have changed or were removed."""
    earlier = read_references(file)
    current = {key: references for key, references in earlier.items() if key in definitions}
    if len(current) < len(earlier):
        _write(file, current)


def _write(file: Path, references: References) -> None:
    ordered = sorted(references.items(), key=lambda item: (item[1].suite, item[1].task))
    write_atomically(file, (HEADER + "\n".join(_entry(key, entry) for key, entry in ordered)).encode())
    in_use = {player.definition for task in references.values() for player in task.players}
    for stale in (file.parent / PLAYERS).glob(f"{file.stem}-*.json"):
        if stale.name not in in_use:
            stale.unlink()


HEADER = """\
# Reference scores: what players reach that never look (blind) or know everything (upper).
# Written by `ludens baselines`; not edited by hand. Proportions are 0 to 1.

"""


def _entry(key: str, task: TaskReferences) -> str:
    lines = [f"[{_toml(key)}]"]
    lines += [
        f"{name} = {_toml(getattr(task, name))}" for name in ("suite", "task", "game", "version", "episodes")
    ]
    lines += [f"searched = {task.searched}"] if task.searched else []
    lines += _array("scores", task.scores)
    return "\n".join([*lines, *(_array("players", task.players) if task.players else ()), ""])


def _array(name: str, items: Iterable[Score | ReferencePlayer]) -> list[str]:
    tables = (", ".join(f"{key} = {_toml(value)}" for key, value in asdict(item).items()) for item in items)
    return [f"{name} = [", *(f"  {{ {table} }}," for table in tables), "]"]


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return orjson.dumps(value).decode()
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.7g}" if isinstance(value, float) else str(value)
