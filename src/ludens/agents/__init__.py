"""Agents: general bots, search, models, people. Games have further bots of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ludens.core.agent import Agent
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.loading import load, load_typed
from ludens.core.options import Touch, configure, options_of
from ludens.core.policy import Access, option_accesses
from ludens.core.registry import Registry
from ludens.core.spec import Spec, parse_spec
from ludens.models import MODELS, provider_spec

if TYPE_CHECKING:
    from ludens.models.chat import Model

CATALOGUE = {
    "bot/random": "ludens.agents.bots:Random",
    "bot/first": "ludens.agents.bots:First",
    "bot/constant": "ludens.agents.bots:Constant",
    "bot/guess": "ludens.agents.bots:Guess",
    "bot/oracle": "ludens.agents.bots:Oracle",
    "bot/alphabeta": "ludens.agents.bots:AlphaBeta",
    "bot/mcts": "ludens.agents.bots:Mcts",
    "human": "ludens.agents.human:Human",
}

BEST = "bot/best"

AGENTS = Registry("agent", "ludens.agents")


def agent(spec: str | Spec, game: Game, models: dict[str, Model] | None = None) -> Agent:
    """The agent of a spec for a game; the game's own bots take precedence over general ones.

    Equal models are shared through `models`, so that their limits apply to all seats together.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if parsed.kind in MODELS.names():
        return _model_agent(parsed, {} if models is None else models)
    if parsed.name == BEST and "best" not in game.bots:
        return agent(_best(parsed, game), game, models)
    target = _class_of(parsed.name, game)
    if parsed.address:
        raise BadOption(f"{parsed.name} has no address: {str(parsed)!r}.")
    player: Agent = configure(target, parsed.options, parsed.name)
    return player


def player_accesses(spec: str, game: Game | type[Game]) -> Iterator[Access]:
    """What the spec of a player names outside of the game; unknown players are left to `agent`."""
    parsed = parse_spec(spec)
    if parsed.kind in MODELS.names():
        from ludens.models.settings import model_accesses

        yield from model_accesses(parsed)
        return
    if parsed.address:
        yield Access(parsed.name, "", Touch.CONNECT, parsed.address)
    try:
        declared = options_of(_class_of(parsed.name, game))
    except UnknownName:
        return
    yield from option_accesses(declared, parsed.options, parsed.name)


def import_agent(spec: str) -> None:
    """Import the agent class of a spec "module:Class" and register it in this process.

    Only for specs that the user typed; other names are left to `agent`.
    """
    path = _path(spec)
    if path is None:
        return
    agent_class = load_typed("agent", path)
    if not (isinstance(agent_class, type) and issubclass(agent_class, Agent)):
        raise BadFile(f"{path!r} is not a subclass of ludens.Agent.")
    AGENTS.register(path, agent_class)


def agent_paths(specs: Iterable[str]) -> tuple[str, ...]:
    """The "module:Class" names among specs that `import_agent` has registered in this process."""
    paths = {path for spec in specs if (path := _path(spec))}
    return tuple(sorted(paths & set(imported_agents())))


def imported_agents() -> tuple[str, ...]:
    """Every "module:Class" that `import_agent` has registered in this process."""
    return tuple(name for name in AGENTS.names() if ":" in name)


def _path(spec: str) -> str | None:
    """The "module:Class" that a spec names; None for models, whose names may contain colons too."""
    parsed = parse_spec(spec)
    return parsed.name if ":" in parsed.name and parsed.kind not in MODELS.names() else None


def _class_of(name: str, game: Game | type[Game]) -> Any:
    own = {f"bot/{bot}": path for bot, path in game.bots.items()}
    return load(own[name]) if name in own else _registered(name, own)


def _registered(name: str, own: Iterable[str]) -> Any:
    if ":" in name and name not in AGENTS.names():
        raise BadFile(
            f"the agent {name!r} is not registered, and a file may not choose what is imported: "
            f"name it yourself with --agent {name}."
        )
    try:
        return AGENTS.get(name)
    except UnknownName:
        kinds = (f"{kind}/..." for kind in MODELS.names())
        near = provider_spec(name)
        raise UnknownName("agent", name, [near] if near else [*AGENTS.names(), BEST, *own, *kinds]) from None


def _best(spec: Spec, game: Game) -> str:
    if not game.best:
        raise BadOption(f"{game.name} has no {BEST}; its bots: {', '.join(game.bots) or 'none'}.")
    if spec.options or spec.address:
        raise BadOption(f"{BEST} takes no options; in {game.name} it is {game.best}.")
    return game.best


def _model_agent(spec: Spec, models: dict[str, Model]) -> Agent:
    from ludens.agents.vlm import Vlm
    from ludens.models.settings import ModelSpec

    parsed = ModelSpec.parse(spec)
    key = str(parsed.own)
    if key not in models:
        models[key] = parsed.make()
    return Vlm(models[key], parsed.prompt)
