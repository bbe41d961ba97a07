"""Labels that judges gave to the conversations of a run: a JSON Lines file that `ludens judge` writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile
from ludens.run.cells import Cell
from ludens.run.results import Row

LABELS_FILE = "judged.jsonl"


@dataclass(frozen=True)
class LabelCounts:
    """How often one judge gave each label to conversations of one entrant."""

    judge: str
    judged: int
    unjudged: int
    """Conversations on which the judge gave no verdict."""
    labels: Mapping[str, int]


def read_label_lines(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of labels; none if there is no file. A line cut off by a crash is dropped."""
    if not file.exists():
        return []
    try:
        lines = [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        verdicts = [orjson.loads(line) for line in lines]
    except (OSError, orjson.JSONDecodeError):
        verdicts = [None]
    if not all(_is_line(line) for line in verdicts):
        raise BadFile(f"{str(file)!r} is not a file of labels: move it away, or choose another --out.")
    return verdicts


def _is_line(line: Any) -> bool:
    texts = ("key", "reason", "error")
    return (
        isinstance(line, dict)
        and all(isinstance(line.get(name), str) for name in texts)
        and isinstance(line.get("labels"), list)
        and all(isinstance(label, str) for label in line["labels"])
    )


def count_labels(row: Row) -> list[LabelCounts]:
    """The labels of an entrant's episodes, by judge.

    Lines about episodes that are not in the run, or were played again since, do not count.
    """
    lines: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in row.cells.values():
        for line in _lines_of(cell):
            lines.setdefault(str(line.get("judge", "")), {})[f"{cell.folder}:{line['key']}"] = line
    counts = []
    for judge, verdicts in lines.items():
        frequency = Counter(label for line in verdicts.values() for label in set(line["labels"]))
        failed = sum(bool(line["error"]) for line in verdicts.values())
        counts.append(LabelCounts(judge, len(verdicts) - failed, failed, dict(frequency)))
    return counts


def _lines_of(cell: Cell) -> Iterator[dict[str, Any]]:
    lines = list(read_label_lines(cell.folder / LABELS_FILE))
    rows = cell.episodes.rows() if lines else ()
    places = {row.key: (row.seed, row.seating, row.sample) for row in rows}
    for line in lines:
        place = places.get(line["key"])
        if place is not None and cell.read(place).episode.fingerprint() == line.get("fingerprint"):
            yield line
