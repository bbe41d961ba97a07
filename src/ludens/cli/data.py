"""`ludens data SUITE/GAME --out DIR`: a dataset of questions as Parquet and PNG, with a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Json, Size, Theme, Whole, render_options
from ludens.cli.output import aside, json_out, table
from ludens.core.errors import BadOption

if TYPE_CHECKING:
    from ludens.run.dataset import Share

MAX_VALUES = 12
"""Values printed per variable that has no target distribution."""


def data(
    name: Annotated[str, Parameter(help="SUITE/GAME, for example vs-bench/hanabi.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Output folder; must be empty or not exist.")],
    n: Annotated[Whole, Parameter(name=["-n", "--samples"], help="Number of samples.")] = 400,
    seed: Annotated[Whole, Parameter(help="Random seed; the same seed gives the same bytes.")] = 0,
    from_: Annotated[
        Path | None,
        Parameter(name="--from", help="Run folder: take the samples from its recorded episodes."),
    ] = None,
    theme: Theme = "classic",
    size: Size = 512,
    json: Json = False,
) -> None:
    """Build a dataset of questions: Parquet (readable with Hugging Face datasets), PNG files, manifest."""
    from ludens.run.dataset import Order, built, check_folder, write

    suite, _, what = name.partition("/")
    if not what:
        raise BadOption(f"a dataset is named SUITE/GAME, for example vs-bench/hanabi, not {name!r}.")
    check_folder(out)
    aside(f"building {n} samples of {name} ...")
    dataset = built(suite, Order(what, n, seed, render_options(theme, size), from_))
    if not json:
        columns = ("variable", "value", "samples", "share %", "target %")
        table(dataset.name, columns, _rows(dataset.shares, n), columns[2:])
    manifest = write(dataset, out)
    if json:
        return json_out(manifest)
    print(f"{out}: samples.parquet, {len(manifest['sha256']) - 2:,} pictures, manifest.json")
    print(f'Read it with datasets.load_dataset("parquet", data_files="{out}/samples.parquet").')
    return None


def _rows(shares: Sequence[Share], n: int) -> list[tuple[str, ...]]:
    kept = [share for share in shares if share.wanted is not None]
    for of in dict.fromkeys(share.of for share in shares):
        untargeted = [share for share in shares if share.of == of and share.wanted is None]
        ranked = sorted(untargeted, key=lambda share: -share.count)
        kept += ranked[:MAX_VALUES]
        if rest := ranked[MAX_VALUES:]:
            kept.append(type(rest[0])(of, f"{len(rest)} others", sum(share.count for share in rest)))
    return [
        (
            share.of,
            share.value,
            str(share.count),
            f"{100 * share.count / n:.1f}",
            "" if share.wanted is None else f"{100 * share.wanted / n:.1f}",
        )
        for share in kept
    ]
