"""What a pack proves: everything in it is replayed, and what replaying cannot show is named.

    with TemporaryDirectory() as folder:
        proof = verify_pack(Path("mine.ludens"), Path(folder))
    proof.proven, proof.trusted, proof.failures

A pack comes from a stranger. Nothing that it names is opened (`check_packed`), and nothing that it says is
believed: scores are measured again from the replayed episodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from math import isclose
from pathlib import Path
from shlex import quote

from ludens.core.errors import BadFile, BadOption, MissingExtra, UsageError
from ludens.core.files import file_error
from ludens.core.plain import one_line, plural
from ludens.core.spec import parse_spec
from ludens.models.settings import is_model
from ludens.run.lines import LineReader, repair_hint
from ludens.run.pack import BadPack, Claim, Pack, PackedLine, claim, read_signer, unpack, write_pack
from ludens.run.plan import Plan, versions
from ludens.run.results import load_results
from ludens.run.rows import EPISODES
from ludens.run.store import read_plan
from ludens.run.trust import check_packed
from ludens.run.verify import RunVerification, verify_run

Progress = Callable[[RunVerification], None]
_TOLERANCE = 1e-9
"""Relative difference of a result that is measured on another machine."""
_NAMED = 3
"""Players that a sentence names."""


@dataclass(frozen=True)
class PackProof:
    """The result of verifying a pack."""

    pack: Pack
    run: RunVerification
    failures: Sequence[tuple[str, str]]
    """Key of each episode that was not verified, or another name of what differs, and why."""
    submitter: str = ""
    """The name of the submitter who signed it, if keys with names were given."""

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def bots(self) -> Mapping[str, int]:
        """Spec of each bot that chose its moves again to their number."""
        return sum((Counter(again.bots) for again in self.run.again.values()), Counter())

    @property
    def recorded_players(self) -> list[str]:
        """Specs of the players whose replies are only recorded, without addresses."""
        specs = [parse_spec(spec) for again in self.run.again.values() for spec in again.recorded_players]
        return sorted({str(replace(spec, address=None)) for spec in specs})

    @property
    def proven(self) -> dict[str, str]:
        """What was proven, by name."""
        counts, prompts = self.run.verified, sum(again.prompt_count for again in self.run.again.values())
        bots = self.bots
        statements = {
            "rules": f"{plural(counts.moves, 'move')}: who acts, what is legal, returns, facts and status",
            "pictures": f"{plural(counts.pictures, 'picture')} drawn again, with the recorded hashes"
            if counts.pictures
            else "",
            "prompts": f"{plural(prompts, 'prompt')} built again, with the recorded hashes"
            if prompts
            else "",
            "parsing": f"{plural(counts.replies, 'reply')} read again: verdicts, retries and fallbacks"
            if counts.replies
            else "",
            "bots": f"{plural(sum(bots.values()), 'move')} of {_names(bots)} chosen again from the seed"
            if bots
            else "",
            "scores": f"{plural(len(self.pack.results), 'result')} measured again from the episodes",
            "completeness": f"all {plural(len(self.pack.keys), 'planned episode')}, each once; "
            "the hash chain is unbroken",
            "signature": f"made with the key {self.pack.signed_by}"
            + (f" of {self.submitter}" if self.submitter else "")
            if self.pack.signed_by
            else "",
        }
        return {name: one_line(text) for name, text in statements.items() if text}

    @property
    def trusted(self) -> list[str]:
        """What replaying cannot show."""
        models = [spec for spec in self.recorded_players if is_model(spec)]
        people = [spec for spec in self.recorded_players if not is_model(spec)]
        statements = [f"that {_names(models)} gave these replies, with these options"] if models else []
        statements += [f"that {_names(people)} made these moves"] if people else []
        if statements:
            statements.append(
                "that the episodes were played once: from several attempts the best may have been kept"
            )
        if self.pack.voids:
            episodes = plural(self.pack.voids, "void episode")
            statements.append(f"that {episodes} failed as recorded, and not because of how the game went")
        plan = self.pack.plan
        if plan.seed or plan.limit:
            statements.append(f"that the seeds were chosen in advance ({part_of_suite(plan)})")
        statements.append("times, tokens, cost, reasoning and remarks, such as what a model was trained on")
        if not self.pack.signed_by:
            statements.append("who submits it: the pack is not signed")
        return [one_line(text) for text in statements]


def part_of_suite(plan: Plan) -> str:
    """What of its suite a plan plays, in words; empty for all of it on its own seeds."""
    tasks = f"tasks {', '.join(plan.tasks)}" if plan.tasks else ""
    limit = f"at most {plural(plan.limit, 'episode')} per task" if plan.limit else ""
    return ", ".join(filter(None, (tasks, limit, f"seeds from {plan.seed:+,}" if plan.seed else "")))


def pack_run(
    run: Path,
    file: Path,
    *,
    key: Path | None = None,
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> PackProof:
    """Verify a finished run and write its pack; `key` is the file of a private key that signs it."""
    signer, plan = read_signer(key) if key else None, read_plan(run)
    with _naming(run):
        check_packed(plan)
        plan.check_unchanged()
        result = verify_run(run, workers=workers, reenacts=True, on_progress=on_progress)
        if result.missing:
            remedy = f"finish it with: ludens resume {quote(str(run))}"
            raise BadFile(f"{plural(len(result.missing), 'planned episode')} not played yet; {remedy}")
        if result.failures:
            name, reason = result.failures[0]
            raise BadFile(f"{plural(len(result.failures), 'episode')} not verified; {name}: {reason}")
        lines = list(_planned_lines(run, plan, result))
        results = measure(run)
    partial = file.with_name(f"{file.name}.part")
    try:
        with partial.open("wb") as out:
            pack = write_pack(out, plan, lines, results, versions(), signer)
        partial.replace(file)
    except OSError as error:
        raise file_error("write", file, error) from None
    finally:
        partial.unlink(missing_ok=True)
    return PackProof(pack, result, ())


def _planned_lines(run: Path, plan: Plan, result: RunVerification) -> Iterator[PackedLine]:
    """Every episode in the order of the plan, void ones before those that replaced them."""
    lines: dict[str, list[PackedLine]] = {}
    for head, _, _, line in LineReader(run).read():
        prompts = "" if head.void else result.again[head.key].prompts
        lines.setdefault(head.key, []).append(PackedLine(head.key, head.void, prompts, line))
    for job in plan.jobs:
        yield from sorted(lines[job.key], key=lambda one: not one.void)


def measure(run: Path) -> list[Claim]:
    """Every metric of every entrant and task of a run."""
    return [
        claim(row.name, name, metric.name, cell.metrics[metric.name])
        for suite in load_results([run]).suites
        for row, name, cell in suite.cells()
        for metric in cell.task.metrics
    ]


def verify_pack(
    file: Path,
    folder: Path,
    *,
    keys: Mapping[str, str] | None = None,
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> PackProof:
    """Replay a pack in an empty folder, in which its run is afterwards.

    Args:
        file: The pack.
        folder: Where its run is written.
        keys: Public keys of known submitters with their names; the pack must be signed with one of them.
        workers: Worker processes; by default one per core, if there is enough to do.
        on_progress: Called while episodes are verified.

    Raises:
        BadPack: It is damaged, incomplete, names something outside, or is signed with another key. Episodes
            that replaying refutes are `failures` of the result.
    """
    with _naming(file, folder):
        pack = unpack(file, folder)
        if keys is not None and not pack.signed_by:
            raise BadPack("it is not signed.")
        if keys is not None and pack.signed_by not in keys:
            raise BadPack(f"it is signed with a foreign key, {pack.signed_by}.")
        check_packed(pack.plan)
        _check_tasks(pack.plan)
        _check_complete(pack)
        result = verify_run(folder, workers=workers, reenacts=True, on_progress=on_progress)
        failures = [(key, _without_folder(reason, folder)) for key, reason in result.failures]
        if not failures:
            failures += _other_prompts(pack, result)
            failures += _other_results(pack.results, measure(folder))
        return PackProof(pack, result, failures, (keys or {}).get(pack.signed_by, ""))


@contextmanager
def _naming(path: Path, folder: Path | None = None) -> Iterator[None]:
    """Name the file in what is wrong with it."""
    try:
        yield
    except MissingExtra:
        raise
    except UsageError as error:
        reason = _without_folder(str(error), folder) if folder else str(error)
        raise BadPack(f"{str(path)!r}: {reason}") from None


def _without_folder(reason: str, folder: Path) -> str:
    """What was said about a file of the run, said about the pack."""
    reason = reason.removesuffix("; " + repair_hint(folder)).removesuffix(": restore that file.")
    for name, words in ((EPISODES, "the pack"), ("run.json", "its plan"), ("", "the pack")):
        reason = reason.replace(repr(str(folder / name)), words)
    return reason.rstrip(".") + "."


def _check_tasks(plan: Plan) -> None:
    try:
        plan.check_unchanged()
    except BadOption as error:
        reason = str(error).partition(" since this run began")[0]
        raise BadPack(f"its tasks do not fit the installed version of {plan.suite}: {reason}.") from None


def _check_complete(pack: Pack) -> None:
    """Refuse a pack whose episodes are not the planned ones in their order, before any is replayed.

    Jobs are counted before they are listed: a plan can name more than fit into memory.
    """
    counts, planned = Counter(pack.keys), pack.plan.total()
    repeated = next((key for key, times in counts.items() if times > 1), None)
    if repeated is not None:
        raise BadPack(f"it has the episode {repeated!r} more than once.")
    if planned > len(counts):
        first_missing = next(job.key for job in pack.plan.jobs if job.key not in counts)
        raise BadPack(
            f"{planned:,} episodes are planned, and it has {len(counts):,}: {first_missing!r} is missing."
        )
    for key, job in zip(pack.keys, pack.plan.jobs, strict=False):
        if key != job.key:
            is_planned = key in {job.key for job in pack.plan.jobs}
            problem = "is not in its place" if is_planned else "is not an episode of its plan"
            raise BadPack(f"{key!r} {problem}.")
    if planned < len(counts):
        raise BadPack(f"{pack.keys[planned]!r} is not an episode of its plan.")


def _other_prompts(pack: Pack, result: RunVerification) -> Iterator[tuple[str, str]]:
    for key, again in result.again.items():
        if again.prompts != pack.prompts[key]:
            yield key, "its prompts are others than those that this Ludens builds."


def _other_results(claims: Sequence[Claim], own_claims: Sequence[Claim]) -> Iterator[tuple[str, str]]:
    if [astuple(one)[:3] for one in claims] != [astuple(one)[:3] for one in own_claims]:
        yield "results", "they are not those of the entrants, tasks and metrics of its plan."
        return
    for ours, theirs in zip(own_claims, claims, strict=True):
        if not all(map(_close, astuple(ours)[3:], astuple(theirs)[3:])):
            name = f"{theirs.entrant}, {theirs.task}, {theirs.metric}"
            yield name, f"the pack says {_number(theirs)}, and its episodes give {_number(ours)}."


def _close(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return isclose(ours, theirs, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _number(result: Claim) -> str:
    mean, low, high = ("?" if n is None else f"{n:.6g}" for n in (result.mean, result.low, result.high))
    return f"{mean} [{low}, {high}] of {result.n:,}"


def _names(specs: Iterable[str]) -> str:
    names = list(specs)
    more = len(names) - _NAMED
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_NAMED])} and {more} others"
