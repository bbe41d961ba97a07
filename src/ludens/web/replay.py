"""One episode, replayed: what every seat saw and did in each step."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import UsageError
from ludens.core.replay import Step, game_of, render_options_of, replay
from ludens.core.state import State
from ludens.core.verify import verify
from ludens.core.view import Picture, view_of
from ludens.models.chat import Message
from ludens.rebuild import Sample, is_model_seat, prompt_options_of, samples
from ludens.run.report.html import visible

MAX_PICTURES = 400
"""Pictures of an episode that are kept."""
REPLY, PROMPT, EARLIER, MESSAGES = 20_000, 12_000, 600, 40
"""Characters shown of a reply, of a new message in a prompt and of an earlier one; messages of a prompt."""

Prompt = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture as it is sent."""

    png: bytes
    hash: str
    width: int
    height: int


class EpisodeReplay:
    """An episode whose states are at hand; pictures are rendered when they are asked for.

    Only one thread may use it at a time.
    """

    def __init__(self, key: str, episode: Episode) -> None:
        self.key, self.episode = key, episode
        self.error = ""
        """Why it cannot be replayed, or not to the end."""
        self.steps: list[Step] = []
        self._pictures: OrderedDict[tuple[int, str], tuple[Shown, ...]] = OrderedDict()
        self._prompts: dict[tuple[int, str], list[Prompt]] = {}
        self._rebuilt: Iterator[tuple[int, Iterable[Sample]]] | None = None
        self._verified: dict[str, Any] | None = None
        try:
            self.game = game_of(episode)
            self.view = view_of(self.game, render_options_of(episode), episode.seed)
            self.steps += replay(episode, self.game)
        except UsageError as error:
            self.error = str(error)

    @property
    def seats(self) -> tuple[str, ...]:
        """The seats, in playing order."""
        return tuple(self.episode.seats)

    def about(self) -> dict[str, Any]:
        """What the page says about the whole episode."""
        episode, usage = self.episode, self.episode.usage()
        return {
            "key": self.key,
            "game": episode.game,
            "seed": episode.seed,
            "seats": episode.seats,
            "status": episode.status,
            "culprit": episode.culprit,
            "returns": episode.returns,
            "problem": _text(episode.error, REPLY),
            "error": self.error,
            "steps": len(self.steps),
            "tokens": usage.tokens,
            "cost": usage.cost,
            "moves": [
                {
                    "step": move.step,
                    "seat": move.seat,
                    "action": _text(move.action, 200),
                    "verdict": move.verdict,
                }
                for move in episode.moves
            ],
        }

    def step(self, index: int) -> dict[str, Any]:
        """One step: every seat's view, and the move of those who acted."""
        step = self.steps[index]
        moves = {move.seat: move for move in step.moves}
        if index == len(self.steps) - 1:
            moves |= {move.seat: move for move in self.episode.unfinished}
        return {
            "step": index,
            "over": step.state.over,
            "seats": {seat: self._seat(index, step.state, seat, moves.get(seat)) for seat in self.seats},
        }

    def _seat(self, index: int, state: State, seat: str, move: Move | None) -> dict[str, Any]:
        pictures = self.pictures(index, seat)
        hashes = [picture.hash for picture in pictures]
        recorded = move.pictures if move is not None else []
        mark = "none" if not recorded else "verified" if hashes == recorded else "differs"
        model = is_model_seat(self.episode, seat)
        return {
            "pictures": [{"hash": p.hash, "width": p.width, "height": p.height} for p in pictures],
            "mark": mark,
            "text": _text(self.view.text(state, seat), REPLY) if self.view.has_text else "",
            "notes": _text(self.view.notes(state, seat), REPLY),
            "blind": model and prompt_options_of(self.episode, seat).blind,
            "prompted": move is not None and model,
            "move": None if move is None else _move(move),
        }

    def pictures(self, index: int, seat: str) -> tuple[Shown, ...]:
        """What a seat sees before a step."""
        if (index, seat) not in self._pictures:
            seen: Sequence[Picture] = self.view.images(self.steps[index].state, seat)
            self._pictures[index, seat] = tuple(Shown(p.png(), p.hash, p.width, p.height) for p in seen)
            if len(self._pictures) > MAX_PICTURES:
                self._pictures.popitem(last=False)
        return self._pictures[index, seat]

    def prompts(self, index: int, seat: str) -> list[Prompt]:
        """The prompt before each reply of a move; those of earlier moves are rebuilt on the way."""
        if self._rebuilt is None:
            self._rebuilt = groupby(samples(self.episode, self.game), lambda sample: id(sample.move))
        while (index, seat) not in self._prompts:
            _, replies = next(self._rebuilt, (0, ()))
            found = [(s.move, _prompt(s.messages, s.options.blind) if s.model else []) for s in replies]
            if not found:
                return []
            move = found[0][0]
            self._prompts[move.step, move.seat] = [made for _, made in found]
        return self._prompts[index, seat]

    def verified(self) -> dict[str, Any]:
        """Whether replaying gives the same replies, pictures, returns and facts."""
        if self._verified is None:
            try:
                self._verified = {"verified": asdict(verify(self.episode))}
            except UsageError as error:
                self._verified = {"problem": str(error)}
        return self._verified


def _prompt(messages: Sequence[Message], blind: bool) -> Prompt:
    """The messages as text; a picture is a word."""
    placeholder = "[blank picture]" if blind else "[picture]"
    left_out = max(0, len(messages) - MESSAGES)
    shown: Prompt = []
    for number, message in enumerate(messages):
        if 0 < number <= left_out:
            if number == left_out:
                shown.append({"role": "", "text": f"[{left_out:,} earlier messages]"})
            continue
        text = "\n".join(part if isinstance(part, str) else placeholder for part in message.parts)
        whole = message.role == "system" or number == len(messages) - 1
        shown.append({"role": message.role, "text": _text(text, PROMPT if whole else EARLIER)})
    return shown


def _move(move: Move) -> dict[str, Any]:
    return {
        "action": _text(move.action, REPLY),
        "verdict": move.verdict,
        "ms": round(move.ms),
        "tries": [_try(tried) for tried in move.tries],
    }


def _try(tried: Try) -> dict[str, Any]:
    return {
        "text": _text(tried.text, REPLY),
        "verdict": tried.verdict,
        "reason": _text(tried.reason, REPLY),
        "finish": tried.finish,
        "ms": round(tried.ms),
        "reasoning": _text(tried.reasoning, REPLY),
        "usage": None if tried.usage is None else asdict(tried.usage),
    }


def _text(text: str, limit: int) -> str:
    """The text with hidden characters made visible, cut to a length."""
    cut = f"\n[{len(text) - limit:,} more characters]" if len(text) > limit else ""
    return str(visible(text[:limit])) + cut
