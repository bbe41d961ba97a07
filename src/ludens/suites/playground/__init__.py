"""LVLM-Playground: six board games, four tasks each: perceive, answer, follow the rules, play."""

from __future__ import annotations

import re
from dataclasses import replace

from ludens.core.config import PlayConfig
from ludens.core.errors import BadOption, UnknownName
from ludens.run.task import MODEL, Metric, Suite, Task
from ludens.suites.playground.deviations import DEVIATIONS
from ludens.suites.playground.metrics import CELLS, EXACT, READABLE, STEPS, UNBEATEN, VALID, accuracy, playing
from ludens.suites.playground.paper import rows
from ludens.suites.playground.ratings import summaries

GAMES = ("tic_tac_toe", "reversi", "sudoku", "minesweeper", "gomoku", "chess")
DENSITIES = ("0-45", "46-90", "91-135", "136-180", "181-225")
VARIETIES = ("K", "KQ", "KQR", "KQRB", "KQRBN", "KQRBNP")
EPISODES, MATCHES = 200, 1_000
"""Of a task and game; of a game where steps are counted (E.2)."""

OPPONENTS = {
    "tic_tac_toe": (("x", "o"), "bot/minimax"),
    "reversi": (("black", "white"), "bot/alphabeta"),
    "gomoku": (("black", "white"), "bot/lines"),
    "chess": (("white", "black"), "bot/search"),
}
"""Seats, the first to move first, and who sits in the other one; the other games are played alone."""

ONE_TRY = PlayConfig(retries=0, fallback="forfeit")
THREE_TRIES = PlayConfig(retries=2, fallback="forfeit", listed=False)
"""Three invalid replies in a row lose the game; what is legal the player must know."""

LONG = {"reversi": "&moves=60", "gomoku": "&moves=220"}
"""Boards that need more moves than the usual 40 to fill up: on a bare one, any answer is valid."""

SIDES = ("first", "second", "both")


def question(task: str, game: str, metrics: tuple[Metric, ...], options: str = "") -> Task:
    """One of the tasks that are over after one reply."""
    seat = "player" if task == "rule" else "viewer"
    spec = f"{task}?board={game}{options}"
    return Task(f"{task}/{game}", spec, ({seat: MODEL},), EPISODES, metrics, ONE_TRY)


def match(game: str, sides: str = "first") -> Task:
    """Whole games, against the opponent where there is one."""
    if sides not in SIDES:
        raise UnknownName("value of option 'sides' of playground", sides, SIDES)
    seatings: tuple[dict[str, str], ...] = ({"player": MODEL},)
    if game in OPPONENTS:
        (first, second), opponent = OPPONENTS[game]
        either = {"first": {first: MODEL, second: opponent}, "second": {first: opponent, second: MODEL}}
        seatings = tuple(either.values()) if sides == "both" else (either[sides],)
    return Task(f"e2e/{game}", game, seatings, EPISODES, playing(game), THREE_TRIES)


def playground(
    ratings: str = "formula", sides: str = "first", examples: str = "3", episodes: str = str(EPISODES)
) -> Suite:
    """The paper's four tasks (tables 2 to 4, figure 4).

    Args:
        ratings: Where the weights of games come from: the paper's formulas, or the stars it prints.
        sides: Where the model sits in games with an opponent: first, second or both.
        examples: How many answered questions the prompt of a question holds.
        episodes: Of every task; the paper's number for models is 200, for its random baseline 1000.
    """
    if not re.fullmatch(r"[1-9]\d{0,6}", episodes):
        raise BadOption(f"option 'episodes' of playground must be a whole number above 0, not {episodes!r}.")
    shots = "" if examples == "3" else f"&examples={examples}"
    tasks = (
        *(question("perceive", game, (CELLS, EXACT, READABLE)) for game in GAMES),
        *(question("qa", game, accuracy(game), shots) for game in GAMES),
        *(question("rule", game, (VALID, READABLE), LONG.get(game, "")) for game in GAMES),
        *(match(game, sides) for game in GAMES),
    )
    return Suite(
        name="playground",
        about="LVLM-Playground: six board games; perceive a position, answer a question about it, "
        "name a valid move, play to the end.",
        tasks=tuple(replace(task, episodes=int(episodes)) for task in tasks),
        published=rows(
            "LVLM-Playground, tables 2-4",
            "perceive",
            "qa",
            "rule",
            nobody_played=tuple(f"e2e/{game}" for game in GAMES),
        ),
        deviations=DEVIATIONS,
        summaries=summaries(ratings),
    )


def mini(ratings: str = "formula") -> Suite:
    """All tasks, a few episodes of each."""
    whole = playground(ratings)
    few = [replace(task, episodes=2 if task.name.startswith("e2e/") else 10) for task in whole.tasks]
    return replace(
        whole,
        name="playground-mini",
        about="LVLM-Playground in small: ten questions of each kind, two games of each.",
        tasks=tuple(few),
    )


def sweeps() -> Suite:
    """How seeing depends on the board (E.1), and how far a player gets (E.2)."""
    seeing = (CELLS, EXACT, READABLE)
    by_density = [
        replace(question("perceive", "gomoku", seeing), name=f"density/{pieces}",
                game=f"perceive?board=gomoku&pieces={pieces}")
        for pieces in DENSITIES
    ]  # fmt: skip
    by_variety = [
        replace(question("perceive", "chess", seeing), name=f"variety/{kinds}",
                game=f"perceive?board=chess&kinds={kinds}")
        for kinds in VARIETIES
    ]  # fmt: skip
    lengths = []
    for game in GAMES:
        whole = match(game)
        rest = tuple(metric for metric in whole.metrics if metric is not STEPS)
        lengths.append(replace(whole, name=f"steps/{game}", episodes=MATCHES, metrics=(STEPS, *rest)))
    return Suite(
        name="playground-sweeps",
        about="LVLM-Playground, appendix E: Gomoku boards by density, chessboards by kinds of pieces, "
        "successful steps in whole games.",
        tasks=(*by_density, *by_variety, *lengths),
        published=rows("LVLM-Playground, tables 6-8", "density", "variety", "steps"),
        deviations=DEVIATIONS,
    )


__all__ = ["DENSITIES", "GAMES", "OPPONENTS", "UNBEATEN", "VARIETIES", "mini", "playground", "sweeps"]
