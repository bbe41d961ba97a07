"""`ludens data SUITE/GAME --out DIR`: an offline set of questions as Parquet and PNG, with a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.given import Json, Size, Theme, Whole, render_options
from ludens.cli.out import aside, json_out, table
from ludens.core.errors import BadOption

if TYPE_CHECKING:
    from ludens.run.dataset import Share

ANSWERS = 12
"""Lines of the printed distribution that may go to one thing, where nothing is wanted of it."""


def data(
    name: Annotated[str, Parameter(help="Which set, such as vs-bench/hanabi.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder to write; it must be empty or not there yet.")],
    n: Annotated[Whole, Parameter(name=["-n", "--samples"], help="How many samples.")] = 400,
    seed: Annotated[
        Whole, Parameter(help="Another seed gives another set, the same seed the same bytes.")
    ] = 0,
    from_: Annotated[
        Path | None,
        Parameter(name="--from", help="Folder of a run: cut the samples from its recorded episodes."),
    ] = None,
    theme: Theme = "classic",
    size: Size = 512,
    json: Json = False,
) -> None:
    """Build an offline set of questions: Parquet that Hugging Face's datasets reads, PNG files, manifest."""
    from ludens.run.dataset import Order, built, check_folder, write

    suite, _, what = name.partition("/")
    if not what:
        raise BadOption(f"a set is named SUITE/GAME, as in vs-bench/hanabi, not {name!r}.")
    check_folder(out)
    aside(f"building {n} samples of {name} ...")
    dataset = built(suite, Order(what, n, seed, render_options(theme, size), from_))
    if not json:
        columns = ("what", "value", "samples", "share %", "wanted %")
        table(dataset.name, columns, list(_lines(dataset.shares, n)), columns[2:])
    manifest = write(dataset, out)
    if json:
        return json_out(manifest)
    print(f"{out}: samples.parquet, {len(manifest['sha256']) - 2:,} pictures, manifest.json")
    print(f'Read it with datasets.load_dataset("parquet", data_files="{out}/samples.parquet").')
    return None


def _lines(shares: Sequence[Share], n: int) -> list[tuple[str, ...]]:
    kept = [share for share in shares if share.wanted is not None]
    for of in dict.fromkeys(share.of for share in shares):
        free = [share for share in shares if share.of == of and share.wanted is None]
        ranked = sorted(free, key=lambda share: -share.count)
        kept += ranked[:ANSWERS]
        if left := ranked[ANSWERS:]:
            kept.append(type(left[0])(of, f"{len(left)} others", sum(share.count for share in left)))
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
