"""Who plays: general bots, search, replay, people. Games bring players of their own in `bots.py`."""

from __future__ import annotations

from ludens.core.agent import Agent
from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.options import configure
from ludens.core.registry import Registry, load
from ludens.core.spec import Spec, parse_spec

CATALOGUE = {
    "bot/random": "ludens.agents.simple:Random",
    "bot/first": "ludens.agents.simple:First",
    "bot/alphabeta": "ludens.agents.alphabeta:AlphaBeta",
    "bot/mcts": "ludens.agents.mcts:Mcts",
    "human": "ludens.agents.human:Human",
}

AGENTS = Registry("agent", "ludens.agents", "ludens.agents:CATALOGUE")


def agent(spec: str | Spec, game: Game) -> Agent:
    """Make the agent a spec names, for a game: the game's own bots are found before the general ones."""
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    own = {f"bot/{name}": path for name, path in game.bots.items()}
    if parsed.name in own:
        target = load(own[parsed.name])
    else:
        try:
            target = AGENTS.get(parsed.name)
        except UnknownName:
            raise UnknownName("agent", parsed.name, [*AGENTS.names(), *own]) from None
    if not (isinstance(target, type) and issubclass(target, Agent)):
        made: Agent = target(parsed)
        return made
    if parsed.address:
        raise BadOption(f"{parsed.name} has no address: {str(parsed)!r}.")
    return configure(target, parsed.options, parsed.name)
