"""One episode as it is shown: what every seat saw, was asked and did in each step, and how it ended.

Reports, the browser app and training pages render it with `viewer.html`, the terminal with `as_text`. Pages
that stand alone contain their pictures and prompts (`embed`); the browser app fetches them step by step.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Literal

from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import UsageError
from ludens.core.game import Game
from ludens.core.plain import harmless, one_line, plural
from ludens.core.replay import Step, game_of, render_options_of, replay
from ludens.core.verify import Verified, verify
from ludens.core.view import Picture, pictures_match, view_of
from ludens.models.chat import Message
from ludens.rebuild import Sample, is_model_seat, move_rewards, prompt_options_of, samples
from ludens.run.replays import main_seat

MAX_PICTURES = 400
"""Views of a seat whose pictures are kept in memory."""
PROMPT, EARLIER, MESSAGES = 12_000, 600, 40
"""Characters shown of a new message in a prompt and of an earlier one; messages of a prompt."""
FETCHED_TEXT, EMBEDDED_TEXT = 20_000, 4_000
"""Characters shown of a reply, a reason or an action."""
TERMINAL_TEXT = 160

Mark = Literal["verified", "differs", "none", ""]
"""Whether the pictures have the recorded hashes, or none are recorded; empty at another size."""
PictureSource = Callable[[Picture, int, str, int], str]
"""The address of a picture, given its step, its seat and its number."""


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message of a prompt, and how many characters of it are shown."""

    role: str
    text: str
    limit: int


Prompt = Sequence[ShownMessage]


@dataclass(frozen=True, slots=True)
class ShownReply:
    """One try of a move, and the prompt before it."""

    attempt: Try
    prompt: Prompt | None = ()
    """None if left out for the size of the page; empty for bots, and where it is fetched later."""


@dataclass(frozen=True, slots=True)
class ShownPicture:
    src: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ShownSeat:
    """What one seat was shown before a step, and what it did."""

    name: str
    pictures: Sequence[ShownPicture] | None
    """None if left out for the size of the page."""
    text: str
    notes: str
    blind: bool
    """Whether the seat was shown blank pictures instead."""
    mark: Mark
    is_model: bool
    move: Move | None
    reward: float | None
    """What the move earned, for training."""
    replies: Sequence[ShownReply]


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step; the last one has no moves but those that were cut short."""

    index: int
    last: bool
    seats: Sequence[ShownSeat]


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """The time and the tokens of one move, or of several in a long episode."""

    step: int
    seat: int
    """Its number among the seats; of several moves, that of the first."""
    label: str
    ms: float
    tokens: int
    time_share: float
    """Of the longest one, from 0 to 1."""
    token_share: float


MOST_BARS = 300


def timeline(episode: Episode) -> list[TimelineBar]:
    """What each move took, in order; nothing where no model or person played."""
    seats, moves = list(episode.seats), episode.moves
    size = -(-len(moves) // MOST_BARS) or 1
    groups = [moves[start : start + size] for start in range(0, len(moves), size)]
    parts = [
        (group[0], sum(m.ms for m in group), sum(t.usage.tokens for m in group for t in m.tries if t.usage))
        for group in groups
    ]
    longest, most = max((p[1] for p in parts), default=0.0), max((p[2] for p in parts), default=0)
    if len(parts) < 2 or not (most or longest >= 100):
        return []
    return [
        TimelineBar(
            first.step,
            seats.index(first.seat),
            f"step {first.step}, {first.seat}: {ms / 1000:,.2f} s" + (f", {tokens:,} tokens" if most else ""),
            ms,
            tokens,
            ms / longest if longest else 0.0,
            tokens / most if most else 0.0,
        )
        for first, ms, tokens in parts
    ]


class EpisodeReplay:
    """An episode whose states are at hand; pictures and prompts are made when they are asked for.

    Only one thread may use it at a time.
    """

    def __init__(self, key: str, episode: Episode, size: int | None = None) -> None:
        self.key, self.episode, self._size = key, episode, size
        self.error = ""
        """Why it cannot be replayed, or not to the end."""
        self.steps: list[Step] = []
        self._rewards: dict[tuple[int, str], float] = {}
        self._prompts: dict[tuple[int, str], list[Prompt]] = {}
        self._rebuilt: Iterator[tuple[int, Iterable[Sample]]] | None = None
        self.pictures = lru_cache(MAX_PICTURES)(self._draw)
        try:
            self._game = game_of(episode)
            self._view = view_of(self._game, render_options_of(episode, size), episode.seed)
            self.steps += replay(episode, self._game)
            rewards = move_rewards(episode, self._game, self.steps[-1].state)
            self._rewards = {(m.step, m.seat): r for m, r in zip(episode.moves, rewards, strict=True)}
        except UsageError as error:
            self.error = str(error)

    @cached_property
    def verified(self) -> Verified | str:
        """How much of it is as recorded; or a sentence about what is not."""
        try:
            return verify(self.episode)
        except UsageError as error:
            return str(error)

    @cached_property
    def reveal(self) -> Sequence[tuple[str, ShownPicture]]:
        """Pictures besides those of the seats, with captions, as the last state of the game has them."""
        if not self.steps or self.error:
            return ()
        try:
            pictures = self._view.reveal(self.steps[-1].state)
            return [(text, ShownPicture(data_uri(each), each.width, each.height)) for text, each in pictures]
        except UsageError:  # the picture set is not here
            return ()

    @cached_property
    def timeline(self) -> Sequence[TimelineBar]:
        return timeline(self.episode)

    def _draw(self, index: int, seat: str) -> Sequence[Picture]:
        return tuple(self._view.images(self.steps[index].state, seat))

    def moves(self, index: int) -> dict[str, Move]:
        moves = list(self.steps[index].moves)
        if index == len(self.steps) - 1:
            moves += self.episode.unfinished
        return {move.seat: move for move in moves}

    def step(self, index: int, source: PictureSource, seats: Iterable[str] | None = None) -> ShownStep:
        """One step as these seats saw it; as all when None."""
        views = [self._seat(index, seat, source) for seat in seats or self.episode.seats]
        return ShownStep(index, index == len(self.steps) - 1, views)

    def _seat(self, index: int, seat: str, source: PictureSource) -> ShownSeat:
        state, move = self.steps[index].state, self.moves(index).get(seat)
        pictures, is_model = self.pictures(index, seat), is_model_seat(self.episode, seat)
        recorded = move.pictures if move is not None else []
        mark: Mark = "none"
        if recorded:
            equal = pictures_match(pictures, recorded)
            mark = "" if self._size not in (None, self.episode.size) else "verified" if equal else "differs"
        return ShownSeat(
            seat,
            [
                ShownPicture(source(picture, index, seat, number), picture.width, picture.height)
                for number, picture in enumerate(pictures)
            ],
            self._view.text(state, seat) if self._view.has_text else "",
            self._view.notes(state, seat),
            is_model and prompt_options_of(self.episode, seat).blind,
            mark,
            is_model,
            move,
            self._rewards.get((index, seat)),
            [ShownReply(attempt) for attempt in move.tries] if move is not None else [],
        )

    def prompts(self, index: int, seat: str) -> list[Prompt]:
        """The prompt before each reply of a move; those of earlier moves are rebuilt on the way."""
        if self._rebuilt is None:
            steps = None if self.error else self.steps  # replaying again raises the error
            rebuilt = samples(self.episode, self._game, steps=steps, size=self._size)
            self._rebuilt = groupby(rebuilt, lambda sample: id(sample.move))
        while (index, seat) not in self._prompts:
            _, replies = next(self._rebuilt, (0, ()))
            group = list(replies)
            if not group:
                return []
            move = group[0].move
            self._prompts[move.step, move.seat] = [
                _prompt(sample.messages, sample.options.blind) if sample.model else [] for sample in group
            ]
        return self._prompts[index, seat]


def _prompt(messages: Sequence[Message], blind: bool) -> Prompt:
    """The messages as text, with a word for each picture."""
    placeholder, visible = "[blank picture]" if blind else "[picture]", []
    for number, message in enumerate(messages):
        text = "\n".join(part if isinstance(part, str) else placeholder for part in message.parts)
        new = message.role == "system" or number == len(messages) - 1
        visible.append(ShownMessage(message.role, text, PROMPT if new else EARLIER))
    return visible


def without_earlier(prompt: Prompt) -> Prompt:
    """The first message of a long prompt and the last ones."""
    left_out = len(prompt) - MESSAGES
    if left_out <= 0:
        return prompt
    return [prompt[0], ShownMessage("", f"[{left_out:,} earlier messages]", EARLIER), *prompt[left_out + 1 :]]


@dataclass(frozen=True)
class Panel:
    """One episode for the template: with its steps, or with the address from which they are fetched."""

    replay: EpisodeReplay
    steps: Sequence[ShownStep] = ()
    problem: str = ""
    address: str = ""
    entrant: str = ""
    task: str = ""
    reveal: Sequence[tuple[str, ShownPicture]] = ()

    @property
    def text_limit(self) -> int:
        return FETCHED_TEXT if self.address else EMBEDDED_TEXT

    @property
    def indices(self) -> set[int]:
        return set(range(len(self.replay.steps))) if self.address else {step.index for step in self.steps}


@dataclass
class SizeLimit:
    """The number of characters of pictures and prompts that a page may still contain."""

    remaining: int

    def take(self, size: int) -> bool:
        """Count the size of something if there is room for it; returns whether there is."""
        fits = self.remaining > 0
        self.remaining -= size if fits else 0
        return fits


def embed(
    episode: Episode, key: str = "", *, size: int, limit: SizeLimit, steps: Container[int] | None = None
) -> Panel:
    """Verify and replay an episode for a page that stands alone.

    Pictures and prompts are left out once the limit is used up. Of the steps, the last one is always shown.
    """
    replayed, shown_steps = EpisodeReplay(key, episode, size), list[ShownStep]()
    problem = replayed.verified if isinstance(replayed.verified, str) else replayed.error
    system_prompts: dict[str, str] = {}
    try:
        for index in range(len(replayed.steps)):
            last = index == len(replayed.steps) - 1
            if last or steps is None or index in steps:
                shown_steps.append(_embed_step(replayed, index, limit, system_prompts))
    except UsageError as failure:
        problem = problem or str(failure)
    reveal = replayed.reveal if limit.remaining > 0 else ()
    limit.take(sum(len(picture.src) for _, picture in reveal))
    return Panel(replayed, shown_steps, f"Not verified: {problem}" if problem else "", reveal=reveal)


def _embed_step(
    replayed: EpisodeReplay, index: int, limit: SizeLimit, system_prompts: dict[str, str]
) -> ShownStep:
    has_room = limit.remaining > 0
    source: PictureSource = (lambda picture, *_: data_uri(picture)) if has_room else (lambda *_: "")
    step = replayed.step(index, source, replayed.moves(index) or [main_seat(replayed.episode)])
    seats = []
    for seat in step.seats:
        limit.take(sum(len(picture.src) for picture in seat.pictures or ()))
        fits = limit.take(2 * len(seat.text) + len(seat.notes))  # the text is shown and describes pictures
        seats.append(
            replace(
                seat,
                pictures=seat.pictures if has_room else None,
                text=seat.text if fits else "",
                notes=seat.notes if fits else "",
                replies=_embed_replies(replayed, index, seat, limit, system_prompts),
            )
        )
    return replace(step, seats=seats)


def _embed_replies(
    replayed: EpisodeReplay, index: int, seat: ShownSeat, limit: SizeLimit, system_prompts: dict[str, str]
) -> list[ShownReply]:
    replies, repeated = [], 0
    for reply, prompt in zip(seat.replies, replayed.prompts(index, seat.name), strict=False):
        new = list(without_earlier(prompt[repeated:]))
        repeated = len(prompt) + 1  # the next prompt repeats this one and the reply
        if new and new[0].role == "system":
            as_before = system_prompts.get(seat.name) == new[0].text
            system_prompts[seat.name] = new[0].text
            new[0] = replace(new[0], text="(as before)") if as_before else new[0]
        fits = limit.take(sum(min(len(message.text), message.limit) for message in new))
        limit.take(len(reply.attempt.text))
        replies.append(replace(reply, prompt=new if fits else None))
    return replies


def data_uri(picture: Picture) -> str:
    """A picture as a small palette PNG in a data URI."""
    from PIL import Image

    from ludens.draw import Picture as Drawn

    own = picture if isinstance(picture, Drawn) else Drawn.from_bytes(picture.png())
    image = own.image()
    if image.mode != "P":
        image = image.quantize(128, method=Image.Quantize.MEDIANCUT)
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=6)  # a twentieth larger than the smallest, five times as fast
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode("ascii")


def as_text(key: str, episode: Episode) -> str:
    """An episode for a terminal: seats, moves with the replies that say more than the action, the end."""
    players = ", ".join(f"{seat} is {spec}" for seat, spec in episode.seats.items())
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(episode.verdicts().items()))
    steps = len({move.step for move in episode.moves})
    lines = [
        f"{key}: {episode.game}, seed {episode.seed}; {players}",
        *(line for move in (*episode.moves, *episode.unfinished) for line in move_lines(move)),
        f"{episode.status} after {plural(steps, 'step')}; "
        f"returns: {returns_text(episode.returns)}; verdicts: {verdicts or 'none'}",
    ]
    if episode.error:
        lines.append(f"void because of {episode.culprit or 'the game'}: {episode.error}")
    return harmless("\n".join(lines))


def returns_text(returns: Mapping[str, float]) -> str:
    return ", ".join(f"{seat} {value:g}" for seat, value in returns.items())


def move_lines(move: Move) -> Iterator[str]:
    """A move, and the replies that say more than its action."""
    verdict = "" if move.verdict == "ok" else f" ({move.verdict})"
    yield f"{move.step:>4}. {move.seat}: {_shortened(move.action)}{verdict}"
    for tried in move.tries:
        if tried.verdict != "ok" or tried.text != move.action:
            reason = f" [{one_line(tried.reason)}]" if tried.reason else ""
            yield f"        {tried.verdict}: {_shortened(tried.text)}{reason}"


def _shortened(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= TERMINAL_TEXT else f"{line[:TERMINAL_TEXT]}... ({len(line):,} characters)"


def outcome_of(game: Game, episode: Episode, seat: str, specs: Mapping[str, str]) -> str:
    """What the person of a seat is told at the end: "You lost to bot/alphabeta after 23 moves."

    Args:
        game: The game.
        episode: What was played; nothing is said about one that is void.
        seat: Whose end it is.
        specs: Seat to player; without the other seats if the person may not know the players.
    """
    if episode.status == "void":
        return ""
    own, returns = episode.returns[seat], episode.returns
    rivals = {each: value for each, value in returns.items() if each != seat}
    after = f"after {plural(len({move.step for move in episode.moves}), 'move')}"
    if game.question:
        return {1.0: "Right.", 0.0: "Wrong."}.get(own, f"You scored {own:.0%}.")
    if not rivals:
        return f"You scored {own:g} {after}."
    if game.cooperative:
        return f"Together you scored {own:g} {after}."
    if len(rivals) == 1 and abs(sum(returns.values())) < 1e-9:
        [rival] = rivals
        opponent = _player(rival, specs)
        if own == returns[rival]:
            return f"You drew with {opponent} {after}."
        return (
            f"You won against {opponent} {after}."
            if own > returns[rival]
            else f"You lost to {opponent} {after}."
        )
    scores = ", ".join(f"{_player(each, specs)} {value:g}" for each, value in rivals.items())
    return f"You scored {own:g} {after}; the others: {scores}."


def _player(seat: str, specs: Mapping[str, str]) -> str:
    spec = specs.get(seat, seat)
    return f"the other person ({seat})" if spec == "human" else spec
