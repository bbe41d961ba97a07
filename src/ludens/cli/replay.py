"""`ludens replay RUN KEY`: replay and verify one episode; write an animation, a film strip or a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Json, Size, Whole, render_options
from ludens.cli.output import json_out, table, writable
from ludens.core.errors import BadFile, BadOption
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from ludens.core.episode import Episode

_SUFFIXES = (".gif", ".html", ".png")
_LISTED = 40


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
    """Replay an episode from its seed and actions, and verify that nothing differs."""
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
        return _list(run, json)
    found, name = _read(run, key)
    if found.status == "void" and not found.moves:
        raise BadOption(f"{name!r} has no moves, it was void from the start: {found.error}")
    from ludens.core.verify import verify

    compared = verify(found).pictures
    if out is not None:
        writable(out)
        try:
            out.write_bytes(_render(found, name, out, seat, size, ms))
        except OSError as error:
            raise BadFile(f"cannot write {str(out)!r}: {(error.strerror or str(error)).lower()}.") from None
    if json:
        return json_out({"key": name, "verified": True, "pictures": compared, "episode": found})
    print(_summary(found, name, compared))
    if out is not None:
        print(f"Written to {out}.")
    return None


def _read(run: Path, key: str | None) -> tuple[Episode, str]:
    from ludens.run.replays import find, read_episode, read_episode_file
    from ludens.run.store import read_lines, read_plan

    if run.is_dir():
        read_plan(run)  # raises an error if the folder is not a run
        head, offset = find([(head, offset) for head, offset, _ in read_lines(run)], key or "")
        return read_episode(run, head.key, offset), head.key
    if key is not None and not (key.isascii() and key.isdigit()):
        raise BadOption(f"KEY must be a number, from 1, for a file of episodes, not {key!r}.")
    return read_episode_file(run, int(key or 1)), run.name


def _list(run: Path, json: bool) -> None:
    from ludens.run.store import read_lines, read_plan

    read_plan(run)  # raises an error if the folder is not a run
    found = [head for head, _, _ in read_lines(run)]
    if json:
        return json_out([{"number": n, "key": e.key, "void": e.void} for n, e in enumerate(found, 1)])
    rows = [(str(n), e.key, "void" if e.void else "") for n, e in enumerate(found[:_LISTED], 1)]
    table(f"{len(found):,} episodes in {run}", ("number", "key", "status"), rows, ("number",))
    more = len(found) - _LISTED
    print((f"... and {more:,} more. " if more > 0 else "") + "Add a key or a number to replay one.")
    return None


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


def _summary(episode: Episode, name: str, compared: int) -> str:
    returns = ", ".join(f"{seat} {value:g}" for seat, value in episode.returns.items())
    who = ", ".join(f"{seat} is {spec}" for seat, spec in episode.seats.items())
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(episode.verdicts().items()))
    steps = len({move.step for move in episode.moves})
    why = [f"void because of {episode.culprit or 'the game'}: {episode.error}"] if episode.error else []
    lines = [
        f"{name}: {episode.game}, seed {episode.seed}; {who}",
        f"{episode.status} after {steps} step{'' if steps == 1 else 's'}; returns: {returns}; "
        f"verdicts: {verdicts or 'none'}",
        *why,
        f"Verified: the replay has the same returns and facts{_pictures(compared)}.",
    ]
    return harmless("\n".join(lines))


def _pictures(compared: int) -> str:
    if not compared:
        return "; no pictures were shown"
    return f", and the same {f'{compared:,} pictures' if compared > 1 else 'picture'}"
