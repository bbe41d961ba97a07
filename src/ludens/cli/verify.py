"""`ludens verify`, `repair` and `replay`: check every episode of a run, move invalid lines aside, show one
episode again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ludens.cli.arguments import Json, Size, SuiteName, Whole, at_least, render_options
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import counted, json_out, table, writable
from ludens.core.errors import BadFile, BadOption, MissingPictures
from ludens.core.plain import harmless, one_line

if TYPE_CHECKING:
    from ludens.core.episode import Episode, Move
    from ludens.run.verify import RunVerification


_SECONDS_BETWEEN_LINES = 10.0
_NAMED = 10
"""The most keys of one kind in the summary; --json has all."""


def verify(
    run: Annotated[Path, Parameter(help="Folder of the run; `ludens runs` lists them.")],
    /,
    *,
    suite: SuiteName = None,
    workers: Annotated[
        Whole | None, Parameter(help="Worker processes; 0 for none. Default: one per core for large runs.")
    ] = None,
    json: Json = False,
) -> int:
    """Replay and verify every episode of a run: moves, replies, pictures, returns; none may be missing.

    Writes verified.json, which reports refer to. Exit code 1 if an episode fails, is repeated or not planned,
    or is missing from a run that was finished.
    """
    from ludens.run.task import import_suite
    from ludens.run.verify import verify_run

    at_least("--workers", workers or 0, 0)
    import_suite(suite or "")
    progress = _Progress()
    try:
        result = verify_run(run, workers=workers, on_progress=progress)
    finally:
        progress.close()
    code = DONE if result.ok else FAILED
    if json:
        json_out(_fields(result))
        return code
    for key, reason in result.failures:
        print(f"{one_line(key)}: {one_line(reason)}")
    found = result.verified
    print(f"planned {result.planned:,}, present {result.present:,}, proven {result.proven:,}{_rest(result)}.")
    print(f"{found.moves:,} moves, {found.replies:,} replies, {found.pictures:,} pictures verified.")
    if result.missing:
        print(
            "Episodes are missing although the run was finished: they were removed."
            if result.finished
            else f"The run is unfinished; to play the missing episodes: ludens resume {quote(str(run))}"
        )
    return code


def _fields(result: RunVerification) -> dict[str, object]:
    names = (
        "planned",
        "present",
        "proven",
        "finished",
        "missing",
        "repeated",
        "unplanned",
        "voids",
        "episodes",
    )
    return {
        **{name: getattr(result, name) for name in names},
        **{name: getattr(result.verified, name) for name in ("moves", "replies", "pictures")},
        "failures": [{"key": key, "reason": reason} for key, reason in result.failures],
    }


def _rest(result: RunVerification) -> str:
    """What is void, repeated, not planned or missing, with the keys."""
    parts = [f", void {result.voids:,}"] if result.voids else []
    for name, keys in (
        ("missing", result.missing),
        ("repeated", result.repeated),
        ("not planned", result.unplanned),
    ):
        if keys:
            more = f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else ""
            parts.append(f"; {name} {len(keys):,}: {', '.join(map(one_line, keys[:_NAMED]))}{more}")
    return "".join(parts)


class _Progress:
    """A line on stderr: redrawn in a terminal, else printed every few seconds."""

    def __init__(self) -> None:
        self._live, self._shown, self._drawn = sys.stderr.isatty(), monotonic(), False

    def __call__(self, result: RunVerification) -> None:
        done = result.episodes + len(result.failures)
        failed = f", {len(result.failures):,} failed" if result.failures else ""
        text = f"{done:,}/{result.total:,} episodes{failed}"
        if self._live:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
            self._drawn = True
        elif monotonic() - self._shown >= _SECONDS_BETWEEN_LINES:
            self._shown = monotonic()
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


_LISTED = 40


def repair(
    run: Annotated[Path, Parameter(help="Folder of the run; `ludens runs` lists them.")],
    /,
    *,
    suite: SuiteName = None,
    json: Json = False,
) -> None:
    """Move invalid lines of a run aside, so that it can be resumed and plays the missing episodes again.

    They are moved to episodes.bad.jsonl, those of a study's participants.jsonl to participants.bad.jsonl.
    """
    from ludens.run import verify as repairs
    from ludens.run.task import import_suite
    from ludens.suites.people import records

    import_suite(suite or "")
    found = repairs.repair(run)
    study = run / records.PARTICIPANTS
    people = repairs.set_aside(study, records.LINE_START, records.read_line)
    if json:
        moved = [line for lines in found.moved.values() for line in _json(lines)]
        result = {"moved": moved, "done": found.done, "planned": found.planned}
        result |= {"missing": found.missing} | ({"participants": _json(people)} if study.exists() else {})
        return json_out(result)
    for path, lines in {**found.moved, repairs.bad_lines(study): people}.items():
        _list(path, lines)
    valid = "" if any(found.moved.values()) or people else "All lines are valid. "
    print(f"{valid}{found.done:,} of {found.planned:,} episodes done.")
    if found.missing and not study.exists():
        print(f"To play the {counted(found.missing, 'missing episode')}: ludens resume {quote(str(run))}")
    return None


def _list(path: Path, moved: list[tuple[int, str]]) -> None:
    if moved:
        print(f"{counted(len(moved), 'line')} moved to {path}:")
    for number, reason in moved[:_LISTED]:
        print(f"  line {number}: {one_line(reason)}")
    if len(moved) > _LISTED:
        print(f"  ... and {len(moved) - _LISTED:,} more")


def _json(moved: list[tuple[int, str]]) -> list[dict[str, object]]:
    return [{"line": number, "reason": reason} for number, reason in moved]


_SUFFIXES = (".gif", ".html", ".png")
_REPLAY_LISTED = 40
_TEXT = 160
"""Characters shown of a reply."""


def replay(
    run: Annotated[Path, Parameter(help="The folder of a run, or a file with episodes.")],
    key: Annotated[
        str | None,
        Parameter(
            help="The key of an episode, a part of it, or its number; without it, episodes are listed."
        ),
    ] = None,
    /,
    *,
    out: Annotated[
        Path | None, Parameter(help="File to write: .gif, .html with prompts and replies, or .png.")
    ] = None,
    seat: Annotated[str | None, Parameter(help="The seat whose view .gif and .png show.")] = None,
    size: Annotated[Size | None, Parameter(help="Size of the pictures in pixels, 256 to 1024.")] = None,
    ms: Annotated[Whole, Parameter(help="Milliseconds per picture of a .gif, 20 to 60000.")] = 600,
    json: Json = False,
) -> None:
    """Replay an episode, verify it and show it: its moves and replies."""
    if out is not None and out.suffix.lower() not in _SUFFIXES:
        raise BadOption(f"--out must end in .gif, .html or .png, not {out.name!r}.")
    if not 20 <= ms <= 60_000:
        raise BadOption(f"--ms must be 20 to 60000 milliseconds, not {ms}.")
    if size is not None:
        render_options("classic", size)
    if run.name == "episodes.jsonl" and run.with_name("run.json").exists():
        run = run.parent
    if run.is_dir() and key is None:
        if out is not None:
            raise BadOption("missing argument KEY: name an episode, or drop --out to list all episodes.")
        return _replay_list(run, json)
    found, name = _read(run, key)
    if found.status == "void" and not found.moves:
        raise BadOption(f"{name!r} has no moves, it was void from the start: {found.error}")
    from ludens.core.verify import verify

    verified, missing = None, None
    try:
        verified = verify(found)
    except MissingPictures as error:
        missing = error
    written = out is not None and (missing is None or out.suffix.lower() == ".html")
    if out is not None and written:
        writable(out)
        try:
            out.write_bytes(_render(found, name, out, seat, size, ms))
        except OSError as error:
            raise BadFile(f"cannot write {str(out)!r}: {(error.strerror or str(error)).lower()}.") from None
    if json:
        json_out({"key": name, "verified": verified and asdict(verified), "episode": found})
    else:
        print(_summary(found, name) + (f"\n{verified}." if verified else ""))
        if written:
            print(f"Written to {out}.")
    if missing is not None:
        raise missing


def _read(run: Path, key: str | None) -> tuple[Episode, str]:
    from ludens.run.lines import read_episode
    from ludens.run.replays import find, read_episode_file
    from ludens.run.store import read_places

    if run.is_dir():
        name, location = find(read_places(run), key or "")
        return read_episode(run, name, location), name
    if key is not None and not (key.isascii() and key.isdigit()):
        raise BadOption(f"KEY must be a number, from 1, for a file of episodes, not {key!r}.")
    return read_episode_file(run, int(key or 1)), run.name


def _replay_list(run: Path, json: bool) -> None:
    from ludens.run.lines import iter_records
    from ludens.run.store import read_places

    total = len(read_places(run))  # raises an error if the folder is not a run
    records = islice(iter_records(run), None if json else _REPLAY_LISTED)
    listed = [_listed(number, record.key, record.episode) for number, record in enumerate(records, 1)]
    if json:
        return json_out(listed)
    rows = [
        (str(one["number"]), one["key"], one["status"], _returns(one["returns"]), str(one["fallbacks"] or ""))
        for one in listed
    ]
    columns = ("number", "key", "status", "returns", "fallbacks")
    table(f"{total:,} episodes in {run}", columns, rows, ("number", "fallbacks"))
    more = total - _REPLAY_LISTED
    print((f"... and {more:,} more. " if more > 0 else "") + "Add a key or a number to replay one.")
    return None


def _listed(number: int, key: str, episode: Episode) -> dict[str, Any]:
    return {
        "number": number,
        "key": key,
        "status": episode.status,
        "returns": episode.returns,
        "fallbacks": episode.verdicts()["fallback"],
    }


def _returns(returns: Mapping[str, float]) -> str:
    return ", ".join(f"{seat} {value:g}" for seat, value in returns.items())


def _render(
    episode: Episode,
    name: str,
    out: Path,
    seat: str | None,
    size: int | None,
    ms: int,
) -> bytes:
    from ludens.run.replays import animation, film_strip

    match out.suffix.lower():
        case ".gif":
            return animation(episode, seat, size, ms)
        case ".png":
            return film_strip(episode, seat, size)
    from ludens.run.report.page import episode_page

    return episode_page(episode, name, size or 384).encode()


def _summary(episode: Episode, name: str) -> str:
    who = ", ".join(f"{seat} is {spec}" for seat, spec in episode.seats.items())
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(episode.verdicts().items()))
    steps = len({move.step for move in episode.moves})
    why = [f"void because of {episode.culprit or 'the game'}: {episode.error}"] if episode.error else []
    lines = [
        f"{name}: {episode.game}, seed {episode.seed}; {who}",
        *(line for move in episode.moves for line in _move_lines(move)),
        *(line for move in episode.unfinished for line in _move_lines(move)),
        f"{episode.status} after {counted(steps, 'step')}; returns: {_returns(episode.returns)}; "
        f"verdicts: {verdicts or 'none'}",
        *why,
    ]
    return harmless("\n".join(lines))


def _move_lines(move: Move) -> Iterator[str]:
    """A move, and the replies that say more than its action."""
    verdict = "" if move.verdict == "ok" else f" ({move.verdict})"
    yield f"{move.step:>4}. {move.seat}: {_shortened(move.action)}{verdict}"
    for tried in move.tries:
        if tried.verdict != "ok" or tried.text != move.action:
            reason = f" [{one_line(tried.reason)}]" if tried.reason else ""
            yield f"        {tried.verdict}: {_shortened(tried.text)}{reason}"


def _shortened(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _TEXT else f"{line[:_TEXT]}... ({len(line):,} characters)"
