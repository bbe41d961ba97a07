"""`ludens arena`: models, bots and checkpoints meet each other; ratings, cross-play, upsets."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ludens.cli.arguments import Allowed, Flag, Size, Theme, Whole, Words, at_least, render_options
from ludens.cli.eval import (
    STOPPED_EARLY,
    ExecutionOptions,
    PromptFlags,
    default_folder,
    execute_run,
    show_results,
)
from ludens.cli.output import aside
from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadFile, BadOption
from ludens.core.plain import plural
from ludens.core.policy import Setter, permit
from ludens.core.spec import Spec, parse_spec
from ludens.models.settings import MAX_NOTES
from ludens.run.arena.reflect import (
    Notes,
    append_notes,
    check_writers,
    practised,
    read_notes,
    version_name,
    with_notes,
    write_notes,
)
from ludens.run.plan import Entrants, Plan, entrants_of, make_plan
from ludens.run.report import load_results
from ludens.run.store import Store, read_plan
from ludens.run.trust import plan_accesses
from ludens.suites.arena import NAME, arena_of


def arena(
    games: str = "",
    /,
    *,
    model: Annotated[Words, Parameter(name=["--model", "-m"])] = (),
    name: Words = (),
    checkpoints: Path | None = None,
    into: Path | None = None,
    rounds: Whole | None = None,
    anchor: str | None = None,
    listed: Literal["both", "true", "false"] | None = None,
    reflect: Whole = 0,
    notes_length: Whole = 1000,
    adaptive: Flag = False,
    certainty: float = 0.95,
    seed: Whole = 0,
    out: Path | None = None,
    theme: Theme = "classic",
    size: Size = 512,
    prompts: PromptFlags | None = None,
    allow: Allowed = (),
    options: ExecutionOptions | None = None,
) -> int:
    """Let models meet each other in games: every pair in all seats on shared seeds; print ratings.

    Resumable, with budgets. A model can be added later: only its games are played.

    Args:
        games: Games, separated by commas: breakthrough,hanabi,spy.
        model: Model or bot that takes part: openai/gpt-4.1, nano, bot/mcts, ...; repeat it.
        name: Name of each --model in tables, in the same order.
        checkpoints: Folder of a training run, whose checkpoints take part.
        into: Folder of an arena to which models are added.
        rounds: Seeds on which every pair meets, in all seats; 50 by default.
        anchor: Bot whose rating is 0; it takes part too. Default: bot/random.
        listed: Show players the legal moves (true), or not (false), or play both as separate tasks where
            the list describes the board (default).
        reflect: Rounds of practice against the anchor; after each, models write notes that their next prompts
            contain, and are measured on held-out seeds with pictures in random themes.
        notes_length: Most characters of notes.
        adaptive: Play the most informative pairs first, and stop when the order is certain.
        certainty: How certain the order must be with --adaptive.
        seed: Added to the seed of every episode.
        out: Folder of the run; runs/arena-...-TIME by default.
    """
    prompts, execution = prompts or PromptFlags(), options or ExecutionOptions()
    steps = checkpoint_specs(checkpoints) if checkpoints else {}
    specs = [*model, *steps]
    if not name:
        refuse_repeated(specs)
    elif len(name) != len(model):
        raise BadOption(f"there are {len(model)} models but {len(name)} names: name all of them or none.")
    if steps and not name:
        name = tuple(entrants_of(model).specs)
    entrants = prompts.entrants(specs, [*name, *steps.values()])
    if into is not None:
        fixed = {
            "games": games,
            "--rounds": rounds,
            "--anchor": anchor,
            "--listed": listed,
            "--out": out,
            "--adaptive": adaptive,
        }
        if flag := next((flag for flag, value in fixed.items() if value), ""):
            raise BadOption(f"{flag} of an arena cannot change: drop it, or start another arena.")
        plan = extended(into, entrants, allow)
        return execute_run(plan, into, lambda: Store.extend(into, plan), execution)
    render = render_options(theme, size)
    if not games:
        raise BadOption("name the games, for example: ludens arena breakthrough,hanabi --model A --model B.")
    at_least("--reflect", reflect, 0)
    if len(specs) < 2 and not (reflect and specs):
        raise BadOption("an arena needs at least two entrants: add another --model.")
    if not 0 < certainty < 1:
        raise BadOption(f"--certainty must be between 0 and 1, not {certainty:g}.")
    settings = {
        "games": games,
        "rounds": str(at_least("--rounds", rounds, 1)) if rounds is not None else "",
        "anchor": str(parse_spec(anchor)) if anchor else "",
        "listed": listed or "",
        "adaptive": f"{certainty:g}" if adaptive else "",
    }
    suite = str(Spec(NAME, None, {key: value for key, value in settings.items() if value}))
    declared = arena_of(suite)
    assert declared is not None
    players = {one: spec for one, spec in entrants.specs.items() if one not in entrants.controls}
    folder = out or default_folder(NAME, entrants)
    common: dict[str, Any] = {
        "seed": seed,
        "theme": render.theme,
        "size": render.size,
        "templates": prompts.folder,
    }
    if reflect:
        if adaptive:
            raise BadOption("--reflect and --adaptive cannot be combined.")
        suite = str(parse_spec(suite).with_options(against=declared.anchor))
        reflection = Reflection(suite, players, reflect, declared.rounds, notes_length, **common)
        return reflection.play(folder, execution)
    plan = make_plan(
        suite, with_anchor(entrants.specs, declared.anchor), controls=entrants.controls, **common
    )
    return execute_run(plan, folder, lambda: Store.create(folder, plan), execution)


def refuse_repeated(specs: Sequence[str]) -> None:
    counts = Counter(str(parse_spec(spec)) for spec in specs)
    if repeated := next((spec for spec, times in counts.items() if times > 1), None):
        raise BadOption(f"{repeated} takes part twice: tell the two apart with one --name for each --model.")


def with_anchor(specs: dict[str, str], anchor: str) -> dict[str, str]:
    """The entrants with the bot whose rating is 0, if it is not one of them."""
    if anchor in specs.values():
        return specs
    if not parse_spec(anchor).name.startswith("bot/"):
        raise BadOption(f"--anchor must be a bot, such as bot/random, not {anchor!r}.")
    if anchor in specs:
        raise BadOption(f"an entrant has the name of the anchor, {anchor!r}: give it another --name.")
    return {**specs, anchor: anchor}


def extended(folder: Path, entrants: Entrants, allow: Sequence[str]) -> Plan:
    """The plan of an arena with further entrants."""
    plan = read_plan(folder)
    if arena_of(plan.suite) is None:
        raise BadOption(f"{str(folder)!r} is not an arena: `ludens resume` continues it.")
    if not entrants.specs:
        raise BadOption("name the models to add with --model.")
    permit(plan_accesses(plan), Setter.FILE, allow)
    plan.check_unchanged()
    for name, spec in entrants.specs.items():
        if name in plan.entrants:
            raise BadOption(f"an entrant {name!r} takes part already: give the new one another --name.")
        if spec in plan.entrants.values():
            before = next(entrant for entrant, own in plan.entrants.items() if own == spec)
            raise BadOption(f"{spec} takes part already, as {before!r}.")
    new = make_plan(
        plan.suite,
        {**plan.entrants, **entrants.specs},
        seed=plan.seed,
        theme=plan.theme,
        size=plan.size,
        templates=plan.templates,
        controls={**plan.controls, **entrants.controls},
    )
    return replace(plan, entrants=new.entrants, controls=new.controls, template_hashes=new.template_hashes)


def checkpoint_specs(folder: Path) -> dict[str, str]:
    """The spec of every checkpoint of a training run to its name: `step 100`."""
    from ludens.train.checkpoint import PREFIX, Checkpoints
    from ludens.train.nano.weights import holds_nano

    paths = Checkpoints(folder).all()
    if len(paths) < 2:
        raise BadFile(f"{str(folder)!r} has {len(paths)} checkpoints; an arena needs two or more.")
    kinds = {path: "nano" if holds_nano(path) else "hf" for path in paths}
    return {f"{kinds[path]}/{path}": f"step {int(path.name.removeprefix(PREFIX))}" for path in paths}


PRACTICE_SEEDS = 1_000_000
"""Added to the seeds of practice, so that none is held out."""


@dataclass(frozen=True)
class Reflection:
    """`--reflect`: models practise, write notes on their games, and are measured again.

    The folder has a run of practice for each round (`practice-1`, ...), a run on held-out seeds with pictures
    in random themes before the first and after each round (`held-out-0`, ...), and the notes (`notes.jsonl`).
    The same command continues where it was stopped.
    """

    suite: str
    specs: Mapping[str, str]
    """Of the models before they have written notes."""
    rounds: int
    seeds: int
    """Seeds of one round, of practice and held out."""
    length: int
    seed: int
    theme: str
    size: int
    templates: str

    def __post_init__(self) -> None:
        if not 1 <= self.length <= MAX_NOTES:
            raise BadOption(f"--notes-length must be 1 to {MAX_NOTES}, not {self.length}.")
        check_writers(dict(self.specs))

    def play(self, folder: Path, options: ExecutionOptions) -> int:
        code = self._run(folder / "held-out-0", self.specs, 0, options)
        for number in range(1, self.rounds + 1):
            specs = self._versions(folder, number - 1)
            code = code or self._run(folder / f"practice-{number}", specs, number, options)
            if code:
                break
            try:
                self._reflect(folder, number, specs)
            except AgentFailure as error:
                aside(f"ludens: {error} Notes that were written are saved; to continue, repeat the command.")
                code = STOPPED_EARLY
                break
            versions = self._versions(folder, number)
            code = self._run(folder / f"held-out-{number}", versions, 0, options)
        show_results(folder, sorted(path.parent for path in folder.glob("held-out-*/run.json")))
        return code

    def _versions(self, folder: Path, number: int) -> dict[str, str]:
        """The models with the notes that they wrote after this round."""
        notes = read_notes(folder)
        return {
            version_name(name, number): with_notes(spec, notes[name, number].text) if number else spec
            for name, spec in self.specs.items()
        }

    def _run(self, folder: Path, specs: Mapping[str, str], practice: int, options: ExecutionOptions) -> int:
        """Play held-out seeds, or those of a round of practice."""
        offset = PRACTICE_SEEDS + (practice - 1) * self.seeds if practice else 0
        theme = self.theme if practice else "random"
        plan = make_plan(
            self.suite, specs, seed=self.seed + offset, theme=theme, size=self.size, templates=self.templates
        )
        rest = remaining(options, spent(folder.parent))
        if rest is None:
            aside("ludens: the budget is spent; to continue, repeat the command with a higher limit.")
            return STOPPED_EARLY
        return execute_run(plan, folder, lambda: Store.create(folder, plan), rest, show=False)

    def _reflect(self, folder: Path, number: int, specs: Mapping[str, str]) -> None:
        notes = read_notes(folder)
        rows = {row.name: row for row in load_results([folder / f"practice-{number}"]).suites[0].rows}
        for name in self.specs:
            if (name, number) in notes:
                continue
            version = version_name(name, number - 1)
            text, usage = asyncio.run(write_notes(specs[version], practised(rows[version]), self.length))
            append_notes(folder, Notes(name, number, text, usage))
            aside(f"{name} wrote notes of {plural(len(text), 'character')} after round {number}.")


def spent(folder: Path) -> Usage:
    """What the runs and the notes in a folder have consumed."""
    total = sum((notes.usage for notes in read_notes(folder).values()), Usage(calls=0))
    runs = [path.parent for path in folder.glob("*/run.json")]
    for suite in load_results(runs).suites if runs else ():
        for row in suite.rows:
            for cell in row.cells.values():
                total += cell.usage + cell.other_usage
    return total


def remaining(options: ExecutionOptions, usage: Usage) -> ExecutionOptions | None:
    """The options with the budget that is left; None if a limit is reached."""
    calls = None if options.max_calls is None else options.max_calls - usage.calls
    tokens = None if options.max_tokens is None else options.max_tokens - usage.tokens
    cost = None if options.max_cost is None else options.max_cost - (usage.cost or 0.0)
    if any(limit is not None and limit <= 0 for limit in (calls, tokens, cost)):
        return None
    return replace(options, max_calls=calls, max_tokens=tokens, max_cost=cost)
