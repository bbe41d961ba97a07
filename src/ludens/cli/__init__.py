"""The command line: `ludens COMMAND`. Each command is a module here, imported only when it is called.

A command is a function whose signature defines its flags and whose docstring is its help; it is registered in
`COMMANDS`. `main` handles errors, interruptions and exit codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS: dict[str, tuple[str, str]] = {
    "games": ("ludens.cli.games:games", "List games, or describe one."),
    "agents": ("ludens.cli.agents:agents", "List bots and the games they can play, or describe one."),
    "show": (
        "ludens.cli.show:show",
        "Show a position as one seat sees it: picture, text, rules.",
    ),
    "play": ("ludens.cli.play:play", "Play one game in the terminal: people, bots and models."),
    "demo": ("ludens.cli.eval:demo", "Run the demo suite with bots; print a table and write a report."),
    "suites": ("ludens.cli.suites:suites", "List suites, or describe one."),
    "runs": ("ludens.cli.runs:runs", "List the runs in a folder and their progress."),
    "report": ("ludens.cli.report:report", "Report the results of runs as a table, a web page or data."),
    "replay": ("ludens.cli.verify:replay", "Replay an episode, verify it and show it."),
    "eval": (
        "ludens.cli.eval:eval_",
        "Evaluate models or bots on a suite; print a table and write a report.",
    ),
    "resume": ("ludens.cli.eval:resume", "Resume a run that was stopped."),
    "verify": ("ludens.cli.verify:verify", "Replay and verify every episode of a run."),
    "compact": ("ludens.cli.runs:compact", "Put the episodes of a run into one Parquet file."),
    "repair": ("ludens.cli.verify:repair", "Move invalid lines of a run aside, so that it can be resumed."),
    "judge": ("ludens.cli.judge:judge", "Label communication errors in the conversations of a run."),
    "baselines": (
        "ludens.cli.baselines:baselines",
        "Measure blind baselines and upper bounds of the tasks of a suite.",
    ),
    "data": (
        "ludens.cli.data:data",
        "Build a dataset or a picture set; export and import picture sets.",
    ),
    "prepare": (
        "ludens.cli.data:prepare",
        "Make in advance what the starts of a game take long for.",
    ),
    "train": ("ludens.cli.train:train", "Train a model by playing, as a recipe says."),
    "models": (
        "ludens.cli.models:models",
        "List model providers; `models test SPEC` tests one.",
    ),
    "web": ("ludens.cli.web:web", "Serve the browser app: games, live runs, replays."),
    "study": (
        "ludens.cli.study:study",
        "Export the data of a study with people; exclude participants.",
    ),
    "bench": ("ludens.cli.bench:bench", "Run benchmarks on this machine."),
    "check": ("ludens.cli.check:check", "Show installed packages and how to install missing ones."),
}
"""Name to import path and line in `ludens --help`."""


def app() -> App:
    """The cyclopts application; commands are imported when called."""
    from cyclopts import App

    from ludens import __version__

    application = App(
        name="ludens",
        help="Vision-language models, bots and people play multi-agent visual games.",
        version=__version__,
        help_format="plaintext",
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    application.help_flags = ("--help", "-h")
    for position, (name, (path, line)) in enumerate(COMMANDS.items()):
        application.command(path, name=name, help=line, sort_key=position)
    application.register_install_completion_command(help="Install completion for your shell.")
    return application


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 failure, 2 usage error, 130 interrupted."""
    from ludens.cli.guard import guarded

    return guarded(app(), argv)
