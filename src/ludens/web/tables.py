"""All tables of a server: which are kept, for how long, and where their games are saved."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from pathlib import Path
from secrets import token_hex

from aiohttp import web

from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.spec import Spec
from ludens.run.plan import Plan, make_plan
from ludens.run.store import Store
from ludens.web.journal import FOLDER, JournalFolder
from ludens.web.sessions import HUMAN, Session, Setup


def plan_of(setup: Setup) -> Plan:
    suite = Spec("play", None, {"game": spec_of(setup.game)})
    return make_plan(
        str(suite),
        {HUMAN: HUMAN},
        {seat: spec for seat, spec in setup.specs.items() if spec != HUMAN},
        seed=setup.seed,
        theme=setup.render.theme,
        size=setup.render.size,
    )


def spec_of(game: Game) -> str:
    usual = make(game.name).options
    changed = {name: str(value) for name, value in game.options.items() if value != usual[name]}
    return str(Spec(game.name, None, changed))


def folder_of(runs: Path) -> Path:
    """Where runs are kept, also where only one of them is shown."""
    return runs.parent if (runs / "run.json").exists() else runs


def new_run_name(game: Game) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", game.name.lower())
    return f"play-{datetime.now():%Y%m%d-%H%M%S}-{name}-{token_hex(3)}"


def save_game(folder: Path, setup: Setup, episode: Episode) -> None:
    """Write the episode into a run folder of its own, unless it is there."""
    plan = plan_of(setup)
    [job] = plan.jobs
    with Store.create(folder, plan, durable=True) as store:
        if not store.done and not store.voids:
            store.save(job, episode)


MOST = 2_000
KEPT_SECONDS = 3_600.0
"""How long a session waits for people to come back."""
_SWEEP_SECONDS = 10.0


class Tables:
    """The tables of the Play pages.

    Args:
        runs: The folder of runs; without one, nothing is kept.
        most: How many there may be.
    """

    def __init__(self, runs: Path | None = None, most: int = MOST) -> None:
        self.sessions: dict[str, Session] = {}
        self.journals = JournalFolder(folder_of(runs) / FOLDER if runs is not None else None)
        self._most = most

    def add(self, session: Session) -> None:
        """Keep a session; refuse it when there are too many."""
        if len(self.sessions) >= self._most:
            self.forget(0.0)
        if len(self.sessions) >= self._most:
            raise web.HTTPServiceUnavailable(text="Too many games are being played; try again later.")
        self.sessions[session.id] = session

    def forget(self, seconds: float) -> None:
        """End games that nobody has looked at for this many seconds, and forget sessions without a game."""
        for name, session in list(self.sessions.items()):
            if min(seat.away() for seat in session.seats.values()) <= seconds:
                continue
            if not session.playing:
                del self.sessions[name]
                session.journal.delete()
            elif seconds:
                session.leave(next(iter(session.seats)))

    async def sweep(self) -> None:
        """Forget old sessions at intervals, until cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.forget(KEPT_SECONDS)

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in self.sessions.values()))
        self.journals.close()
