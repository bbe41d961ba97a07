"""Repairs a run: moves invalid lines of its files aside, so that it can be reported and resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludens.core.errors import BadFile
from ludens.run.binding import PlanCheck, PlanEdited
from ludens.run.line_file import cannot, lock_file
from ludens.run.lines import EPISODES, LINE_START, read_record, repair_hint, split_line
from ludens.run.store import FINISHED, read_plan

_TRIES = 8
"""Places in an invalid line at which a complete one may begin."""


@dataclass
class Repaired:
    """What a repair has found and done."""

    done: int = 0
    planned: int = 0
    moved: list[tuple[int, str]] = field(default_factory=list)
    """Number of each line that was moved, and why."""

    @property
    def missing(self) -> int:
        """Episodes that `ludens resume` will play."""
        return self.planned - self.done


def repair(folder: Path) -> Repaired:
    """Move every invalid line of a run to `episodes.bad.jsonl`.

    If `run.json` was edited, lines are not at fault: `PlanEdited` is raised and nothing is moved.
    """
    plan, done = read_plan(folder), set[str]()
    check = PlanCheck(folder, plan)
    moved = set_aside(
        folder / EPISODES, LINE_START, lambda line: done.update(_finished_key(folder, check, line, done))
    )
    return Repaired(len(done), plan.total(), moved)


def bad_lines(path: Path) -> Path:
    """The file for the invalid lines of another one: `episodes.bad.jsonl`."""
    return path.with_suffix(f".bad{path.suffix}")


def set_aside(path: Path, start: bytes, check: Callable[[bytes], object]) -> list[tuple[int, str]]:
    """Move every line that `check` rejects to `bad_lines`; returns their numbers and what is wrong with them.

    If a write that failed has left a part of a line before a complete one, the complete one is kept.

    Args:
        path: The file; nothing happens if there is none.
        start: How a line begins.
        check: Raises `BadFile` for a line that is not valid.
    """
    moved, bad = list[tuple[int, str]](), dict[int, tuple[bytes, bytes]]()
    try:
        with path.open("rb+") as file:
            lock_file(file, path)
            for number, line in enumerate(file, 1):
                try:
                    if not line.endswith(b"\n"):
                        raise BadFile("incomplete")
                    check(line)
                except PlanEdited:
                    raise
                except BadFile as error:
                    moved.append((number, str(error).removesuffix("; " + repair_hint(path.parent))))
                    complete = _complete_end(line, start, check)
                    bad[number] = line.removesuffix(complete).removesuffix(b"\n") + b"\n", complete
            if bad:
                path.with_name(FINISHED).unlink(missing_ok=True)
                _write(bad_lines(path), "ab", (line for line, _ in bad.values()))
                file.seek(0)
                partial = path.with_name(f"{path.name}.part")
                kept = (bad[number][1] if number in bad else line for number, line in enumerate(file, 1))
                _write(partial, "wb", kept)
                partial.rename(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise cannot("repair", path.parent, error) from None
    return moved


def _complete_end(line: bytes, start: bytes, check: Callable[[bytes], object]) -> bytes:
    """The complete line at the end of an invalid one; empty where there is none."""
    position = line.find(start, 1) if line.endswith(b"\n") else -1
    for _ in range(_TRIES):
        if position < 0:
            break
        try:
            check(line[position:])
        except BadFile:
            position = line.find(start, position + 1)
        else:
            return line[position:]
    return b""


def _finished_key(folder: Path, check: PlanCheck, line: bytes, done: Container[str]) -> Iterator[str]:
    """The key of a valid line, if its episode is finished; those in `done` must not occur again."""
    head, data = split_line(line)
    record = read_record(folder, head, data)
    check.check(head, record.episode)
    if head.key in done:
        raise BadFile(f"repeats {head.key!r}, which was finished before")
    if not head.void:
        yield head.key


def _write(path: Path, mode: Literal["ab", "wb"], lines: Iterable[bytes]) -> None:
    with path.open(mode) as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
