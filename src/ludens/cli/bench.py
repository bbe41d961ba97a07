"""`ludens bench`: how fast Ludens is on this machine, next to its targets or to another commit."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Json
from ludens.cli.output import aside, json_out, table
from ludens.core.errors import BadOption, UsageError

if TYPE_CHECKING:
    from benchmarks import Bench, Row


def bench(
    *names: Annotated[
        str, Parameter(help="Benchmarks to run, such as client or runs; draw, frames and play by default.")
    ],
    seconds: Annotated[float, Parameter(help="Seconds spent on each figure.")] = 1.0,
    size: Annotated[
        str | None, Parameter(help="Size of the model of the benchmark train: tiny (default), 3b or 7b.")
    ] = None,
    against: Annotated[
        str | None, Parameter(help="Commit to compare with: both checkouts are measured in turns.")
    ] = None,
    json: Json = False,
) -> int:
    """Run benchmarks on this machine; the exit status is 1 where a target is missed.

    With --against, a figure that is more than 10% worse than that of the other commit counts as missed, and
    targets do not count.
    """
    root = Path(__file__).resolve().parents[3]
    if not (root / "benchmarks" / "__init__.py").is_file():
        raise UsageError("benchmarks are part of the source checkout; install it with `pip install -e .`.")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    from benchmarks import DEFAULT, SIZED
    from benchmarks import bench as bench_of

    if not 0 < seconds <= 3600:
        raise BadOption(f"--seconds must be above 0 and at most 3600, not {seconds:g}.")
    if size is not None and (names != (SIZED,) or against is not None):
        raise BadOption(f"--size is an option of the benchmark {SIZED} alone, without --against.")
    functions = {name: bench_of(name) for name in names or DEFAULT}
    if against is not None:
        return _compare(functions, seconds, against, json)
    rows_by_name: dict[str, list[Row]] = {}
    for name, measure in functions.items():
        aside(f"measuring {name} ...")
        rows_by_name[name] = []
        for row in measure(seconds, **({} if size is None else {"size": size})):
            rows_by_name[name].append(row)
            if size is not None:  # a large model takes minutes
                aside("  ".join(_cells(row)))
        if not json:
            _print(name, measure, rows_by_name[name], "ours / this")
    missed = [row.what for rows in rows_by_name.values() for row in rows if row.misses_target]
    return _finish(rows_by_name, missed, "target", json)


def _compare(functions: Mapping[str, Bench], seconds: float, commit: str, json: bool) -> int:
    from benchmarks.against import TOLERANCE, checkout, compare

    rows_by_name: dict[str, list[Row]] = {}
    with checkout(commit) as tree:
        for name, measure in functions.items():
            aside(f"measuring {name} here and at {commit}, in turns ...")
            rows_by_name[name] = compare(name, seconds, tree, commit)
            if not json:
                _print(name, measure, rows_by_name[name], f"ours / {commit}")
    every = [row for rows in rows_by_name.values() for row in rows]
    missed = [row.what for row in every if row.ratio is not None and row.ratio < TOLERANCE]
    return _finish(rows_by_name, missed, f"{TOLERANCE:.0%} of {commit}", json)


def _finish(rows_by_name: Mapping[str, Sequence[Row]], missed: Sequence[str], target: str, json: bool) -> int:
    """Print JSON where it is wanted, and what was missed; returns the exit status."""
    if json:
        json_out({name: [asdict(row) for row in rows] for name, rows in rows_by_name.items()})
    if missed:
        aside(f"below the {target}: {'; '.join(missed)}")
    return 1 if missed else 0


def _print(name: str, measure: Bench, rows: Sequence[Row], ratio: str) -> None:
    line = (measure.__doc__ or name).strip().splitlines()[0]
    columns = ("what", "measured", "unit", "target", ratio, "note")
    table(f"{name}: {line}", columns, [_cells(row) for row in rows], ("measured", "target", ratio))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        "-" if row.value is None else _figure(row.value),
        row.unit,
        "" if row.target is None else _figure(row.target),
        "" if row.ratio is None else f"{row.ratio:,.2f}" if row.ratio < 10 else f"{row.ratio:,.1f}",
        row.note,
    )
