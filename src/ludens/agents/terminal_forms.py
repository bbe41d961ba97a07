"""Forms at the terminal: how a person types what others choose, fill in, draw or plan in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ludens.core.errors import Unreadable
from ludens.core.forms import Draw, Fill, Form, Matrix, Plan, Select
from ludens.core.reply import fold

EMPTY = "."
"""Typed for a cell whose mark is empty."""


def hint(form: Form | None) -> str:
    """How an answer is typed, in a sentence or two; empty where actions or messages are typed as they are."""
    match form:
        case Select():
            names = ", ".join(_both(name, label) for name, label in form.labels.items())
            return f"{form.prompt} Type names, separated by commas: {names}."
        case Fill():
            names = ", ".join(form.fields)
            return f"{form.prompt} Type NAME = VALUE, separated by semicolons: {names}.".lstrip()
        case Plan():
            steps = "" if form.steps == 1 else "; steps are separated by semicolons"
            says = " A message is typed as: say MESSAGE." if form.message else ""
            return f"{form.prompt} Type {_example(form)}{steps}.{says}\n{_words(form)}"
        case Draw():
            names = "; ".join(form.paths)
            return (
                f"{form.prompt} Type each point as X,Y in percent of width and height, points separated by "
                f"spaces and paths by semicolons: {names}."
            )
        case Matrix():
            marks = ", ".join(f"{mark or EMPTY} {meaning}" for mark, meaning in form.contents.values())
            return (
                f"{form.prompt} Type {len(form.rows)} rows of {len(form.columns)} cells, cells separated by "
                f"spaces and rows by semicolons: {marks}."
            ).lstrip()
        case _:
            return ""


def answer(form: Form, typed: str) -> str:
    """The action of what was typed; `MoveError` where it does not fit the form."""
    match form:
        case Select():
            value: Any = [_named(name, form.labels) for name in _split(typed, ",")]
        case Fill():
            pairs = [part.partition("=") for part in _split(typed, ";\n")]
            value = {_named(name, form.fields): text.strip() for name, _, text in pairs}
        case Plan():
            steps = [_step(form, step) for step in _split(typed, ";\n")]
            said = [text for step in steps for text in step.pop("say", [])]
            value = {"steps": [step for step in steps if step], "message": " ".join(said)}
        case Draw():
            value = [[_point(point) for point in path.split()] for path in _split(typed, ";\n")]
        case Matrix():
            codes = {fold(mark) or EMPTY: code for code, (mark, _) in form.contents.items()}
            value = [codes.get(fold(cell) or EMPTY) for row in _split(typed, ";\n") for cell in row.split()]
        case _:
            return form.read(typed)
    return form.read(json.dumps(value))


def _both(name: str, label: str) -> str:
    return name if fold(name) == fold(label) else f"{name} ({label})"


def _split(typed: str, separators: str) -> list[str]:
    parts = re.split(f"[{re.escape(separators)}]", typed)
    return [part.strip() for part in parts if part.strip()]


def _named(text: str, labels: Mapping[str, str]) -> str:
    """The name that was typed, in its own spelling; what is unknown is left to the form."""
    wanted = fold(text)
    return next((name for name, label in labels.items() if wanted in (fold(name), fold(label))), text)


def _example(form: Plan) -> str:
    parts = []
    for robot, (_, commands) in list(form.robots.items())[:2]:
        command = next((name for name in commands if form.commands[name]), commands[0])
        objects = [names[0] for _, names in form.commands[command] if names]
        parts.append(" ".join([robot, command, *objects]))
    return ", ".join(parts)


def _words(form: Plan) -> str:
    """Every command with its kinds of objects, and the objects of each kind."""
    commands = (" ".join([name, *(kind for kind, _ in objects)]) for name, objects in form.commands.items())
    kinds = {kind: names for objects in form.commands.values() for kind, names in objects}
    lines = [f"robots: {', '.join(form.robots)}", f"commands: {', '.join(commands)}"]
    return "\n".join(lines + [f"{kind}: {', '.join(names)}" for kind, names in kinds.items()])


def _step(form: Plan, typed: str) -> dict[str, list[str]]:
    """Robot to command and objects; a message is under `say`."""
    step: dict[str, list[str]] = {}
    for part in _split(typed, ","):
        first, _, rest = part.partition(" ")
        if fold(first) == "say":
            step.setdefault("say", []).append(rest)
            continue
        robot, (command, _, objects) = _named(first, dict.fromkeys(form.robots, "")), rest.partition(" ")
        command = _named(command, dict.fromkeys(form.commands, ""))
        if command not in form.commands:
            raise Unreadable(f"{part!r} names no command.")
        step[robot] = [command, *_objects(objects, [names for _, names in form.commands[command]])]
    return step


def _objects(text: str, kinds: Iterable[Sequence[str]]) -> list[str]:
    """The objects of a command: names can have several words, so the longest that fits is taken."""
    rest, found = fold(text), list[str]()
    for names in kinds:
        fitting = [name for name in names if f"{rest} ".startswith(f"{fold(name)} ")]
        if not fitting:
            return [*found, rest] if rest else found
        found.append(max(fitting, key=len))
        rest = rest[len(fold(found[-1])) :].strip()
    return [*found, rest] if rest else found


def _point(text: str) -> list[float]:
    match re.fullmatch(r"(-?[\d.]+),(-?[\d.]+)", text):
        case re.Match() as pair:
            try:
                return [float(pair[1]) / 100, float(pair[2]) / 100]
            except ValueError:
                pass
    raise Unreadable(f"{text!r} is no point: type X,Y, such as 40,62.5.")
