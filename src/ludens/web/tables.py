"""All sessions of a server: found by id, bounded in number, forgotten when nobody comes back."""

from __future__ import annotations

import asyncio

from aiohttp import web

from ludens.web.sessions import Session

MOST = 2_000
"""Sessions at once."""
KEPT_SECONDS = 3_600.0
"""How long a session waits for people to come back."""
_SWEEP_SECONDS = 10.0


class Tables:
    """Sessions by id."""

    def __init__(self, most: int = MOST, kept: float = KEPT_SECONDS) -> None:
        self._sessions: dict[str, Session] = {}
        self._most, self._kept = most, kept

    def add(self, session: Session) -> None:
        """Keep a session; refuse it when there are too many."""
        if len(self._sessions) >= self._most:
            self.forget(0.0)
        if len(self._sessions) >= self._most:
            raise web.HTTPServiceUnavailable(text="Too many games are being played; try again later.")
        self._sessions[session.id] = session

    def get(self, name: str) -> Session | None:
        """The session with this id."""
        return self._sessions.get(name)

    def all(self) -> list[Session]:
        """Every session."""
        return list(self._sessions.values())

    def __len__(self) -> int:
        return len(self._sessions)

    def forget(self, seconds: float) -> None:
        """End games that nobody has looked at for so long, and forget sessions without one."""
        for name, session in list(self._sessions.items()):
            if min(seat.away() for seat in session.seats.values()) <= seconds:
                continue
            if not session.playing:
                del self._sessions[name]
            elif seconds:
                session.leave(next(iter(session.seats)))

    async def sweep(self) -> None:
        """Forget old sessions, for ever."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.forget(self._kept)

    async def close(self) -> None:
        """Stop all games."""
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
