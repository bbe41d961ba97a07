"""`python -m report`: write the data, the pictures and the PDF of the technical report."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from ludens.core.errors import UsageError
from ludens.core.files import save_file
from ludens.run.paper import TEMPLATES, as_json, compile_pdf, entries_of, own_entry, table_data
from ludens.run.plan import versions
from ludens.run.task import suite
from report import checks, experiments, pictures, suites

SOURCE = Path(__file__).with_name("report.typ")
PDF = "ludens.pdf"


def tables() -> dict[str, Any]:
    """All tables, by the name that the prose uses."""
    made = {
        "systems": suites.systems(),
        "sight": suites.sight_table(),
        "blind_players": suites.blind_players(),
        "published": suites.published_table(),
        "counts": checks.known_counts(),
        "replays": checks.replays(),
        "tests": checks.tests(),
        "comparisons": checks.comparisons(),
        **experiments.documented(),
    }
    return {
        **{name: table_data(table) for name, table in made.items()},
        "bounds": [table_data(suites.bounds(name)) for name in suites.REBUILT],
    }


def write(folder: Path) -> Path:
    """Write everything that the PDF is made of into a folder; returns the document."""
    facts = {**suites.facts(), **checks.facts(), **experiments.nano_facts()}
    data = {
        "version": versions()["ludens"],
        "facts": {name: f"{fact:,}" if isinstance(fact, int) else fact for name, fact in facts.items()},
        "tables": tables(),
        "strips": suites.strips(),
        "deviations": suites.deviations(),
        "loss": experiments.loss_curve(),
        "arena": experiments.arena(),
        "games": pictures.games(folder),
        "twins": pictures.twins(folder),
    }
    save_file(folder / "data.json", as_json(data))
    entries = [entries_of(suite(name)) for name in suites.REBUILT]
    save_file(folder / "references.bib", "\n".join([own_entry(), *entries]).encode())
    for source in (SOURCE, TEMPLATES / "parts.typ"):
        save_file(folder / source.name, source.read_bytes())
    return folder / SOURCE.name


def main() -> None:
    parser = ArgumentParser(prog="python -m report", description="Build the technical report of Ludens.")
    parser.add_argument(
        "--out", type=Path, default=Path("build/report"), help="folder (default: build/report)"
    )
    folder = parser.parse_args().out
    try:
        pages = compile_pdf(write(folder), folder / PDF)
    except UsageError as error:
        parser.exit(2, f"report: {error}\n")
    print(f"{folder / PDF}: {pages} pages")


if __name__ == "__main__":
    main()
