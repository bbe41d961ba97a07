"""The page of an episode: what every seat saw and did in each step, two side by side, download."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web

from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import BadFile, UsageError
from ludens.core.replay import Step, game_of, render_options_of, replay
from ludens.core.state import State
from ludens.core.verify import verify
from ludens.core.view import Picture, view_of
from ludens.models.chat import Message
from ludens.rebuild import Sample, is_model_seat, prompt_options_of, samples
from ludens.run.lines import Head, raw_line, shards_of, split_line
from ludens.run.replays import animation, film_strip, find
from ludens.run.report.page import visible
from ludens.run.rows import Location
from ludens.run.store import read_places
from ludens.web.home import CATALOGUE
from ludens.web.pages import Settings, page, render
from ludens.web.runs import LIVE, Listed, describe, same_seed
from ludens.web.security import may_be_linked

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


MAX_REPLAYS = 6
"""Episodes that are kept in memory."""
MAX_FRAMES = 300
"""Steps of an episode that a GIF can show."""
MAX_OTHERS = 60
FORMATS = {"gif": "image/gif", "png": "image/png"}
_WAIT = 0.2
_NAME = "{run:.+}"


class Replays:
    """The episodes that were looked at last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, Location, bytes], tuple[Head, EpisodeReplay]] = OrderedDict()

    def get(self, folder: Path, location: Location, key: str) -> tuple[Head, EpisodeReplay]:
        """The episode on a line. Blocks."""
        line = raw_line(folder, location)
        place = folder, location, blake2b(line, digest_size=16).digest()
        found = self._kept.pop(place, None) or _read(line)
        if found[0].key != key:
            raise BadFile(f"there is another episode than {key!r} in that place of the file.")
        self._kept[place] = found
        if len(self._kept) > MAX_REPLAYS:
            self._kept.popitem(last=False)
        return found


def _read(line: bytes) -> tuple[Head, EpisodeReplay]:
    head, data = split_line(line)
    return head, EpisodeReplay(head.key, Episode.from_json(data))


REPLAYS = web.AppKey("replays", Replays)


def add_routes(app: web.Application, settings: Settings) -> None:
    """Add the page of an episode."""
    app[REPLAYS] = Replays()
    for name, handler in (
        ("episode", episode_page),
        ("episode-step", episode_step),
        ("episode-prompt", episode_prompt),
        ("episode-picture", episode_picture),
        ("episode-verify", episode_verify),
        ("episode-file", episode_file),
    ):
        app.router.add_get(f"/{name}/{_NAME}", handler)


async def _found(request: web.Request, prefix: str = "") -> tuple[str, Head, Location, EpisodeReplay]:
    """The episode that a request names: `key`, and `at`, where its line begins if that is known."""
    run = request.query.get(f"{prefix}run") or request.match_info["run"]
    folder = await asyncio.to_thread(request.app[CATALOGUE].folder, run)
    if folder is None:
        raise web.HTTPNotFound(text="There is no such run; it may have been deleted.")
    key, at = request.query.get(f"{prefix}key", ""), request.query.get(f"{prefix}at", "")
    try:
        location = await asyncio.to_thread(_location, folder, key, at)
        head, replay = await render(request, request.app[REPLAYS].get, folder, location, key)
    except UsageError as error:
        raise web.HTTPNotFound(text=str(error)) from None
    return run, head, location, replay


def _location(folder: Path, key: str, at: str) -> Location:
    if (location := Location.parse(at, shards_of(folder))) is not None:
        return location
    name, location = find(read_places(folder), key)
    if name != key:
        raise BadFile(f"there is no episode {key!r} in this run.")
    return location


def _number(request: web.Request, name: str, below: int) -> int:
    text = request.query.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) < below):
        raise web.HTTPNotFound(text=f"There is no such {name}.")
    return int(text)


def _seat(request: web.Request, replay: EpisodeReplay) -> str:
    seat = request.query.get("seat", "")
    if seat not in replay.seats:
        raise web.HTTPNotFound(text="There is no such seat.")
    return seat


@may_be_linked
async def episode_page(request: web.Request) -> web.Response:
    """The page with one episode, or two side by side."""
    run, head, location, replay = await _found(request)
    shown = [_panel(run, head, location, replay)]
    if "with_key" in request.query:
        shown.append(_panel(*await _found(request, "with_")))
    others = await _others(request, run, head, location, replay.episode.seed)
    query = urlencode({"key": head.key, "at": str(location)})
    choices = [
        (
            f"/episode/{quote(run)}?{query}&{urlencode({'with_key': row.key, 'with_at': str(row.location)})}",
            row,
            describe(entrant, cell, row),
        )
        for entrant, cell, row in others
    ]
    return page(
        "episode.html", title=head.key, run=run, head=head, shown=shown, quote=quote, choices=choices,
        alone=f"/episode/{quote(run)}?{query}", compared=request.query.get("with_key", ""),
    )  # fmt: skip


def _panel(run: str, head: Head, location: Location, replay: EpisodeReplay) -> dict[str, Any]:
    return {
        "about": replay.about(),
        "entrant": head.entrant,
        "task": head.task,
        "run": run,
        "address": f"{quote(run)}?{urlencode({'key': head.key, 'at': str(location)})}",
    }


async def _others(request: web.Request, run: str, head: Head, location: Location, seed: int) -> list[Listed]:
    """Other episodes of the same task and seed, as far as the run was read."""
    folder = await asyncio.to_thread(request.app[CATALOGUE].folder, run)
    if folder is None:
        return []
    live = await request.app[LIVE].get(run, folder)
    try:
        await live.update(_WAIT)
    except UsageError:  # an unknown suite: the episode itself can be shown
        return []
    if live.snapshot is None:
        return []
    listed = await asyncio.to_thread(same_seed, live.snapshot, head.task, seed, MAX_OTHERS + 1)
    return [one for one in listed if one[2].location != location][:MAX_OTHERS]


async def episode_step(request: web.Request) -> web.Response:
    """One step as JSON."""
    *_, replay = await _found(request)
    index = _number(request, "step", len(replay.steps))
    return web.json_response(await render(request, replay.step, index))


async def episode_prompt(request: web.Request) -> web.Response:
    """The prompts of one move, one for every reply."""
    *_, replay = await _found(request)
    index, seat = _number(request, "step", len(replay.steps)), _seat(request, replay)
    prompts = await render(request, replay.prompts, index, seat)
    return web.json_response({"prompts": prompts})


async def episode_picture(request: web.Request) -> web.Response:
    """A picture that a seat sees before a step."""
    *_, replay = await _found(request)
    index, seat = _number(request, "step", len(replay.steps)), _seat(request, replay)
    pictures = await render(request, replay.pictures, index, seat)
    shown = pictures[_number(request, "number", len(pictures))]
    kept = "private, max-age=3600" if request.query.get("hash") == shown.hash else "no-cache"
    return web.Response(body=shown.png, content_type="image/png", headers={"Cache-Control": kept})


async def episode_verify(request: web.Request) -> web.Response:
    """Whether the whole episode can be verified."""
    *_, replay = await _found(request)
    return web.json_response(await render(request, replay.verified))


async def episode_file(request: web.Request) -> web.Response:
    """The episode as an animation or a film strip, as one seat sees it."""
    *_, replay = await _found(request)
    kind, seat = request.query.get("format", ""), _seat(request, replay)
    if kind not in FORMATS:
        raise web.HTTPNotFound(text="There is no such format: gif or png.")
    if kind == "gif" and len(replay.steps) > MAX_FRAMES:
        raise web.HTTPBadRequest(
            text=f"This episode has more than {MAX_FRAMES} steps: `ludens replay --out FILE.gif` writes it."
        )
    make = animation if kind == "gif" else film_strip
    data = await render(request, make, replay.episode, seat)
    name = f"{replay.episode.game.replace('/', '-')}-{replay.episode.seed}-{seat}.{kind}"
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    headers = {"Content-Disposition": f'attachment; filename="{safe}"'}
    return web.Response(body=data, content_type=FORMATS[kind], headers=headers)
