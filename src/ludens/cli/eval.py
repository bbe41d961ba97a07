"""`ludens eval SUITE --model SPEC`: measure models, bots or both, and leave a table and a page."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ludens.cli.given import Size, Theme, Whole, at_least, render_options
from ludens.cli.go import (
    CONCURRENCY,
    Concurrency,
    MaxCalls,
    MaxCost,
    MaxHours,
    MaxTokens,
    Pace,
    Ray,
    Workers,
    Yes,
    go,
)
from ludens.core.errors import BadOption

Flag = Parameter(negative="", show_default=False)


def eval_(
    suite: Annotated[
        str, Parameter(help="What is measured: `ludens suites` lists them; or module:attribute.")
    ],
    /,
    *,
    model: Annotated[
        tuple[str, ...],
        Parameter(
            name=["--model", "-m"],
            negative="",
            show_default=False,
            help="Who is measured, such as openai/gpt-4.1, vllm/NAME@http://HOST:PORT/v1 or bot/random; "
            "may be repeated.",
        ),
    ] = (),
    name: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="What tables call each --model, in the same order."),
    ] = (),
    tasks: Annotated[str, Parameter(help="Some tasks of the suite, such as a,b; all by default.")] = "",
    limit: Annotated[Whole, Parameter(help="At most so many episodes a task; 0 is the suite's number.")] = 0,
    seed: Annotated[Whole, Parameter(help="Added to the seed of every episode.")] = 0,
    out: Annotated[
        Path | None, Parameter(help="Folder of the run; runs/SUITE-MODEL-TIME by default.")
    ] = None,
    theme: Theme = "classic",
    size: Size = 512,
    modality: Annotated[
        Literal["image", "text", "both"] | None,
        Parameter(help="What models see: pictures, their twin in text, or both; else what a game offers."),
    ] = None,
    blind: Annotated[bool, Flag, Parameter(help="Show models blank pictures of the same size.")] = False,
    blind_control: Annotated[
        bool, Flag, Parameter(help="Let each model also play blind, beside itself.")
    ] = False,
    style: Annotated[
        Literal["direct", "cot", "explain"] | None,
        Parameter(help="Let models answer at once (usual), reason first, or answer and explain."),
    ] = None,
    frames: Annotated[
        Whole | None, Parameter(help="Of how many latest moments models see pictures; 1 is usual.")
    ] = None,
    memory: Annotated[
        Literal["none", "last", "all"] | None,
        Parameter(help="Which earlier exchanges stay in the prompt; none is usual."),
    ] = None,
    templates: Annotated[
        Path | None, Parameter(help="Folder with words of your own: agent.md, GAME.md.")
    ] = None,
    concurrency: Concurrency = CONCURRENCY,
    workers: Workers = None,
    ray: Ray = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_hours: MaxHours = None,
    yes: Yes = False,
) -> int:
    """Measure models, bots or both on a suite; resumable, budgeted, with a table and a page at the end."""
    from ludens.run.entrants import entrants_of
    from ludens.run.plan import make_plan
    from ludens.run.store import Store

    render = render_options(theme, size)
    at_least("--limit", limit, 0)
    pace = Pace(concurrency, workers, ray, max_calls, max_tokens, max_cost, max_hours, yes)
    given = {
        "modality": modality,
        "blind": "true" if blind else None,
        "style": style,
        "frames": frames,
        "memory": memory,
    }
    some = tuple(filter(None, (task.strip() for task in tasks.split(","))))
    if tasks and not some:
        raise BadOption(f"--tasks names no task: {tasks!r}.")
    manner = {option: str(value) for option, value in given.items() if value is not None}
    folder = str(templates.resolve()) if templates else ""
    entrants = entrants_of(model, name, manner, templates=folder, blind_control=blind_control)
    plan = make_plan(
        suite,
        entrants.specs,
        tasks=some,
        limit=limit,
        seed=seed,
        theme=render.theme,
        size=render.size,
        templates=folder,
        controls=entrants.controls,
    )
    into = out or usual_folder(suite, [name for name in entrants.specs if name not in entrants.controls])
    return go(plan, into, lambda: Store.create(into, plan), pace)


def usual_folder(suite: str, entrants: list[str]) -> Path:
    """runs/SUITE-MODEL-TIME, in characters every shell and file system takes."""
    who = entrants[0] if len(entrants) == 1 else f"{entrants[0]}-and-{len(entrants) - 1}-more"
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", f"{suite}-{who}").strip("-.")
    time = datetime.now().strftime("%Y%m%d-%H%M%S")
    first = Path("runs") / f"{plain[:80]}-{time}"
    free, number = first, 2
    while free.exists():
        free, number = first.with_name(f"{first.name}-{number}"), number + 1
    return free
