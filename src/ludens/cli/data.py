"""`ludens data`: datasets of questions, and picture sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ludens.cli.arguments import Json, Options, Size, Theme, Whole, at_least, pairs, render_options
from ludens.cli.output import aside, json_out, table
from ludens.core.errors import BadOption

if TYPE_CHECKING:
    from ludens.core.view import RenderOptions
    from ludens.run.dataset import Share

MAX_VALUES = 12
"""Values printed per variable that has no target distribution."""


def data(
    name: Annotated[
        str,
        Parameter(
            help="SUITE/GAME, for example vs-bench/hanabi; spy/clevr, spy/chart, spy/photos or viki; "
            "or export, import, check, list."
        ),
    ],
    what: Annotated[str | None, Parameter(help="Set to export or check, or folder to import.")] = None,
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(help="Output folder; must be empty or not exist. Picture sets have a default."),
    ] = None,
    n: Annotated[
        Whole,
        Parameter(
            name=["-n", "--samples", "--pairs", "--scenes"], help="Number of samples, pairs or scenes."
        ),
    ] = 400,
    seed: Annotated[Whole, Parameter(help="Random seed; the same seed gives the same bytes.")] = 0,
    from_: Annotated[
        Path | None,
        Parameter(
            name="--from",
            help="Run folder: take the samples from its episodes. For spy/photos: folder of pictures.",
        ),
    ] = None,
    change: Annotated[
        str | None,
        Parameter(help="What differs in pairs of spy/clevr: color, shape, size, material, joined by commas."),
    ] = None,
    options: Annotated[Options, Parameter(help="Option KEY=VALUE of a picture set; can be repeated.")] = (),
    workers: Annotated[
        Whole | None, Parameter(help="Processes that make a picture set; all cores by default.")
    ] = None,
    theme: Theme = "classic",
    size: Size = 512,
    json: Json = False,
) -> None:
    """Build a dataset of questions (Parquet, PNG files, manifest) or a picture set; export and import sets.

    ludens data vs-bench/hanabi --out DIR    questions
    ludens data spy/clevr --pairs 2000       picture set; run again to continue after an interruption
    ludens data viki --scenes 100            kitchens through cameras; viki/plan are questions
    ludens data export SET --out DIR         picture set as Parquet for Hugging Face datasets
    ludens data import DIR                   and back
    ludens data check SET                    read and verify every file
    ludens data list                         picture sets that are found by name
    """
    from ludens.cli import picture_sets

    if name in _ACTIONS:
        return _act(name, what, out, json)
    picture_sets.no_second(what, name)
    if _makes_pictures(name):
        given: dict[str, Any] = {"seed": seed, **pairs(options, "--option", "samples=16")}
        given |= {} if change is None else {"change": change}
        given |= {} if from_ is None else {"folder": str(from_)}
        count = None if workers is None else at_least("--workers", workers, 1)
        return picture_sets.make(name, given, n, out, count, json)
    if change is not None or options or workers is not None:
        raise BadOption("--change, --option and --workers are options of picture sets, such as spy/clevr.")
    if out is None:
        raise BadOption("missing option --out.")
    return _questions(name, n, seed, from_, render_options(theme, size), out, json)


def _makes_pictures(name: str) -> bool:
    """Whether a name is that of a picture set, or looks like one."""
    from ludens.pictures.generate import GENERATORS
    from ludens.run.dataset import DATASETS

    first, known = name.partition("/")[0], GENERATORS.names()
    alike = first in {one.partition("/")[0] for one in known} and first not in DATASETS.names()
    return name in known or alike


_ACTIONS = ("check", "export", "import", "list")


def _act(action: str, what: str | None, out: Path | None, json: bool) -> None:
    from ludens.cli import picture_sets

    if action == "list":
        picture_sets.no_second(what, action)
        return picture_sets.list_sets(json)
    if what is None:
        example = "FOLDER" if action == "import" else "SET"
        raise BadOption(f"missing argument, as in: ludens data {action} {example}.")
    if action == "check":
        return picture_sets.check(what, json)
    if action == "import":
        return picture_sets.import_(what, out, json)
    if out is None:
        raise BadOption("missing option --out.")
    return picture_sets.export(what, out, json)


def _questions(
    name: str, n: int, seed: int, run: Path | None, render: RenderOptions, out: Path, json: bool
) -> None:
    from ludens.run.dataset import Order, built, check_folder, write

    suite, _, what = name.partition("/")
    if not what:
        raise BadOption(f"a dataset is named SUITE/GAME, for example vs-bench/hanabi, not {name!r}.")
    check_folder(out)
    aside(f"building {n} samples of {name} ...")
    dataset = built(suite, Order(what, n, seed, render, run))
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
