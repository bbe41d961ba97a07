"""One episode as HTML: what each seat was shown, told and said, and what became of it."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import UsageError
from ludens.core.replay import verify
from ludens.core.view import Picture
from ludens.models.chat import Message
from ludens.run.replays import last_picture
from ludens.run.report.escape import esc, said
from ludens.run.report.transcript import Turn, transcript

REPLY, PROMPT, EARLIER, ACTION = 4_000, 6_000, 400, 200
"""Characters shown of a reply, a prompt, a message kept from before, and an action."""


@dataclass
class Budget:
    """What pictures and words a page may still hold, in bytes of HTML."""

    left: int

    def spend(self, html: str) -> str:
        """The same HTML, paid for."""
        self.left -= len(html)
        return html


def badge(word: str) -> str:
    """A verdict as a word on its colour."""
    return f'<span class="badge v-{esc(word)}">{esc(word)}</span>'


def body(
    episode: Episode, *, size: int, templates: Path | None, steps: set[int] | None, budget: Budget
) -> str:
    """Everything below the heading of an episode.

    Args:
        episode: What was played.
        size: Of the pictures.
        words: The run's own words, where it had some.
        steps: Which steps are shown in full; all when None.
        budget: Pictures and prompts are left out once it is spent.
    """
    parts = [_facts(episode)]
    try:
        verify(episode)
        parts.append('<p class="fine">Replayed from seed and actions: pictures, returns and facts agree.</p>')
        desk = _Desk(budget)
        turns = transcript(episode, size=size, templates=templates, steps=steps)
        parts += [desk.turn(turn) for turn in turns if steps is None or turn.move.step in steps]
        parts.append(desk.end(last_picture(episode, size)))
    except UsageError as error:
        parts.append(f'<p class="warning">Not shown move by move: {esc(error)}</p>')
    parts.append(_all_moves(episode))
    return "".join(parts)


def _facts(episode: Episode) -> str:
    who = "".join(
        f"<dt>{esc(seat)}</dt><dd><code>{esc(spec)}</code></dd>" for seat, spec in episode.seats.items()
    )
    returns = ", ".join(f"{esc(seat)} {value:g}" for seat, value in episode.returns.items())
    wrong = f" ({esc(episode.culprit)})" if episode.culprit else ""
    reason = f"<dt>error</dt><dd>{said(episode.error, REPLY)}</dd>" if episode.error else ""
    return (
        f'<dl class="facts"><dt>game</dt><dd>{esc(episode.game)}, seed {episode.seed}</dd>{who}'
        f"<dt>ended</dt><dd>{esc(episode.status)}{wrong}; returns: {returns or 'none'}</dd>{reason}</dl>"
    )


class _Desk:
    """Writes the turns of one episode, saying once what would be said again and again."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._told: dict[str, str] = {}

    def turn(self, turn: Turn) -> str:
        move = turn.move
        exchanges = "".join(self._exchanges(turn))
        action = "" if exchanges and move.verdict != "fallback" else _action(move)
        return (
            f'<div class="turn"><div class="seen">{self._pictures(turn)}</div><div class="talk">'
            f"<h5>step {move.step + 1} · {esc(move.seat)} {badge(move.verdict)}</h5>"
            f"{exchanges}{action}</div></div>"
        )

    def end(self, picture: Picture) -> str:
        """The last position."""
        if self._budget.left <= 0:
            return ""
        image = f'<img loading="lazy" alt="the end" class="frame" src="{thumbnail(picture)}">'
        return self._budget.spend(
            f'<div class="turn"><div class="seen">{image}</div><div class="talk"><h5>the end</h5></div></div>'
        )

    def _pictures(self, turn: Turn) -> str:
        if not turn.pictures:
            return '<p class="none">told in words, no picture</p>'
        if self._budget.left <= 0:
            return '<p class="none">picture left out to keep this page small</p>'
        what = esc(f"what {turn.move.seat} saw in step {turn.move.step + 1}")
        look = "blind" if turn.blind else "frame"
        note = '<p class="none">It was shown a blank in place of this.</p>' if turn.blind else ""
        images = (
            f'<img loading="lazy" alt="{what}" class="{look}" src="{thumbnail(picture)}">'
            for picture in turn.pictures
        )
        return self._budget.spend("".join(images) + note)

    def _exchanges(self, turn: Turn) -> Iterator[str]:
        before = 0
        for messages, attempt in turn.exchanges:
            new = messages[before:]
            # The reply comes with the next prompt again.
            before = len(messages) + 1
            prompt = self._prompt(turn, new) if new else ""
            yield prompt + self._budget.spend(_reply(attempt, alone=len(turn.exchanges) == 1))

    def _prompt(self, turn: Turn, messages: Sequence[Message]) -> str:
        if self._budget.left <= 0:
            return '<p class="none">prompt left out to keep this page small</p>'
        parts, seat = [], turn.move.seat
        picture = "[blank picture]" if turn.blind else "[picture]"
        for number, message in enumerate(messages):
            text = "\n".join(part if isinstance(part, str) else picture for part in message.parts)
            if message.role == "system":
                repeated = self._told.get(seat) == text
                self._told[seat] = text
                text = "(as before)" if repeated else text
            most = PROMPT if message.role == "system" or number == len(messages) - 1 else EARLIER
            parts.append(
                f'<div class="message {message.role}"><b>{message.role}</b>'
                f'<bdi class="words">{said(text, most)}</bdi></div>'
            )
        return self._budget.spend(
            f'<details class="prompt"><summary>prompt</summary>{"".join(parts)}</details>'
        )


def _reply(attempt: Try, alone: bool) -> str:
    text = said(attempt.text, REPLY) if attempt.text else '<span class="none">(no reply)</span>'
    reason = f'<p class="reason">{said(attempt.reason, REPLY)}</p>' if attempt.reason else ""
    finish = f' <span class="fine">ended: {esc(attempt.finish)}</span>' if attempt.finish else ""
    # An only reply that was fine has its verdict in the heading.
    mark = "" if alone and attempt.verdict == "ok" else badge(attempt.verdict)
    return (
        f'<div class="reply r-{esc(attempt.verdict)}">{mark}{finish}'
        f'<bdi class="words">{text}</bdi>{reason}</div>'
    )


def _action(move: Move) -> str:
    text = said(move.action, REPLY) if move.action else '<span class="none">(nothing)</span>'
    return f'<p class="action">played <bdi class="words">{text}</bdi></p>'


def _all_moves(episode: Episode) -> str:
    lines = "".join(
        f"<li><b>{esc(move.seat)}</b> <bdi>{said(' '.join(move.action.split()), ACTION) or '(nothing)'}</bdi>"
        + ("" if move.verdict == "ok" else f" {badge(move.verdict)}")
        + "</li>"
        for move in episode.moves
    )
    return (
        f'<details class="moves"><summary>all {len(episode.moves)} moves</summary><ol>{lines}</ol></details>'
    )


def thumbnail(picture: Picture) -> str:
    """A picture as a data URI, as small as a palette PNG gets."""
    from PIL import Image

    from ludens.draw import Picture as Drawn

    drawn = picture if isinstance(picture, Drawn) else Drawn.from_bytes(picture.png())
    image = drawn.image()
    if image.mode != "P":
        image = image.quantize(128, method=Image.Quantize.MEDIANCUT)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode("ascii")
