"""The page of an episode: what every seat saw and did in each step, two side by side, download."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, urlencode

from aiohttp import web

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, UsageError
from ludens.core.view import Picture
from ludens.run.lines import Head, raw_line, shards_of, split_line
from ludens.run.replays import animation, film_strip, find
from ludens.run.rows import Location
from ludens.run.store import read_places
from ludens.run.viewer import FETCHED_TEXT, EpisodeReplay, Panel, ShownStep, without_earlier
from ludens.web.home import CATALOGUE
from ludens.web.pages import WebSettings, page, render
from ludens.web.runs import LIVE, ListedEpisode, describe, same_seed
from ludens.web.security import may_be_linked

MAX_REPLAYS = 6
MAX_FRAMES = 300
"""Steps of an episode that a GIF can show."""
MAX_OTHERS = 60
FORMATS = {"gif": "image/gif", "png": "image/png"}
_WAIT = 0.2
_NAME = "{run:.+}"


class Replays:
    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, Location, bytes], tuple[Head, EpisodeReplay]] = OrderedDict()

    def get(self, folder: Path, location: Location, key: str) -> tuple[Head, EpisodeReplay]:
        line = raw_line(folder, location)
        place = folder, location, blake2b(line, digest_size=16).digest()
        entry = self._kept.pop(place, None)
        if entry is None:
            head, data = split_line(line)
            entry = head, EpisodeReplay(head.key, Episode.from_json(data))
        if entry[0].key != key:
            raise BadFile(f"there is another episode than {key!r} in that place of the file.")
        self._kept[place] = entry
        if len(self._kept) > MAX_REPLAYS:
            self._kept.popitem(last=False)
        return entry


REPLAYS = web.AppKey("replays", Replays)


def add_routes(app: web.Application, settings: WebSettings) -> None:
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


async def _requested(request: web.Request, prefix: str = "") -> tuple[str, Head, Location, EpisodeReplay]:
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
    if seat not in replay.episode.seats:
        raise web.HTTPNotFound(text="There is no such seat.")
    return seat


def _address(run: str, head: Head, location: Location) -> str:
    return f"{quote(run)}?{urlencode({'key': head.key, 'at': str(location)})}"


@may_be_linked
async def episode_page(request: web.Request) -> web.Response:
    run, head, location, replay = await _requested(request)
    panels = [await _panel(request, run, head, location, replay)]
    if "with_key" in request.query:
        panels.append(await _panel(request, *await _requested(request, "with_")))
    alone = f"/episode/{_address(run, head, location)}"
    choices = [
        (
            f"{alone}&{urlencode({'with_key': row.key, 'with_at': str(row.location)})}",
            row,
            describe(entrant, cell, row),
        )
        for entrant, cell, row in await _others(request, run, head, location, replay.episode.seed)
    ]
    return page(
        "episode.html", title=head.key, run=run, head=head, panels=panels, quote=quote, choices=choices,
        alone=alone, compared=request.query.get("with_key", ""),
    )  # fmt: skip


async def _panel(
    request: web.Request, run: str, head: Head, location: Location, replay: EpisodeReplay
) -> Panel:
    return Panel(
        replay,
        problem=f"It cannot be replayed: {replay.error}" if replay.error else "",
        address=_address(run, head, location),
        entrant=head.entrant,
        task=head.task,
        reveal=await render(request, lambda: replay.reveal),
    )


async def _others(
    request: web.Request, run: str, head: Head, location: Location, seed: int
) -> list[ListedEpisode]:
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
    return [episode for episode in listed if episode[2].location != location][:MAX_OTHERS]


async def episode_step(request: web.Request) -> web.Response:
    run, head, offset, replay = await _requested(request)
    index, address = _number(request, "step", len(replay.steps)), _address(run, head, offset)

    def source(picture: Picture, step: int, seat: str, number: int) -> str:
        picture.png()  # kept instead of the pixels, which are larger
        query = urlencode({"step": step, "seat": seat, "number": number, "hash": picture.hash})
        return f"/episode-picture/{address}&{query}"

    step: ShownStep = await render(request, replay.step, index, source)
    return page("episode_step.html", step=step, limit=FETCHED_TEXT)


async def episode_prompt(request: web.Request) -> web.Response:
    *_, replay = await _requested(request)
    index, seat = _number(request, "step", len(replay.steps)), _seat(request, replay)
    prompts = await render(request, replay.prompts, index, seat)
    return page("episode_prompts.html", prompts=map(without_earlier, prompts))


async def episode_picture(request: web.Request) -> web.Response:
    *_, replay = await _requested(request)
    index, seat = _number(request, "step", len(replay.steps)), _seat(request, replay)
    pictures = await render(request, replay.pictures, index, seat)
    picture = pictures[_number(request, "number", len(pictures))]
    png = await render(request, picture.png)
    caching = "private, max-age=3600" if request.query.get("hash") == picture.hash else "no-cache"
    return web.Response(body=png, content_type="image/png", headers={"Cache-Control": caching})


async def episode_verify(request: web.Request) -> web.Response:
    """Whether replaying gives the same replies, pictures, returns and facts."""
    *_, replay = await _requested(request)
    verified = await render(request, lambda: replay.verified)
    if isinstance(verified, str):
        return web.json_response({"problem": verified})
    return web.json_response({"verified": asdict(verified), "text": str(verified)})


async def episode_file(request: web.Request) -> web.Response:
    """The episode as an animation or a film strip, as one seat sees it."""
    *_, replay = await _requested(request)
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
