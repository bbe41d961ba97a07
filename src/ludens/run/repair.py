"""Repairs a run: moves invalid lines out of `episodes.jsonl`, so that the run can be reported and resumed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ludens.core.errors import BadFile
from ludens.run.binding import PlanCheck, PlanEdited
from ludens.run.lines import EPISODES, read_record, repair_hint, split_line
from ludens.run.store import lock_file, read_plan

BAD_LINES = "episodes.bad.jsonl"


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
    plan, path = read_plan(folder), folder / EPISODES
    result, bad, done = Repaired(planned=plan.total()), dict[int, bytes](), set[str]()
    check = PlanCheck(folder, plan)
    try:
        with path.open("rb+") as file:
            lock_file(file, path)
            for number, line in enumerate(file, 1):
                try:
                    done.update(_finished_key(folder, check, line))
                except PlanEdited:
                    raise
                except BadFile as error:
                    result.moved.append((number, str(error).removesuffix("; " + repair_hint(folder))))
                    bad[number] = line if line.endswith(b"\n") else line + b"\n"
            if bad:
                _write(folder / BAD_LINES, "ab", bad.values())
                file.seek(0)
                partial = folder / f"{EPISODES}.part"
                _write(partial, "wb", (line for number, line in enumerate(file, 1) if number not in bad))
                partial.rename(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise BadFile(f"cannot repair {str(folder)!r}: {(error.strerror or str(error)).lower()}.") from None
    result.done = len(done)
    return result


def _finished_key(folder: Path, check: PlanCheck, line: bytes) -> Iterator[str]:
    """The key of a valid line, if its episode is finished."""
    if not line.endswith(b"\n"):
        raise BadFile("incomplete")
    head, data = split_line(line)
    record = read_record(folder, head, data)
    check.check(head, record.episode)
    if not head.void:
        yield head.key


def _write(path: Path, mode: Literal["ab", "wb"], lines: Iterable[bytes]) -> None:
    with path.open(mode) as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
