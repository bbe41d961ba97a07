"""Tables about verification: counts of moves, replays of every game, and what the tests compare with."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from ludens.concurrent import play_sync
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import UsageError
from ludens.core.registry import GAMES, make
from ludens.core.spec import parse_spec
from ludens.core.state import State
from ludens.core.twins import TwinGame
from ludens.core.verify import Verified, verify
from ludens.games.kuhn_poker import INFOSETS, equilibrium, exploitability
from ludens.run.report.table import Entry, Table
from report.suites import texts

ROOT = Path(__file__).parents[1]
COUNTS = Path(__file__).with_name("known_counts.toml")


def lines_of_play(state: State, depth: int) -> int:
    """How many sequences of this many moves there are; a game that ends earlier has none."""
    if not depth:
        return 1
    total = 0
    for seat in state.to_act:
        for action in state.legal(seat):
            after = state.clone()
            after.apply({seat: action})
            total += lines_of_play(after, depth - 1)
    return total


def known_counts(file: Path = COUNTS) -> Table:
    """Counts that are known, beside those of our rules."""
    rows: list[list[Entry]] = []
    for known in tomllib.loads(file.read_text("utf-8"))["counts"]:
        name, _, fen = known["game"].partition("?fen=")
        counted = lines_of_play(make(name, **({"fen": fen} if fen else {})).start(0), known["depth"])
        agrees = "yes" if counted == known["count"] else "NO"
        numbers = (known["depth"], known["count"], counted)
        rows.append([name, known["position"], agrees, *(f"{number:,}" for number in numbers)])
    uniform = exploitability(dict.fromkeys(INFOSETS, 0.5))
    worst = max(exploitability(equilibrium(tenth / 30)) for tenth in range(11))
    for what, value, exact in (
        ("uniform play", uniform, Fraction(11, 24)),
        ("equilibria", worst, Fraction(0)),
    ):
        agrees = "yes" if abs(value - exact) < 1e-9 else "NO"
        rows.append(["kuhn_poker", f"exploitability, {what}", agrees, "", str(exact), f"{value:.6f}"])
    heads = "game | position | agrees | moves | expected | counted"
    return texts("Known counts and values, computed again", heads, rows, 3)


@dataclass
class _Looker(Agent):
    """Looks at what the game offers and replies with a random legal action as a model would, in words."""

    kind = "report/looker"
    sees = "offered"

    async def act(self, ask: Ask) -> Reply:
        action = "" if ask.legal.is_text else ask.legal.sample(self.random)
        return Reply(ask.format.write(action))


@dataclass(frozen=True)
class GameCheck:
    """One game, played once by random players and replayed."""

    name: str
    seats: int
    version: int
    twins: bool
    verified: Verified | None
    """None where it needs a package that is not installed."""


@cache
def game_checks() -> tuple[GameCheck, ...]:
    return tuple(map(_check, GAMES.names()))


def _check(name: str) -> GameCheck:
    try:
        game = make(name)
        episode = play_sync(game, {seat: _Looker() for seat in game.seats}, seed=0)
    except UsageError:
        return GameCheck(name, 0, 0, False, None)
    return GameCheck(name, len(game.seats), game.version, isinstance(game, TwinGame), verify(episode))


def replays() -> Table:
    rows: list[list[Entry]] = []
    for one in game_checks():
        found = one.verified
        numbers = ("–",) * 3 if found is None else (found.moves, found.replies, found.pictures)
        twins = "yes" if one.twins else ""
        rows.append([one.name, twins, str(one.seats), str(one.version), *(f"{number}" for number in numbers)])
    heads = "game | twins | seats | version | moves | replies | pictures"
    return texts("Every game, played once at random and replayed", heads, rows, 2)


def _modules() -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        yield file.relative_to(ROOT / "tests"), ast.parse(file.read_text("utf-8"))


def _named(node: ast.FunctionDef | ast.AsyncFunctionDef, decorator: str) -> bool:
    return any(decorator in ast.unparse(each) for each in node.decorator_list)


def tests() -> Table:
    """Test functions by area: all, those over generated examples, and slow ones."""
    areas: dict[str, list[int]] = {}
    for file, module in _modules():
        area = file.parts[0] if len(file.parts) > 1 else "whole package"
        counts = areas.setdefault(area, [0, 0, 0, 0])
        counts[0] += 1
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                counts[1] += 1
                counts[2] += _named(node, "given(")
                counts[3] += _named(node, "mark.slow")
    areas["all"] = [sum(column) for column in zip(*areas.values(), strict=True)]
    rows: list[list[Entry]] = [[area, *(f"{count:,}" for count in counts)] for area, counts in areas.items()]
    return texts("Test functions by area", "area | files | functions | over generated examples | slow", rows)


INDEPENDENT = ("against", "brute force", "by hand", "two independent", "known counts")
COMPARING = ("games", "run", "suites")


def comparisons() -> Table:
    """Modules of tests whose first line says that they compare with an independent source."""
    rows: list[list[Entry]] = []
    for file, module in _modules():
        about = (ast.get_docstring(module) or "").partition("\n\n")[0]
        if file.parts[0] in COMPARING and any(word in about.lower() for word in INDEPENDENT):
            rows.append([str(file.with_suffix("")), " ".join(about.split())])
    return texts("Tests that compare with an independent source", "module | what is compared", rows, 2)


def facts() -> dict[str, Any]:
    checked = [one.verified for one in game_checks() if one.verified is not None]
    faults = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text("utf-8"))
    return {
        "games": len(GAMES.names()),
        "families": len({parse_spec(name).name.partition("/")[0] for name in GAMES.names()}),
        "replayed": len(checked),
        "replayed_moves": sum(one.moves for one in checked),
        "replayed_pictures": sum(one.pictures for one in checked),
        "mutants": sum(len(group["faults"]) for group in faults.values()),
    }
