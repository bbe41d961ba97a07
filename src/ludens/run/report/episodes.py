"""Episodes on a page: which are shown, which of their moves, and what the templates need of them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import UsageError
from ludens.core.verify import verify
from ludens.core.view import Picture
from ludens.models.chat import Message
from ludens.run.cells import Cell
from ludens.run.comparisons import Place
from ludens.run.replays import evenly, last_picture
from ludens.run.report.transcript import Turn, transcript
from ludens.run.results import Row, SuiteResults

MAX_STEPS = 8
"""Steps of one episode that are shown with picture and prompt."""
PROMPT, EARLIER = 6_000, 400
"""Characters shown of a prompt, and of an earlier message in it."""


@dataclass(frozen=True)
class Pick:
    """An episode to show, and why."""

    row: Row
    cell: Cell
    place: Place
    tags: tuple[str, ...]
    value: float | None
    """Of the task's first metric."""

    @property
    def value_text(self) -> str:
        """The metric with its unit; empty if the episode has no value."""
        metric = self.cell.task.metrics[0]
        scale, unit = (100, "%") if metric.percent else (1, "")
        return "" if self.value is None else f"{metric.name} {scale * self.value:.4g}{unit}"


def pick_episodes(found: SuiteResults, most: int) -> list[Pick]:
    """At most so many episodes of every entrant and task, the most interesting of each first."""
    groups = [_ranked(row, cell, most) for row in found.rows for cell in row.cells.values()]
    return [pick for rank in zip_longest(*groups) for pick in rank if pick is not None]


def _ranked(row: Row, cell: Cell, most: int) -> list[Pick]:
    """The best, the worst, those with most fallbacks, then the others."""
    metric = cell.task.metrics[0]
    values = cell.paired_values(metric)
    tags: dict[Place, list[str]] = {}
    if len(set(values.values())) > 1:
        sign = 1 if metric.higher_is_better else -1
        ranked = sorted(values, key=lambda place: sign * values[place])
        tags.setdefault(ranked[-1], []).append("best")
        tags.setdefault(ranked[0], []).append("worst")
    fallbacks = {place: record.fallbacks for place, record in cell.episodes.items() if record.fallbacks}
    for place in sorted(fallbacks, key=lambda p: -fallbacks[p])[:2]:
        tags.setdefault(place, []).append("fallbacks")
    for place in islice(cell.episodes, most):
        tags.setdefault(place, [])
    return [Pick(row, cell, place, tuple(tags[place]), values.get(place)) for place in islice(tags, most)]


def steps_to_show(episode: Episode, seats: Sequence[str], most: int = MAX_STEPS) -> set[int]:
    """Steps with rejected replies, then others evenly spaced."""
    own = list(dict.fromkeys(move.step for move in episode.moves if move.seat in seats))
    wrong = {move.step for move in episode.moves if move.seat in seats and move.verdict != "ok"}
    chosen = set(evenly([step for step in own if step in wrong], most - 2))
    return chosen | set(evenly([step for step in own if step not in chosen], most - len(chosen)))


@dataclass
class SizeLimit:
    """How many more characters of pictures and prompts a page may contain."""

    left: int

    def take(self, size: int) -> bool:
        """Whether something is still shown, and if so count its size."""
        shown = self.left > 0
        self.left -= size if shown else 0
        return shown


@dataclass(frozen=True)
class ShownMessage:
    """A message of a prompt, and how many characters of it are shown."""

    role: str
    text: str
    limit: int


@dataclass(frozen=True)
class Exchange:
    """A prompt and the reply to it."""

    prompt: Sequence[ShownMessage] | None
    """Messages that the last exchange did not show; None if left out for the size of the page."""
    reply: Try


@dataclass(frozen=True)
class ShownTurn:
    """One move with what the seat was shown."""

    move: Move
    pictures: Sequence[str] | None
    """As data URIs; None if left out for the size of the page."""
    blind: bool
    exchanges: Sequence[Exchange]


@dataclass(frozen=True)
class ShownEpisode:
    """An episode for the template."""

    episode: Episode
    verified: bool = False
    error: str = ""
    """Why it could not be verified or replayed."""
    turns: Sequence[ShownTurn] = ()
    final_picture: str = ""


def show_episode(episode: Episode, *, size: int, steps: set[int] | None, limit: SizeLimit) -> ShownEpisode:
    """Replay an episode and collect what is shown of it.

    Args:
        episode: The episode.
        size: Of the pictures.
        steps: The steps to show in full; all when None.
        limit: Pictures and prompts are left out once it is used up.
    """
    error = ""
    try:
        verify(episode)
    except UsageError as mismatch:
        error = str(mismatch)
    try:
        system_prompts: dict[str, str] = {}
        turns = [
            _show_turn(turn, limit, system_prompts)
            for turn in transcript(episode, size=size, steps=steps)
            if steps is None or turn.move.step in steps
        ]
        picture = data_uri(last_picture(episode, size)) if limit.left > 0 else ""
        limit.take(len(picture))
    except UsageError as failure:
        return ShownEpisode(episode, False, error or str(failure))
    return ShownEpisode(episode, not error, error, turns, picture)


def _show_turn(turn: Turn, limit: SizeLimit, system_prompts: dict[str, str]) -> ShownTurn:
    pictures: list[str] | None = None
    if limit.left > 0 or not turn.pictures:
        pictures = [data_uri(picture) for picture in turn.pictures]
        limit.take(sum(map(len, pictures)))
    exchanges = []
    shown = 0
    for messages, reply in turn.exchanges:
        prompt = _show_prompt(turn, messages[shown:], system_prompts)
        shown = len(messages) + 1  # the next prompt repeats this one and the reply
        fits = limit.take(sum(min(len(message.text), message.limit) for message in prompt))
        limit.take(len(reply.text))
        exchanges.append(Exchange(prompt if fits else None, reply))
    return ShownTurn(turn.move, pictures, turn.blind, exchanges)


def _show_prompt(
    turn: Turn, messages: Sequence[Message], system_prompts: dict[str, str]
) -> list[ShownMessage]:
    placeholder = "[blank picture]" if turn.blind else "[picture]"
    shown = []
    for number, message in enumerate(messages, 1):
        text = "\n".join(part if isinstance(part, str) else placeholder for part in message.parts)
        whole = message.role == "system" or number == len(messages)
        if message.role == "system":
            repeated = system_prompts.get(turn.move.seat) == text
            system_prompts[turn.move.seat] = text
            text = "(as before)" if repeated else text
        shown.append(ShownMessage(message.role, text, PROMPT if whole else EARLIER))
    return shown


def data_uri(picture: Picture) -> str:
    """A picture as a small palette PNG in a data URI."""
    from PIL import Image

    from ludens.draw import Picture as Drawn

    drawn = picture if isinstance(picture, Drawn) else Drawn.from_bytes(picture.png())
    image = drawn.image()
    if image.mode != "P":
        image = image.quantize(128, method=Image.Quantize.MEDIANCUT)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode("ascii")
