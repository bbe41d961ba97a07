"""Papers: the results of runs as a folder with a Typst document, its data, its bibliography and a PDF.

    results = load_results([Path("runs/first")])
    write_paper(results, Path("paper"))

The document reads `data.json`; nothing that a run says is ever Typst code. A paper depends only on the runs.
"""

from __future__ import annotations

from pathlib import Path

from ludens.core.files import save_file
from ludens.run.paper.content import bibliography, content
from ludens.run.paper.typesetting import TEMPLATES, as_json, compile_pdf
from ludens.run.report import render
from ludens.run.results import Results

__all__ = ["compile_pdf", "write_paper"]

DOCUMENT, PDF = "paper.typ", "paper.pdf"


def write_paper(results: Results, folder: Path) -> list[Path]:
    """Write everything but the PDF, which `compile_pdf` makes of `paper.typ`; returns the files."""
    files = {name: (TEMPLATES / name).read_bytes() for name in (DOCUMENT, "parts.typ")}
    files["data.json"] = as_json(content(results))
    files["references.bib"] = bibliography(results).encode()
    files["tables.tex"] = render(results, "latex")
    files["results.csv"] = render(results, "csv")
    for name, data in files.items():
        save_file(folder / name, data)
    return [folder / name for name in files]
