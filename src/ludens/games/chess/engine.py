"""A chess player: any engine that speaks UCI, such as Stockfish."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import Touch, option
from ludens.games.open_spiel.adapter import SpielState

if TYPE_CHECKING:
    import pyspiel

_PLACES = ("/usr/games", "/usr/local/games", "/opt/homebrew/bin")
_SECONDS = 20
"""Within which an engine must say that it speaks UCI."""


@dataclass
class Uci(Agent):
    """One engine process per seat; one thread and a node limit make it deterministic.

    There is no skill level: engines choose among weaker moves at random, with a seed that cannot be set.
    """

    engine: str = option("stockfish", help="name or path of the engine", touches=Touch.RUN)
    nodes: int = option(
        1000,
        low=1,
        high=100_000_000,
        help="positions the engine may look at for a move; fewer make it weaker",
    )
    seconds: float = option(
        0.0,
        low=0,
        high=600,
        help="time for a move instead of a number of positions; games then differ between runs",
    )
    kind = "bot/uci"
    sees = "state"
    computes = True

    def begin(self) -> None:
        self._bot: pyspiel.Bot | None = None
        self._path = find_engine(self.engine)
        if self.game.name != "chess":
            raise BadOption(f"bot/uci plays chess, not {self.game.name}.")
        check_speaks_uci(self._path)

    def _started(self) -> pyspiel.Bot:
        import pyspiel

        limits = pyspiel.SearchLimitType
        limit = (round(1000 * self.seconds), limits.MOVETIME) if self.seconds else (self.nodes, limits.NODES)
        return pyspiel.make_uci_bot(self._path, limit[0], False, {"Threads": "1"}, limit[1], True)

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpielState)
        if self._bot is None:
            self._bot = self._started()
        action = state.name_of(self._bot.step(state.spiel))
        return Reply(action, action)


def find_engine(name: str) -> str:
    """The engine's path; raises `BadOption` when it is not found."""
    path = Path(name)
    if path.is_absolute() or len(path.parts) > 1:
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise BadOption(f"there is no executable chess engine at {name!r}.")
        return str(path)
    found = shutil.which(name) or next((str(p) for d in _PLACES if (p := Path(d) / name).is_file()), None)
    if found is None:
        raise BadOption(f"no chess engine {name!r} is installed; install it, or give engine=PATH.")
    return found


@lru_cache(maxsize=16)
def check_speaks_uci(path: str) -> None:
    """Raise `BadOption` for a program that does not answer as the UCI protocol demands."""
    command = "uci\nquit\n"
    try:
        ran = subprocess.run([path], input=command, capture_output=True, text=True, timeout=_SECONDS)
        answered = "uciok" in ran.stdout.split()
    except (OSError, ValueError, subprocess.TimeoutExpired):
        answered = False
    if not answered:
        raise BadOption(f"{path!r} is not a chess engine that speaks UCI; give engine=PATH of one that does.")
