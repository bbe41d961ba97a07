"""COMMA: ten puzzles that two must solve by talking, in the paper's setting and in those around it.

    comma            ten puzzles, 100 fixed seeds each, the same model in both chairs
    comma-mini       the same, three seeds each
    comma-manuals    manuals drawn anew for every seed: nothing can have been memorised
    comma-released   the released code's rules, for numbers beside the published ones
    comma-baseline   the same with 2,000 seeds each, for bots
    comma-memory     each seat is shown the latest message only
    comma-solver     the model sees the panel, the oracle has the manual
    comma-expert     the oracle sees the panel, the model has the manual

Each takes `?first=SR` (or AM, ACL, PSR): the metric tables show first, beside the paper's table of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ludens.core.config import PlayConfig
from ludens.core.errors import UnknownName
from ludens.run.task import MODEL, Metric, Published, Seating, Suite, Task
from ludens.suites.comma.deviations import DEVIATIONS
from ludens.suites.comma.metrics import DISCREET, EFFICIENCY, HEADLINES, LEAKS, TOKENS
from ludens.suites.comma.summaries import skills_of, summaries

PUZZLES = ("wire", "telehealth", "who", "led", "memory", "keypad", "password", "color", "maze", "atm")
"""In the order of the paper's tables."""
SEEDS, FEW, MANY = 100, 3, 2_000

_BOTH: Seating = {"solver": MODEL, "expert": MODEL}
_TABLES = {"PSR": 1, "memory": 2, "SR": 3, "AM": 4, "ACL": 5}


def comma(first: str = "PSR") -> Suite:
    """The paper's setting.

    Args:
        first: The metric that tables show first: PSR, SR, AM or ACL.
    """
    return Suite(
        name="comma",
        about="COMMA: ten puzzles for two who must talk; one sees the panel, the other has the manual.",
        tasks=tuple(_task(puzzle, first) for puzzle in PUZZLES),
        published=published(first),
        deviations=DEVIATIONS,
        summaries=tuple(summaries(PUZZLES, first)),
    )


def mini(first: str = "PSR") -> Suite:
    """The same puzzles, a few seeds of each."""
    return _varied(comma(first), "comma-mini", "COMMA in small: three seeds of each puzzle.", episodes=FEW)


def manuals(first: str = "PSR") -> Suite:
    """Manuals of their own."""
    about = "COMMA with rules, tables and symbols drawn anew for every seed."
    return replace(_varied(comma(first), "comma-manuals", about, option="manual=random"), published=())


def released(first: str = "PSR") -> Suite:
    """The released code's rules: what is said in passing acts, one turn more, old partial scores, one try."""
    about = "COMMA by the rules of the released code, to be held against the published numbers."
    whole = _varied(comma(first), "comma-released", about, option="variant=released")
    return replace(whole, tasks=tuple(replace(task, config=PlayConfig(retries=0)) for task in whole.tasks))


def baseline(first: str = "PSR") -> Suite:
    """Enough seeds to tell two percent from three."""
    about = "COMMA by the released rules over 2,000 seeds a puzzle: for bot/random, not for models."
    return _varied(released(first), "comma-baseline", about, episodes=MANY)


def memory(first: str = "PSR") -> Suite:
    """The ablation: no memory but the latest message."""
    about = "COMMA without memory: each seat is shown the latest message only."
    whole = _varied(comma(first), "comma-memory", about, option="history=last")
    return replace(whole, published=published("memory") if first == "PSR" else ())


def solver(first: str = "PSR") -> Suite:
    """The model with a perfect Expert, who speaks the oracles' small language and understands no other."""
    about = "COMMA with the oracle as Expert: how well the model sees, tells and acts."
    return _varied(comma(first), "comma-solver", about, seating={"solver": MODEL, "expert": "bot/oracle"})


def expert(first: str = "PSR") -> Suite:
    """The model with a perfect Solver, who speaks the oracles' small language and understands no other."""
    about = "COMMA with the oracle as Solver: how well the model reads the manual and answers."
    whole = _varied(comma(first), "comma-expert", about, seating={"solver": "bot/oracle", "expert": MODEL})
    # The manual comes as text, but for the keypad's drawn columns.
    return replace(whole, tasks=tuple(replace(t, blindable=t.name == "keypad") for t in whole.tasks))


def published(table: str) -> tuple[Published, ...]:
    """The paper's rows for a metric; `memory` is its ablation."""
    rows = _published()[table]
    return tuple(Published(f"COMMA, table {_TABLES[table]}", model, row) for model, row in rows.items())


def _task(puzzle: str, first: str) -> Task:
    if first not in HEADLINES:
        raise UnknownName("value of option 'first' of comma", first, HEADLINES)
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
    option: str = "",
    episodes: int = 0,
    seating: Seating | None = None,
) -> Suite:
    tasks = tuple(
        replace(
            task,
            game=f"{task.game}?{option}" if option else task.game,
            episodes=episodes or task.episodes,
            seatings=(seating,) if seating else task.seatings,
        )
        for task in whole.tasks
    )
    # Published rows speak of one model in both chairs.
    beside = () if seating else whole.published
    return replace(whole, name=name, about=about, tasks=tasks, published=beside)


@lru_cache(maxsize=1)
def _published() -> dict[str, dict[str, dict[str, float]]]:
    import tomllib

    file = Path(__file__).parent / "published.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
