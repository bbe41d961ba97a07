"""The terminal face: `ludens COMMAND`. Each command is a file here, imported only when it is called.

A command is a plain function whose signature is its flags and whose docstring is its help; one line in
`COMMANDS` adds it. Errors, interruptions and exit codes are the business of `main` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS: dict[str, tuple[str, str]] = {
    "games": ("ludens.cli.games:games", "List what can be played."),
    "show": (
        "ludens.cli.show:show",
        "Show a position as one seat sees it: picture, text twin, rules.",
    ),
    "play": ("ludens.cli.play:play", "Play one game in the terminal, against bots or with them."),
    "demo": ("ludens.cli.demo:demo", "Let bots play a little of everything; leave a table and a page."),
    "suites": ("ludens.cli.suites:suites", "List what can be measured."),
    "runs": ("ludens.cli.runs:runs", "List the runs in a folder and how far they have come."),
    "report": ("ludens.cli.report:report", "Say what runs found: a table, a page or data."),
    "replay": ("ludens.cli.replay:replay", "Play an episode again, prove it is the same, and show it."),
    "eval": (
        "ludens.cli.eval:eval_",
        "Measure models, bots or both on a suite; leave a table and a page.",
    ),
    "resume": ("ludens.cli.resume:resume", "Go on with a run that was stopped."),
    "judge": ("ludens.cli.judge:judge", "Say what went wrong in the conversations of a run."),
    "data": ("ludens.cli.data:data", "Build an offline set of questions: Parquet, PNG files, a manifest."),
    "models": ("ludens.cli.models:models", "List kinds of model; `models test SPEC` asks one a question."),
    "bench": ("ludens.cli.bench:bench", "Measure how fast Ludens is on this machine."),
    "check": ("ludens.cli.check:check", "Say what is installed, what is missing and how to get it."),
}
"""Name to where the command is, and its line in `ludens --help`."""


def app() -> App:
    """The command line as cyclopts sees it; no command is imported yet."""
    from cyclopts import App

    from ludens import __version__

    made = App(
        name="ludens",
        help="Vision-language models, bots and people play multi-agent visual games.",
        version=__version__,
        help_format="plaintext",
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    made.help_flags = ("--help", "-h")
    for place, (name, (path, line)) in enumerate(COMMANDS.items()):
        made.command(path, name=name, help=line, sort_key=place)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0 done, 1 failed, 2 asked wrongly, 130 interrupted."""
    from ludens.cli.guard import guarded

    return guarded(app(), argv)
