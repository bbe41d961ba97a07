"""Figures of recorded experiments: tables and curves in docs/, the metadata of nano, stored runs."""

from __future__ import annotations

import gzip
import json
import re
import struct
from collections import Counter
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ludens.run.pack import unpack
from ludens.run.paper import chart_data, fitted, table_data
from ludens.run.report.arena import arena_charts, headline_tables
from ludens.run.report.charts import BarChart
from ludens.run.report.table import Column, Table, TableRow
from ludens.run.results import load_results
from ludens.run.verify import verify_run
from report.checks import ROOT

DOCS = ROOT / "docs"
EXPERIMENTS = DOCS / "experiments"
WEIGHTS = ROOT / "src" / "ludens" / "train" / "nano" / "weights"
RUNS = Path(__file__).parent / "runs"

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_NUMBER = re.compile(r"[-+]?[\d.,]+%?\*{0,2}(†)?( \[.*\]| \(.*\))?")


def section(page: Path, heading: str) -> str:
    """The text of a page below a heading, up to the next one; below the title if the heading is empty."""
    found = re.split(r"^#+ +(.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    parts = dict(zip(found[1::2], found[2::2], strict=True))
    if not heading:
        return found[2]
    if heading not in parts:
        raise KeyError(f"{page.name} has no section {heading!r}")
    return parts[heading]


def markdown_table(page: Path, heading: str, title: str, number: int = 0) -> Table:
    """A table of a page in Markdown, by its section and its place there."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", section(page, heading), flags=re.MULTILINE)
    if number >= len(blocks):
        raise KeyError(f"{page.name}, {heading!r} has {len(blocks)} tables, not {number + 1}")
    head, _, *rows = [
        [_plain(field) for field in line.strip().strip("|").split("|")]
        for line in blocks[number].splitlines()
    ]
    numeric = [all(_is_number(row[place]) for row in rows) for place in range(len(head))]
    columns = [Column(name, numbers=number) for name, number in zip(head, numeric, strict=True)]
    return Table(title, columns, [TableRow("ours", row) for row in rows])


def _plain(field: str) -> str:
    return _LINK.sub(r"\1", field).replace("**", "").replace("`", "").strip()


def _is_number(text: str) -> bool:
    return not text or text == "–" or _NUMBER.fullmatch(text) is not None


def _header() -> dict[str, Any]:
    """Of the file of nano's weights."""
    with (WEIGHTS / "model.safetensors").open("rb") as weights:
        (length,) = struct.unpack("<Q", weights.read(8))
        return dict(json.loads(weights.read(length)))


def loss_curve() -> list[float]:
    """nano's mean loss per token in each part of its imitation, as its weights say."""
    return [float(loss) for loss in json.loads(_header()["__metadata__"]["losses"])]


def nano_facts() -> dict[str, Any]:
    """What the weights in the package say about themselves."""
    told = json.loads((WEIGHTS / "nano.json").read_text("utf-8"))
    file = WEIGHTS / "model.safetensors"
    kinds: Counter[str] = Counter()
    for name, tensor in _header().items():
        if name != "__metadata__" and not name.endswith(".scale"):
            kinds[tensor["dtype"]] += prod(tensor["shape"])
    return {
        "nano_parameters": f"{sum(kinds.values()) / 1e6:.1f} million",
        "nano_megabytes": f"{file.stat().st_size / 1e6:.1f} MB",
        "nano_vocabulary": f"{len(told['vocabulary']):,}",
        "nano_games": len(told["trained_on"]),
        "nano_width": told["size"]["width"],
        "nano_layers": f"{told['size']['encoder']} and {told['size']['decoder']}",
    }


def arena(file: Path = RUNS / "arena.ludens.gz") -> dict[str, Any]:
    """Tables and charts of a stored arena, and how much of it was verified."""
    with TemporaryDirectory() as temporary:
        pack, folder = Path(temporary) / "arena.ludens", Path(temporary) / "arena"
        pack.write_bytes(gzip.decompress(file.read_bytes()))
        folder.mkdir()
        head = unpack(pack, folder)
        verified = verify_run(folder, workers=0)
        [results] = load_results([folder]).suites
        tables = [table_data(part) for table in headline_tables(results) for part in fitted(table)]
        charts = [chart_data(chart) for chart in arena_charts(results) if isinstance(chart, BarChart)]
        return {
            "tables": tables,
            "charts": charts,
            "episodes": len(head.keys),
            "proven": verified.proven,
            "digest": head.digest[:16],
        }


def documented() -> dict[str, Table]:
    """The tables of the documentation that the report shows, by the name that the prose uses."""
    nano, spy = EXPERIMENTS / "nano.md", EXPERIMENTS / "spy-self-play.md"
    return {
        "nano_goals": markdown_table(nano, "Goals", "nano: goals, all reported"),
        "nano_playground": markdown_table(nano, "LVLM-Playground", "nano on LVLM-Playground"),
        "nano_vs_bench": markdown_table(nano, "VS-Bench", "nano on VS-Bench"),
        "nano_sight": markdown_table(nano, "Robust sight", "nano: cells read right in %"),
        "nano_votes": markdown_table(nano, "Votes in twin worlds", "nano: votes in twin worlds"),
        "nano_play": markdown_table(
            nano, "Self-play of an earlier run", "nano before and after self-play, of an earlier run"
        ),
        "spy": markdown_table(spy, "Summary", "Self-play in the spy game, from scratch: games won, %"),
        "viki": markdown_table(
            EXPERIMENTS / "viki-recipes.md", "", "Training methods of VIKI-R with small models", 1
        ),
        "throughput": markdown_table(
            EXPERIMENTS / "throughput.md", "VS-Bench", "Speed on one core of a small server"
        ),
        "adapters": markdown_table(DOCS / "adapters" / "index.md", "", "Adapters"),
    }
