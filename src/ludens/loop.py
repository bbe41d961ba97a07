"""One episode, from first state to last: the heart of Ludens.

Ask every seat whose turn it is, read the replies, tell an agent what was wrong and let it try again as
the table allows, else apply the table's fallback; record everything; return an `Episode`. Nothing here
knows which game is played or who plays it. Many episodes may run at once on one event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from time import perf_counter

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig, check_seats
from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import AgentFailure, Illegal, Late, MoveError, UsageError
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.state import FreeText, Legal, State
from ludens.core.view import RenderOptions, View, view_of


@dataclass(frozen=True, slots=True)
class StepEvent:
    """What the hook sees after each step: the moves made and the state they led to."""

    step: int
    state: State
    moves: tuple[Move, ...]


Hook = Callable[[StepEvent], None]


async def play(
    game: Game,
    agents: Mapping[str, Agent],
    seed: int,
    *,
    render: RenderOptions | None = None,
    config: PlayConfig | None = None,
    hook: Hook | None = None,
    sample: int = 0,
) -> Episode:
    """Play one episode. A failing agent or game voids the episode; what was played until then is kept.

    Args:
        game: What is played.
        agents: Who sits where; every seat needs one, and one agent may sit in several.
        seed: Fixes everything random: deals, bots, fallbacks.
        look: Theme and size of the pictures.
        table: Retries, fallback and limits.
        hook: Called after each step.
        sample: Tells apart several episodes of one seed.
    """
    render, config = render or RenderOptions(), config or PlayConfig()
    check_seats(game, agents)
    episode = Episode(
        game=game.name,
        version=game.version,
        options=game.options,
        seed=seed,
        seats={seat: agents[seat].spec for seat in game.seats},
        theme=render.theme,
        size=render.size,
        config=asdict(config),
        sample=sample,
    )
    try:
        await _play(episode, game, agents, render, config, hook)
    except UsageError:
        raise
    except Exception as error:
        episode.status, episode.error = "void", f"{game.name} raised {type(error).__name__}: {error}"
    return episode


async def _play(
    episode: Episode,
    game: Game,
    agents: Mapping[str, Agent],
    render: RenderOptions,
    config: PlayConfig,
    hook: Hook | None,
) -> None:
    seed = episode.seed
    players = {seat: agents[seat].sit(game, seat, stream(seed, "agent", seat)) for seat in game.seats}
    sitting = _Sitting(view_of(game, render, seed), game.start(seed), players, config, seed)
    state = sitting.state
    try:
        while (to_act := state.to_act) and sitting.step < config.horizon:
            moves = await sitting.moves(to_act)
            episode.moves += moves
            if config.fallback == "forfeit" and (lost := [m.seat for m in moves if m.verdict == "fallback"]):
                episode.status, episode.culprit = "forfeit", lost[0]
                episode.returns = state.forfeited(lost[0])
                break
            state.apply({move.seat: move.action for move in moves})
            if hook is not None:
                hook(StepEvent(sitting.step, state, moves))
            sitting.step += 1
        else:
            episode.status = "horizon" if to_act else "done"
            episode.returns = state.returns
    except _Failure as failure:
        episode.status, episode.culprit, episode.error = "void", failure.seat, str(failure)
        episode.unfinished = [move for move in sitting.begun[len(episode.moves) :] if move.tries]
        episode.returns = state.returns
    episode.facts = state.facts
    episode.remarks = sorted({note for player in players.values() for note in player.remarks})


class _Failure(Exception):
    def __init__(self, seat: str, message: str) -> None:
        super().__init__(message)
        self.seat = seat


class _Sitting:
    """The table while an episode lasts."""

    def __init__(
        self, view: View, state: State, players: dict[str, Agent], config: PlayConfig, seed: int
    ) -> None:
        self.view, self.state, self.players, self.config, self.seed = view, state, players, config, seed
        self.step, self._made = 0, dict.fromkeys(players, 0)
        self.begun: list[Move] = []

    async def moves(self, to_act: tuple[str, ...]) -> tuple[Move, ...]:
        """One move of every seat in turn, asked together when there is something to wait for."""
        if sum(self.players[seat].waits for seat in to_act) < 2:
            return tuple([await self._move(seat) for seat in to_act])
        results = await asyncio.gather(*map(self._move, to_act), return_exceptions=True)
        if failures := [result for result in results if isinstance(result, BaseException)]:
            raise failures[0]
        return tuple(result for result in results if isinstance(result, Move))

    async def _move(self, seat: str) -> Move:
        """Ask until the reply is a move or patience ends."""
        state, player = self.state, self.players[seat]
        legal, reply_format = state.legal(seat), self.view.format(state, seat)
        observation = self.view.observe(state, seat, player.sees)
        move = Move(self.step, seat, "", "void", [picture.hash for picture in observation.images])
        self.begun.append(move)
        ask = Ask(
            seat=seat,
            legal=legal,
            format=reply_format,
            observation=observation,
            rules="" if player.sees in ("state", "nothing") else self.view.rules(seat),
            listed=self.config.listed,
            move=self._made[seat],
            state=state if player.sees == "state" else None,
        )
        self._made[seat] += 1
        started = perf_counter()
        while len(move.tries) <= self.config.retries:
            tried, action = await self._try(player, ask)
            if action is not None:
                move.action, move.verdict = action, "retried" if move.tries else "ok"
                if move.tries or tried.usage is not None or tried.text != action:
                    move.tries.append(tried)
                break
            move.tries.append(tried)
            ask = replace(ask, refused=(*ask.refused, (tried.text, tried.reason)))
        else:
            move.action, move.verdict = self._fall_back(move, legal), "fallback"
        move.ms = round((perf_counter() - started) * 1000, 3)
        return move

    async def _try(self, player: Agent, ask: Ask) -> tuple[Try, str | None]:
        """One reply, read and judged; the action is None when it is no move."""
        started, reply = perf_counter(), Reply("")
        try:
            reply = await self._reply(player, ask)
            text = self._heard(reply)
            action = ask.format.read(text, ask.legal) if reply.action is None else reply.action
            if (reason := self.state.refusal(ask.seat, action)) is not None:
                raise Illegal(reason)
            tried = Try(text, finish=reply.finish, usage=reply.usage)
        except MoveError as error:
            action, reply = None, error.reply or reply
            tried = Try(self._heard(reply), error.verdict, str(error), reply.finish, reply.usage)
        tried.ms = round((perf_counter() - started) * 1000, 3)
        return tried, action

    def _heard(self, reply: Reply) -> str:
        """As much of the reply as the table reads, without halves of characters that no file can hold."""
        return reply.text[: self.config.reply_limit].encode(errors="replace").decode()

    async def _reply(self, player: Agent, ask: Ask) -> Reply:
        try:
            reply = await self._in_time(player, ask)
            if not isinstance(reply, Reply):
                raise TypeError(f"a Reply is needed, not {reply!r}")
            return reply
        except (MoveError, UsageError):
            raise
        except Exception as error:
            known = isinstance(error, AgentFailure)
            told = str(error) if known else f"{player.spec} raised {type(error).__name__}: {error}"
            raise _Failure(ask.seat, told) from error

    async def _in_time(self, player: Agent, ask: Ask) -> Reply:
        if self.config.seconds is None or not player.waits:
            return await player.act(ask)
        try:
            async with asyncio.timeout(self.config.seconds) as clock:
                return await player.act(ask)
        except TimeoutError:
            if not clock.expired():  # the agent's own trouble
                raise
            raise Late(f"no reply came within {self.config.seconds:g} seconds.") from None

    def _fall_back(self, move: Move, legal: Legal) -> str:
        if self.config.fallback == "forfeit" or isinstance(legal, FreeText):
            return ""
        if self.config.fallback == "first":
            return legal[0]
        return stream(self.seed, "fallback", move.step, move.seat).choice(legal)
