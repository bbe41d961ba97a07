"""The commands in the documentation: found, checked without being run, and run.

    python -m tests.support.commands PAGE ... [--run]

works in the current folder, where it writes the titled code of the pages, and prints what is wrong, one line
each. A command of a block is run unless it needs something that a test does not have: an API key, a model
server or a person, which its words tell; or what its block (```` ```sh needs=gpu ````) or the end of its
comment, such as `(minutes)`, says. Every command of Ludens is parsed by the real command line, and the games,
suites, players and recipes that it names are made.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from inspect import BoundArguments
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ludens.cli import COMMANDS, app, main
from ludens.core.errors import LudensError, MissingExtra
from ludens.run.jobs import JobRunner, combine_errors
from ludens.run.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"^```(?P<language>sh|bash|console)(?: needs=(?P<needs>[\w,]+))?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TITLED = re.compile(r'^```(?:python|markdown) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(ludens [^`\n]+)`")
FLAG = re.compile(r"(?<!\S)(--?[a-z][\w-]*)")
COMMENTED = {r"\(minutes\)$": "minutes", r"\(your files\)$": "files", r"\(extra \w+\)$": "extra"}
"""Needs of single commands, in their comments."""
DERIVED = {
    "key": re.compile(r"(?<![\w-])(openai|anthropic|google)/"),
    "server": re.compile(r"(?<![\w-])(vllm|compat)/|(?<!\w)vllm serve"),
    "gpu": re.compile(r"(?<![\w-])hf/"),
    "person": re.compile(r"(?:=|--model )human\b"),
}
"""Needs that the words of a command tell."""
SERVES = ("web", "mcp", "openenv", "--install-completion")
"""Commands that do not end, or change the shell of the user; their own tests start them."""
OTHERS = ("docker", "inspect", "vllm", "vf-eval", "torchrun")
"""Programs that are not part of Ludens."""
SHELL = ("source", "export")
TOOLS = ("cp", "mkdir", "openssl")
"""Programs that are run as they are."""


@dataclass(frozen=True)
class Command:
    """One line of a block."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    text: str
    needs: frozenset[str]

    @property
    def runs(self) -> bool:
        """Whether a test runs it."""
        program, first, *_ = (*self.words, "")
        return not self.needs and (program in TOOLS or (program == "ludens" and first not in SERVES))


@dataclass(frozen=True)
class Block:
    """Commands that are shown together, and what they are said to need."""

    needs: frozenset[str]
    commands: tuple[Command, ...]

    @property
    def problems(self) -> Iterator[str]:
        """Needs that the block does not state, and stated ones that no command has."""
        derived = {need: command for command in self.commands for need in _derived(command.text)}
        for need in derived.keys() - self.needs:
            yield f"{derived[need].text}: the block does not say needs={need}"
        for need in (self.needs & {"key", "person", "server"}) - derived.keys():
            yield f"{self.commands[0].text}: no command of the block needs {need}"


def blocks(page: Path) -> list[Block]:
    """The blocks of commands of a page."""
    found = []
    for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
        stated = frozenset((match["needs"] or "").split(",")) - {""}
        commands = tuple(_command(line, stated) for line in _lines(match["body"]))
        found.append(Block(stated, commands))
    return found


def write_files(page: Path, folder: Path) -> None:
    """Write the titled code blocks of a page to files."""
    for name, body in TITLED.findall(page.read_text(encoding="utf-8")):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(body, encoding="utf-8")


def inline_commands(page: Path) -> list[str]:
    """The commands of Ludens that are named in sentences."""
    return INLINE.findall(FENCED.sub("", page.read_text(encoding="utf-8")))


def _lines(body: str) -> Iterator[str]:
    joined = body.replace("\\\n", " ").splitlines()
    typed = [line[2:] for line in joined if line.startswith("$ ")]
    yield from (line for line in typed or joined if line.strip())


def _command(line: str, stated: frozenset[str]) -> Command:
    words = shlex.split(line, comments=True)
    environment = {}
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    commented = {need for end, need in COMMENTED.items() if re.search(end, line)}
    needs = (stated - DERIVED.keys()) | commented | _derived(line)
    return Command(tuple(words), environment, line.strip(), needs)


def _derived(text: str) -> frozenset[str]:
    return frozenset(need for need, pattern in DERIVED.items() if pattern.search(text.partition(" #")[0]))


def check(command: Command) -> str:
    """What is wrong with a command, without running it; empty if nothing is."""
    program, *rest = command.words
    if program == "ludens":
        return check_ludens(rest, makes=not command.needs & {"extra", "files"})
    if program == "torchrun":
        return check_ludens(rest[rest.index("ludens") + 1 :])
    if program == "make":
        return "" if re.search(rf"^{rest[0]}:", _makefile(), re.MULTILINE) else f"no target {rest[0]}"
    if program == "pip":
        extras = re.search(r"\[(.*)\]", rest[-1])
        unknown = set(extras[1].split(",")) - _extras() if extras else set()
        return f"no extras {sorted(unknown)}" if unknown else ""
    if program == "python":
        return _check_python(rest)
    if program.startswith("recipes/"):
        return "" if os.access(ROOT / program, os.X_OK) else f"{program} cannot be run"
    if program in OTHERS:
        return "" if "program" in command.needs else "the block does not say needs=program"
    return "" if program in (*SHELL, *TOOLS) else f"unknown program {program}"


def _check_python(rest: list[str]) -> str:
    if rest[0] == "-c":
        compile(rest[1], "-c", "exec")
        return ""
    file = Path(*rest[1].split(".")).with_suffix(".py") if rest[0] == "-m" else Path(rest[0])
    return "" if (ROOT / file).is_file() or (Path.cwd() / file).is_file() else f"there is no {file}"


def check_ludens(words: list[str], makes: bool = True) -> str:
    """What is wrong with a command of Ludens; `makes`: what it names must be there."""
    from cyclopts.exceptions import CycloptsError

    if words[0] == "--install-completion":
        return ""
    if words[0] not in COMMANDS:
        return f"unknown command {words[0]}"
    try:
        function, bound, _ = app(words[0]).parse_args(words, print_error=False, exit_on_error=False)
        name = "eval" if words[0] == "demo" else words[0]
        if makes and name in _CHECKS:
            _CHECKS[name](function, bound)
    except (CycloptsError, LudensError) as error:
        return "" if isinstance(error, MissingExtra) and not makes else " ".join(str(error).split())
    return ""


def check_inline(text: str) -> str:
    """What is wrong with a command in a sentence, which may leave arguments out."""
    name = text.split()[1]
    if not re.fullmatch(r"[a-z]+", name):
        return ""
    if name not in COMMANDS:
        return f"unknown command {name}"
    unknown = [flag for flag in FLAG.findall(text) if flag not in _flags(name)]
    return f"unknown flags {unknown}" if unknown else ""


@cache
def _flags(name: str) -> set[str]:
    arguments = app(name)[name].assemble_argument_collection()
    return {"--help", "-h", *(flag for each in arguments for flag in each.names)}


def _check_plan(function: Any, bound: BoundArguments) -> None:
    """Everything that `eval` and `arena` do before they play."""
    if bound.arguments.get("into") or bound.arguments.get("checkpoints"):
        return
    with (
        patch("ludens.cli.eval.execute_run", _check_players),
        patch("ludens.cli.arena.execute_run", _check_players),
        patch("ludens.cli.arena.Reflection.play", return_value=0),
    ):
        function(*bound.args, **bound.kwargs)


def _check_players(plan: Plan, *_: Any) -> int:
    """Make the players of the first task, except models that would be downloaded or trained first."""
    first = replace(plan, tasks=tuple(plan.tasks_by_name)[:1])
    absent = any(DERIVED["gpu"].match(spec) or "/training/" in spec for spec in plan.players)
    if not absent and (problems := JobRunner(first).problems()):
        raise combine_errors(problems)
    return 0


def _check_seats(_: Any, bound: BoundArguments) -> None:
    from ludens.cli.arguments import agents_of, game_of, seat_specs
    from ludens.core.config import check_seat

    game = game_of(bound.arguments["game"], bound.arguments.get("option", ()))
    seat = bound.arguments.get("seat") or ()
    if isinstance(seat, str):
        check_seat(game, seat)
    else:  # checkpoints of the reader's own training are not here
        words = [each for each in seat if "/training/" not in each]
        agents_of(game, game.seats, seat_specs(game, words, "white=human"))


def _check_suites(_: Any, bound: BoundArguments) -> None:
    from ludens.run.task import import_suite, suite

    given = bound.arguments.get("suite") or ()
    for name in (given,) if isinstance(given, str) else given:
        import_suite(name)
        suite(name)


def _check_recipe(_: Any, bound: BoundArguments) -> None:
    from ludens.agents import import_agent
    from ludens.train.checks import check
    from ludens.train.recipe import Recipe

    file = str(bound.arguments.get("recipe") or bound.arguments.get("what"))
    if file.endswith(".toml"):
        for name in bound.arguments.get("agent") or ():
            import_agent(name)
        settings = dict(text.split("=", 1) for text in bound.arguments.get("set_") or ())
        check(Recipe.read(Path(file)).override(settings))
    elif file != "export":
        from ludens.core.registry import make

        make(file)


def _check_model(_: Any, bound: BoundArguments) -> None:
    from ludens.models import model

    if spec := bound.arguments.get("spec"):
        model(spec)


def _check_benchmarks(_: Any, bound: BoundArguments) -> None:
    from benchmarks import bench

    for name in bound.arguments.get("names", ()):
        bench(name)


_CHECKS = {
    "arena": _check_plan,
    "baselines": _check_suites,
    "bench": _check_benchmarks,
    "eval": _check_plan,
    "mcp": _check_seats,
    "models": _check_model,
    "openenv": _check_suites,
    "play": _check_seats,
    "prepare": _check_recipe,
    "show": _check_seats,
    "train": _check_recipe,
}


@cache
def _makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


@cache
def _extras() -> set[str]:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


def run(command: Command) -> str:
    """Run a command; what it printed if it failed, else nothing."""
    if command.words[0] != "ludens":
        ended = subprocess.run(command.words, capture_output=True, text=True, check=False)
        return ended.stderr
    output = io.StringIO()
    with patch.dict(os.environ, command.environment), redirect_stdout(output), redirect_stderr(output):
        code = main(command.words[1:])
    return f"exit code {code}: {output.getvalue()[-2000:]}" if code else ""


def problems_of(page: Path, runs: bool) -> Iterator[str]:
    for block in blocks(page):
        yield from block.problems
        for command in block.commands:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                problem = check(command)
            if not problem and runs and command.runs:
                problem = run(command)
            if problem:
                yield f"{command.text}: {problem}"
    for text in inline_commands(page):
        if problem := check_inline(text):
            yield f"{text}: {problem}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--run", action="store_true")
    arguments = parser.parse_args()
    for page in arguments.pages:
        write_files(page, Path.cwd())
    problems = [
        f"{page.name}: {text}" for page in arguments.pages for text in problems_of(page, arguments.run)
    ]
    print("\n".join(problems))
    sys.exit(bool(problems))
