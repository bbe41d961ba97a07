"""Every option that names a file, a program, an address or a key declares it (`option(..., touches=...)`).

Every text option of every game, agent, model, suite and recipe is set to probes, and what is done with them
is watched: no option is known here by its name. What declares something must be seen to use it, too: else the
watch is blind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pytest

from ludens.agents import AGENTS, agent, player_accesses
from ludens.concurrent import play_sync
from ludens.core.config import PlayConfig
from ludens.core.errors import AgentFailure, UsageError
from ludens.core.options import Touch, configure, option, options_of
from ludens.core.registry import GAMES, Registry, make
from ludens.core.spec import Spec
from ludens.core.view import RenderOptions, view_of
from ludens.games.viki import sources as viki
from ludens.models import MODELS, NETWORK
from ludens.models.probe import probe_request
from ludens.models.settings import ModelSettings, ModelSpec, PromptOptions
from ludens.run.task import SUITES, suite, suite_options
from tests.support.probes import ADDRESS, make_probes, watched

Probes = tuple[str, ...]
Known = Mapping[str, Field[Any]]


def shipped(registry: Registry) -> list[str]:
    """All names but those that other tests register."""
    return sorted({*registry._shipped, *registry._plugged})


@pytest.fixture
def probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Probes:
    async def nobody(prompt: str) -> str:
        raise EOFError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LUDENS_DATA", raising=False)
    for name in ("OPENAI", "OPENROUTER", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key")
    monkeypatch.setattr("ludens.agents.human.line", nobody)
    monkeypatch.setattr(viki, "generate", lru_cache(viki.generate))  # the same scene for every probe
    return make_probes(tmp_path)


def touched(use: Callable[[str], object], probes: Iterable[str]) -> set[str]:
    """What was done with the probes."""
    with watched() as events:
        for probe in probes:
            try:
                use(probe)
            except (UsageError, AgentFailure, OSError, ValueError, RuntimeError):
                continue
    return events


def faults(known: Known, use: Callable[[dict[str, str]], object], probes: Probes, seen: bool = True) -> str:
    """The first option that is more than text and does not declare it; and, if `seen`, one that declares
    something and does nothing."""
    for name, each in known.items():
        if each.metadata["kind"] is not str or each.metadata["choices"]:
            continue
        events = touched(partial(_used, use, name, {}), probes)
        for other, choice in _choices(known):  # some options matter only with others
            events |= touched(partial(_used, use, name, {other: choice}), probes[:1])
        declared = each.metadata["touches"]
        if events and declared is None:
            return f"{name} declares nothing: {', '.join(sorted(events))}"
        if seen and declared not in (None, Touch.GAME, Touch.PLAYER) and not events:
            return f"{name} declares {declared.name}, but nothing was seen"
    return ""


def _used(use: Callable[[dict[str, str]], object], name: str, others: dict[str, str], probe: str) -> object:
    return use({name: probe, **others})


def _choices(known: Known) -> list[tuple[str, str]]:
    return [
        (name, choice)
        for name, each in known.items()
        for choice in each.metadata["choices"] or ()
        if choice != each.default
    ]


def play_game(name: str, options: Mapping[str, str]) -> None:
    """Make a game, start it and look at it."""
    game = make(name, **options)
    view_of(game, RenderOptions(), 0).observe(game.start(0), game.seats[0], "both")


def test_the_watch_sees_files_programs_hosts_variables_and_modules(probes: Probes) -> None:
    import os
    import socket
    import subprocess
    from importlib import import_module

    place, program, *_ = probes
    for use, events in (
        (lambda: Path(place, "x").read_bytes(), {"open"}),
        (lambda: Path(place).is_dir(), {"os.stat"}),
        (lambda: os.listdir(place), {"os.listdir"}),
        (lambda: os.access(place, os.R_OK), {"os.access"}),
        (lambda: socket.getaddrinfo("ludens-probe.invalid", 1), {"socket.getaddrinfo"}),
        (lambda: os.environ.get("LUDENS_PROBE"), {"os.environ"}),
        (lambda: import_module("ludens_probe"), {"import"}),
        (lambda: " ".join(probes), set()),
    ):
        with watched() as seen:
            try:
                use()  # type: ignore[no-untyped-call]
            except (OSError, ImportError):
                pass
        assert seen >= events, events
        assert bool(seen) == bool(events)
    with watched() as seen:
        subprocess.run([program], capture_output=True, check=True)
    assert "subprocess.Popen" in seen


@dataclass(frozen=True)
class Reckless:
    """Reads a file that an option names, and does not say so."""

    place: str = option("", help="a folder")
    board: str = option("tic_tac_toe", help="a game")
    said: str = option("", help="a text", touches=Touch.READ)

    def __post_init__(self) -> None:
        if self.place:
            Path(self.place).is_dir()


def test_an_undeclared_option_is_found(probes: Probes) -> None:
    known = options_of(Reckless)

    def use(options: dict[str, str]) -> None:
        make(configure(Reckless, options, "reckless").board)

    assert faults({"place": known["place"]}, use, probes) == "place declares nothing: os.stat"
    assert faults({"board": known["board"]}, use, probes).startswith("board declares nothing: ")
    assert "nothing was seen" in faults({"said": known["said"]}, use, probes)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "viki/trace" else name for name in shipped(GAMES)],
)
def test_options_of_games(name: str, probes: Probes) -> None:
    known = options_of(GAMES.get(name))
    assert faults(known, lambda options: play_game(name, options), probes) == ""


def _bots() -> list[tuple[str, str]]:
    """Every agent with text options, in every game that has it; general ones in one game."""
    own = [(game, f"bot/{bot}") for game in shipped(GAMES) for bot in GAMES.get(game).bots]
    return [*own, *(("tic_tac_toe", name) for name in shipped(AGENTS))]


@pytest.mark.parametrize(("game", "name"), _bots())
def test_options_of_agents(game: str, name: str, probes: Probes) -> None:
    played = make(game)

    def use(options: Mapping[str, str]) -> None:
        seats = dict.fromkeys(played.seats, agent(str(Spec(name, None, dict(options))), played))
        play_sync(played, seats, 0, config=PlayConfig(horizon=1))

    assert faults(options_of(type(agent(name, played))), use, probes) == ""


def ask(text: str) -> None:
    """Make the model of a spec and ask it something."""

    async def answered() -> None:
        async with ModelSpec.parse(text).make() as made:
            await made.answer(probe_request(False))

    asyncio.run(answered())


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers", reason="the extra 'train' is not installed")
    from tests.support.tiny_vlm import build

    return build(tmp_path_factory.mktemp("tiny"))


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
@pytest.mark.parametrize("kind", shipped(MODELS))
def test_options_of_models(kind: str, probes: Probes, request: pytest.FixtureRequest) -> None:
    maker = MODELS.get(kind)
    name, address = f"{kind}/x", "http://127.0.0.1:9/v1" if kind in NETWORK else None
    quick = {"retries": "0", "deadline": "0"} if kind in NETWORK else {"max_tokens": "1"}
    if kind == "nano":
        name = "nano"
    elif kind == "inspect":
        pytest.importorskip("inspect_ai", reason="Inspect: runs with `make adapters`")
    elif kind == "hf":
        name = f"hf/{request.getfixturevalue('tiny')}"

    def use(options: Mapping[str, str]) -> None:
        ask(str(Spec(name, address, {**quick, **options})))

    known = {**options_of(ModelSettings), **options_of(maker.options), **options_of(PromptOptions)}
    # Choices of other options change how a request is made and not what is read; no option is a spec.
    free = {name: each for name, each in known.items() if not each.metadata["choices"]}
    assert faults(free, use, (probes[0], *probes[5:8])) == ""


@pytest.mark.parametrize("spec", ["nano/{}", "hf/{}"])
def test_names_of_models_that_are_paths(spec: str, probes: Probes, tiny: Path) -> None:
    place = probes[0]
    assert touched(lambda probe: ask(spec.format(probe)), [place])
    [access] = player_accesses(spec.format(place), make("tic_tac_toe"))
    assert (access.touch, access.value) == (Touch.READ, place)


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
@pytest.mark.parametrize("kind", sorted(NETWORK))
def test_addresses_of_models(kind: str, probes: Probes) -> None:
    spec = f"{kind}/x@{ADDRESS}?retries=0&deadline=0"
    assert "socket.getaddrinfo" in touched(ask, [spec])
    touches = {access.touch: access.value for access in player_accesses(spec, make("tic_tac_toe"))}
    assert touches == {Touch.CONNECT: ADDRESS, Touch.PAY: "x"}


@pytest.mark.parametrize("name", shipped(SUITES))
def test_options_of_suites(name: str, probes: Probes) -> None:
    def use(options: Mapping[str, str]) -> None:
        for task in suite(str(Spec(name, None, dict(options)))).tasks:
            make(task.game)

    # Players of a suite are specs that are used when it is played.
    assert faults(suite_options(name), use, probes, seen=False) == ""


def test_options_of_recipes(probes: Probes) -> None:
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    from ludens.train.recipe import Demonstration, Recipe, Section

    for each in fields(Recipe):
        kind: Any = each.default_factory
        if isinstance(kind, type) and issubclass(kind, Section):
            use = partial(_checked, each.name)
            assert faults(options_of(kind), use, probes, seen=False) == "", each.name
    assert faults(options_of(Demonstration), _demonstrated, probes, seen=False) == ""


def _checked(section: str, options: Mapping[str, Any]) -> None:
    from ludens.train.checks import check
    from ludens.train.recipe import Recipe

    check(Recipe.of({section: options}))


def _demonstrated(options: Mapping[str, str]) -> None:
    from ludens.train.checks import check
    from ludens.train.recipe import Recipe

    check(Recipe.of({"demonstrations": [{"episodes": 1, **options}]}))
