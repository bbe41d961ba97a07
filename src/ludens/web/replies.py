"""Search in what the players of a run said: by words, task, verdict, score and seat."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from time import monotonic
from urllib.parse import quote, urlencode

from aiohttp import web

from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import BadFile
from ludens.run.lines import raw_line, split_line
from ludens.web.pages import WebSettings, page, whole_number
from ludens.web.runs import ListedEpisode, Snapshot, filters, live_run
from ludens.web.security import may_be_linked

PAGE = 50
SECONDS = 2.0
"""Time for one page of results; a link on it continues the search."""
VERDICTS = ("ok", "illegal", "unreadable", "late", "fallback")
_LIMIT, _EXCERPT = 200, 140


@dataclass(frozen=True)
class ReplyQuery:
    """What is searched for, as it is in the address of the page."""

    text: str = ""
    task: str = ""
    entrant: str = ""
    verdict: str = ""
    seat: str = ""
    low: str = ""
    high: str = ""
    """Bounds of the first metric, in the unit of tables."""
    start: int = 0
    """Number of the episode to begin with."""

    @staticmethod
    def of(parameters: Mapping[str, str]) -> ReplyQuery:
        """From the parameters of a request; what is not known is ignored."""
        words = {
            name: parameters.get(name, "").strip()[:_LIMIT] for name in ("text", "task", "entrant", "seat")
        }
        low, high = (_bound(parameters.get(name, "")) for name in ("low", "high"))
        verdict = parameters.get("verdict", "")
        return ReplyQuery(
            **words,
            verdict=verdict if verdict in VERDICTS else "",
            low=low,
            high=high,
            start=whole_number(parameters.get("start", ""), 10**9) or 0,
        )

    @property
    def words(self) -> list[str]:
        return self.text.casefold().split()

    @property
    def is_empty(self) -> bool:
        return not any((self.text, self.task, self.entrant, self.verdict, self.seat, self.low, self.high))

    def includes(self, listed: ListedEpisode) -> bool:
        entrant, task = listed.entrant.name, listed.cell.task.name
        if (self.entrant and entrant != self.entrant) or (self.task and task != self.task):
            return False
        if not self.low and not self.high:
            return True
        value = listed.value
        if value is None:
            return False
        return (not self.low or value >= float(self.low)) and (not self.high or value <= float(self.high))

    def address(self, run: str, start: int) -> str:
        parameters = {name: value for name, value in vars(self).items() if value and name != "start"}
        return f"/replies/{quote(run)}?{urlencode({**parameters, 'start': start})}"


def _bound(text: str) -> str:
    try:
        return text.strip() if isfinite(float(text)) else ""
    except ValueError:
        return ""


@dataclass(frozen=True)
class ReplyHit:
    """A reply with what was searched for."""

    listed: ListedEpisode
    move: Move
    verdict: str
    place: str
    """`reply` or `reasoning`."""
    excerpt: tuple[str, str, str]
    """Before the first word, the word, and after it."""


@dataclass(frozen=True)
class ReplySearch:
    hits: Sequence[ReplyHit]
    searched: int
    """Episodes that were searched or passed over, up to here."""
    total: int
    problem: str = ""

    @property
    def complete(self) -> bool:
        return self.searched >= self.total


def search_replies(folder: Path, episodes: Sequence[ListedEpisode], query: ReplyQuery) -> ReplySearch:
    """Search from `query.start` until a page is full or the time is up."""
    hits, end, number = list[ReplyHit](), monotonic() + SECONDS, query.start
    for number, listed in enumerate(episodes[query.start :], query.start):
        if (hits and len(hits) >= PAGE) or monotonic() > end:
            return ReplySearch(hits, number, len(episodes))
        try:
            line = raw_line(folder, listed.row.location)
            # Most lines need not be parsed. A word with a quote or a backslash is written differently there.
            folded = line.decode("utf-8", "replace").casefold()
            if all(word in folded or '"' in word or "\\" in word for word in query.words):
                hits += _hits(listed, Episode.from_json(split_line(line)[1]), query)
        except BadFile as error:
            return ReplySearch(hits, len(episodes), len(episodes), str(error))
    return ReplySearch(hits, len(episodes), len(episodes))


def _hits(listed: ListedEpisode, episode: Episode, query: ReplyQuery) -> Iterator[ReplyHit]:
    for move in (*episode.moves, *episode.unfinished):
        if query.seat and move.seat != query.seat:
            continue
        for tried in move.tries or [Try(move.action)]:
            verdict = move.verdict if query.verdict == "fallback" else tried.verdict
            if query.verdict and verdict != query.verdict:
                continue
            for place, text in (("reply", tried.text), ("reasoning", tried.reasoning)):
                excerpt = _excerpt(text, query.words)
                if excerpt is not None and (query.words or place == "reply"):
                    yield ReplyHit(listed, move, verdict, place, excerpt)


def _excerpt(text: str, words: Sequence[str]) -> tuple[str, str, str] | None:
    """The text around the first word; None if a word is missing."""
    folded = text.casefold()
    if not all(word in folded for word in words):
        return None
    if not words:
        return text[: 2 * _EXCERPT], "", ""
    at = min(folded.index(word) for word in words)
    word = next(word for word in words if folded.startswith(word, at))
    if len(folded) != len(text):  # a letter that folds to several: no exact place
        return text[: 2 * _EXCERPT], "", ""
    end = at + len(word)
    return text[max(0, at - _EXCERPT) : at], text[at:end], text[end : end + _EXCERPT]


def add_routes(app: web.Application, settings: WebSettings) -> None:
    app.router.add_get("/replies/{run:.+}", replies_page)


@may_be_linked
async def replies_page(request: web.Request) -> web.Response:
    run, query = await live_run(request), ReplyQuery.of(request.query)
    snapshot = run.snapshot
    result = None
    if snapshot is not None and not query.is_empty:
        result = await asyncio.to_thread(_search, run.folder, snapshot, query)
    seatings = (seating for _, cell in (snapshot.cells if snapshot else ()) for seating in cell.task.seatings)
    return page(
        "replies.html",
        title=f"{run.name}: replies",
        run=run,
        query=query,
        result=result,
        **filters(snapshot),
        seats=dict.fromkeys(seat for seating in seatings for seat in seating),
        verdicts=VERDICTS,
    )


def _search(folder: Path, snapshot: Snapshot, query: ReplyQuery) -> ReplySearch:
    every = (listed for cell in snapshot.cells for listed in snapshot.episodes_of(*cell))
    episodes = [listed for listed in every if query.includes(listed)]
    return search_replies(folder, episodes, query)
