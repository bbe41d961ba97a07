"""The command line: `ludens COMMAND`. Each command is a module here, imported only when it is called.

A command is a function whose signature defines its flags and whose docstring is its help, flags under `Args`;
it is registered in `COMMANDS`. `main` handles errors, interruptions and exit codes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS: dict[str, tuple[str, str]] = {
    "games": ("lists:games", "List games, or describe one."),
    "presets": (
        "lists:presets",
        "List the presets of games: how hard they are, with scores of simple players.",
    ),
    "agents": ("lists:agents", "List bots and the games they can play, or describe one."),
    "show": ("play:show", "Show a position as one seat sees it: picture, text, rules."),
    "play": ("play:play", "Play one game in the terminal: people, bots and models."),
    "demo": ("eval:demo", "Run the demo suite with bots and a small model; print a table."),
    "suites": ("lists:suites", "List suites, or describe one."),
    "runs": ("results:runs", "List the runs in a folder and their progress."),
    "report": ("results:report", "Report the results of runs as a table, a web page or data."),
    "paper": ("results:paper", "Make a PDF of runs: table, figure, deviations, seeds, BibTeX."),
    "replay": ("verify:replay", "Replay an episode, verify it and show it."),
    "eval": ("eval:eval_", "Evaluate models or bots on a suite; print a table and write a report."),
    "arena": ("arena:arena", "Let models meet each other in games; print ratings."),
    "resume": ("eval:resume", "Resume a run that was stopped."),
    "verify": ("verify:verify", "Replay and verify every episode of a run or a pack."),
    "pack": ("board:pack", "Put a finished run into one file that others can verify."),
    "board": ("board:board", "Make a leaderboard, a static web site, from packs of many people."),
    "compact": ("results:compact", "Put the episodes of a run into one Parquet file."),
    "repair": ("verify:repair", "Move invalid lines of a run aside, so that it can be resumed."),
    "judge": ("judge:judge", "Label communication errors in the conversations of a run."),
    "baselines": ("baselines:baselines", "Measure blind baselines and upper bounds of the tasks of a suite."),
    "data": ("data:data", "Build a dataset or a picture set; export and import picture sets."),
    "export": ("data:export", "Export a run or a question task to the format of another tool."),
    "prepare": ("data:prepare", "Compute in advance what takes long when a game starts."),
    "train": ("train:train", "Train a model by playing, as a recipe says."),
    "models": ("lists:models", "List model providers; `models test SPEC` tests one."),
    "mcp": ("serving:mcp", "Serve seats of a game to MCP clients, such as coding agents."),
    "openenv": ("serving:openenv", "Serve the tasks of a suite to OpenEnv clients."),
    "web": ("serving:web", "Serve the browser app: games, live runs, replays."),
    "study": ("results:study", "Export the data of a study with people; exclude participants."),
    "bench": ("bench:bench", "Run benchmarks on this machine."),
    "check": ("check:check", "Show installed packages and how to install missing ones."),
}
"""Name to module and function in this package, and line in `ludens --help`."""


FIRST = """Vision-language models, bots and people play multi-agent visual games.

  ludens demo                                        bots and a small model on five small tasks; needs no key
  ludens play breakthrough --seat white=human        play yourself, in this terminal
  ludens web                                         play, watch and replay games in the browser
  ludens eval vs-bench-mini --model openai/gpt-4.1   evaluate a model; `ludens suites` lists suites
  ludens train RECIPE                                train a model by play; recipes/ has some

`ludens --help` lists all commands, `ludens COMMAND --help` describes one."""
"""What `ludens` alone prints: the most useful commands."""


def app(called: str = "") -> App:
    """The cyclopts application. Only the called command is imported, and its docstring is its help."""
    from cyclopts import App, Parameter

    from ludens import __version__
    from ludens.cli.arguments import Help

    application = App(
        name="ludens",
        help="Vision-language models, bots and people play multi-agent visual games.",
        version=__version__,
        help_format="plaintext",
        help_formatter=Help(),
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
        # Words are taken as they are: a folder may be named "[1]".
        default_parameter=Parameter(json_list=False, json_dict=False),
    )
    application.help_flags = ("--help", "-h")
    for position, (name, (path, line)) in enumerate(COMMANDS.items()):
        summary = None if name == called else line
        application.command(f"ludens.cli.{path}", name=name, help=summary, sort_key=position)
    application.register_install_completion_command(help="Install completion for your shell.")
    return application


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 failure, 2 usage error, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words:
        print(FIRST)
        return 0
    try:
        from ludens.cli.guard import run_guarded

        return run_guarded(app(words[0]), words)
    except KeyboardInterrupt:  # also while modules are imported, which takes most of a second
        print("\nludens: stopped.", file=sys.stderr)
        return 130
