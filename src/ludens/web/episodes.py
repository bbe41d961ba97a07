"""The page of an episode: what every seat saw and did in each step, two side by side, download."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import asdict, dataclass
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
from ludens.web.home import run_folder
from ludens.web.pages import WebSettings, attachment, page, render, whole_number
from ludens.web.runs import LIVE, ListedEpisode
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
        self._latest: OrderedDict[tuple[Path, Location, bytes], tuple[Head, EpisodeReplay]] = OrderedDict()

    def get(self, folder: Path, location: Location, key: str) -> tuple[Head, EpisodeReplay]:
        line = raw_line(folder, location)
        place = folder, location, blake2b(line, digest_size=16).digest()
        entry = self._latest.pop(place, None)
        if entry is None:
            head, data = split_line(line)
            entry = head, EpisodeReplay(head.key, Episode.from_json(data))
        if entry[0].key != key:
            raise BadFile(f"there is another episode than {key!r} in that place of the file.")
        self._latest[place] = entry
        if len(self._latest) > MAX_REPLAYS:
            self._latest.popitem(last=False)
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


@dataclass(frozen=True)
class RequestedEpisode:
    """An episode that a request names."""

    run: str
    folder: Path
    head: Head
    location: Location
    replay: EpisodeReplay

    @property
    def address(self) -> str:
        return f"{quote(self.run)}?{urlencode({'key': self.head.key, 'at': str(self.location)})}"


async def _requested(request: web.Request, prefix: str = "") -> RequestedEpisode:
    """The episode of a request, from `key`, and `at`, where its line begins if that is known."""
    run = request.query.get(f"{prefix}run") or request.match_info["run"]
    folder = await run_folder(request, run)
    key, at = request.query.get(f"{prefix}key", ""), request.query.get(f"{prefix}at", "")
    try:
        location = await asyncio.to_thread(_location, folder, key, at)
        head, replay = await render(request, request.app[REPLAYS].get, folder, location, key)
    except UsageError as error:
        raise web.HTTPNotFound(text=str(error)) from None
    return RequestedEpisode(run, folder, head, location, replay)


def _location(folder: Path, key: str, at: str) -> Location:
    if (location := Location.parse(at, shards_of(folder))) is not None:
        return location
    name, location = find(read_places(folder), key)
    if name != key:
        raise BadFile(f"there is no episode {key!r} in this run.")
    return location


def _number(request: web.Request, name: str, below: int) -> int:
    number = whole_number(request.query.get(name, "0"), below)
    if number is None:
        raise web.HTTPNotFound(text=f"There is no such {name}.")
    return number


def _seat(request: web.Request, replay: EpisodeReplay) -> str:
    seat = request.query.get("seat", "")
    if seat not in replay.episode.seats:
        raise web.HTTPNotFound(text="There is no such seat.")
    return seat


@may_be_linked
async def episode_page(request: web.Request) -> web.Response:
    episode = await _requested(request)
    panels = [await _panel(request, episode)]
    if "with_key" in request.query:
        panels.append(await _panel(request, await _requested(request, "with_")))
    alone = f"/episode/{episode.address}"
    choices = [
        (f"{alone}&{urlencode({'with_key': other.row.key, 'with_at': str(other.row.location)})}", other)
        for other in await _same_seed(request, episode)
    ]
    return page(
        "episode.html",
        title=episode.head.key,
        run=episode.run,
        panels=panels,
        choices=choices,
        alone=alone,
        compared=request.query.get("with_key", ""),
    )


async def _panel(request: web.Request, episode: RequestedEpisode) -> Panel:
    replay = episode.replay
    return Panel(
        replay,
        problem=f"It cannot be replayed: {replay.error}" if replay.error else "",
        address=episode.address,
        entrant=episode.head.entrant,
        task=episode.head.task,
        reveal=await render(request, lambda: replay.reveal),
    )


async def _same_seed(request: web.Request, episode: RequestedEpisode) -> list[ListedEpisode]:
    """Other episodes of the run with the same task and seed."""
    live = await request.app[LIVE].get(episode.run, episode.folder)
    try:
        await live.update(_WAIT)
    except UsageError:  # an unknown suite: the episode itself can be shown
        return []
    if live.snapshot is None:
        return []
    task, seed = episode.head.task, episode.replay.episode.seed
    listed = await asyncio.to_thread(live.snapshot.same_seed, task, seed, MAX_OTHERS + 1)
    return [other for other in listed if other.row.location != episode.location][:MAX_OTHERS]


async def episode_step(request: web.Request) -> web.Response:
    episode = await _requested(request)
    replay, address = episode.replay, episode.address
    index = _number(request, "step", len(replay.steps))

    def source(picture: Picture, step: int, seat: str, number: int) -> str:
        picture.png()  # kept instead of the pixels, which are larger
        query = urlencode({"step": step, "seat": seat, "number": number, "hash": picture.hash})
        return f"/episode-picture/{address}&{query}"

    step: ShownStep = await render(request, replay.step, index, source)
    return page("episode_step.html", step=step, limit=FETCHED_TEXT)


async def episode_prompt(request: web.Request) -> web.Response:
    replay = (await _requested(request)).replay
    index, seat = _number(request, "step", len(replay.steps)), _seat(request, replay)
    prompts = await render(request, replay.prompts, index, seat)
    return page("episode_prompts.html", prompts=map(without_earlier, prompts))


async def episode_picture(request: web.Request) -> web.Response:
    replay = (await _requested(request)).replay
    index, seat = _number(request, "step", len(replay.steps)), _seat(request, replay)
    pictures = await render(request, replay.pictures, index, seat)
    picture = pictures[_number(request, "number", len(pictures))]
    png = await render(request, picture.png)
    caching = "private, max-age=3600" if request.query.get("hash") == picture.hash else "no-cache"
    return web.Response(body=png, content_type="image/png", headers={"Cache-Control": caching})


async def episode_verify(request: web.Request) -> web.Response:
    """Whether replaying gives the same replies, pictures, returns and facts."""
    replay = (await _requested(request)).replay
    verified = await render(request, lambda: replay.verified)
    if isinstance(verified, str):
        return web.json_response({"problem": verified})
    return web.json_response({"verified": asdict(verified), "text": str(verified)})


async def episode_file(request: web.Request) -> web.Response:
    """The episode as an animation or a film strip, as one seat sees it."""
    replay = (await _requested(request)).replay
    kind, seat = request.query.get("format", ""), _seat(request, replay)
    if kind not in FORMATS:
        raise web.HTTPNotFound(text="There is no such format: gif or png.")
    if kind == "gif" and len(replay.steps) > MAX_FRAMES:
        raise web.HTTPBadRequest(
            text=f"This episode has more than {MAX_FRAMES} steps: `ludens replay --out FILE.gif` writes it."
        )
    make = animation if kind == "gif" else film_strip
    data = await render(request, make, replay.episode, seat)
    name = f"{replay.episode.game}-{replay.episode.seed}-{seat}.{kind}"
    return attachment(data, FORMATS[kind], name)
