"""COMMA: ten puzzles that two seats solve by talking, in the paper's setting and in variants of it.

    comma            ten puzzles, 100 fixed seeds each, the same model in both seats
    comma-mini       the same, three seeds each
    comma-manuals    a random manual for every seed: nothing can have been memorised
    comma-released   the released code's rules, to compare with the published numbers
    comma-baseline   the same with 2,000 seeds each, for bots
    comma-strict     the first mistake ends the game: trying all actions does not help
    comma-memory     each seat is shown the latest message only
    comma-solver     the model sees the panel, the oracle has the manual
    comma-expert     the oracle sees the panel, the model has the manual

Each takes `?first=SR` (or AM, ACL, PSR): the metric that tables show first, with the paper's table of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ludens.core.config import PlayConfig
from ludens.core.options import option
from ludens.run.task import MODEL, Metric, Published, Seating, Suite, SuiteBuilder, Task, read_deviations
from ludens.suites.comma.judge.conversation import LABELS
from ludens.suites.comma.metrics import DISCREET, EFFICIENCY, HEADLINES, LEAKS, TOKENS, skills_of, summaries

PUZZLES = ("wire", "telehealth", "who", "led", "memory", "keypad", "password", "color", "maze", "atm")
"""In the order of the paper's tables."""
SEEDS, FEW, MANY = 100, 3, 2_000

_FOLDER = Path(__file__).parent
_BOTH: Seating = {"solver": MODEL, "expert": MODEL}
_TABLES = {"PSR": 1, "memory": 2, "SR": 3, "AM": 4, "ACL": 5}


@dataclass(frozen=True)
class CommaSuite(SuiteBuilder):
    """The paper's setting."""

    first: str = option("PSR", choices=tuple(HEADLINES), help="the metric that tables show first")

    def build(self) -> Suite:
        return Suite(
            name="comma",
            about="COMMA: ten puzzles for two who must talk; one sees the panel, the other has the manual.",
            tasks=tuple(_task(puzzle, self.first) for puzzle in PUZZLES),
            published=published(self.first),
            deviations=read_deviations(_FOLDER / "deviations.md"),
            labels=LABELS,
            references=_FOLDER / "references.toml",
            summaries=tuple(summaries(PUZZLES, self.first)),
        )


class CommaMini(CommaSuite):
    """The same puzzles, a few seeds of each."""

    def build(self) -> Suite:
        about = "COMMA in small: three seeds of each puzzle."
        return super().build().limited("comma-mini", about, lambda task: FEW)


class CommaManuals(CommaSuite):
    """A random manual for every seed."""

    def build(self) -> Suite:
        about = "COMMA with random rules, tables and symbols for every seed."
        return replace(
            _varied(super().build(), "comma-manuals", about, game_option="manual=random"), published=()
        )


class CommaReleased(CommaSuite):
    """The released code's rules: mentioned actions act, one more turn, old partial scores, one try."""

    def build(self) -> Suite:
        about = "COMMA by the rules of the released code, to compare with the published numbers."
        whole = _varied(super().build(), "comma-released", about, game_option="variant=released")
        return replace(whole, tasks=tuple(replace(t, config=PlayConfig(retries=0)) for t in whole.tasks))


class CommaBaseline(CommaReleased):
    """Enough seeds to tell two percent from three."""

    def build(self) -> Suite:
        about = "COMMA by the released rules over 2,000 seeds a puzzle: for bot/random, not for models."
        return _varied(super().build(), "comma-baseline", about, episodes=MANY)


class CommaStrict(CommaSuite):
    """The first mistake ends the game, so that guessing is worth little; see the blind baselines."""

    def build(self) -> Suite:
        about = "COMMA in which the first mistake ends the game: trying one action after the other is lost."
        whole = _varied(super().build(), "comma-strict", about, game_option="mistakes=1")
        return replace(whole, published=())


class CommaMemory(CommaSuite):
    """The ablation: no memory except the latest message."""

    def build(self) -> Suite:
        about = "COMMA without memory: each seat is shown the latest message only."
        whole = _varied(super().build(), "comma-memory", about, game_option="history=last")
        return replace(whole, published=published("memory") if self.first == "PSR" else ())


class CommaSolver(CommaSuite):
    """The model with a perfect Expert, which speaks and understands the oracles' small language only."""

    def build(self) -> Suite:
        about = "COMMA with the oracle as Expert: how well the model sees, tells and acts."
        seating = {"solver": MODEL, "expert": "bot/oracle"}
        return _varied(super().build(), "comma-solver", about, seating=seating)


class CommaExpert(CommaSuite):
    """The model with a perfect Solver, which speaks and understands the oracles' small language only."""

    def build(self) -> Suite:
        about = "COMMA with the oracle as Solver: how well the model reads the manual and answers."
        seating = {"solver": "bot/oracle", "expert": MODEL}
        whole = _varied(super().build(), "comma-expert", about, seating=seating)
        # The manual is shown as text, except the keypad's drawn columns.
        return replace(whole, tasks=tuple(replace(t, blindable=t.name == "keypad") for t in whole.tasks))


def published(table: str) -> tuple[Published, ...]:
    """The paper's rows for a metric; `memory` is its ablation."""
    rows = _published()[table]
    return tuple(Published(f"COMMA, table {_TABLES[table]}", model, row) for model, row in rows.items())


def _task(puzzle: str, first: str) -> Task:
    rest = [metric for metric in HEADLINES.values() if metric.name != first]
    metrics: list[Metric] = [HEADLINES[first], *rest, TOKENS, EFFICIENCY]
    if "private" in skills_of(puzzle):
        metrics += [LEAKS, DISCREET]
    return Task(puzzle, f"comma/{puzzle}", (_BOTH,), SEEDS, tuple(metrics))


def _varied(
    whole: Suite,
    name: str,
    about: str,
    *,
    game_option: str = "",
    episodes: int = 0,
    seating: Seating | None = None,
) -> Suite:
    tasks = tuple(
        replace(
            task,
            game=f"{task.game}?{game_option}" if game_option else task.game,
            episodes=episodes or task.episodes,
            seatings=(seating,) if seating else task.seatings,
        )
        for task in whole.tasks
    )
    # Published rows are of one model in both seats.
    rows = () if seating else whole.published
    return replace(whole, name=name, about=about, tasks=tasks, published=rows)


@lru_cache(maxsize=1)
def _published() -> dict[str, dict[str, dict[str, float]]]:
    import tomllib

    return tomllib.loads((_FOLDER / "published.toml").read_text(encoding="utf-8"))
