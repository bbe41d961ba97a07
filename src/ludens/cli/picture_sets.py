"""The parts of `ludens data` that make, export, import and list picture sets."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from ludens.cli.output import aside, counted, json_out, table
from ludens.core.errors import BadFile, BadOption
from ludens.core.options import configure
from ludens.pictures import PictureSet, PictureSetWriter, open_set, set_names, user_folder
from ludens.pictures.generate import GENERATORS, Generator, checked_count, fill
from ludens.pictures.writer import removed_if_bad

_SECONDS_BETWEEN_LINES = 10.0


def make(
    name: str, options: Mapping[str, Any], pairs: int, out: Path | None, workers: int | None, json: bool
) -> None:
    """Fill a picture set with a generator; continues one that was interrupted."""
    generator: Generator = configure(GENERATORS.get(name), options, name).resolved()
    count = generator.entries or checked_count(pairs)
    folder = out or user_folder() / f"{name.replace('/', '-')}-{count}"
    line = generator.prepare()
    if line:
        aside(line)
    with removed_if_bad(folder):
        writer = PictureSetWriter(folder, generator.header(folder.name.lower()))
        fill(writer, generator, count, workers or generator.workers(), _Progress(name, count))
    skipped = writer.skipped()
    made = open_set(writer.finish())
    if json:
        return json_out(_described(made) | {"skipped": skipped})
    print(f"{folder}: {counted(len(made.entries), made.header.kind)}, hash {made.hash}")
    if skipped:
        reasons = sorted(set(skipped.values()))
        print(f"skipped: {len(skipped)} ({', '.join(reasons)})")
    return None


def export(name: str, out: Path, json: bool) -> None:
    """Write a set as Parquet."""
    from ludens.pictures.parquet import export_set

    pictures = open_set(name)
    paths = export_set(pictures, out)
    if json:
        return json_out(_described(pictures) | {"files": [str(path) for path in paths]})
    print(f"{out}: {counted(len(pictures.entries), pictures.header.kind)} of {pictures.name}")
    print(f'Read it with datasets.load_dataset("{out}").')
    return None


def import_(name: str, out: Path | None, json: bool) -> None:
    """Restore a set that was exported."""
    from ludens.pictures.parquet import exported_name, import_set

    folder = out or user_folder() / exported_name(Path(name))
    pictures = import_set(Path(name), folder)
    if json:
        return json_out(_described(pictures))
    print(f"{folder}: {counted(len(pictures.entries), pictures.header.kind)}, hash {pictures.hash}")
    return None


def check(name: str, json: bool) -> None:
    """Read every file of a set."""
    pictures = open_set(name)
    files = pictures.check()
    if json:
        return json_out(_described(pictures))
    entries = counted(len(pictures.entries), pictures.header.kind)
    print(f"{pictures.name}: {entries}, {counted(files, 'file')}, hash {pictures.hash}")
    return None


def list_sets(json: bool) -> None:
    """List the sets that are found by name."""
    found = [_listed(name) for name in set_names()]
    if json:
        return json_out(found)
    columns = ("name", "kind", "entries", "generator", "hash", "folder")
    rows = [
        [str(each.get(column, "broken" if column == "hash" else "")) for column in columns] for each in found
    ]
    table("Picture sets", columns, rows, ("entries",), ("folder",))
    for each in found:
        if "error" in each:
            aside(f"{each['name']}: {each['error']}")
    return None


def _listed(name: str) -> dict[str, Any]:
    """A set, or what is wrong with it."""
    try:
        return _described(open_set(name))
    except BadFile as error:
        return {"name": name, "error": str(error)}


def _described(pictures: PictureSet) -> dict[str, Any]:
    header = pictures.header
    return {
        "name": header.name,
        "kind": header.kind,
        "entries": header.entries,
        "generator": header.generator,
        "settings": dict(header.settings),
        "hash": pictures.hash,
        "folder": str(pictures.folder),
    }


class _Progress:
    """Prints how far a set is and how long the rest takes, on stderr."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total = name, total
        self._started, self._before, self._last, self._shown = monotonic(), -1, 0.0, -1
        self._live = sys.stderr.isatty()

    def __call__(self, done: int) -> None:
        now = monotonic()
        if self._before < 0:
            self._started, self._before = now, done
        every = 0.5 if self._live else _SECONDS_BETWEEN_LINES
        if done == self._shown or (now - self._last < every and done < self._total):
            return
        self._last, self._shown = now, done
        line = f"{self._name}: {done:,} of {self._total:,}"
        made = done - self._before
        if made and done < self._total:
            left = (now - self._started) / made * (self._total - done)
            line += f", {3600 * made / (now - self._started):,.0f} an hour, {_duration(left)} left"
        if self._live:
            print(f"\r{line:<70}", end="\n" if done == self._total else "", file=sys.stderr, flush=True)
        else:
            aside(line)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def no_second(what: str | None, name: str) -> None:
    """Raise an error for a second argument where there is none."""
    if what is not None:
        raise BadOption(f"unexpected argument {what!r} after {name!r}.")
