"""`ludens paper`: a document with everything that a publication must say about runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ludens.cli.arguments import SuiteName
from ludens.cli.output import aside
from ludens.core.errors import BadOption, MissingExtra
from ludens.core.plain import plural
from ludens.run.task import import_suite


def paper(*run: Path, out: Path | None = None, suite: SuiteName = None) -> None:
    """Make a PDF of runs: table, figure, deviations, seeds, versions, settings and BibTeX.

    ludens paper runs/first runs/second --out paper
    ludens paper results.ludens                       a pack

    The folder has the source too, tables for LaTeX, and the numbers as CSV. The PDF needs the extra `paper`.

    Args:
        run: The folder of a run, or a pack; several make one document.
        out: Folder for the paper; must be empty or not exist. Default: RUN/paper, or next to a pack.
    """
    from ludens.run.paper import DOCUMENT, PDF, compile_pdf, write_paper
    from ludens.run.results import load_results

    if not run:
        raise BadOption("missing argument RUN: name the folder of a run; `ludens runs` lists them.")
    folder = out or (run[0] / "paper" if run[0].is_dir() else run[0].with_name(f"{run[0].stem}-paper"))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(f"{str(folder)!r} is not an empty folder; choose another --out.")
    import_suite(suite or "")
    with _run_folders(run) as folders:
        files = write_paper(load_results(folders), folder)
    print(f"{folder}: {', '.join(file.name for file in files)}")
    try:
        pages = compile_pdf(folder / DOCUMENT, folder / PDF)
    except MissingExtra as error:
        aside(f"no PDF: {error} Or compile {folder / DOCUMENT} with any Typst.")
        return
    print(f"{folder / PDF}: {plural(pages, 'page')}")


@contextmanager
def _run_folders(runs: Sequence[Path]) -> Iterator[list[Path]]:
    """The runs as folders: packs are unpacked into temporary ones of the same name."""
    from ludens.run.pack import unpack
    from ludens.run.trust import check_packed

    with TemporaryDirectory(prefix="ludens-") as temporary:
        folders = []
        for number, run in enumerate(runs):
            if run.is_file():
                folder = Path(temporary) / str(number) / run.stem
                folder.mkdir(parents=True)
                check_packed(unpack(run, folder).plan)
                run = folder
            folders.append(run)
        yield folders
