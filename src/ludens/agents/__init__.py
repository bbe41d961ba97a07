"""Agents: general bots, search, models, people. Games have further bots of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.core.agent import Agent
from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.loading import load
from ludens.core.options import configure
from ludens.core.registry import Registry
from ludens.core.spec import Spec, parse_spec
from ludens.models import MODELS

if TYPE_CHECKING:
    from ludens.models.chat import Model

CATALOGUE = {
    "bot/random": "ludens.agents.simple:Random",
    "bot/first": "ludens.agents.simple:First",
    "bot/guess": "ludens.agents.simple:Guess",
    "bot/oracle": "ludens.agents.simple:Oracle",
    "bot/alphabeta": "ludens.agents.alphabeta:AlphaBeta",
    "bot/mcts": "ludens.agents.mcts:Mcts",
    "human": "ludens.agents.human:Human",
}

BEST = "bot/best"
"""The strongest bot of a game."""

AGENTS = Registry("agent", "ludens.agents")


def agent(spec: str | Spec, game: Game, models: dict[str, Model] | None = None) -> Agent:
    """The agent of a spec for a game; the game's own bots take precedence over general ones.

    Equal models are shared through `models`, so that their limits apply to all seats together.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if parsed.kind in MODELS.names():
        return _model_agent(parsed, {} if models is None else models)
    own = {f"bot/{name}": path for name, path in game.bots.items()}
    if parsed.name == BEST and BEST not in own:
        return agent(_best(parsed, game), game, models)
    if parsed.name in own:
        target = load(own[parsed.name])
    else:
        try:
            target = AGENTS.get(parsed.name)
        except UnknownName:
            raise UnknownName(
                "agent",
                parsed.name,
                [*AGENTS.names(), BEST, *own, *(f"{kind}/..." for kind in MODELS.names())],
            ) from None
    if parsed.address:
        raise BadOption(f"{parsed.name} has no address: {str(parsed)!r}.")
    made: Agent = configure(target, parsed.options, parsed.name)
    return made


def _best(spec: Spec, game: Game) -> str:
    if not game.best:
        raise BadOption(f"{game.name} has no {BEST}; its bots: {', '.join(game.bots) or 'none'}.")
    if spec.options or spec.address:
        raise BadOption(f"{BEST} takes no options; in {game.name} it is {game.best}.")
    return game.best


def _model_agent(spec: Spec, models: dict[str, Model]) -> Agent:
    from ludens.agents.vlm import Vlm
    from ludens.models.specs import ModelSpec

    parsed = ModelSpec.parse(spec)
    key = str(parsed.own)
    if key not in models:
        models[key] = parsed.make()
    return Vlm(models[key], parsed.prompt)
