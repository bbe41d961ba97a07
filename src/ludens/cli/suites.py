"""`ludens suites`: what can be measured, as a table; with a name, the tasks of one suite."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from ludens.cli.given import Json
from ludens.cli.out import json_out, table


def suites(
    name: Annotated[str | None, Parameter(help="One suite, to read everything about it.")] = None,
    /,
    *,
    json: Json = False,
) -> None:
    """List suites: tasks, episodes, games; with a name, say everything about one."""
    from ludens.run.task import SUITES, import_suite

    if name is not None:
        import_suite(name)
        told = about(name)
        return json_out(told) if json else _page(told)
    listed = [_about(known) for known in SUITES.names()]
    if json:
        return json_out(listed)
    table(
        "Suites",
        ("suite", "tasks", "episodes", "games", "about"),
        [_line(told) for told in listed],
        ("tasks", "episodes"),
        spare=("games", "tasks", "episodes"),
    )
    print("`ludens suites NAME` lists the tasks of one, `ludens eval NAME --model SPEC` measures a model.")
    return None


def about(name: str) -> dict[str, Any]:
    """What there is to know about a suite before running it."""
    from ludens.cli.games import described
    from ludens.core.spec import parse_spec
    from ludens.run.task import suite, suite_options

    found = suite(name)
    return {
        "name": name,
        "about": found.about,
        "options": described(suite_options(name), parse_spec(name).options),
        "episodes": sum(task.episodes for task in found.tasks),
        "games": sorted({task.game.partition("?")[0] for task in found.tasks}),
        "tasks": [
            {
                "name": task.name,
                "game": task.game,
                "episodes": task.episodes,
                "seatings": [dict(seating) for seating in task.seatings],
                "metrics": [metric.name for metric in task.metrics],
                "retries": task.config.retries,
                "fallback": task.config.fallback,
                "blindable": task.blindable,
            }
            for task in found.tasks
        ],
        "published": [
            {"source": row.source, "model": row.model, "values": dict(row.values)} for row in found.published
        ],
        "deviations": list(found.deviations),
    }


def _about(name: str) -> dict[str, Any]:
    """A suite that cannot be loaded is listed with the reason."""
    try:
        return about(name)
    except Exception as error:
        reason = str(error) or type(error).__name__
        return {"name": name, "about": reason, "episodes": 0, "games": [], "tasks": [], "error": reason}


def _line(told: dict[str, Any]) -> tuple[str, ...]:
    counts = str(len(told["tasks"])), f"{told['episodes']:,}"
    return told["name"], *counts, ", ".join(told["games"]), told["about"]


def _page(told: dict[str, Any]) -> None:
    from ludens.cli.games import options_table

    print(f"{told['name']}: {told['about']}\n")
    table(
        "Tasks",
        ("task", "game", "episodes", "who sits where", "metrics", "retries", "fallback"),
        [
            (
                task["name"],
                task["game"],
                f"{task['episodes']:,}",
                "\n".join(", ".join(f"{s}: {who}" for s, who in seats.items()) for seats in task["seatings"]),
                ", ".join(task["metrics"]),
                str(task["retries"]),
                task["fallback"],
            )
            for task in told["tasks"]
        ],
        ("episodes", "retries"),
    )
    options_table(told["options"])
    if told["published"]:
        models = ", ".join(f"{row['model']} ({row['source']})" for row in told["published"])
        print(f"Published rows beside ours: {models}")
    if told["deviations"]:
        print("Deliberate deviations:")
        for line in told["deviations"]:
            print(f"  - {line}")
