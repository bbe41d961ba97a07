"""`ludens data`, `export` and `prepare`: datasets of questions, picture sets, runs for other tools, and data
that games need when they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ludens.cli.arguments import Json, Options, Size, SuiteName, Theme, Whole, at_least, pairs, render_options
from ludens.cli.output import ProgressLine, aside, json_out, table
from ludens.core.errors import BadFile, BadOption, MissingExtra
from ludens.core.files import check_empty
from ludens.core.options import configure
from ludens.core.plain import plural
from ludens.core.policy import Setter, game_accesses, permit
from ludens.core.view import RenderOptions
from ludens.pictures import PictureSet, PictureSetWriter, open_set, set_names, user_folder
from ludens.pictures.writer import GENERATORS, Generator, checked_count, fill, removed_if_bad
from ludens.run.dataset import DATASETS, DatasetOrder, Share, build_dataset, check_folder, write
from ludens.run.progress import duration
from ludens.run.results import Results, load_results
from ludens.run.task import import_suite

Format = Literal["inspect", "datasets", "vlmevalkit", "lmms-eval"]


def _make_set(
    name: str, options: Mapping[str, Any], pairs: int, out: Path | None, workers: int | None, json: bool
) -> None:
    generator: Generator = configure(GENERATORS.get(name), options, name).resolved()
    count = generator.entries or checked_count(pairs)
    folder = out or user_folder() / f"{name.replace('/', '-')}-{count}"
    if line := generator.prepare():
        aside(line)
    with removed_if_bad(folder):
        writer = PictureSetWriter(folder, generator.header(folder.name.lower()))
        fill(writer, generator, count, workers or generator.workers(), _SetProgress(name, count))
    skipped = writer.skip_reasons()
    _print_set(open_set(writer.finish()), str(folder), json, skipped=skipped)
    if skipped and not json:
        print(f"skipped: {len(skipped)} ({', '.join(sorted(set(skipped.values())))})")


def _export_set(name: str, out: Path, json: bool) -> None:
    from ludens.pictures.parquet import export_set

    pictures = open_set(name)
    paths = export_set(pictures, out)
    if json:
        return json_out(_describe(pictures) | {"files": [str(path) for path in paths]})
    print(f"{out}: {plural(len(pictures.entries), pictures.header.kind)} of {pictures.name}")
    print(f'Read it with datasets.load_dataset("{out}").')


def _import_set(name: str, out: Path | None, json: bool) -> None:
    from ludens.pictures.parquet import exported_header, import_set

    folder = out or user_folder() / exported_header(Path(name)).name
    _print_set(import_set(Path(name), folder), str(folder), json)


def _check_set(name: str, json: bool) -> None:
    pictures = open_set(name)
    files = plural(pictures.check(), "file")
    _print_set(pictures, pictures.name, json, f", {files}")


def _print_set(pictures: PictureSet, where: str, json: bool, files: str = "", **more: Any) -> None:
    if json:
        json_out(_describe(pictures) | more)
    else:
        entries = plural(len(pictures.entries), pictures.header.kind)
        print(f"{where}: {entries}{files}, hash {pictures.hash}")


def _list_sets(json: bool) -> None:
    """List the sets that are found by name, or what is wrong with them."""
    listed: list[dict[str, Any]] = []
    for name in set_names():
        try:
            listed.append(_describe(open_set(name)))
        except BadFile as error:
            listed.append({"name": name, "error": str(error)})
    if json:
        return json_out(listed)
    columns = ("name", "kind", "entries", "generator", "hash", "folder")
    rows = [
        [str(each.get(column, "broken" if column == "hash" else "")) for column in columns] for each in listed
    ]
    table("Picture sets", columns, rows, ("entries",), ("folder",))
    for each in listed:
        if "error" in each:
            aside(f"{each['name']}: {each['error']}")


def _describe(pictures: PictureSet) -> dict[str, Any]:
    header = pictures.header
    return {
        **{name: getattr(header, name) for name in ("name", "kind", "entries", "generator")},
        "settings": dict(header.settings),
        "hash": pictures.hash,
        "folder": str(pictures.folder),
    }


class _SetProgress:
    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._line = name, total, ProgressLine()
        self._start, self._before = monotonic(), -1

    def __call__(self, number: int) -> None:
        self._before = number if self._before < 0 else self._before
        count, seconds = number - self._before, monotonic() - self._start
        text = f"{self._name}: {number:,} of {self._total:,}"
        if count and number < self._total:
            rest = duration(seconds / count * (self._total - number))
            text += f", {3600 * count / seconds:,.0f} an hour, {rest} left"
        self._line.show(text, last=number == self._total)


def prepare(
    what: str,
    /,
    *,
    seed: Whole = 0,
    n: Annotated[Whole, Parameter(name=["-n", "--seeds"])] = 500,
    workers: Whole = 0,
) -> None:
    """Compute in advance what takes long when a game starts, such as the labels of VIKI's scenes.

    It goes to LUDENS_DATA or the user's cache folder. A recipe names the seeds of all its games.

    Args:
        what: A game, such as viki/plan?split=train, or a recipe, a TOML file.
        seed: First seed of the game.
        n: Number of seeds of the game.
        workers: Processes; 0 for all cores.
    """
    from ludens.run.dataset import prepare as run

    at_least("--seed", seed, 0)
    at_least("-n", n, 1)
    at_least("--workers", workers, 0)
    if not what.endswith(".toml"):
        run(what, range(seed, seed + n), workers)
        return
    try:
        from ludens.train.checks import seeds_of
        from ludens.train.recipe import Recipe
    except ImportError:
        raise MissingExtra("recipes", "train") from None
    recipe = Recipe.read(Path(what))
    permit(game_accesses(recipe.play.game), Setter.FILE)
    for seeds in seeds_of(recipe).values():
        if seeds:
            run(recipe.play.game, seeds, workers)


MAX_VALUES = 12
"""Values printed per variable that has no target distribution."""


def data(
    name: str,
    what: str | None = None,
    /,
    *,
    out: Path | None = None,
    n: Annotated[Whole, Parameter(name=["-n", "--samples", "--pairs", "--scenes"])] = 400,
    seed: Whole = 0,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    change: str | None = None,
    options: Annotated[Options, Parameter(help="Option KEY=VALUE of a picture set; can be repeated.")] = (),
    workers: Whole | None = None,
    theme: Theme = "classic",
    size: Size = 512,
    json: Json = False,
) -> None:
    """Build a dataset or a picture set; export and import picture sets.

    ludens data vs-bench/hanabi --out DIR    questions
    ludens data spy/clevr --pairs 2000       picture set; run again to continue after an interruption
    ludens data viki --scenes 100            kitchens through cameras; viki/plan are questions
    ludens data export SET --out DIR         picture set as Parquet for Hugging Face datasets
    ludens data import DIR                   and back
    ludens data check SET                    read and verify every file
    ludens data list                         picture sets that are found by name

    Args:
        name: SUITE/GAME, for example vs-bench/hanabi; spy/clevr, spy/chart, spy/photos or viki; or export,
            import, check, list.
        what: Set to export or check, or folder to import.
        out: Output folder; must be empty or not exist. Picture sets have a default.
        n: Number of samples, pairs or scenes.
        seed: Random seed; the same seed gives the same bytes.
        from_: Run folder: take the samples from its episodes. For spy/photos: folder of pictures.
        change: What differs in pairs of spy/clevr: color, shape, size, material, joined by commas.
        workers: Processes that make a picture set; all cores by default.
    """
    if name in _ACTIONS and name != "list":
        return _act(name, what, out, json)
    if what is not None:
        raise BadOption(f"unexpected argument {what!r} after {name!r}.")
    if name == "list":
        return _list_sets(json)
    if _makes_pictures(name):
        settings: dict[str, Any] = {"seed": seed, **pairs(options, "--option", "samples=16")}
        settings |= {} if change is None else {"change": change}
        settings |= {} if from_ is None else {"folder": str(from_)}
        count = None if workers is None else at_least("--workers", workers, 1)
        return _make_set(name, settings, n, out, count, json)
    if change is not None or options or workers is not None:
        raise BadOption("--change, --option and --workers are options of picture sets, such as spy/clevr.")
    if out is None:
        raise BadOption("missing option --out.")
    return _questions(name, n, seed, from_, render_options(theme, size), out, json)


def _makes_pictures(name: str) -> bool:
    first, names = name.partition("/")[0], GENERATORS.names()
    alike = first in {each.partition("/")[0] for each in names} and first not in DATASETS.names()
    return name in names or alike


_ACTIONS = ("check", "export", "import", "list")


def _act(action: str, target: str | None, out: Path | None, json: bool) -> None:
    if target is None:
        example = "FOLDER" if action == "import" else "SET"
        raise BadOption(f"missing argument, as in: ludens data {action} {example}.")
    if action == "check":
        return _check_set(target, json)
    if action == "import":
        return _import_set(target, out, json)
    if out is None:
        raise BadOption("missing option --out.")
    return _export_set(target, out, json)


def _questions(
    name: str, n: int, seed: int, run: Path | None, render: RenderOptions, out: Path, json: bool
) -> None:
    suite, _, game = name.partition("/")
    if not game:
        raise BadOption(f"a dataset is named SUITE/GAME, for example vs-bench/hanabi, not {name!r}.")
    check_folder(out)
    aside(f"building {n} samples of {name} ...")
    dataset = build_dataset(suite, DatasetOrder(game, n, seed, render, run))
    if not json:
        columns = ("variable", "value", "samples", "share %", "target %")
        table(dataset.name, columns, _rows(dataset.shares, n), columns[2:])
    manifest = write(dataset, out)
    if json:
        return json_out(manifest)
    print(f"{out}: samples.parquet, {len(manifest['sha256']) - 2:,} pictures, manifest.json")
    print(f'Read it with datasets.load_dataset("parquet", data_files="{out}/samples.parquet").')


def _rows(shares: Sequence[Share], n: int) -> list[tuple[str, ...]]:
    rows = [share for share in shares if share.wanted is not None]
    for of in dict.fromkeys(share.of for share in shares):
        untargeted = [share for share in shares if share.of == of and share.wanted is None]
        ranked = sorted(untargeted, key=lambda share: -share.count)
        rows += ranked[:MAX_VALUES]
        if rest := ranked[MAX_VALUES:]:
            rows.append(type(rest[0])(of, f"{len(rest)} others", sum(share.count for share in rest)))
    return [
        (
            share.of,
            share.value,
            str(share.count),
            f"{100 * share.count / n:.1f}",
            "" if share.wanted is None else f"{100 * share.wanted / n:.1f}",
        )
        for share in rows
    ]


def export(
    source: str,
    /,
    *,
    to: Format,
    out: Path,
    n: Annotated[Whole, Parameter(name=["-n", "--questions"])] = 100,
    seed: Whole = 0,
    theme: Theme = "classic",
    size: Size = 512,
    suite: SuiteName = None,
) -> None:
    """Export a run or a question task to the format of another tool.

    ludens export RUN --to inspect --out DIR            logs of Inspect; `inspect view --log-dir DIR`
    ludens export RUN --to datasets --out DIR           every reply of a run with its prompt and pictures
    ludens export playground-mini/qa/chess --to vlmevalkit --out DIR    questions of a task
    ludens export 'qa?board=chess' --to lmms-eval --out DIR             questions of a game

    Args:
        source: Folder of a run; SUITE/TASK or game whose episodes are questions.
        to: Format.
        out: Output folder; must be empty or not exist.
        n: Number of questions of a task.
        seed: Added to the first seed of the task.
    """
    import_suite(suite or "")
    at_least("-n", n, 1)
    check_empty(out)
    run = Path(source)
    results = load_results([run]) if (run / "run.json").is_file() else None
    if to == "inspect":
        return _to_inspect(results, source, out)
    from ludens.adapters.datasets import (
        dataset_of,
        question_rows,
        question_task,
        reply_rows,
        write_lmms_task,
        write_tsv,
    )
    from ludens.run.dataset import write

    render = render_options(theme, size)
    made_from = {
        "source": run.name if results else source,
        "n": n,
        "seed": seed,
        "theme": theme,
        "size": size,
    }
    rows = reply_rows(results) if results else question_rows(question_task(source), n, seed, render)
    name = run.name if results else source
    if to == "vlmevalkit":
        file = out / f"{_file_name(name)}.tsv"
        count = write_tsv(rows, file)
        print(f"{file}: {plural(count, 'row')}")
        print(f"Use it with VLMEvalKit: LMUData={out} python run.py --data {file.stem} --model ...")
        return
    dataset = dataset_of(name, rows, made_from, replies=results is not None)
    if to == "lmms-eval":
        task = write_lmms_task(dataset, out)
        print(f"{out}: {task}.yaml, utils.py, samples.parquet")
        print(f"Use it with lmms-eval: --include_path {out} --tasks {task}")
        return
    manifest = write(dataset, out)
    print(f"{out}: samples.parquet with {plural(manifest['samples'], 'row')}, manifest.json")
    print(f'Read it with datasets.load_dataset("parquet", data_files="{out}/samples.parquet").')


def _to_inspect(results: Results | None, source: str, out: Path) -> None:
    from ludens.adapters.inspect_logs import export_logs

    if results is None:
        raise BadOption(f"{source!r} is not the folder of a run; Inspect's logs are made of runs.")
    out.mkdir(parents=True, exist_ok=True)
    files = export_logs(results, out)
    print(f"{out}: {plural(len(files), 'log')}")
    print(f"Look at them with: inspect view --log-dir {out}")


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
