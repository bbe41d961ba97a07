"""`ludens pack`, `ludens board`, and `ludens verify` of a pack: a leaderboard that anybody can check."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Flag, Json, SuiteName, Whole, at_least
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import ProgressLine, aside, json_out
from ludens.core.errors import BadOption
from ludens.core.plain import one_line, plural
from ludens.run.pack import SUFFIX, read_keys
from ludens.run.proof import PackProof, pack_run, verify_pack
from ludens.run.task import import_suite
from ludens.run.verify import RunVerification

_NAMED = 10
"""Failures that are listed; --json has all."""


def pack(
    run: Annotated[Path, Parameter(help="Folder of a finished run; `ludens runs` lists them.")],
    /,
    *,
    out: Annotated[Path | None, Parameter(help=f"File to write; default: RUN{SUFFIX}.")] = None,
    key: Annotated[
        Path | None, Parameter(help="PEM file of your private Ed25519 key, which signs the pack.")
    ] = None,
    suite: SuiteName = None,
    workers: Annotated[Whole | None, Parameter(help="Worker processes; 0 for none.")] = None,
    json: Json = False,
) -> None:
    """Put a finished run into one file that others can verify.

    The run is verified first. The file has the plan, all episodes with the hashes of their pictures and
    prompts, versions and results, as a chain of hashes. `ludens verify FILE` replays it. A signature (--key)
    needs the extra `sign`.
    """
    at_least("--workers", workers or 0, 0)
    import_suite(suite or "")
    file = out or _beside(run)
    if file.suffix != SUFFIX:
        raise BadOption(f"--out must end in {SUFFIX}, not {file.name!r}.")
    if not file.parent.is_dir():
        raise BadOption(f"there is no folder {str(file.parent)!r} for --out.")
    progress = _Progress()
    proof = pack_run(run, file, key=key, workers=workers, on_progress=progress.show)
    progress.close()
    content = proof.pack
    if json:
        return json_out({"file": str(file), **_facts(proof)})
    signed = f", signed with the key {content.signed_by}" if content.signed_by else ", not signed"
    print(f"{plural(content.head.episodes, 'episode')} in {file}: {content.bytes / 1e6:,.2f} MB{signed}.")
    print(f"digest {content.digest}")


def _beside(run: Path) -> Path:
    """The pack of a run, next to its folder, which may be `.`: a path without a name."""
    folder = run if run.name not in ("", "..") else run.resolve()
    return folder.parent / f"{folder.name}{SUFFIX}"


def verify_file(file: Path, keys: Path | None, workers: int | None, json: bool) -> int:
    """Verify a pack, and print what is proven and what must be trusted."""
    signers, progress = read_keys(keys) if keys else None, _Progress()
    try:
        with TemporaryDirectory(prefix="ludens-") as folder:
            proof = verify_pack(file, Path(folder), keys=signers, workers=workers, on_progress=progress.show)
    finally:
        progress.close()
    code = DONE if proof.ok else FAILED
    if json:
        failures = [{"key": key, "reason": reason} for key, reason in proof.failures]
        json_out({**_facts(proof), "failures": failures})
        return code
    for key, reason in proof.failures[:_NAMED]:
        print(f"{one_line(key)}: {one_line(reason)}")
    if proof.failures:
        more = f" ({len(proof.failures):,} failures)" if len(proof.failures) > _NAMED else ""
        print(f"{file}: not verified{more}.")
        return code
    print(f"{file}: verified.\n\nProven by replaying it here:")
    for name, text in proof.proven.items():
        print(f"  {name:13} {text}")
    print("\nMust be trusted:")
    for text in proof.trusted:
        print(f"  - {text}")
    print(f"\ndigest {proof.pack.digest}")
    return code


def _facts(proof: PackProof) -> dict[str, object]:
    counts = proof.run.verified
    return {
        "digest": proof.pack.digest,
        "suite": proof.pack.plan.suite,
        "entrants": dict(proof.pack.plan.entrants),
        "episodes": len(proof.pack.keys),
        "voids": proof.pack.voids,
        "moves": counts.moves,
        "replies": counts.replies,
        "pictures": counts.pictures,
        "key": proof.pack.signed_by,
        "submitter": proof.submitter,
        "proven": proof.proven if proof.ok else {},
        "trusted": proof.trusted,
    }


class _Progress(ProgressLine):
    def show(self, result: RunVerification | str, last: bool = False) -> None:
        if isinstance(result, RunVerification):
            count = result.episodes + len(result.failures)
            result = f"{count:,}/{result.total:,} episodes"
        super().show(result, last)


def board(
    folder: Annotated[Path, Parameter(help=f"Folder with packs (*{SUFFIX}), and folders in it.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder of the site; an earlier leaderboard there is replaced.")],
    title: Annotated[str, Parameter(help="Title of the leaderboard.")] = "Ludens leaderboard",
    keys: Annotated[
        Path | None, Parameter(help="File of known public keys; packs must be signed with one of them.")
    ] = None,
    skip: Annotated[
        Flag, Parameter(help="List packs that are refused on the page, instead of failing.")
    ] = False,
    episodes: Annotated[Whole, Parameter(help="Most replays of each task and row.")] = 2,
    suite: SuiteName = None,
    workers: Annotated[Whole | None, Parameter(help="Worker processes; 0 for none.")] = None,
) -> None:
    """Make a leaderboard, a static web site, from packs of many people.

    Every pack is replayed first. If one is damaged or refuted, nothing is written, unless --skip is given.
    The pages need no server and load nothing from other hosts.
    """
    from ludens.run.board.site import check_out, read_submissions, write_site

    at_least("--workers", workers or 0, 0)
    at_least("--episodes", episodes, 0)
    if not folder.is_dir():
        raise BadOption(f"there is no folder {str(folder)!r}.")
    import_suite(suite or "")
    check_out(out)
    signers, progress = read_keys(keys) if keys else None, ProgressLine()

    def show(file: Path, result: RunVerification) -> None:
        progress.show(f"{file.name}: {result.episodes + len(result.failures):,}/{result.total:,} episodes")

    with TemporaryDirectory(prefix="ludens-") as runs:
        try:
            submissions = read_submissions(
                folder, Path(runs), keys=signers, skip=skip, workers=workers, on_progress=show
            )
        finally:
            progress.close()
        rows = write_site(submissions, out, title=title, episodes=episodes)
    for name, reason in submissions.refused.items():
        aside(f"refused: {name}: {reason}")
    print(f"{plural(len(submissions.accepted), 'pack')}, {plural(rows, 'row')} in {out / 'index.html'}.")
