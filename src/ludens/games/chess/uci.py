"""Any chess engine that speaks UCI, by path or by name, through OpenSpiel."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.games.open_spiel.adapter import SpielState

if TYPE_CHECKING:
    import pyspiel

_PLACES = ("/usr/games", "/usr/local/games", "/opt/homebrew/bin")


@dataclass
class Uci(Agent):
    """One engine process for every seat; one thread and a limit of nodes, so that a seed gives one game."""

    engine: str = option("stockfish", help="name or path of the engine")
    nodes: int = option(1000, low=1, high=100_000_000, help="positions the engine may look at for a move")
    skill: int = option(
        -1, low=-1, high=20, help="the engine's Skill Level, where it has one; -1 for full strength"
    )
    kind = "bot/uci"
    sees = "state"

    def begin(self) -> None:
        self._bot: pyspiel.Bot | None = None
        self._path = find_engine(self.engine)
        if self.game.name != "chess":
            raise BadOption(f"bot/uci plays chess, not {self.game.name}.")

    def _started(self) -> pyspiel.Bot:
        import pyspiel

        options = {"Threads": "1"} | ({"Skill Level": str(self.skill)} if self.skill >= 0 else {})
        nodes = pyspiel.SearchLimitType.NODES
        return pyspiel.make_uci_bot(self._path, self.nodes, False, options, nodes, True)

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpielState)
        if self._bot is None:
            self._bot = self._started()
        action = state.name_of(self._bot.step(state.spiel))
        return Reply(action, action)


def find_engine(name: str) -> str:
    """Where the engine lies; a `BadOption` when it is nowhere."""
    path = Path(name)
    if path.is_absolute() or len(path.parts) > 1:
        if not path.is_file():
            raise BadOption(f"there is no chess engine at {name!r}.")
        return str(path)
    found = shutil.which(name) or next((str(p) for d in _PLACES if (p := Path(d) / name).is_file()), None)
    if found is None:
        raise BadOption(f"no chess engine {name!r} is installed; install it, or give engine=PATH.")
    return found
