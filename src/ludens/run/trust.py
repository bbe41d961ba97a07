"""What a plan names outside of Ludens: files, programs, addresses and keys of its suite, games and players.

`ludens eval` takes a plan from the command line. `ludens resume` reads it from a file that may come from
somebody else, so the person must confirm what `ludens.core.policy` does not leave to files. `ludens verify`
and `ludens board` read packs of strangers, which may name nothing outside at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from ludens.agents import player_accesses
from ludens.core.errors import BadFile
from ludens.core.options import Touch
from ludens.core.plain import one_line, shorten
from ludens.core.policy import Access, Setter, game_accesses, option_accesses
from ludens.core.registry import GAMES
from ludens.core.spec import parse_spec
from ludens.models.settings import is_model
from ludens.run.plan import Plan
from ludens.run.task import suite_options


def plan_accesses(plan: Plan) -> Iterator[Access]:
    """What a plan names: in options of its suite, in those of games, in players of all seats."""
    suite = parse_spec(plan.suite)
    for access in option_accesses(suite_options(plan.suite), suite.options, suite.name):
        if access.touch is not Touch.PLAYER:  # it sits in a task below
            yield access
    yield from _task_accesses(plan)


def _task_accesses(plan: Plan, models: bool = True) -> Iterator[Access]:
    """What the games and the players of all tasks name; without models where nothing asks them."""
    for task in plan.tasks_by_name.values():
        yield from game_accesses(task.game)
        for spec in sorted({*task.opponents, *plan.players}):
            if models or not is_model(spec):
                yield from player_accesses(spec, GAMES.get(parse_spec(task.game).name))


def to_confirm(plan: Plan) -> list[str]:
    """The values in a plan that a person must allow when it is read from a file."""
    accesses = plan_accesses(plan)
    return list(dict.fromkeys(access.value for access in accesses if not access.is_free(Setter.FILE)))


def check_packed(plan: Plan) -> None:
    """Raise `BadFile` if replaying a plan of a stranger would open anything that it names.

    A pack is stricter than a run folder, which may name files to read: it may name what is installed, and
    nothing else. Models are exempt, because nothing asks them.
    """
    if plan.template_folders() or plan.template_hashes:
        raise BadFile("its prompts are made of templates of its own; a pack may use those of Ludens only.")
    suite = parse_spec(plan.suite)
    options = suite_options(plan.suite)
    _refuse(option_accesses(options, suite.options, suite.name), but=Touch.PLAYER)
    for text in suite.options.values():  # before the suite makes games of them
        for spec in _games_in(text):
            _refuse(game_accesses(spec))
    _refuse(_task_accesses(plan, models=False))


def _refuse(accesses: Iterable[Access], but: Touch | None = None) -> None:
    for access in accesses:
        if access.touch is not but and not access.installed:
            owner = f"option {access.option!r} of {access.owner}" if access.option else access.owner
            value = shorten(one_line(access.value))
            raise BadFile(f"{owner} {access.touch.value} {value}, which a pack may not decide.")


def _games_in(text: str) -> Iterator[str]:
    """The specs of games in a text that is JSON, such as the tasks of a study."""
    try:
        waiting = [orjson.loads(text)]
    except orjson.JSONDecodeError:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and value.partition("?")[0].strip() in GAMES.names():
            yield value
