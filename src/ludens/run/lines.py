"""One line of `episodes.jsonl`: a head that names the job, then the episode."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import orjson

from ludens.core.episode import Episode
from ludens.core.errors import BadFile

if TYPE_CHECKING:
    from pydantic import TypeAdapter

EPISODES = "episodes.jsonl"
LINE_START = b'{"key":'
_SEPARATOR = b',"episode":'
"""Occurs once before the episode; inside strings its quotes would be escaped."""


@dataclass(frozen=True, slots=True)
class Head:
    """The fields of a line that precede the episode."""

    key: str
    entrant: str
    task: str
    seating: int
    sample: int
    void: bool
    job: str
    """`Plan.job_hash` of the episode's job, which binds it to `run.json`."""
    plan: str = ""
    """`Plan.jobs_hash`; empty in runs of older versions."""


@dataclass(frozen=True, slots=True)
class Record(Head):
    """One line."""

    episode: Episode = field(kw_only=True)


def write_line(head: Head, episode: bytes) -> bytes:
    """A line with an episode, given as JSON."""
    return orjson.dumps(head)[:-1] + _SEPARATOR + episode + b"}\n"


def split_line(line: bytes) -> tuple[Head, bytes]:
    """The head of a complete line, and the episode as JSON."""
    from pydantic import ValidationError

    cut = line.find(_SEPARATOR)
    try:
        head = _head_adapter().validate_json(line[:cut] + b"}", strict=True)
    except ValidationError:
        raise BadFile("not an episode") from None
    return head, line[cut + len(_SEPARATOR) : -2]


@lru_cache(maxsize=1)
def _head_adapter() -> TypeAdapter[Head]:
    from pydantic import TypeAdapter

    return TypeAdapter(Head)


def read_record(folder: Path, head: Head, data: bytes) -> Record:
    """The record of a line of the run in this folder."""
    try:
        episode = Episode.from_json(data)
    except BadFile as error:
        reason = str(error).rstrip(".")
        raise BadFile(f"{head.key!r} in {str(folder)!r}: {reason}; {repair_hint(folder)}") from None
    return Record(
        head.key, head.entrant, head.task, head.seating, head.sample, head.void, head.job, head.plan,
        episode=episode,
    )  # fmt: skip


def repair_hint(folder: Path) -> str:
    """How to continue with a run that has an invalid line."""
    return f"run `ludens repair {quote(str(folder))}` to set it aside."
