"""LVLM-Playground: six board games, four tasks each: perceive, answer, follow the rules, play."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ludens.agents import CATALOGUE
from ludens.core.config import PlayConfig
from ludens.core.errors import UnknownName
from ludens.core.options import Touch, option
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.run.task import MODEL, Metric, Published, Suite, SuiteBuilder, Task, fact, read_deviations
from ludens.run.twins import both_of
from ludens.suites.playground import metrics

_FOLDER = Path(__file__).parent
REFERENCES, DEVIATIONS = _FOLDER / "references.toml", read_deviations(_FOLDER / "deviations.md")
SIGHT_DEVIATIONS = read_deviations(_FOLDER / "sight.md")
GAMES = ("tic_tac_toe", "reversi", "sudoku", "minesweeper", "gomoku", "chess")
DENSITIES = ("0-45", "46-90", "91-135", "136-180", "181-225")
VARIETIES = ("K", "KQ", "KQR", "KQRB", "KQRBN", "KQRBNP")
EPISODES, MATCHES = 200, 1_000
"""Per task and game; per game where steps are counted (E.2)."""

OPPONENTS = {
    "tic_tac_toe": (("x", "o"), "bot/minimax"),
    "reversi": (("black", "white"), "bot/alphabeta"),
    "gomoku": (("black", "white"), "bot/lines"),
    "chess": (("white", "black"), "bot/search"),
}
"""Seats in playing order, and the opponent; the other games have one seat."""
PAPER_OPPONENTS = {"tic_tac_toe": "bot/minimax", "reversi": "bot/alphabeta", "chess": "bot/uci?seconds=1"}
"""Those of the paper or its released code that can be had here. Gomoku's looks one move ahead."""

ONE_TRY = PlayConfig(retries=0, fallback="forfeit")
THREE_TRIES = PlayConfig(retries=2, fallback="forfeit", listed=False, reasons="kind")
"""Three invalid replies in a row lose the game; legal moves are not listed, and a refused move is not
explained, which would tell what is on the board."""

_DENSE = {
    "tic_tac_toe": "&filled=4-8",
    "reversi": "&filled=10-56",
    "minesweeper": "&filled=26-38",
    "gomoku": "&filled=67-157",
    "chess": "&moves=80-160",
}
POSITIONS = {
    "dense": _DENSE,
    "released": {**_DENSE, "tic_tac_toe": "&filled=1-8", "chess": "&moves=5-55"},
    "any": {"reversi": "&moves=0-60", "gomoku": "&moves=0-220"},
}
"""How full boards are where a valid move is asked for; on an empty one, nearly every answer is valid."""

SIDES = ("first", "second", "both")
SEEING = (metrics.CELLS, metrics.BALANCED, metrics.OCCUPIED, metrics.EXACT, metrics.READABLE)
FOLLOWING = (metrics.VALID, metrics.ABOVE_CHANCE, metrics.READABLE)


TWINS = "&twins=true"

_SHARES = frozenset({"perceive", "qa", "rule", "density", "variety"})


@lru_cache(maxsize=16)
def table(name: str) -> Mapping[str, Mapping[str, float]]:
    """A table as printed: model to column to value."""
    return tomllib.loads((_FOLDER / "published" / f"{name}.toml").read_text("utf-8"))


def rows(
    source: str, *names: str, nobody_played: Sequence[str] = (), without: Sequence[str] = ()
) -> tuple[Published, ...]:
    """The rows of several tables merged, under our task names.

    Args:
        source: What tables say these numbers come from.
        names: Of the tables, which are also what our task names begin with.
        nobody_played: Tasks in which the paper says that every model, though not Random, scored 0.
        without: Tasks that are not played as in the paper.
    """
    merged: dict[str, dict[str, float]] = {}
    for name in names:
        unit = 100 if name in _SHARES else 1
        for model, values in table(name).items():
            row = merged.setdefault(model, {})
            tasks = {f"{name}/{column}": round(unit * value, 6) for column, value in values.items()}
            row |= {task: value for task, value in tasks.items() if task not in without}
    for model, row in merged.items():
        if model != "Random":
            row |= dict.fromkeys(nobody_played, 0.0)
    return tuple(Published(source, model, values) for model, values in merged.items())


def question(task: str, game: str, metrics_of_task: tuple[Metric, ...], options: str = "") -> Task:
    seat = "player" if task == "rule" else "viewer"
    spec = f"{task}?board={game}{options}"
    return Task(f"{task}/{game}", spec, ({seat: MODEL},), EPISODES, metrics_of_task, ONE_TRY)


def match(game: str, sides: str = "first", opponent: str = "") -> Task:
    """Whole games, against the opponent where there is one: its own unless another is given that plays it."""
    seatings: tuple[dict[str, str], ...] = ({"player": MODEL},)
    if game in OPPONENTS:
        (first, second), usual = OPPONENTS[game]
        opponent = opponent if opponent and plays(opponent, game) else usual
        either = {"first": {first: MODEL, second: opponent}, "second": {first: opponent, second: MODEL}}
        seatings = tuple(either.values()) if sides == "both" else (either[sides],)
    return Task(f"e2e/{game}", game, seatings, EPISODES, metrics.playing(game), THREE_TRIES)


def plays(bot: str, game: str) -> bool:
    name = parse_spec(bot).name
    return name in CATALOGUE or name.removeprefix("bot/") in make(game).bots


@dataclass(frozen=True)
class _Rated(SuiteBuilder):
    ratings: str = option(
        "formula",
        choices=tuple(metrics.RATINGS),
        help="game weights: the paper's formulas, or the stars it prints",
    )


@dataclass(frozen=True)
class Playground(_Rated):
    """The paper's four tasks (tables 2 to 4, figure 4)."""

    sides: str = option("first", choices=SIDES, help="where the model sits in games with an opponent")
    opponent: str = option(
        "",
        help="a bot that replaces the opponent in the games it plays, such as bot/uci in chess",
        touches=Touch.PLAYER,
    )
    positions: str = option(
        "dense",
        choices=tuple(POSITIONS),
        help="where a valid move is asked for: dense boards, boards as full as in the released code, or "
        "after any number of random moves",
    )
    examples: int = option(3, low=0, high=6, help="answered questions in the prompt of a question")
    episodes: int = option(
        EPISODES,
        low=1,
        high=9_999_999,
        help="of every task; the paper has 200, and 1000 for its random baseline",
    )

    def build(self) -> Suite:
        if self.opponent and not any(plays(self.opponent, game) for game in OPPONENTS):
            bots = {f"bot/{name}" for game in OPPONENTS for name in make(game).bots}
            raise UnknownName("opponent", self.opponent, bots | set(CATALOGUE))
        shots = "" if self.examples == 3 else f"&examples={self.examples}"
        boards = POSITIONS[self.positions]
        tasks = (
            *(question("perceive", game, SEEING) for game in GAMES),
            *(question("qa", game, metrics.accuracy(game), shots) for game in GAMES),
            *(question("rule", game, FOLLOWING, boards.get(game, "")) for game in GAMES),
            *(match(game, self.sides, self.opponent) for game in GAMES),
        )
        return Suite(
            name="playground",
            about="LVLM-Playground: six board games; perceive a position, answer a question about it, "
            "name a valid move, play to the end.",
            tasks=tuple(replace(task, episodes=self.episodes) for task in tasks),
            published=self._published(tasks),
            deviations=DEVIATIONS,
            summaries=metrics.summaries(self.ratings),
            references=REFERENCES,
            paper=_FOLDER / "paper.bib",
        )

    def _published(self, tasks: Sequence[Task]) -> tuple[Published, ...]:
        """The paper's rows, of tasks that are asked and played as in the paper."""
        tables = ["perceive"] + ["qa"] * (self.examples == 3) + ["rule"] * (self.positions != "any")
        alike = tuple(task.name for task in tasks if task.name.startswith("e2e/") and _as_in_paper(task))
        return rows("LVLM-Playground, tables 2-4", *tables, nobody_played=alike)


def _as_in_paper(task: Task) -> bool:
    """Whether whole games are played alone, or first against the opponent of the paper."""
    game = parse_spec(task.game).name
    if game not in OPPONENTS:
        return True
    (first, second), _ = OPPONENTS[game]
    return task.seatings == ({first: MODEL, second: PAPER_OPPONENTS.get(game)},)


@dataclass(frozen=True)
class PlaygroundMini(_Rated):
    """All tasks, a few episodes of each."""

    def build(self) -> Suite:
        about = "LVLM-Playground in small: ten questions of each type, two games of each."
        full = Playground(self.ratings).build()
        return full.limited("playground-mini", about, lambda task: 2 if task.name.startswith("e2e/") else 10)


FULLER = {
    **_DENSE,
    "sudoku": "&filled=45-70",
    "minesweeper": "&filled=36-50",
    "gomoku": "&filled=115-157",
}
"""Boards on which a twin can have no valid move in common."""


OPENINGS = {"tic_tac_toe": 3, "reversi": 8, "gomoku": 6, "chess": 8}
"""Random moves before whole games."""


def twin_match(game: str) -> Task:
    """Whole games after random openings, in twin worlds and in both seats."""
    task = match(game, "both")
    if game not in OPENINGS:
        return task
    both = both_of(metrics.unbeaten, "pairs of twin worlds (same words, other openings) won or drawn in both")
    opened = f"{game}?opening={OPENINGS[game]}{TWINS}"
    return replace(task, game=opened, metrics=(both, *task.metrics))


@dataclass(frozen=True)
class PlaygroundSight(SuiteBuilder):
    """Twin worlds: a player that does not look is right in at most one of the two."""

    episodes: int = option(
        EPISODES, low=4, high=9_999_996, help="of every task; two are a pair, four of a game with two sides"
    )

    def build(self) -> Suite:
        cells = both_of(about="of the cells that differ between twin boards, those right on both")
        valid, right = both_of(fact("valid")), both_of(fact("right"))
        tasks = (
            *(question("perceive", game, (cells, *SEEING), TWINS) for game in GAMES),
            *(question("qa", game, (right, *metrics.accuracy(game)), TWINS) for game in GAMES),
            *(question("rule", game, (valid, *FOLLOWING), FULLER[game] + TWINS) for game in GAMES),
            *(twin_match(game) for game in GAMES),
        )
        return Suite(
            name="playground-sight",
            about="LVLM-Playground in twin worlds: the same question about two boards, and both answers must "
            "be right; whole games after two openings.",
            tasks=tuple(replace(task, episodes=self.episodes) for task in tasks),
            deviations=(*SIGHT_DEVIATIONS, *DEVIATIONS),
            references=REFERENCES,
            paper=_FOLDER / "paper.bib",
        )


@dataclass(frozen=True)
class PlaygroundSightMini(SuiteBuilder):
    """A few episodes of each task."""

    def build(self) -> Suite:
        about = "playground-sight in small: five pairs of questions of each type, two pairs of games of each."
        full = PlaygroundSight().build()
        return full.limited("playground-sight-mini", about, _few_in_pairs)


def _few_in_pairs(task: Task) -> int:
    return 4 if task.name.startswith("e2e/") else 10


@dataclass(frozen=True)
class Sweeps(SuiteBuilder):
    """How perception depends on the board (E.1), and how many steps a player makes (E.2)."""

    def build(self) -> Suite:
        stones, kinds = "Gomoku boards by number of stones", "Chessboards by kinds of pieces"
        by_density = [_sweep(f"density/{n}", "gomoku", f"pieces={n}", stones) for n in DENSITIES]
        by_variety = [_sweep(f"variety/{some}", "chess", f"kinds={some}", kinds) for some in VARIETIES]
        lengths = []
        for game in GAMES:
            games = match(game)
            steps = metrics.STEPS, *(metric for metric in games.metrics if metric is not metrics.STEPS)
            lengths.append(replace(games, name=f"steps/{game}", episodes=MATCHES, metrics=steps))
        without = [task.name for task in lengths if not _as_in_paper(task)]
        return Suite(
            name="playground-sweeps",
            about="LVLM-Playground, appendix E: Gomoku boards by density, chessboards by kinds of pieces, "
            "successful steps in whole games.",
            tasks=(*by_density, *by_variety, *lengths),
            published=rows("LVLM-Playground, tables 6-8", "density", "variety", "steps", without=without),
            deviations=DEVIATIONS,
            references=REFERENCES,
            paper=_FOLDER / "paper.bib",
        )


def _sweep(name: str, game: str, setting: str, curve: str) -> Task:
    return replace(question("perceive", game, SEEING, f"&{setting}"), name=name, curve=curve)
