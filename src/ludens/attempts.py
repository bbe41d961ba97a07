"""One attempt of a seat at a move: ask its agent within the time limit, read and check the reply.

After the last attempt comes the fallback.
"""

from __future__ import annotations

import asyncio
import logging
from time import perf_counter
from typing import Any

from ludens.core.activity import current_activity
from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Try, TryVerdict
from ludens.core.errors import AgentFailure, Illegal, Late, MoveError, UsageError
from ludens.core.plain import storable
from ludens.core.reply import read_action
from ludens.core.state import State
from ludens.core.sync import in_thread

log = logging.getLogger("ludens.attempts")
_NO_REPLY = Reply()


class SeatFailed(Exception):
    """Wraps an exception of an agent and names its seat."""

    def __init__(self, seat: str, message: str, cause: Exception) -> None:
        super().__init__(message)
        self.seat, self.cause = seat, cause


async def attempt(
    agent: Agent, ask: Ask, state: State, config: PlayConfig, over: asyncio.Future[None] | None = None
) -> tuple[Try, str | None]:
    """One reply, and the action in it: None when there is none or it is not legal.

    In a game with a clock, `over` is done when the step is over.
    """
    start, reply, action = perf_counter(), _NO_REPLY, None
    verdict: TryVerdict = "ok"
    reason, limit = "", config.seconds if agent.waits else None
    try:
        if over is not None and agent.waits:
            reply = await _reply_before(over, agent, ask)
        elif limit is None:
            reply = await _reply(agent, ask)
        else:
            async with asyncio.timeout(limit):
                reply = await _reply(agent, ask)
        action = _action(reply, ask, state, config)
    except MoveError as error:
        # What an agent rejects itself (a filtered reply) it does not reject because of the state.
        full = config.reasons == "full" or agent.unlimited_retries or error.reply is not None
        reply, verdict, reason = error.reply or reply, error.verdict, str(error) if full else error.kind
    except TimeoutError:
        verdict, reason = "late", late_reason(limit)
    ms = round((perf_counter() - start) * 1000, 3)
    direct = reply.action is not None
    # What was refused is recorded, so that it can be verified.
    reply_text = reply.action if verdict != "ok" and reply.action is not None else reply.text
    text = action if reply_text == action else _recorded(reply_text, config)
    reasoning = _recorded(reply.reasoning, config)
    finish, reason = storable(reply.finish), storable(reason)
    return Try(text, verdict, reason, finish, reply.usage, ms, reasoning, direct), action


async def _reply_before(over: asyncio.Future[None], agent: Agent, ask: Ask) -> Reply:
    """The reply of an agent if it comes before the step is over."""
    replying = asyncio.ensure_future(_reply(agent, ask))
    try:
        first: list[asyncio.Future[Any]] = [replying, over]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if not replying.done():
            raise Late("no reply before the step was over.")
        return replying.result()
    finally:
        if not replying.done():
            replying.cancel()
            await asyncio.wait([replying])


def late_reason(seconds: float | None) -> str:
    """What a player is told whose reply came too late."""
    return f"no reply within {seconds or 0:g} seconds."


async def _reply(agent: Agent, ask: Ask) -> Reply:
    try:
        if agent.waits:
            with current_activity().waiting():
                reply = await agent.act(ask)
        else:
            reply = await (in_thread(agent.act(ask)) if agent.computes else agent.act(ask))
        if not isinstance(reply, Reply):
            raise TypeError(f"act must return a Reply, not {reply!r}")
        return reply
    except (MoveError, UsageError):
        raise
    except AgentFailure as error:
        raise SeatFailed(ask.seat, str(error), error) from error
    except Exception as error:
        raise SeatFailed(ask.seat, f"{agent.spec} raised {type(error).__name__}: {error}", error) from error


def _action(reply: Reply, ask: Ask, state: State, config: PlayConfig) -> str:
    if reply.action is not None:
        action = _recorded(reply.action, config)
    else:
        try:
            action = read_action(ask.format, _recorded(reply.text, config), ask.legal)
        except MoveError as error:
            if error.__cause__ is not None:
                log.error("a reply format raised; the reply counts as unreadable", exc_info=error.__cause__)
            raise
    if (reason := state.refusal(ask.seat, action)) is not None:
        raise Illegal(reason)
    return action


def _recorded(text: str, config: PlayConfig) -> str:
    return storable(text[: config.reply_limit]) if text else ""
