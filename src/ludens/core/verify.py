"""Verifying an episode: everything that follows from its seed, its config and the replies is recomputed.

Verified are the rules (who acts, which actions are legal, returns, facts, status), the pictures shown, what
each reply was read as, retries and fallbacks. Who replied, how long it took and what it cost cannot be
verified from an episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast, get_args

from ludens.core.config import fallback_action, forfeits
from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import Ambiguous, Illegal, MoveError, ReplayMismatch, Unreadable, UsageError
from ludens.core.game import Game
from ludens.core.plain import plural
from ludens.core.replay import config_of, game_of, render_options_of, replay
from ludens.core.reply import read_action
from ludens.core.state import State
from ludens.core.tools import ToolFormat, acts_by_tools
from ludens.core.view import Sees, pictures_match, view_of

_PERSON = "human"
"""The only agent with `unlimited_retries` in episodes that do not record it."""
_KINDS = frozenset(error.kind for error in (Unreadable, Ambiguous, Illegal))


@dataclass(frozen=True, slots=True)
class Verified:
    """How much of an episode was verified."""

    moves: int = 0
    """Moves that were replayed, with retries and fallbacks."""
    replies: int = 0
    """Replies whose verdict was recomputed: not late ones, and not where an agent gave the action itself."""
    pictures: int = 0
    """Pictures that were rendered again and have the recorded hash."""

    def __add__(self, other: Verified) -> Verified:
        return Verified(
            self.moves + other.moves, self.replies + other.replies, self.pictures + other.pictures
        )

    def __str__(self) -> str:
        replies, pictures = plural(self.replies, "reply"), plural(self.pictures, "picture")
        return f"{plural(self.moves, 'move')}, {replies} and {pictures} verified"


def verify(episode: Episode, game: Game | None = None, state: State | None = None) -> Verified:
    """Replay an episode and raise `ReplayMismatch` if anything differs from what was recorded.

    Args:
        episode: What to verify.
        game: Its game, where it is not registered.
        state: The state in which it began, where the episode does not record how to reach it.
    """
    try:
        return _Verifier(episode, game_of(episode, game)).verify(state)
    except UsageError:
        raise
    except Exception as error:
        if episode.status == "void" and not episode.culprit:  # the game failed then, too
            return Verified()
        raise ReplayMismatch(f"the replay raised {type(error).__name__}: {error}") from error


class _Verifier:
    def __init__(self, episode: Episode, game: Game) -> None:
        self.episode, self.game, self.config = episode, game, config_of(episode)
        if set(episode.seats) != set(game.seats):
            raise ReplayMismatch(f"the seats of the episode are not those of {game.name}.")
        if episode.sees and (
            set(episode.sees) != set(game.seats) or not set(episode.sees.values()) <= set(get_args(Sees))
        ):
            raise ReplayMismatch("what the seats of the episode look at is not valid.")
        if not set(episode.unlimited_retries or ()) <= set(game.seats):
            raise ReplayMismatch("a seat with unlimited retries is not one of the episode.")
        self.view = view_of(game, render_options_of(episode), episode.seed)
        pictured = {move.seat for move in (*episode.moves, *episode.unfinished) if move.pictures}
        self.looks = {
            seat: self.view.modality(seat, cast(Sees, episode.sees[seat])) in ("image", "both")
            if episode.sees
            else seat in pictured
            for seat in game.seats
        }

    def verify(self, start: State | None) -> Verified:
        episode = self.episode
        verified, lost = Verified(), list[str]()
        for step in replay(episode, self.game, start):
            if lost and (step.moves or episode.status != "forfeit"):
                raise ReplayMismatch(f"{lost[0]} forfeits in step {step.index - 1}, but the game goes on.")
            for move in step.moves:
                verified += self._move(step.state, move)
                if move.verdict == "fallback" and forfeits(step.state, move.seat, self.config):
                    lost.append(move.seat)
        for move in episode.unfinished:
            verified += self._unfinished(step.state, move, step.index)
        if episode.status == "forfeit" and lost[:1] != [episode.culprit]:
            raise ReplayMismatch(f"the last step does not show that {episode.culprit!r} forfeited.")
        if problem := next(self._status_problems(step.state, step.index), ""):
            raise ReplayMismatch(f"the episode is {episode.status}, but {problem}.")
        self._compare_results(step.state)
        return verified

    def _move(self, state: State, move: Move) -> Verified:
        """Verify a finished move: its replies, verdict and action."""
        verdicts = [tried.verdict for tried in move.tries]
        ends_ok = not verdicts or verdicts[-1] == "ok"
        expected = "fallback" if not ends_ok else "retried" if len(verdicts) > 1 else "ok"
        if move.verdict != expected or "ok" in verdicts[:-1]:
            raise _mismatch(move, f"is recorded as {move.verdict}, which does not follow from its replies")
        limit = self.config.retries + 1
        if len(verdicts) > limit and not self._unlimited(move.seat):
            raise _mismatch(move, f"has {len(verdicts)} replies, but only {limit} were allowed")
        if not ends_ok:
            if len(verdicts) < limit and self.game.step_seconds is None:
                raise _mismatch(move, "is a fallback, but not all retries were used")
            seed, sample = self.episode.seed, self.episode.sample
            if move.action != fallback_action(state, move.seat, self.config, seed, sample, move.step):
                raise _mismatch(move, "is not the fallback action of its config")
        return Verified(1, self._replies(state, move), self._pictures(state, move))

    def _unfinished(self, state: State, move: Move, step: int) -> Verified:
        """Verify a move of the step in which the episode was voided."""
        if self.episode.status != "void":
            raise ReplayMismatch(f"the episode is {self.episode.status} but has an unfinished step.")
        if move.step != step or move.seat not in state.to_act or not move.tries:
            raise _mismatch(move, "is not an unfinished move of the last step")
        if move.verdict != "void":
            if (reason := state.refusal(move.seat, move.action)) is not None and move.verdict != "fallback":
                raise _mismatch(move, f"is not legal: {reason}")
            return self._move(state, move)
        if move.action or any(tried.verdict == "ok" for tried in move.tries):
            raise _mismatch(move, "is recorded as void, but has an action")
        if len(move.tries) > self.config.retries and not self._unlimited(move.seat):
            raise _mismatch(move, "is recorded as void, but its retries were used up")
        return Verified(0, self._replies(state, move), self._pictures(state, move))

    def _unlimited(self, seat: str) -> bool:
        if self.episode.unlimited_retries is not None:
            return seat in self.episode.unlimited_retries
        return self.episode.seats[seat].partition("?")[0] == _PERSON

    def _replies(self, state: State, move: Move) -> int:
        """Read every reply again; returns how many verdicts were recomputed."""
        return sum(self._reply(state, move, number, tried) for number, tried in enumerate(move.tries, 1))

    def _reply(self, state: State, move: Move, number: int, tried: Try) -> bool:
        if len(tried.text) > self.config.reply_limit:
            raise _mismatch(move, f"has a reply longer than {self.config.reply_limit} characters")
        if tried.verdict == "late":
            if (self.config.seconds is None and self.game.step_seconds is None) or tried.text:
                raise _mismatch(move, f"has reply {number} recorded as late, but it cannot have been")
            return False
        if tried.verdict != "ok" and self._tells_too_much(move, tried):
            raise _mismatch(move, f"has reply {number} refused with more than the kind of its fault")
        if tried.direct:
            if tried.verdict == "ok":
                return False
            action, verdict = tried.text, "ok" if state.refusal(move.seat, tried.text) is None else "illegal"
        else:
            action, verdict = self._read(state, move.seat, tried.said)
        if (verdict == "ok") != (tried.verdict == "ok"):
            raise _mismatch(move, f"has reply {number} recorded as {tried.verdict}, but it is {verdict}")
        if verdict == "ok" and action != move.action:
            raise _mismatch(move, f"has the action {move.action!r}, but reply {number} says {action!r}")
        if verdict != tried.verdict and tried.said:
            raise _mismatch(move, f"has reply {number} recorded as {tried.verdict}, but it is {verdict}")
        return True

    def _tells_too_much(self, move: Move, tried: Try) -> bool:
        """Whether a player was told why a reply was refused although only kinds of faults may be told."""
        may_tell = self.config.reasons == "full" or self._unlimited(move.seat) or tried.finish == "filtered"
        return not may_tell and tried.reason not in _KINDS

    def _read(self, state: State, seat: str, text: str) -> tuple[str, str]:
        try:
            format = self.view.format(state, seat)
            by_tools = acts_by_tools(self.episode.seats[seat])
            action = read_action(ToolFormat(format) if by_tools else format, text, state.legal(seat))
        except MoveError as error:
            return "", error.verdict
        return action, "ok" if state.refusal(seat, action) is None else "illegal"

    def _pictures(self, state: State, move: Move) -> int:
        pictures = self.view.images(state, move.seat) if self.looks[move.seat] else ()
        if not pictures_match(pictures, move.pictures):
            problem = "differ" if move.pictures else "are not recorded"
            raise ReplayMismatch(f"the pictures shown to {move.seat} in step {move.step} {problem}.")
        return len(pictures)

    def _status_problems(self, state: State, steps: int) -> Iterator[str]:
        """Why the episode cannot have ended as recorded."""
        episode, horizon = self.episode, self.config.horizon
        if steps > horizon or (episode.unfinished and steps >= horizon):
            yield f"it has more steps than its horizon of {horizon}"
        if episode.status != "void" and episode.error:
            yield "it has an error"
        if episode.status in ("done", "horizon") and episode.culprit:
            yield "it has a culprit"
        if episode.status == "done" and not state.over:
            yield "its moves do not end the game"
        if episode.status in ("horizon", "forfeit") and state.over:
            yield "its moves end the game"
        if episode.status == "horizon" and steps != horizon:
            yield f"its horizon of {horizon} was not reached"
        if episode.status == "void":
            if not episode.error:
                yield "it has no error"
            if episode.culprit and episode.culprit not in state.to_act:
                yield f"{episode.culprit!r} did not have to act"

    def _compare_results(self, state: State) -> None:
        episode, returns, facts = self.episode, state.returns, state.facts
        if episode.status == "forfeit":
            returns = state.forfeited(episode.culprit)
        elif episode.status == "void" and not episode.culprit:
            returns, facts = {}, {}
        for name, replayed in (("returns", returns), ("facts", facts)):
            if replayed != getattr(episode, name):
                raise ReplayMismatch(f"the replayed {name} differ from the recorded ones.")


def _mismatch(move: Move, problem: str) -> ReplayMismatch:
    return ReplayMismatch(f"the move of {move.seat} in step {move.step} {problem}.")
