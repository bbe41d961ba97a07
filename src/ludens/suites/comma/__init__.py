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
from ludens.run.task import MODEL, Metric, Published, Seating, Suite, SuiteBuilder, Task
from ludens.suites.comma.judge.conversation import LABELS
from ludens.suites.comma.metrics import DISCREET, EFFICIENCY, HEADLINES, LEAKS, TOKENS, skills_of, summaries

DEVIATIONS = (
    "An action acts when it is alone on its line; in the released code any line that mentions one acts, "
    "inside reasoning and questions too (variant=released).",
    "The Solver speaks ten times, as the paper says; the released loop lets it begin an eleventh message, of "
    "which the first line is read (variant=released).",
    "Partial scores never fall, end at 1 exactly when solved, and exist for every puzzle with more than one "
    "step, Password and ATM included; the released ones can fall, exceed 1 (Maze) or be missing. In Password "
    "and Maze what counts is the panel after a message, not in the middle of it.",
    "A failure counts as ten turns in ACL, as the paper's text says; the released code counted pairs of "
    "messages, so that an early failure was a short conversation. Published ACL follows the latter.",
    "Serial numbers are odd or even, mazes several, Memory's labels change from stage to stage, Password "
    "takes every listed word that can be spelt; the released code had even serials, one maze, fixed labels.",
    "The four letters of LED are distinct, as its manual says, and Color's colours are placed freely; in the "
    "released code letters repeat, and the first five squares that are not white always have the same "
    "colours (variant=released).",
    "The Solver's prompt says what the panel is and how its actions work, and both prompts name the limits "
    "of turns and mistakes, which the header of the panel counts; the released code has one prompt for all "
    "puzzles (variant=released uses a generic one, but pictures keep the header).",
    "Prompts and manuals are in our own words, with the released tables and the same information; Keypad's "
    "manual is drawn by us instead of a scanned page.",
    "Panels come from our own seeds; the 1,000 published starts are not used. Those of Keypad depend on the "
    "order of files on a disk, Memory has 4 distinct ones, and most draws after the start were not seeded.",
    "Telehealth's six diagnoses are equally frequent, so that none is a good guess; with variant=released "
    "they are as frequent as in the released data.",
    "Maze never starts on a sphere; six published starts are on the goal (variant=released allows it).",
    "Keypad symbols and skin lesions are drawn by us, and Telehealth has a name, an address and an ID number "
    "to keep private. The released Telehealth took every entry of itch and bleed for a yes.",
    "What the Solver types as PIN or amount does not reach the Expert; the paper's Expert read the keys.",
    "The Solver reads which action each answer of the panel belongs to; the released answers do not say.",
    "Tokens are those providers bill as output, reasoning included, of both seats; the paper counted message "
    "texts with one tokenizer and added reasoning tokens.",
    "Overall is the mean over puzzles; the printed overall of o4-mini and of the human row is a mean over "
    "runs, of which some puzzles had more. Both means are in the report.",
    "A reply that is empty may be given again twice and then is silence; a provider's failure voids the "
    "episode. The released code played an error message as if it had been said.",
)


PUZZLES = ("wire", "telehealth", "who", "led", "memory", "keypad", "password", "color", "maze", "atm")
"""In the order of the paper's tables."""
SEEDS, FEW, MANY = 100, 3, 2_000

_BOTH: Seating = {"solver": MODEL, "expert": MODEL}
_TABLES = {"PSR": 1, "memory": 2, "SR": 3, "AM": 4, "ACL": 5}


@dataclass(frozen=True)
class Comma(SuiteBuilder):
    """The paper's setting."""

    first: str = option("PSR", choices=tuple(HEADLINES), help="the metric that tables show first")

    def build(self) -> Suite:
        return Suite(
            name="comma",
            about="COMMA: ten puzzles for two who must talk; one sees the panel, the other has the manual.",
            tasks=tuple(_task(puzzle, self.first) for puzzle in PUZZLES),
            published=published(self.first),
            deviations=DEVIATIONS,
            labels=LABELS,
            references=Path(__file__).with_name("references.toml"),
            summaries=tuple(summaries(PUZZLES, self.first)),
        )


class Mini(Comma):
    """The same puzzles, a few seeds of each."""

    def build(self) -> Suite:
        about = "COMMA in small: three seeds of each puzzle."
        return _varied(super().build(), "comma-mini", about, episodes=FEW)


class Manuals(Comma):
    """A random manual for every seed."""

    def build(self) -> Suite:
        about = "COMMA with random rules, tables and symbols for every seed."
        return replace(
            _varied(super().build(), "comma-manuals", about, game_option="manual=random"), published=()
        )


class Released(Comma):
    """The released code's rules: mentioned actions act, one more turn, old partial scores, one try."""

    def build(self) -> Suite:
        about = "COMMA by the rules of the released code, to compare with the published numbers."
        whole = _varied(super().build(), "comma-released", about, game_option="variant=released")
        return replace(whole, tasks=tuple(replace(t, config=PlayConfig(retries=0)) for t in whole.tasks))


class Baseline(Released):
    """Enough seeds to tell two percent from three."""

    def build(self) -> Suite:
        about = "COMMA by the released rules over 2,000 seeds a puzzle: for bot/random, not for models."
        return _varied(super().build(), "comma-baseline", about, episodes=MANY)


class Strict(Comma):
    """The first mistake ends the game, so that guessing is worth little; see the blind baselines."""

    def build(self) -> Suite:
        about = "COMMA in which the first mistake ends the game: trying one action after the other is lost."
        whole = _varied(super().build(), "comma-strict", about, game_option="mistakes=1")
        return replace(whole, published=())


class Memory(Comma):
    """The ablation: no memory except the latest message."""

    def build(self) -> Suite:
        about = "COMMA without memory: each seat is shown the latest message only."
        whole = _varied(super().build(), "comma-memory", about, game_option="history=last")
        return replace(whole, published=published("memory") if self.first == "PSR" else ())


class Solver(Comma):
    """The model with a perfect Expert, which speaks and understands the oracles' small language only."""

    def build(self) -> Suite:
        about = "COMMA with the oracle as Expert: how well the model sees, tells and acts."
        seating = {"solver": MODEL, "expert": "bot/oracle"}
        return _varied(super().build(), "comma-solver", about, seating=seating)


class Expert(Comma):
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

    file = Path(__file__).parent / "published.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
