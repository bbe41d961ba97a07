"""Playing an episode once more: bots choose again from its seed, all other players repeat their recorded
replies.

`core.verify` replays actions; here the loop itself runs, so that a bot's move that the bot would not make is
noticed, and so is every prompt that differs from the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import cast, get_args

import orjson

from ludens.agents import agent
from ludens.agents.vlm import FILTERED, prompt
from ludens.attempts import late_reason
from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask, History
from ludens.core.config import episode_stream
from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import Late, ReplayMismatch, Unreadable, UsageError
from ludens.core.game import Game
from ludens.core.options import options_of
from ludens.core.plain import shorten
from ludens.core.replay import config_of, game_of
from ludens.core.sync import run_sync
from ludens.core.view import RenderOptions, Sees
from ludens.loop import Observer, StepEvent, play
from ludens.models.settings import PromptOptions
from ludens.rebuild import is_model_seat, prompt_options_of


@dataclass(frozen=True, slots=True)
class Reenactment:
    """What playing an episode once more has shown."""

    prompts: str
    """A hash of all prompts of models, in order."""
    prompt_count: int
    """Number of prompts."""
    bots: Mapping[str, int]
    """Spec of each bot that chose again to the number of its moves."""
    recorded_players: frozenset[str]
    """Specs of the players whose replies were repeated."""


def reenact(episode: Episode) -> Reenactment:
    """Play a finished episode once more; raises `ReplayMismatch` if it differs from what was recorded."""
    game = game_of(episode)
    bots = {seat: spec for seat, spec in episode.seats.items() if chooses_again(spec, game)}
    players: dict[str, Agent] = {
        seat: agent(spec, game) if seat in bots else _Recorded.of(episode, seat)
        for seat, spec in episode.seats.items()
    }
    witness, config = _Witness(episode), config_of(episode)
    render, sample = RenderOptions(episode.theme, episode.size), episode.sample
    once_more = play(
        game, players, episode.seed, sample=sample, render=render, config=config, observer=witness
    )
    try:
        again = run_sync(once_more)
    except UsageError:
        raise
    except Exception as error:
        raise ReplayMismatch(f"played once more, it raised {type(error).__name__}: {error}") from error
    if again.fingerprint() != episode.fingerprint():
        raise ReplayMismatch(f"played once more, it has other {_difference(episode, again)}.")
    counts = Counter(episode.seats[move.seat] for move in episode.moves if move.seat in bots)
    recorded_players = frozenset(spec for seat, spec in episode.seats.items() if seat not in bots)
    return Reenactment(witness.digest.hexdigest(), witness.prompts, dict(counts), recorded_players)


@lru_cache(maxsize=256)
def chooses_again(spec: str, game: Game) -> bool:
    """Whether a player is a bot whose seed determines its moves, and that can be made here.

    Bots that reach outside (an engine is a program) are not asked again, whatever their options are.
    """
    try:
        player = agent(spec, game) if spec.startswith("bot/") else None
        if player is None or any(f.metadata["touches"] for f in options_of(type(player)).values()):
            return False
        for seat in game.seats:
            player.sit(game, seat, episode_stream(0, 0, "agent", seat))
        return True
    except UsageError:  # a missing extra, for example
        return False


@dataclass
class _Recorded(Agent):
    """Gives the replies of one seat of an episode again."""

    name: str = ""
    moves: Sequence[Move] = ()
    prompt_options: PromptOptions = field(default_factory=PromptOptions)
    seconds: float | None = None
    """Time limit of a reply."""
    kind = "recorded"

    @staticmethod
    def of(episode: Episode, seat: str) -> _Recorded:
        moves = [move for move in episode.moves if move.seat == seat]
        seconds, options = config_of(episode).seconds, prompt_options_of(episode, seat)
        player = _Recorded(episode.seats[seat], moves, options, seconds)
        player.sees = _sees(episode, seat)
        player.unlimited_retries = seat in (episode.unlimited_retries or ())
        return player

    @property
    def spec(self) -> str:
        return self.name

    def history(self) -> History:
        return self.prompt_options.history()

    def begin(self) -> None:
        self._replies = _replies(self.moves)

    async def act(self, ask: Ask) -> Reply:
        move, tried = next(self._replies, (None, None))
        if move is None:
            raise ReplayMismatch(f"{self.seat} must reply once more in step {ask.step}.")
        if tried is None:
            return Reply(move.action, move.action)
        if tried.verdict == "late":
            late = Late(late_reason(self.seconds))
            late.reply = Reply("", None, tried.usage, tried.finish, tried.reasoning)
            raise late
        if tried.finish == "filtered":
            filtered = Unreadable(FILTERED)
            filtered.reply = Reply(tried.text, None, tried.usage, tried.finish, tried.reasoning)
            raise filtered
        action = (move.action if tried.verdict == "ok" else tried.text) if tried.direct else None
        return Reply(tried.text, action, tried.usage, tried.finish, tried.reasoning)


def _sees(episode: Episode, seat: str) -> Sees:
    sees = episode.sees.get(seat)
    if sees not in get_args(Sees):
        raise ReplayMismatch(f"what {seat} looks at is not recorded.")
    return cast(Sees, sees)


def _replies(moves: Sequence[Move]) -> Iterator[tuple[Move, Try | None]]:
    """Every reply with its move; None where the reply was the action itself."""
    for move in moves:
        yield from ((move, tried) for tried in move.tries)
        if not move.tries:
            yield move, None


class _Witness(Observer):
    """Compares every step with the recorded one, and hashes the prompts of models."""

    def __init__(self, episode: Episode) -> None:
        self._episode, self._steps = episode, dict[int, list[Move]]()
        for move in episode.moves:
            self._steps.setdefault(move.step, []).append(move)
        self._options = {
            seat: prompt_options_of(episode, seat) for seat in episode.seats if is_model_seat(episode, seat)
        }
        self.digest, self.prompts = blake2b(digest_size=16), 0

    def replied(self, ask: Ask, attempt: Try) -> None:
        if ask.seat in self._options:
            for message in prompt(ask, self._options[ask.seat]):
                parts = [part if isinstance(part, str) else {"picture": part.hash} for part in message.parts]
                self.digest.update(orjson.dumps([message.role, parts]))
            self.prompts += 1

    def stepped(self, event: StepEvent) -> None:
        recorded = {move.seat: move for move in self._steps.get(event.step, ())}
        for move in event.moves:
            expected = recorded.get(move.seat)
            if expected is None or expected.action != move.action:
                expected_action = "nothing" if expected is None else repr(shorten(expected.action))
                raise ReplayMismatch(
                    f"the move of {move.seat} in step {event.step} is {expected_action}, but "
                    f"{self._episode.seats[move.seat]} plays {shorten(move.action)!r} there."
                )


def _difference(episode: Episode, again: Episode) -> str:
    """The first part in which two episodes differ, in words."""
    parts = ("templates", "prompt_templates", "status", "returns", "facts", "culprit", "moves")
    return next(
        (name.replace("_", " ") for name in parts if getattr(episode, name) != getattr(again, name)), "parts"
    )
