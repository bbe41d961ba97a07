"""`ludens verify`, `repair` and `replay`: check every episode of a run, move invalid lines aside, show one
episode again."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Json, Size, SuiteName, Whole, at_least, render_options
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import ProgressLine, check_writable, json_out, table, write_file
from ludens.core.episode import Episode
from ludens.core.errors import BadOption, MissingPictures, ReplayMismatch
from ludens.core.plain import one_line, plural
from ludens.core.verify import Verified
from ludens.core.verify import verify as verify_episode
from ludens.run.lines import iter_records, read_episode
from ludens.run.pack import SUFFIX
from ludens.run.replays import animation, film_strip, find, read_episode_file, read_episodes
from ludens.run.rows import EPISODES
from ludens.run.store import read_places
from ludens.run.task import import_suite
from ludens.run.verify import RunVerification, bad_lines, set_aside, verify_run
from ludens.run.verify import repair as repair_run
from ludens.run.viewer import as_text, returns_text

NANO = "nano"
_NAMED = 10
"""The most keys of one kind in the summary; --json has all."""


def verify(
    run: Annotated[
        Path,
        Parameter(help="Folder of the run (`ludens runs` lists them), a pack, or a file with episodes."),
    ],
    /,
    *,
    suite: SuiteName = None,
    keys: Annotated[
        Path | None, Parameter(help="File of known public keys; a pack must be signed with one of them.")
    ] = None,
    workers: Annotated[
        Whole | None, Parameter(help="Worker processes; 0 for none. Default: one per core for large runs.")
    ] = None,
    json: Json = False,
) -> int:
    """Replay and verify every episode of a run or of a pack (`ludens pack`); none may be missing.

    For a run, writes verified.json, which reports refer to. For a pack, bots also choose their moves again,
    and what is proven and what must be trusted is printed. Exit code 1 if an episode fails, is repeated or
    not planned, or is missing from a run that was finished; 2 for a damaged pack.

    `ludens verify nano`, or nano/FOLDER, compares the files of a small model with what they say about
    themselves: numbers, settings, recipe, commit, seeds and data; of every role that has its own weights.
    """
    at_least("--workers", workers or 0, 0)
    if run.parts[:1] == (NANO,) and not (run / "run.json").exists():
        return _verify_nano(run, json)
    import_suite(suite or "")
    if run.suffix == SUFFIX:
        from ludens.cli.board import verify_file

        return verify_file(run, keys, workers, json)
    if keys is not None:
        raise BadOption("--keys is an option for packs; nothing else is signed.")
    if run.is_file() and run.name != EPISODES:
        return _verify_file(run, json)
    progress = ProgressLine()

    def show(result: RunVerification) -> None:
        count = result.episodes + len(result.failures)
        failed = f", {len(result.failures):,} failed" if result.failures else ""
        progress.show(f"{count:,}/{result.total:,} episodes{failed}")

    try:
        result = verify_run(run, workers=workers, on_progress=show)
    finally:
        progress.close()
    code = DONE if result.ok else FAILED
    if json:
        failures = [{"key": key, "reason": reason} for key, reason in result.failures]
        json_out(
            {name: getattr(result, name) for name in _FIELDS}
            | asdict(result.verified)
            | {"failures": failures}
        )
        return code
    for key, reason in result.failures:
        print(f"{one_line(key)}: {one_line(reason)}")
    counts = result.verified
    print(f"planned {result.planned:,}, present {result.present:,}, proven {result.proven:,}{_rest(result)}.")
    print(f"{counts.moves:,} moves, {counts.replies:,} replies, {counts.pictures:,} pictures verified.")
    if result.missing:
        print(
            "Episodes are missing although the run was finished: they were removed."
            if result.finished
            else f"The run is unfinished; to play the missing episodes: ludens resume {quote(str(run))}"
        )
    return code


def _verify_file(file: Path, json: bool) -> int:
    """Replay and verify the episodes of a file that belong to no run."""
    verified, failures, total = Verified(), list[tuple[int, str]](), 0
    for total, episode in enumerate(read_episodes(file), 1):
        try:
            verified += verify_episode(episode)
        except (ReplayMismatch, MissingPictures) as error:
            failures.append((total, str(error)))
    if json:
        listed = [{"episode": number, "reason": reason} for number, reason in failures]
        json_out({"episodes": total} | asdict(verified) | {"failures": listed})
    else:
        for number, reason in failures:
            print(f"episode {number}: {one_line(reason)}")
        print(f"episodes {total:,}, proven {total - len(failures):,}.\n{verified}.")
    return FAILED if failures else DONE


_FIELDS = (
    "planned", "present", "proven", "finished", "missing", "repeated", "unplanned", "voids", "episodes",
)  # fmt: skip
"""The fields of a `RunVerification` that --json prints, besides what was verified and the failures."""


def _verify_nano(spec: Path, json: bool) -> int:
    from ludens.train.nano.player import SHIPPED
    from ludens.train.nano.weights import verify_model

    folder = Path(*spec.parts[1:]) if len(spec.parts) > 1 else SHIPPED
    if not folder.exists():  # a path has one slash where nano//absolute has two
        folder = Path("/") / folder if (Path("/") / folder).exists() else folder
    checks = verify_model(folder)
    if json:
        json_out([asdict(check) for check in checks])
    else:
        for check in checks:
            print(f"{'ok    ' if check.ok else 'FAILED'} {check.name} {check.detail}".rstrip())
    return DONE if all(check.ok for check in checks) else FAILED


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
    from ludens.suites.people import records

    import_suite(suite or "")
    repaired = repair_run(run)
    study = run / records.PARTICIPANTS
    people = set_aside(study, records.LINE_START, records.read_line)
    if json:
        moved = [line for lines in repaired.moved.values() for line in _json(lines)]
        result = {"moved": moved, "done": repaired.valid, "planned": repaired.planned}
        result["missing"] = repaired.missing_episodes
        result |= {"participants": _json(people)} if study.exists() else {}
        return json_out(result)
    for path, lines in {**repaired.moved, bad_lines(study): people}.items():
        _list(path, lines)
    valid = "" if any(repaired.moved.values()) or people else "All lines are valid. "
    print(f"{valid}{repaired.valid:,} of {repaired.planned:,} episodes done.")
    if repaired.missing_episodes and not study.exists():
        episodes = plural(repaired.missing_episodes, "missing episode")
        print(f"To play the {episodes}: ludens resume {quote(str(run))}")


def _list(path: Path, moved: list[tuple[int, str]]) -> None:
    if moved:
        print(f"{plural(len(moved), 'line')} moved to {path}:")
    for number, reason in moved[:_LISTED]:
        print(f"  line {number}: {one_line(reason)}")
    if len(moved) > _LISTED:
        print(f"  ... and {len(moved) - _LISTED:,} more")


def _json(moved: list[tuple[int, str]]) -> list[dict[str, object]]:
    return [{"line": number, "reason": reason} for number, reason in moved]


_SUFFIXES = (".gif", ".html", ".png")


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
    size: Annotated[
        Size | None,
        Parameter(help="Size of the pictures in pixels, 64 to 1024, as small as the game allows."),
    ] = None,
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
    episode, name = _read(run, key)
    if episode.status == "void" and not episode.moves:
        raise BadOption(f"{name!r} has no moves, it was void from the start: {episode.error}")
    verified, problem = None, None
    try:
        verified = verify_episode(episode)
    except MissingPictures as error:
        problem = error
    writes = out is not None and (problem is None or out.suffix.lower() == ".html")
    if out is not None and writes:
        write_file(check_writable(out), _render(episode, name, out, seat, size, ms))
    if json:
        json_out({"key": name, "verified": verified and asdict(verified), "episode": episode})
    else:
        print(as_text(name, episode) + (f"\n{verified}." if verified else ""))
        if writes:
            print(f"Written to {out}.")
    if problem is not None:
        raise problem


def _read(run: Path, key: str | None) -> tuple[Episode, str]:
    if run.is_dir():
        name, location = find(read_places(run), key or "")
        return read_episode(run, name, location), name
    if key is not None and not (key.isascii() and key.isdigit()):
        raise BadOption(f"KEY must be a number, from 1, for a file of episodes, not {key!r}.")
    return read_episode_file(run, int(key or 1)), run.name


def _replay_list(run: Path, json: bool) -> None:
    total = len(read_places(run))  # raises an error if the folder is not a run
    records = islice(iter_records(run), None if json else _LISTED)
    columns = ("number", "key", "status", "returns", "fallbacks")
    listed = [
        (number, record.key, e.status, e.returns, e.verdicts()["fallback"])
        for number, record in enumerate(records, 1)
        for e in [record.episode]
    ]
    if json:
        return json_out([dict(zip(columns, values, strict=True)) for values in listed])
    rows = [
        (str(number), key, status, returns_text(returns), str(fallbacks or ""))
        for number, key, status, returns, fallbacks in listed
    ]
    table(f"{total:,} episodes in {run}", columns, rows, ("number", "fallbacks"))
    more = total - _LISTED
    print((f"... and {more:,} more. " if more > 0 else "") + "Add a key or a number to replay one.")


def _render(episode: Episode, name: str, out: Path, seat: str | None, size: int | None, ms: int) -> bytes:
    match out.suffix.lower():
        case ".gif":
            return animation(episode, seat, size, ms)
        case ".png":
            return film_strip(episode, seat, size)
    from ludens.run.report.page import episode_page

    return episode_page(episode, name, size or 384).encode()
