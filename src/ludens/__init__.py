"""Ludens: vision-language models, bots and people play multi-agent visual games.

>>> import ludens
>>> game = ludens.make("tic_tac_toe")
>>> agents = {seat: ludens.agent("bot/random", game) for seat in game.seats}
>>> ludens.play_sync(game, agents, seed=7).status
'done'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ludens.core.loading import CATALOGUES

__version__ = "0.2.0"

CATALOGUES.update(
    {
        "ludens.games": ("ludens.games:CATALOGUE", "ludens.suites:GAMES"),
        "ludens.agents": ("ludens.agents:CATALOGUE",),
        "ludens.models": ("ludens.models:CATALOGUE", "ludens.train:MODELS"),
        "ludens.suites": ("ludens.suites:CATALOGUE",),
        "ludens.datasets": ("ludens.suites:DATASETS",),
        "ludens.pictures": ("ludens.games.spy.sources:CATALOGUE", "ludens.games.viki:CATALOGUE"),
    }
)

_PUBLIC = {
    "Agent": "ludens.core.agent",
    "Ask": "ludens.core.ask",
    "Reply": "ludens.core.agent",
    "Episode": "ludens.core.episode",
    "LudensError": "ludens.core.errors",
    "DecisionScore": "ludens.core.game",
    "Game": "ludens.core.game",
    "GameStage": "ludens.core.game",
    "Observer": "ludens.loop",
    "Place": "ludens.core.forms",
    "Places": "ludens.core.forms",
    "Touch": "ludens.core.options",
    "option": "ludens.core.options",
    "Stream": "ludens.core.random",
    "stream": "ludens.core.random",
    "make": "ludens.core.registry",
    "GAMES": "ludens.core.registry",
    "replay": "ludens.core.replay",
    "verify": "ludens.core.verify",
    "ActionFormat": "ludens.core.reply",
    "MessageFormat": "ludens.core.reply",
    "ReplyFormat": "ludens.core.reply",
    "Legal": "ludens.core.state",
    "State": "ludens.core.state",
    "PlayConfig": "ludens.core.config",
    "RenderOptions": "ludens.core.view",
    "Observation": "ludens.core.view",
    "View": "ludens.core.view",
    "agent": "ludens.agents",
    "play": "ludens.loop",
    "play_sync": "ludens.concurrent",
    "rollouts": "ludens.concurrent",
    "Evaluation": "ludens.evaluation",
    "evaluate": "ludens.evaluation",
    "Sample": "ludens.rebuild",
    "samples": "ludens.rebuild",
}

__all__ = sorted([*_PUBLIC, "__version__"])

if TYPE_CHECKING:
    from ludens.agents import agent as agent
    from ludens.concurrent import play_sync as play_sync
    from ludens.concurrent import rollouts as rollouts
    from ludens.core.agent import Agent as Agent
    from ludens.core.agent import Reply as Reply
    from ludens.core.ask import Ask as Ask
    from ludens.core.config import PlayConfig as PlayConfig
    from ludens.core.episode import Episode as Episode
    from ludens.core.errors import LudensError as LudensError
    from ludens.core.forms import Place as Place
    from ludens.core.forms import Places as Places
    from ludens.core.game import DecisionScore as DecisionScore
    from ludens.core.game import Game as Game
    from ludens.core.game import GameStage as GameStage
    from ludens.core.options import Touch as Touch
    from ludens.core.options import option as option
    from ludens.core.random import Stream as Stream
    from ludens.core.random import stream as stream
    from ludens.core.registry import GAMES as GAMES
    from ludens.core.registry import make as make
    from ludens.core.replay import replay as replay
    from ludens.core.reply import ActionFormat as ActionFormat
    from ludens.core.reply import MessageFormat as MessageFormat
    from ludens.core.reply import ReplyFormat as ReplyFormat
    from ludens.core.state import Legal as Legal
    from ludens.core.state import State as State
    from ludens.core.verify import verify as verify
    from ludens.core.view import Observation as Observation
    from ludens.core.view import RenderOptions as RenderOptions
    from ludens.core.view import View as View
    from ludens.evaluation import Evaluation as Evaluation
    from ludens.evaluation import evaluate as evaluate
    from ludens.loop import Observer as Observer
    from ludens.loop import play as play
    from ludens.rebuild import Sample as Sample
    from ludens.rebuild import samples as samples


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ludens' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
