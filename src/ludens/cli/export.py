"""`ludens export`: runs and question tasks in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ludens.cli.arguments import Size, SuiteName, Theme, Whole, at_least, render_options
from ludens.core.errors import BadOption
from ludens.core.files import check_empty
from ludens.core.plain import plural
from ludens.run.results import Results, load_results
from ludens.run.task import import_suite

Format = Literal["inspect", "datasets", "vlmevalkit", "lmms-eval"]


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
