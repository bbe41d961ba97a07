"""`ludens bench`: how fast Ludens is on this machine, next to its targets."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import Parameter

from ludens.cli.arguments import Json
from ludens.cli.output import aside, json_out, table
from ludens.core.errors import BadOption


def bench(
    *names: Annotated[
        str, Parameter(help="Benchmarks to run, such as client or runs; draw and play by default.")
    ],
    seconds: Annotated[float, Parameter(help="Seconds spent on each figure.")] = 1.0,
    size: Annotated[
        str | None, Parameter(help="Size of the model of the benchmark train: tiny (default), 3b or 7b.")
    ] = None,
    json: Json = False,
) -> None:
    """Run benchmarks on this machine."""
    from ludens.bench import DEFAULT, SIZED
    from ludens.bench import bench as bench_of

    if not 0 < seconds <= 3600:
        raise BadOption(f"--seconds must be above 0 and at most 3600, not {seconds:g}.")
    if size is not None and names != (SIZED,):
        raise BadOption(f"--size is an option of the benchmark {SIZED} alone.")
    options = {} if size is None else {"size": size}
    measured: dict[str, Any] = {}
    for name, measure in {name: bench_of(name) for name in names or DEFAULT}.items():
        aside(f"measuring {name} ...")
        rows = []
        for row in measure(seconds, **options):
            rows.append(row)
            if size is not None:  # a large model takes minutes
                aside("  ".join(_cells(asdict(row))))
        measured[name] = [asdict(row) for row in rows]
        if not json:
            line = (measure.__doc__ or name).strip().splitlines()[0]
            table(f"{name}: {line}", _COLUMNS, [_cells(row) for row in measured[name]], _NUMBERS)
    if json:
        json_out(measured)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


_COLUMNS = ("what", "measured", "unit", "target", "ours / this", "note")
_NUMBERS = ("measured", "target", "ours / this")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["what"],
        "-" if row["value"] is None else _figure(row["value"]),
        row["unit"],
        "" if row["target"] is None else f"{row['target']:,.0f}",
        "" if row["ratio"] is None else f"{row['ratio']:,.1f}",
        row["note"],
    )
