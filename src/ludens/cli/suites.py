"""`ludens suites`: a table of all suites, or the tasks of one."""

from __future__ import annotations

from typing import Any

from ludens.cli.arguments import Json
from ludens.cli.output import json_out, table


def suites(
    name: str | None = None,
    /,
    *,
    json: Json = False,
) -> None:
    """List suites, or describe one.

    Args:
        name: Suite to describe.
    """
    from ludens.run.task import SUITES, import_suite

    if name is not None:
        import_suite(name)
        info = about(name)
        return json_out(info) if json else _print_suite(info)
    listed = [_about(known) for known in SUITES.names()]
    if json:
        return json_out(listed)
    table(
        "Suites",
        ("suite", "tasks", "episodes", "games", "about"),
        [_row(info) for info in listed],
        ("tasks", "episodes"),
        spare=("games", "tasks", "episodes"),
    )
    print("Run `ludens suites NAME` for details, `ludens eval NAME --model SPEC` to evaluate a model.")
    return None


def about(name: str) -> dict[str, Any]:
    """Description of a suite: tasks, games, options, published results, deviations."""
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
    """Like `about`; a suite that fails to load is listed with the error."""
    try:
        return about(name)
    except Exception as error:
        reason = str(error) or type(error).__name__
        return {"name": name, "about": reason, "episodes": 0, "games": [], "tasks": [], "error": reason}


def _row(info: dict[str, Any]) -> tuple[str, ...]:
    counts = str(len(info["tasks"])), f"{info['episodes']:,}"
    return info["name"], *counts, ", ".join(info["games"]), info["about"]


def _print_suite(info: dict[str, Any]) -> None:
    from ludens.cli.games import options_table

    print(f"{info['name']}: {info['about']}\n")
    table(
        "Tasks",
        ("task", "game", "episodes", "seats", "metrics", "retries", "fallback"),
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
            for task in info["tasks"]
        ],
        ("episodes", "retries"),
    )
    options_table(info["options"])
    if info["published"]:
        models = ", ".join(f"{row['model']} ({row['source']})" for row in info["published"])
        print(f"Published results: {models}")
    if info["deviations"]:
        print("Deliberate deviations:")
        for line in info["deviations"]:
            print(f"  - {line}")
