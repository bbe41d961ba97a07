"""`ludens eval SUITE --model SPEC`: evaluate models and bots; writes episodes, a table and an HTML report."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ludens.cli.arguments import Size, Theme, Whole, at_least, pairs, render_options
from ludens.cli.execute import RunOptions, execute_run
from ludens.cli.output import aside
from ludens.core.errors import BadOption
from ludens.core.spec import Spec, parse_spec

Flag = Parameter(negative="", show_default=False)


def eval_(
    suite: Annotated[str, Parameter(help="Suite to play; `ludens suites` lists them; or module:attribute.")],
    /,
    *,
    model: Annotated[
        tuple[str, ...],
        Parameter(
            name=["--model", "-m"],
            negative="",
            show_default=False,
            help="Model or bot to evaluate: openai/gpt-4.1, vllm/NAME@http://HOST:PORT/v1, bot/random, "
            "module:Class, ...; may be repeated.",
        ),
    ] = (),
    name: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Name of each --model in tables, in the same order."),
    ] = (),
    seat: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="SEAT=SPEC: give a seat of every task to this player, such as expert=human; repeatable.",
        ),
    ] = (),
    reference: Annotated[
        str,
        Parameter(help="Player that models are compared with, where the suite has one: vision-zero."),
    ] = "",
    tasks: Annotated[str, Parameter(help="Comma-separated tasks of the suite; all by default.")] = "",
    limit: Annotated[
        Whole, Parameter(help="Maximum number of episodes per task; 0 for the suite's number.")
    ] = 0,
    samples: Annotated[Whole, Parameter(help="Play every episode this many times.")] = 1,
    seed: Annotated[Whole, Parameter(help="Added to the seed of every episode.")] = 0,
    out: Annotated[
        Path | None, Parameter(help="Folder of the run; runs/SUITE-MODEL-TIME by default.")
    ] = None,
    theme: Theme = "classic",
    size: Size = 512,
    modality: Annotated[
        Literal["image", "text", "both"] | None,
        Parameter(help="What models see: pictures, text, or both; by default what the game offers."),
    ] = None,
    blind: Annotated[bool, Flag, Parameter(help="Show models blank pictures of the same size.")] = False,
    blind_control: Annotated[
        bool, Flag, Parameter(help="Also evaluate each model with blank pictures.")
    ] = False,
    style: Annotated[
        Literal["direct", "cot", "explain"] | None,
        Parameter(help="Answer directly (default), reason first, or answer and explain."),
    ] = None,
    frames: Annotated[
        Whole | None, Parameter(help="Number of latest observations shown as pictures; 1 by default.")
    ] = None,
    memory: Annotated[
        Literal["none", "last", "all"] | None,
        Parameter(help="Earlier exchanges kept in the prompt; none by default."),
    ] = None,
    templates: Annotated[
        Path | None, Parameter(help="Folder with your own templates: agent.md, GAME.md.")
    ] = None,
    preset: Annotated[
        str,
        Parameter(help="Sampling settings of a paper, for all models: vs-bench or vs-bench-reasoning."),
    ] = "",
    options: RunOptions | None = None,
) -> int:
    """Evaluate models and bots on a suite; resumable, with budgets, a table and an HTML report."""
    from ludens.run.entrants import entrants_of
    from ludens.run.plan import MAX_SAMPLES, make_plan
    from ludens.run.store import Store

    render = render_options(theme, size)
    at_least("--limit", limit, 0)
    if not 1 <= samples <= MAX_SAMPLES:
        raise BadOption(f"--samples must be 1 to {MAX_SAMPLES}, not {samples}.")
    given = {
        "modality": modality,
        "blind": "true" if blind else None,
        "style": style,
        "frames": frames,
        "memory": memory,
    }
    task_names = tuple(filter(None, (task.strip() for task in tasks.split(","))))
    if tasks and not task_names:
        raise BadOption(f"--tasks names no task: {tasks!r}.")
    prompt_options = {option: str(value) for option, value in given.items() if value is not None}
    own = str(templates.resolve()) if templates else ""
    entrants = entrants_of(
        model, name, prompt_options, templates=own, preset=preset, blind_control=blind_control
    )
    if reference:
        asked = parse_spec(suite)
        suite = str(Spec(asked.name, None, {**asked.options, "reference": reference}))
    plan = make_plan(
        suite,
        entrants.specs,
        pairs(seat, "--seat", "expert=human"),
        tasks=task_names,
        limit=limit,
        samples=samples,
        seed=seed,
        theme=render.theme,
        size=render.size,
        templates=own,
        controls=entrants.controls,
    )
    if note := plan.beyond_limit():
        aside(f"ludens: {note}")
    folder = out or default_folder(suite, [name for name in entrants.specs if name not in entrants.controls])
    return execute_run(plan, folder, lambda: Store.create(folder, plan), options or RunOptions())


def default_folder(suite: str, entrants: list[str]) -> Path:
    """runs/SUITE-MODEL-TIME, in characters that need no quoting."""
    who = entrants[0] if len(entrants) == 1 else f"{entrants[0]}-and-{len(entrants) - 1}-more"
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", f"{suite}-{who}").strip("-.")
    time = datetime.now().strftime("%Y%m%d-%H%M%S")
    first = Path("runs") / f"{plain[:80]}-{time}"
    free, number = first, 2
    while free.exists():
        free, number = first.with_name(f"{first.name}-{number}"), number + 1
    return free
