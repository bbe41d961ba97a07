"""A person at the terminal: is shown the picture's file name and the text twin, and types an action.

What people choose, fill in, draw or plan in the browser is typed here in short forms (`form_answer`).
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from textwrap import wrap
from typing import Any, TextIO
from weakref import WeakKeyDictionary

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import AgentFailure, BadFile, MoveError, Unreadable
from ludens.core.forms import Draw, Fill, Form, Matrix, Plan, Select
from ludens.core.options import Touch, option
from ludens.core.plain import harmless
from ludens.core.reply import fold

_typed = bytearray()
"""Input that was read but not yet requested."""
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
_MIN_WIDTH = 20


def width_of(stream: TextIO) -> int | None:
    """The width of the terminal that a stream writes to; None where it is not a terminal."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(columns, _MIN_WIDTH) if columns else None


def wrap_text(text: str, width: int | None) -> str:
    """The text with longer lines broken between words; continuation lines keep the indentation."""
    if width is None:
        return text
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return "\n".join(
        wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    )


def lock() -> asyncio.Lock:
    """The lock of the terminal: two people at one terminal are asked one after the other."""
    return _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


async def line(prompt: str) -> str:
    """The next line of standard input without its newline; raises `EOFError` at the end."""
    print(prompt, end="", file=sys.stderr, flush=True)
    try:
        source = sys.stdin.fileno()
    except (OSError, ValueError):  # replaced by an object that is not a file
        return _complete_line(sys.stdin.readline())
    while b"\n" not in _typed:
        await _readable(source)
        more = os.read(source, 65536)
        if not more:
            rest = bytes(_typed)
            _typed.clear()
            return _complete_line(rest.decode(errors="replace"))
        _typed.extend(more)
    first, _, rest = bytes(_typed).partition(b"\n")
    _typed[:] = rest
    return first.decode(errors="replace").rstrip("\r")


def _complete_line(text: str) -> str:
    if not text:
        raise EOFError
    return text.removesuffix("\n")


async def _readable(source: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except PermissionError:  # regular files are always ready and cannot be watched
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)


HELP, QUIT = "help", "quit"
_COMMANDS = f"Type '{HELP}' for the rules and your legal actions, '{QUIT}' to leave the game."
_MESSAGES = "Enter sends the message; end a line with \\ to continue the message on the next line."


@dataclass
class Human(Agent):
    """Types an action, or a message where text is expected."""

    pictures: str = option(
        "", help="folder for the pictures; a new temporary one by default", touches=Touch.WRITE
    )
    kind = "human"
    sees = "both"
    waits = True
    unlimited_retries = True
    fills_forms = True

    def begin(self) -> None:
        try:
            self._folder = Path(self.pictures or mkdtemp(prefix="ludens-"))
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(
                f"cannot write pictures to {self.pictures or 'a temporary folder'}: {error}."
            ) from None

    async def act(self, ask: Ask) -> Reply:
        async with lock():
            _print(f"not accepted: {ask.refused[-1][1]}" if ask.refused else self._describe(ask))
            while True:
                typed = await _human_typed(ask)
                command = _command(typed, ask)
                if command == QUIT:
                    raise AgentFailure(left_message(ask.seat))
                if command == HELP:
                    _print(_help(ask))
                    continue
                try:
                    return typed_reply(typed, ask)
                except MoveError as error:
                    _print(f"not accepted: {error}")

    def _describe(self, ask: Ask) -> str:
        parts = [f"\n=== {ask.seat}, your move {ask.move + 1}"]
        if ask.move == 0:
            parts.insert(0, f"\n{ask.rules}\n\n{_COMMANDS}\n")
        for index, picture in enumerate(ask.observation.images):
            file = self._folder / f"{self.seat}-{ask.move + 1:03}{f'-{index + 1}' if index else ''}.png"
            file.write_bytes(picture.png())
            parts.append(f"picture: {file}")
        parts += [ask.observation.text, ask.observation.notes]
        if ask.move == 0 and ask.legal.is_text and not form_hint(ask.form):
            parts.append(f"({_MESSAGES})")
        parts += [_legal(ask), form_hint(ask.form)]
        return "\n".join(filter(None, parts))


def typed_reply(typed: str, ask: Ask) -> Reply:
    """The reply of a person who typed this at the terminal; `MoveError` where it does not fit a form."""
    if ask.form is not None and form_hint(ask.form):
        action = form_answer(ask.form, typed)
        return Reply(action, action)
    reply = ask.format.typed(typed) if ask.legal.is_text else typed
    return Reply(reply, _canonical(typed, ask))


def form_reply(text: str, form: Form) -> Reply:
    """The reply of a person who answered with a form; `MoveError` where it is not filled in."""
    answer = form.read(text)
    return Reply(answer, answer if form.is_action else None)


def left_message(seat: str) -> str:
    return f"{seat} left the game."


def _help(ask: Ask) -> str:
    how = form_hint(ask.form) or (_MESSAGES if ask.legal.is_text else "")
    parts = [ask.rules, _legal(ask), how, _COMMANDS]
    return "\n\n".join(filter(None, parts))


def _legal(ask: Ask) -> str:
    if ask.legal.is_text or not ask.listed:
        return ""
    separator = ", " if any(" " in action for action in ask.legal) else " "
    return "legal actions: " + separator.join(ask.legal)


def _command(typed: str, ask: Ask) -> str:
    """The command that was typed; empty for a reply. Actions take precedence over commands."""
    command = typed.lower()
    return command if command in (HELP, QUIT) and _canonical(typed, ask) not in ask.legal else ""


def _canonical(typed: str, ask: Ask) -> str | None:
    """The typed action in canonical spelling; None leaves reading to the reply format."""
    if ask.legal.is_text:
        return None
    same = [action for action in ask.legal if fold(action) == fold(typed)]
    return same[0] if len(same) == 1 else typed


def _print(text: str) -> None:
    print(wrap_text(harmless(text), width_of(sys.stderr)), file=sys.stderr, flush=True)


async def _human_typed(ask: Ask) -> str:
    """One line; messages continue after lines that end with a backslash."""
    try:
        typed = await line(f"{ask.seat}> ")
        while ask.legal.is_text and typed.endswith("\\"):
            typed = typed[:-1] + "\n" + await line("... ")
    except EOFError:
        raise AgentFailure(left_message(ask.seat)) from None
    return typed.strip()


EMPTY = "."
"""Typed for a cell whose mark is empty."""


def form_hint(form: Form | None) -> str:
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


def form_answer(form: Form, typed: str) -> str:
    """The action of what was typed; `MoveError` where it does not fit the form."""
    match form:
        case Select():
            value: Any = [_name_of(name, form.labels) for name in _split(typed, ",")]
        case Fill():
            pairs = [part.partition("=") for part in _split(typed, ";\n")]
            value = {_name_of(name, form.fields): text.strip() for name, _, text in pairs}
        case Plan():
            steps = [_step(form, step) for step in _split(typed, ";\n")]
            messages = [text for step in steps for text in step.pop("say", [])]
            value = {"steps": [step for step in steps if step], "message": " ".join(messages)}
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


def _name_of(text: str, labels: Mapping[str, str]) -> str:
    """The name that was typed, in its own spelling; what is unknown is left to the form."""
    folded = fold(text)
    return next((name for name, label in labels.items() if folded in (fold(name), fold(label))), text)


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
        robot, (command, _, objects) = _name_of(first, dict.fromkeys(form.robots, "")), rest.partition(" ")
        command = _name_of(command, dict.fromkeys(form.commands, ""))
        if command not in form.commands:
            raise Unreadable(f"{part!r} names no command.")
        step[robot] = [command, *_objects(objects, [names for _, names in form.commands[command]])]
    return step


def _objects(text: str, kinds: Iterable[Sequence[str]]) -> list[str]:
    """The objects of a command: names can have several words, so the longest that fits is taken."""
    rest, objects = fold(text), list[str]()
    for names in kinds:
        fitting = [name for name in names if f"{rest} ".startswith(f"{fold(name)} ")]
        if not fitting:
            return [*objects, rest] if rest else objects
        objects.append(max(fitting, key=len))
        rest = rest[len(fold(objects[-1])) :].strip()
    return [*objects, rest] if rest else objects


def _point(text: str) -> list[float]:
    match re.fullmatch(r"(-?[\d.]+),(-?[\d.]+)", text):
        case re.Match() as pair:
            try:
                return [float(pair[1]) / 100, float(pair[2]) / 100]
            except ValueError:
                pass
    raise Unreadable(f"{text!r} is no point: type X,Y, such as 40,62.5.")
