"""`ludens study`: the data of a study, and participants who are left out of its results."""

from __future__ import annotations

from pathlib import Path

from ludens.cli.arguments import Flag
from ludens.cli.output import writable
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.files import write_atomically

_ACTIONS = ("export", "exclude", "include")
_FORMATS = ("csv", "parquet")


def study(
    action: str,
    folder: Path,
    participant: str | None = None,
    /,
    *,
    why: str | None = None,
    out: Path | None = None,
    format: str = "csv",
    excluded: Flag = False,
) -> None:
    """Export the data of a study with people; exclude participants from its results.

    ludens study export STUDY --format parquet     tables: participants, answers, episodes, moves
    ludens study exclude STUDY p003 --why "..."    leave a participant out; nothing is deleted
    ludens study include STUDY p003                and take it back

    Args:
        action: export, exclude or include.
        folder: Folder of the study; `ludens runs` lists them.
        participant: The participant, such as p003.
        why: Reason for an exclusion; it is recorded.
        out: Folder for the tables; default: STUDY/export.
        format: csv or parquet.
        excluded: Export the data of excluded participants too.
    """
    if action not in _ACTIONS:
        raise UnknownName("action of `ludens study`", action, _ACTIONS)
    if action == "export":
        if participant is not None or why is not None:
            raise BadOption("`ludens study export` takes the folder of a study, no participant and no --why.")
        return _export(folder, out or folder / "export", format, excluded)
    if participant is None:
        raise BadOption(f"missing participant, as in: ludens study {action} {folder} p003.")
    if out is not None or format != "csv" or excluded:
        raise BadOption("--out, --format and --excluded are options of `ludens study export`.")
    return _change(action, folder, participant, why)


def _export(folder: Path, out: Path, format: str, excluded: bool) -> None:
    from ludens.run.report.data import csv_bytes, parquet_bytes
    from ludens.suites.people.export import tables

    if format not in _FORMATS:
        raise UnknownName("format", format, _FORMATS)
    write = parquet_bytes if format == "parquet" else csv_bytes
    files = {
        out / f"{name}.{format}": (write(table.types, table.rows), len(table.rows))
        for name, table in tables(folder, excluded).items()
    }
    for file, (data, rows) in files.items():
        try:
            out.mkdir(parents=True, exist_ok=True)
            writable(file)
            write_atomically(file, data)
        except OSError as error:
            raise BadFile(f"cannot write {str(file)!r}: {(error.strerror or str(error)).lower()}.") from None
        print(f"{file}: {rows:,} rows")


def _change(action: str, folder: Path, name: str, why: str | None) -> None:
    from ludens.suites.people.records import OpenRecords, Records

    if action == "exclude" and not (why or "").strip():
        raise BadOption("an exclusion needs a reason: add --why.")
    if action == "include" and why is not None:
        raise BadOption("--why is an option of `ludens study exclude`.")
    Records(folder).read().get(name)
    with OpenRecords(folder) as records:
        who = records.get(name)
        if action == "exclude":
            records.note(who, "excluded", why=(why or "").strip())
            print(f"{name} is excluded: `ludens report` and `ludens study export` leave out their games.")
        elif who.excluded is None:
            print(f"{name} is not excluded.")
        else:
            records.note(who, "included")
            print(f"{name} is included again.")
