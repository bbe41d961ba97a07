"""Following a run: progress with time left, measurements as JSON lines, a page with curves and sample
games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import orjson
from jinja2 import Environment, FileSystemLoader

from ludens.core.files import write_atomically
from ludens.run.report.page import PICTURE_SIZE, TEMPLATES, environment, steps_to_show
from ludens.run.tracking import open_tracker
from ludens.run.viewer import SizeLimit, embed, returns_text
from ludens.train.algorithms import TRAINED
from ludens.train.loop import JUDGED, Trainer
from ludens.train.nano.provenance import IMITATION

_FOLDER = Path(__file__).parent / "templates"
FIRST = (
    "won", "blind won", "reward", "accuracy", "na", "clue truth", "kl", "rehearsal", "entropy", "length",
    "fallback",
)  # fmt: skip
LEFT, RIGHT, TOP, BOTTOM = 44, 352, 8, 126
GAMES_SIZE = 2_000_000
"""About how many characters of pictures and prompts the page contains at most."""
POINTS = 150
"""How many points the curve of the losses of an imitation has."""


@dataclass(frozen=True)
class Curve:
    """One measurement over all iterations, ready to be drawn."""

    name: str
    points: str
    first: str
    last: str
    low: str
    high: str


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return environment().overlay(loader=FileSystemLoader([_FOLDER, TEMPLATES]))


def write_page(file: Path, trainer: Trainer) -> None:
    history = trainer.history
    limit = SizeLimit(GAMES_SIZE)
    template = _environment().get_template("training.html")
    recipe, imitation = trainer.recipe, file.parent / IMITATION
    losses = orjson.loads(imitation.read_bytes())["losses"] if imitation.exists() else []
    page = template.render(
        title=recipe.run.name,
        iterations=trainer.iteration,
        total=recipe.iterations,
        game=recipe.play.game,
        algorithm=recipe.run.algorithm,
        parameters=f"{trainer.policy.count():,}",
        left=LEFT,
        right=RIGHT,
        top=TOP,
        bottom=BOTTOM,
        judgement=judgement(trainer),
        imitation=_curve("loss", _smoothed(losses), len(losses)) if losses else None,
        imitation_steps=f"{len(losses):,} updates",
        curves=curves(history),
        bands=bands(history),
        time_parts=time_parts(history),
        longest=f"{max((m['s'] + m.get(OVERLAP, 0) for m in history[-BARS:] if 's' in m), default=0):.3g} s",
        overlaps=any(OVERLAP in measures for measures in history),
        switches=switches(history),
        talk=_stage_measure(history).removeprefix(TRAINED),
        games=[
            embed(episode, size=PICTURE_SIZE, limit=limit, steps=steps_to_show(episode, list(episode.seats)))
            for episode in trainer.last_games[: recipe.monitor.games]
        ],
        returns_text=returns_text,
        games_file=file.parent / "games" / f"{trainer.iteration:06d}.jsonl",
        recipe=orjson.dumps(recipe.as_dict(), option=orjson.OPT_INDENT_2).decode(),
    )
    write_atomically(file, page.encode())


PARTS = {
    "play_s": "rules, bots and prompts",
    "draw_s": "drawing",
    "sample_s": "sampling replies",
    "update_s": "update",
    "wait_s": "waiting for other processes",
}
"""Where the seconds of an iteration go, in the order in which they are stacked."""
OVERLAP = "overlap_s"
"""How many of them were spent on two parts at once."""
BARS = 60
"""Most iterations in the picture of it: the last ones."""


@dataclass(frozen=True)
class TimePart:
    """One kind of work: mean seconds, share of all time, and its rectangles, one for each iteration."""

    name: str
    mean: str
    share: str
    bars: list[tuple[float, float, float, float]]
    """x, y, width, height."""


def judgement(trainer: Trainer) -> str:
    """One sentence about the last evaluation; empty where there is none."""
    judged, monitor = trainer.judged, trainer.recipe.monitor
    if not judged:
        return ""
    roles = [name for name in judged if name.startswith("won ") and name not in ("won low", "won high")]
    shares = [f"{name.removeprefix('won ')} {judged[name]:.1%}" for name in roles]
    shares += [f"blind {judged['blind won']:.1%}"] if "blind won" in judged else []
    return (
        f"Judged on held-back seeds, {monitor.judge} games per role against {monitor.against}: "
        f"the checkpoint after {judged['iteration']:.0f} iterations won {judged['won']:.1%} "
        f"[{judged['won low']:.1%}, {judged['won high']:.1%}]; {', '.join(shares)}."
    )


def time_parts(history: Sequence[dict[str, float]]) -> list[TimePart]:
    """Where the time of the iterations went; empty where nothing was measured."""
    timed = [measures for measures in history if all(name in measures for name in PARTS)]
    whole = sum(measures[name] for measures in timed for name in PARTS)
    if not whole:
        return []
    latest = timed[-BARS:]
    highest = max(sum(measures[name] for name in PARTS) for measures in latest)
    width, parts, below = (RIGHT - LEFT) / len(latest), [], [0.0] * len(latest)
    for name, text in PARTS.items():
        bars = []
        for place, measures in enumerate(latest):
            height = (BOTTOM - TOP) * measures[name] / (highest or 1.0)
            below[place] += height
            bars.append(
                (round(LEFT + place * width, 2), round(BOTTOM - below[place], 2), width * 0.9, height)
            )
        total = sum(measures[name] for measures in timed)
        parts.append(TimePart(text, f"{total / len(timed):.3g}", f"{total / whole:.0%}", bars))
    return parts


def curves(history: Sequence[dict[str, float]]) -> list[Curve]:
    """Every measurement that exists in at least two iterations, the most telling first; parts of the time are
    shown as such."""
    measurements = {name for measures in history for name in measures} - {"iteration", *PARTS}
    names = [*(name for name in FIRST if name in measurements), *sorted(measurements.difference(FIRST))]
    points = {name: [(m["iteration"], m[name]) for m in history if name in m] for name in names}
    return [_curve(name, some, history[-1]["iteration"]) for name, some in points.items() if len(some) > 1]


def _curve(name: str, values: Sequence[tuple[float, float]], end: float) -> Curve:
    low, high = min(v for _, v in values), max(v for _, v in values)
    height = (BOTTOM - TOP) / ((high - low) or 1.0)
    points = " ".join(f"{_x(i, end):.1f},{BOTTOM - (v - low) * height:.1f}" for i, v in values)
    return Curve(name, points, *(f"{value:.4g}" for value in (values[0][1], values[-1][1], low, high)))


def _smoothed(losses: Sequence[float]) -> list[tuple[float, float]]:
    step = -(-len(losses) // POINTS)
    parts = [losses[at : at + step] for at in range(0, len(losses), step)]
    return [(number * step + len(part) / 2, sum(part) / len(part)) for number, part in enumerate(parts)]


def _x(iteration: float, end: float) -> float:
    return LEFT + (RIGHT - LEFT) * iteration / max(1.0, end)


def bands(history: Sequence[dict[str, float]]) -> list[tuple[float, float]]:
    """Where the stage before decisions was trained: position and width."""
    end, name = history[-1]["iteration"] if history else 1.0, _stage_measure(history)
    starts = [m["iteration"] - 1 for m in history if m.get(name)]
    return [(round(_x(start, end), 1), round((RIGHT - LEFT) / end, 2)) for start in starts]


def switches(history: Sequence[dict[str, float]]) -> list[int]:
    name = _stage_measure(history)
    stages = [(int(m["iteration"]), m[name]) for m in history if name in m]
    return [before[0] for before, after in pairwise(stages) if before[1] != after[1]]


def _stage_measure(history: Sequence[dict[str, float]]) -> str:
    """The name of the measurement that says whether the stage before decisions was trained; or empty."""
    return next((name for measures in history for name in measures if name.startswith(TRAINED)), "")


MEASUREMENTS, GAMES, PAGE = "measurements.jsonl", "games", "index.html"


class Monitor:
    """Called with the measurements of every iteration, and with those before training as iteration 0."""

    def __init__(self, trainer: Trainer, folder: Path, say: Callable[[str], None]) -> None:
        self.trainer, self.folder, self.say = trainer, folder, say
        self._began, self._from = perf_counter(), trainer.iteration
        spec, recipe = trainer.recipe.monitor.track, trainer.recipe
        # Steps after the checkpoint in a tracker come from a run that was stopped: they are replaced.
        first = trainer.iteration + 1
        self._tracker = open_tracker(spec, recipe.run.name, recipe.as_dict(), first) if spec else None
        lines = [orjson.dumps(measures) + b"\n" for measures in trainer.history]
        write_atomically(folder / MEASUREMENTS, b"".join(lines))

    def __call__(self, measures: dict[str, float]) -> None:
        iteration = int(measures["iteration"])
        with (self.folder / MEASUREMENTS).open("ab") as file:
            file.write(orjson.dumps(measures) + b"\n")
        if self._tracker is not None:
            self._tracker.log(iteration, measures)
        self.say(self._line(iteration, measures))
        if self.trainer.at_checkpoint:
            self._store_games(iteration)
            write_page(self.folder / PAGE, self.trainer)

    def store_judgement(self) -> None:
        judged = self.trainer.judged
        write_atomically(self.folder / JUDGED, orjson.dumps(judged, option=orjson.OPT_INDENT_2))
        self.say(judgement(self.trainer))
        write_page(self.folder / PAGE, self.trainer)

    def _line(self, iteration: int, measures: dict[str, float]) -> str:
        total, stage = self.trainer.recipe.iterations, self.trainer.algorithm.stage
        parts = [f"{iteration}/{total}", *([stage] if stage else [])]
        parts += [f"{name} {measures[name]:.3f}" for name in FIRST if name in measures]
        if measures.get("no_signal") == 1:
            parts.append("(nothing to learn: all rewards were as expected)")
        if iteration > self._from:
            remaining = (perf_counter() - self._began) / (iteration - self._from) * (total - iteration)
            parts.append(f"{measures['s']:.1f} s, {timedelta(seconds=round(remaining))} left")
        return "  ".join(parts)

    def _store_games(self, iteration: int) -> None:
        games = self.trainer.last_games[: self.trainer.recipe.monitor.games]
        if games:
            (self.folder / GAMES).mkdir(exist_ok=True)
            lines = b"".join(episode.to_json() + b"\n" for episode in games)
            write_atomically(self.folder / GAMES / f"{iteration:06d}.jsonl", lines)
