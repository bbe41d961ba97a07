"""Verifies packs, and writes the pages of a leaderboard: no server, no other host, one policy per page.

    index.html          all suites: searchable, sortable tables
    entries/ID.html     one row: every metric, its packs, what they prove, replays
    replays/ID.html     an episode step by step
    packs/ID.ludens     the packs, for everybody to verify
    play.html           tic-tac-toe against nano
    results.json        the numbers

Names of files are hashes: no text of a pack becomes a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import Any

import orjson
from jinja2 import Environment
from markupsafe import Markup

from ludens.core.errors import BadFile, BadOption, MissingExtra, UsageError
from ludens.core.files import file_error, save_file
from ludens.core.plain import one_line
from ludens.run.board.entries import KINDS, BoardEntry, BoardSection, section_of
from ludens.run.board.tree import read_tree
from ludens.run.lines import iter_records
from ludens.run.pack import SUFFIX, BadPack, packs_in
from ludens.run.proof import PackProof, part_of_suite, verify_pack
from ludens.run.report.page import (
    EPISODE_SIZE,
    SCRIPTS,
    STYLES,
    TEMPLATES,
    Pick,
    page_environment,
    pick_episodes,
)
from ludens.run.report.table import Value
from ludens.run.report.tables import MetricColumn
from ludens.run.results import Results, load_results
from ludens.run.verify import RunVerification
from ludens.run.viewer import SizeLimit, embed

MADE_BY = "ludens board"
RESULTS = "results.json"
_OWN = Path(__file__).parent / "templates"
_WRITTEN = re.compile(r"[0-9a-f]{16}\.(html|ludens)")
_FOLDERS = ("entries", "replays", "packs")
PICTURES = 320
"""Pixels of the pictures of a replay."""

Progress = Callable[[Path, RunVerification], None]


@dataclass(frozen=True)
class Submission:
    """A pack that was verified, and the folder in which its run is."""

    name: str
    """Of its file, as it is below the folder of all packs."""
    file: Path
    proof: PackProof
    run: Path

    @property
    def id(self) -> str:
        return self.proof.pack.digest[:16]

    @property
    def part(self) -> str:
        return part_of_suite(self.proof.pack.plan)

    @property
    def submitter(self) -> str:
        """The name behind the key that signed it, or the beginning of the key."""
        key = self.proof.pack.signed_by
        return self.proof.submitter or (f"key {key[:8]}" if key else "")


@dataclass(frozen=True)
class Submissions:
    """The packs of a folder."""

    accepted: Sequence[Submission]
    refused: Mapping[str, str]
    """File to why it does not count."""


def read_submissions(
    folder: Path,
    into: Path,
    *,
    keys: Mapping[str, str] | None = None,
    skip: bool = False,
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> Submissions:
    """Verify every pack below a folder.

    Args:
        folder: Where the packs are.
        into: An empty folder for their runs.
        keys: Public keys of known submitters with their names; packs must be signed with one of them.
        skip: Whether packs that are refused are left out; else the first one raises `BadPack`.
        workers: Worker processes.
        on_progress: Called while a pack is verified.
    """
    files = list(packs_in(folder))
    if not files:
        raise BadFile(f"{str(folder)!r} contains no packs (*{SUFFIX}); `ludens pack RUN` makes one.")
    accepted, refused, contents = list[Submission](), dict[str, str](), dict[str, str]()
    for number, file in enumerate(files):
        name = one_line(str(file.relative_to(folder)))
        try:
            if file.is_symlink():  # a submission could name any file of this machine
                raise BadPack(f"{str(file)!r}: it is a link.")
            run = into / f"{number:05}"
            run.mkdir()
            notify = (lambda result, file=file: on_progress(file, result)) if on_progress else None
            proof = verify_pack(file, run, keys=keys, workers=workers, on_progress=notify)
            if proof.failures:
                key, reason = proof.failures[0]
                raise BadPack(f"{str(file)!r}: not verified; {one_line(key)}: {one_line(reason)}")
            content = _hash_episodes(run)
            if content in contents:
                raise BadPack(f"{str(file)!r}: it has the same episodes as {contents[content]!r}.")
            contents[content] = name
            accepted.append(Submission(name, file, proof, run))
        except MissingExtra:
            raise
        except UsageError as error:
            if not skip:
                raise BadPack(f"{str(error).rstrip('.')}; --skip leaves out what is refused.") from None
            refused[name] = str(error).removeprefix(f"{str(file)!r}: ")
    if not accepted:
        raise BadFile(f"no pack in {str(folder)!r} is valid; the first: {next(iter(refused.values()))}")
    return Submissions(accepted, refused)


def _hash_episodes(run: Path) -> str:
    prints = sorted(f"{record.key} {record.episode.fingerprint()}" for record in iter_records(run))
    return sha256("\n".join(prints).encode()).hexdigest()


def check_out(out: Path) -> None:
    """Refuse a folder that has other files than an earlier leaderboard."""
    if out.exists() and not out.is_dir():
        raise BadOption(f"--out {str(out)!r} is not a folder.")
    if out.is_dir() and any(out.iterdir()):
        try:
            made_by = orjson.loads((out / RESULTS).read_bytes())["made_by"]
        except (OSError, ValueError, LookupError, TypeError):
            made_by = ""
        if made_by != MADE_BY:
            raise BadOption(
                f"--out {str(out)!r} is not empty and contains no leaderboard; choose another folder."
            )


def write_site(submissions: Submissions, out: Path, *, title: str, episodes: int = 2) -> int:
    """Write the pages; returns how many rows the board has.

    Args:
        submissions: The packs.
        out: The folder of the site; an earlier leaderboard there is replaced.
        title: Of the board.
        episodes: How many episodes of each task and row are shown at most.
    """
    check_out(out)
    try:
        _remove_earlier(out)
        return _Writer(submissions, out, title).write(episodes)
    except OSError as error:
        raise file_error("write into", out, error) from None


def _remove_earlier(out: Path) -> None:
    for folder in _FOLDERS:
        for path in (out / folder).glob("*"):
            if _WRITTEN.fullmatch(path.name):
                path.unlink()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    styles = [*(TEMPLATES / name for name in STYLES), _OWN / "board.css"]
    scripts = [*(TEMPLATES / name for name in SCRIPTS), _OWN / "board.js", _OWN / "play.js"]
    return page_environment((_OWN, TEMPLATES), styles, scripts)


@dataclass(frozen=True)
class Replay:
    """A link to the page of an episode."""

    page: str
    task: str
    seed: int
    seats: str
    value: str
    tags: Sequence[str]


class _Writer:
    def __init__(self, submissions: Submissions, out: Path, title: str) -> None:
        self._accepted, self._refused, self._out = submissions.accepted, submissions.refused, out
        self._title = title
        self._by_run = {submission.run: submission for submission in self._accepted}

    def write(self, episodes: int) -> int:
        results = load_results(list(self._by_run))
        sections = [section_of(suite) for suite in results.suites]
        for submission in self._accepted:
            target = self._out / "packs" / f"{submission.id}{SUFFIX}"
            target.parent.mkdir(parents=True, exist_ok=True)
            copyfile(submission.file, target)
        replays = self._replays(results, sections, episodes)
        for section in sections:
            for entry in section.entries:
                self._entry(section, entry, replays.get(entry.id, ()))
        self._page("play.html", "play.html", title="Tic-tac-toe against nano", tree=_tree())
        self._index(sections)
        save_file(self._out / RESULTS, self._data(sections))
        return sum(len(section.entries) for section in sections)

    def _page(self, file: str, template: str, **context: Any) -> None:
        up = "../" * file.count("/")
        text = _environment().get_template(template).render(up=up, board=self._title, **context)
        save_file(self._out / file, text.encode())

    def _index(self, sections: Sequence[BoardSection]) -> None:
        tables = [(s, s.rows(self._submitters(s), self._parts(s))) for s in sections]
        kinds = {row.kind for _, rows in tables for row in rows}
        self._page(
            "index.html",
            "board.html",
            title=self._title,
            sections=tables,
            kinds={kind: words for kind, words in KINDS.items() if kind in kinds},
            accepted=self._accepted,
            refused=self._refused,
        )

    def _submitters(self, section: BoardSection) -> dict[str, str]:
        names = {entry.id: self._submissions(entry) for entry in section.entries}
        return {
            id: ", ".join(dict.fromkeys(one.submitter for one in some if one.submitter)) or "not signed"
            for id, some in names.items()
        }

    def _parts(self, section: BoardSection) -> set[str]:
        return {e.id for e in section.entries if all(one.part for one in self._submissions(e))}

    def _submissions(self, entry: BoardEntry) -> list[Submission]:
        return [self._by_run[folder] for folder in entry.folders]

    def _entry(self, section: BoardSection, entry: BoardEntry, replays: Sequence[Replay]) -> None:
        metrics = [
            (name, column.unit, Value(estimate, column.digits))
            for name, cells in entry.cells.items()
            for metric in cells[0].task.metrics
            for column in [_column(section, cells[0].task.name, metric.name)]
            if (estimate := entry.estimate(name, metric)) is not None
        ]
        self._page(
            f"entries/{entry.id}.html",
            "entry.html",
            title=f"{entry.name} ({entry.settings})" if entry.settings else entry.name,
            section=section,
            entry=entry,
            metrics=metrics,
            replays=replays,
            submissions=self._submissions(entry),
        )

    def _replays(
        self, results: Results, sections: Sequence[BoardSection], most: int
    ) -> dict[str, list[Replay]]:
        """Write the pages of some episodes; returns the links by the id of the entry."""
        links: dict[str, list[Replay]] = {}
        for suite, section in zip(results.suites, sections, strict=True):
            entries = {row.name: entry for entry in section.entries for row in entry.rows}
            for pick in pick_episodes(suite, most):
                if (entry := entries.get(pick.row.name)) is not None:
                    links.setdefault(entry.id, []).append(self._replay(pick, entry))
        for some in links.values():
            some.sort(key=lambda link: (link.task, link.seed, link.seats))
        return links

    def _replay(self, pick: Pick, entry: BoardEntry) -> Replay:
        result, pack = pick.cell.read(pick.place), self._by_run[pick.cell.folder].proof.pack
        file = f"replays/{sha256(f'{pack.digest} {result.key}'.encode()).hexdigest()[:16]}.html"
        panel = embed(result.episode, result.key, size=PICTURES, limit=SizeLimit(EPISODE_SIZE))
        self._page(
            file, "replay.html", title=f"{pick.cell.task.name}: {entry.name}", panel=panel, entry=entry
        )
        seats = " and ".join(result.seats)
        return Replay(file, pick.cell.task.name, result.seed, seats, pick.value_text, pick.tags)

    def _data(self, sections: Sequence[BoardSection]) -> bytes:
        entries = [
            {
                "suite": section.results.suite.name,
                "spec": str(entry.spec),
                "settings": entry.settings,
                "kind": entry.kind,
                "page": f"entries/{entry.id}.html",
                "packs": [one.proof.pack.digest for one in self._submissions(entry)],
                "episodes": entry.episodes,
                "results": [
                    {"task": name, "metric": metric.name, **estimate.interval(), "n": estimate.n}
                    for name, cells in entry.cells.items()
                    for metric in cells[0].task.metrics
                    if (estimate := entry.estimate(name, metric)) is not None
                ],
            }
            for section in sections
            for entry in section.entries
        ]
        packs = [
            {
                "file": one.name,
                "digest": one.proof.pack.digest,
                "key": one.proof.pack.signed_by,
                "submitter": one.proof.submitter,
                "episodes": len(one.proof.pack.keys),
            }
            for one in self._accepted
        ]
        data = {"made_by": MADE_BY, "packs": packs, "refused": dict(self._refused), "entries": entries}
        return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _column(section: BoardSection, name: str, metric: str) -> MetricColumn:
    task = section.results.tasks[name]
    [own] = [one for one in task.metrics if one.name == metric]
    return MetricColumn(task, own, own is task.metrics[0] and name in section.results.suite.anchors)


def _tree() -> dict[str, Any]:
    """The replies for the page; only digits and marks, which no markup can hide in."""
    tree = read_tree()
    return {
        "data": Markup(orjson.dumps(tree.seats).decode()),
        "outcomes": tree.outcomes,
        "player": tree.player,
    }
