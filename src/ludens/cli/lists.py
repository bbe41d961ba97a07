"""`ludens games`, `presets`, `agents`, `suites` and `models`: a table of all, or the description of one.

Importing and starting every game takes seconds, so the descriptions of Ludens' own games are read from
`games.json`; `python -m ludens.cli.lists` writes that file, and a test checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, asdict, replace
from functools import lru_cache
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ludens.cli.arguments import Flag, Json, Whole, Words, at_least, game_of
from ludens.cli.guard import FAILED
from ludens.cli.output import aside, check_writable, json_out, table, write_file
from ludens.core.errors import AgentFailure, BadOption, UnknownName, UsageError
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from ludens.core.agent import Agent
    from ludens.core.game import Game


Description = dict[str, Any]
_LISTING = Path(__file__).with_name("games.json")
_ON_OPEN_SPIEL = (
    "breakthrough", "chess", "gomoku", "hanabi", "kuhn_poker", "reversi", "rule", "tic_tac_toe",
    "tiny_hanabi", "vs-bench/kuhn",
)  # fmt: skip
_NEEDED = {"pong": "ale_py"} | dict.fromkeys(_ON_OPEN_SPIEL, "pyspiel")
"""Game to the module it needs, with its default options: where that is missing, the list says so."""
_OPTION_FIELDS = ("help", "low", "high", "choices")


def games(name: str | None = None, /, *, json: Json = False) -> None:
    """List games, or describe one.

    Args:
        name: Game to describe.
    """
    from ludens.core.registry import GAMES

    if name is not None:
        info = _describe_game(name)
        return json_out(info) if json else _print_game(info)
    blank = {"seats": [], "play": "", "options": {}}
    listed = _describe_all(GAMES.names(), _look_up_game, "summary", blank)
    if json:
        return json_out(listed)
    table(
        f"{len(listed)} games",
        ("game", "seats", "play", "options", "summary"),
        [(g["name"], ", ".join(g["seats"]), g["play"], _options(g), g["summary"]) for g in listed],
        spare=("options", "seats", "play"),
    )
    print("Run `ludens games NAME` for details, `ludens show NAME` to see a position.")


def _describe_all(
    names: Iterable[str], describe: Callable[[str], Description], summary: str, blank: Description
) -> list[Description]:
    """All descriptions; what fails to load (missing extra, broken plugin) is listed with the error."""
    listed = []
    for name in names:
        try:
            listed.append(describe(name))
        except Exception as error:
            reason = str(error) or type(error).__name__
            listed.append({"name": name, **blank, summary: reason, "error": reason})
    return listed


def _look_up_game(name: str) -> Description:
    return _stored_games()[name] if _is_listed(name) and name in _stored_games() else _describe_game(name)


@lru_cache(maxsize=1)
def _stored_games() -> dict[str, Description]:
    import orjson

    descriptions: dict[str, Description] = orjson.loads(_LISTING.read_bytes())
    return descriptions


def shipped_games() -> dict[str, Description]:
    """The contents of `games.json`: a description of every game of Ludens that can be started here."""
    from ludens.core.registry import GAMES

    return {name: _describe_game(name) for name in GAMES.names() if _is_listed(name)}


def _is_listed(name: str) -> bool:
    from ludens.core.registry import GAMES

    return GAMES.ships(name) and (name not in _NEEDED or find_spec(_NEEDED[name]) is not None)


def _describe_game(name: str) -> Description:
    from ludens.core.options import options_of

    game = game_of(name)
    return {
        "name": game.name,
        "version": game.version,
        "seats": list(game.seats),
        "play": _kind_of_play(game),
        "options": _describe_options(options_of(type(game)), game.options),
        "bots": [f"bot/{bot}" for bot in game.bots],
        "summary": game.summary,
        "page": cleandoc(type(game).__doc__ or ""),
    }


def _describe_options(options: Mapping[str, Field[Any]], values: Mapping[str, Any]) -> dict[str, Description]:
    return {
        key: {"value": values.get(key, declared.default)}
        | {word: value for word in _OPTION_FIELDS if (value := declared.metadata[word]) is not None}
        for key, declared in options.items()
    }


def _kind_of_play(game: Game) -> str:
    """How seats act: `question` (one move), `talk` (messages), `together`, `turns` or `alone`."""
    state = game.start(0)
    legal_actions = [state.legal(seat) for seat in state.to_act]

    def ends(action: str) -> bool:
        after = state.clone()
        after.apply({after.to_act[0]: action})
        return after.over

    if len(legal_actions) == 1 and all(map(ends, ("",) if legal_actions[0].is_text else legal_actions[0])):
        return "question"
    if any(legal.is_text for legal in legal_actions):
        return "talk"
    if len(legal_actions) > 1:
        return "together"
    return "turns" if len(game.seats) > 1 else "alone"


def _options(info: Description) -> str:
    return ", ".join(f"{key}={option['value']}" for key, option in info["options"].items())


def _print_game(info: Description) -> None:
    print(f"{info['name']} (version {info['version']}, {info['play']})\n")
    print(harmless(info["page"]))
    _print_options(info["options"])
    if info["bots"]:
        print("Bots: " + ", ".join(info["bots"]))


def _print_options(options: Mapping[str, Description]) -> None:
    if options:
        rows = [(key, str(each["value"]), _bounds(each), each["help"]) for key, each in options.items()]
        table("\nOptions", ("option", "value", "allowed", "description"), rows)


def _bounds(option: Description) -> str:
    if "choices" in option:
        return ", ".join(option["choices"])
    low, high = option.get("low"), option.get("high")
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return "" if high is None else f"at most {high}"


def presets(
    *games: str,
    only: Annotated[
        Words, Parameter(name="--preset", help="Preset: easy, medium, hard or paper; can be repeated.")
    ] = (),
    measure: Flag = False,
    episodes: Whole = 200,
    seconds: float = 1.0,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """List the presets of games: how hard they are, with scores of simple players.

    A preset is used as GAME?preset=medium, wherever a game is named.

    Args:
        games: The games; all by default.
        measure: Measure what a random, a blind and the best player earn.
        episodes: Episodes of each player and preset.
        seconds: CPU seconds after which a player has played enough of a preset.
        out: Markdown file for the measured table.
    """
    from ludens.core.registry import GAMES
    from ludens.run.ability import PresetScores, measure_preset, options_text, presets_markdown

    names = [name for name in games or GAMES.names() if GAMES.get(name).presets]
    pairs = [
        (name, preset) for name in names for preset in GAMES.get(name).presets if not only or preset in only
    ]
    if not pairs:
        raise BadOption("no such presets; the usual ones are easy, medium, hard and paper.")
    if out is not None:
        check_writable(out)
    if not measure:
        listed = [(name, preset, GAMES.get(name).presets[preset]) for name, preset in pairs]
        rows = [[name, preset, options_text(each), each.others] for name, preset, each in listed]
        if json:
            json_out([dict(zip(("game", "preset", "options", "others"), row, strict=True)) for row in rows])
        else:
            table("", ["game", "preset", "options", "others"], rows)
        return
    at_least("--episodes", episodes, 4)
    scores, by_settings = list[PresetScores](), dict[tuple[str, str], PresetScores]()
    for name, preset in pairs:
        settings = GAMES.get(name).presets[preset]
        key = name, f"{options_text(settings)} {settings.others}"
        try:
            if key not in by_settings:
                by_settings[key] = measure_preset(name, preset, episodes=episodes, seconds=seconds)
            scores.append(replace(by_settings[key], preset=preset))
        except UsageError as error:
            aside(f"{name}, {preset}: not measured: {error}")
            continue
        aside(
            f"{name}, {preset}: " + ", ".join(f"{kind} {s.mean:.2f}" for kind, s in scores[-1].scores.items())
        )
    if json:
        json_out(scores)
    elif out is None:
        print(presets_markdown(scores), end="")
    if out is not None:
        write_file(out, presets_markdown(scores).encode())


def agents(name: str | None = None, /, *, json: Json = False) -> None:
    """List bots and the games they can play, or describe one.

    Args:
        name: Bot to describe: its name, or module:Class.
    """
    from ludens.agents import AGENTS, BEST, import_agent

    if name is not None:
        import_agent(name)
    games = _playable_games()
    own = {f"bot/{bot}" for game in games.values() for bot in game.bots}
    names = sorted({*AGENTS.names(), *own} - {"human"})
    if name is not None and name not in names:
        raise UnknownName("bot", name, names)
    bots = [info for each in names if name in (None, each) for info in _describe_bot(each, games)]
    if json:
        return json_out(bots)
    if name is not None:
        return _print_bots(bots)
    table(
        f"{len(bots)} bots",
        ("bot", "sees", "options", "games", "summary"),
        [(b["name"], b["sees"], _options(b), _games_of(b, len(games)), b["summary"]) for b in bots],
        spare=("options", "sees"),
    )
    print(f"Run `ludens agents NAME` for details. {BEST} is the strongest bot of a game.")


def _playable_games() -> dict[str, Game]:
    from ludens.core.registry import GAMES, make

    games = {}
    for name in GAMES.names():
        try:
            games[name] = make(name)
        except Exception:  # a broken plugin: `ludens games` shows the error
            continue
    return games


def _describe_bot(name: str, games: Mapping[str, Game]) -> list[Description]:
    """Descriptions of a bot, one per class: games may have different bots of the same name."""
    from ludens.core.options import option_values, options_of

    by_class: dict[type, Description] = {}
    refused: dict[str, str] = {}
    for game_name, game in games.items():
        try:
            bot = _seated(name, game)
        except UsageError as error:
            refused[game_name] = str(error)
            continue
        info = by_class.setdefault(
            type(bot),
            {
                "name": name,
                "sees": bot.sees,
                "options": _describe_options(options_of(type(bot)), option_values(bot)),
                "summary": cleandoc(type(bot).__doc__ or "").partition("\n")[0],
                "games": [],
                "refused": refused,
            },
        )
        info["games"].append(game_name)
    if by_class:
        return list(by_class.values())
    reason = next(iter(refused.values()), "there are no games.")
    return [{"name": name, "sees": "", "options": {}, "summary": reason, "games": [], "refused": refused}]


def _seated(name: str, game: Game) -> Agent:
    from ludens.agents import agent
    from ludens.core.random import stream

    bot = agent(name, game)
    first, *_ = [bot.sit(game, seat, stream(0, "agents")) for seat in game.seats]
    return first


def _games_of(info: Description, total: int) -> str:
    games = info["games"]
    if len(games) == total:
        return "all"
    return ", ".join(games) if len(games) <= 6 else f"{len(games)} of {total}"


def _print_bots(bots: list[Description]) -> None:
    for info in bots:
        print(f"{info['name']} (sees: {info['sees'] or 'unknown'})\n")
        print(harmless(info["summary"]))
        _print_options(info["options"])
        print("Plays: " + (", ".join(info["games"]) or "no game"))
        print()


def suites(name: str | None = None, /, *, json: Json = False) -> None:
    """List suites, or describe one.

    Args:
        name: Suite to describe.
    """
    from ludens.run.task import SUITES, import_suite

    if name is not None:
        import_suite(name)
        info = _describe_suite(name)
        return json_out(info) if json else _print_suite(info)
    blank = {"episodes": 0, "games": [], "tasks": []}
    listed = _describe_all(SUITES.names(), _describe_suite, "about", blank)
    if json:
        return json_out(listed)
    table(
        "Suites",
        ("suite", "tasks", "episodes", "games", "about"),
        [
            (s["name"], str(len(s["tasks"])), f"{s['episodes']:,}", ", ".join(s["games"]), s["about"])
            for s in listed
        ],
        ("tasks", "episodes"),
        spare=("games", "tasks", "episodes"),
    )
    print("Run `ludens suites NAME` for details, `ludens eval NAME --model SPEC` to evaluate a model.")


def _describe_suite(name: str) -> Description:
    from ludens.core.spec import parse_spec
    from ludens.run.task import suite, suite_options

    described = suite(name)
    return {
        "name": name,
        "about": described.about,
        "options": _describe_options(suite_options(name), parse_spec(name).options),
        "episodes": sum(task.episodes for task in described.tasks),
        "games": sorted({task.game.partition("?")[0] for task in described.tasks}),
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
            for task in described.tasks
        ],
        "published": [
            {"source": row.source, "model": row.model, "values": dict(row.values)}
            for row in described.published
        ],
        "deviations": list(described.deviations),
    }


def _print_suite(info: Description) -> None:
    print(f"{info['name']}: {info['about']}\n")
    table(
        "Tasks",
        ("task", "game", "episodes", "seats", "metrics", "retries", "fallback"),
        [
            (
                task["name"],
                task["game"],
                f"{task['episodes']:,}",
                "\n".join(
                    ", ".join(f"{s}: {spec}" for s, spec in seats.items()) for seats in task["seatings"]
                ),
                ", ".join(task["metrics"]),
                str(task["retries"]),
                task["fallback"],
            )
            for task in info["tasks"]
        ],
        ("episodes", "retries"),
    )
    _print_options(info["options"])
    if info["published"]:
        models = ", ".join(f"{row['model']} ({row['source']})" for row in info["published"])
        print(f"Published results: {models}")
    if info["deviations"]:
        print("Deliberate deviations:")
        for line in info["deviations"]:
            print(f"  - {line}")


_KINDS = {
    "openai": ("openai/gpt-4.1", "OPENAI_API_KEY"),
    "openrouter": ("openrouter/VENDOR/NAME", "OPENROUTER_API_KEY"),
    "anthropic": ("anthropic/NAME", "ANTHROPIC_API_KEY"),
    "google": ("google/NAME", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    "vllm": ("vllm/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1", "none, or VLLM_API_KEY"),
    "compat": ("compat/NAME@URL", "none, or ?key_env=NAME"),
    "hf": ("hf/PATH", "none"),
    "inspect": ("inspect/PROVIDER/NAME", "Inspect's own"),
    "nano": ("nano, or nano/PATH", "none"),
}


def models(what: str = "list", spec: str | None = None, /, *, json: Json = False) -> int:
    """List model providers; `models test SPEC` tests one with a question whose answer is known.

    The question is a picture; with SPEC?modality=text it is text only.

    Args:
        what: `list`, or `test` with a spec.
        spec: The model to test, such as openai/gpt-4.1.
    """
    if what not in ("list", "test"):
        raise UnknownName("action of `ludens models`", what, ("list", "test"))
    if what == "list":
        if spec is not None:
            raise BadOption(f"unexpected argument {spec!r}; did you mean: ludens models test {spec}?")
        return _list_models(json)
    if spec is None:
        raise BadOption("missing model, as in: ludens models test openai/gpt-4.1.")
    return _test_model(spec, json)


def _list_models(json: bool) -> int:
    from ludens.core.options import options_of
    from ludens.models import MODELS
    from ludens.models.local import LocalSettings
    from ludens.models.settings import NetworkSettings, PromptOptions

    rows = [(kind, *_KINDS.get(kind, (f"{kind}/NAME", "see its documentation"))) for kind in MODELS.names()]
    if json:
        json_out([dict(zip(("kind", "spec", "key"), row, strict=True)) for row in rows])
        return 0
    table("Kinds of model", ("kind", "example", "key"), rows, ())
    print("Options follow a question mark: openai/gpt-4.1?temperature=0&max_tokens=2000.\n")
    options = {**options_of(NetworkSettings), **options_of(LocalSettings), **options_of(PromptOptions)}
    meanings = [(name, declared.metadata["help"]) for name, declared in options.items()]
    table("Options of a model, where its provider supports them", ("option", "meaning"), meanings)
    return 0


def _test_model(spec: str, json: bool) -> int:
    import asyncio

    from ludens.models.probe import probe
    from ludens.models.settings import ModelSpec

    parsed = ModelSpec.parse(spec)
    try:
        result = asyncio.run(probe(parsed.own, picture=parsed.prompt.sees != "text"))
    except AgentFailure as failure:
        aside(f"ludens: {failure}")
        return FAILED
    if json:
        json_out(asdict(result))
    else:
        print(harmless("\n".join(result.lines())))
    return 0


if __name__ == "__main__":
    from json import dumps

    import ludens  # noqa: F401  # it fills the catalogues

    _LISTING.write_text(dumps(shipped_games(), indent=1) + "\n")
