"""The pages of a study. One address shows every participant the step they are at.

/study/KEY                the study, for the participant of the cookie or for a new one
/study/KEY/join/TOKEN     the link of one participant
/study/KEY/progress       for the organiser
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from hmac import compare_digest
from types import MappingProxyType

from aiohttp import web

from ludens.core.errors import BadFile, BadOption
from ludens.suites.people import MOST_PARTICIPANTS
from ludens.suites.people.records import Participant
from ludens.web.pages import WebSettings, page
from ludens.web.security import ACCESS, RateLimit, address_of, checks_own_token, may_be_linked, set_token
from ludens.web.socket import serve
from ludens.web.spending import SPENDING
from ludens.web.study_room import POLL_SECONDS, Room, progress_of

LOG = logging.getLogger(__name__)
COOKIE = "participant"
_NOT_SAVED = "This could not be saved. Please try again in a few minutes, or tell the organiser of the study."
_NO_LONGER_WAITING = "You are no longer waiting: you were away, or nothing is left to play. Please ask again."
_STRANGER = "You do not take part in this study: open the link that you were sent."
_CROWD = "Too many people have joined from your network; try again later, or ask for a personal link."
ROOM = web.AppKey("room", Room)
NEW_AT_ONCE, NEW_PER_HOUR = 50.0, 10.0
"""Participants that one address may add: a class at once, and later few."""
_NEWCOMERS = web.AppKey("newcomers", RateLimit)


def add_routes(app: web.Application, settings: WebSettings) -> None:
    if settings.study is None:
        return
    app[ROOM] = Room(settings.study, settings.runs, app[SPENDING])
    app[_NEWCOMERS] = RateLimit(NEW_PER_HOUR / 3600, NEW_AT_ONCE)
    app.router.add_get("/study/{key}", show)
    app.router.add_post("/study/{key}", answer)
    app.router.add_get("/study/{key}/join/{token}", join)
    app.router.add_get("/study/{key}/socket", connect)
    app.router.add_get("/study/{key}/waiting", waiting)
    app.router.add_get("/study/{key}/progress", progress)
    app.cleanup_ctx.append(_conduct)


async def _conduct(app: web.Application) -> AsyncIterator[None]:
    room = app[ROOM]
    with room.opened():
        looking = asyncio.create_task(room.run())
        yield
        looking.cancel()
        await room.close()


def study_path(app: web.Application) -> str | None:
    return f"/study/{app[ROOM].records.key}" if ROOM in app else None


def _room(request: web.Request) -> Room:
    room = request.app[ROOM]
    if not compare_digest(request.match_info["key"].encode(), room.records.key.encode()):
        raise web.HTTPNotFound(text="There is no such study; check the link.")
    return room


def _participant(request: web.Request, room: Room) -> Participant:
    participant = room.records.find(request.cookies.get(COOKIE, ""))
    if participant is None:
        raise web.HTTPForbidden(text=_STRANGER)
    return participant


def _give(request: web.Request, reply: web.StreamResponse, room: Room, participant: Participant) -> None:
    set_token(request, reply, COOKIE, participant.token, f"/study/{room.records.key}", 30)


@may_be_linked
@checks_own_token
async def join(request: web.Request) -> web.Response:
    room = _room(request)
    participant = room.records.find(request.match_info["token"])
    if participant is None:
        raise web.HTTPForbidden(text="This link is not valid; check it, or ask for a new one.")
    reply = web.HTTPSeeOther(f"/study/{room.records.key}")
    _give(request, reply, room, participant)
    raise reply


@may_be_linked
@checks_own_token
async def show(request: web.Request) -> web.Response:
    room = _room(request)
    participant = room.records.find(request.cookies.get(COOKIE, ""))
    if participant is None and room.study.participants:
        raise web.HTTPForbidden(text="This study has personal links: open the one that you were sent.")
    return _step(room, participant, _NO_LONGER_WAITING if "again" in request.query else "")


def _step(
    room: Room,
    participant: Participant | None,
    problem: str = "",
    status: int = 200,
    form: Mapping[str, str] = MappingProxyType({}),
) -> web.Response:
    study = room.study
    step = room.step(participant) if participant else "consent"
    if step == "done" and participant:
        try:
            room.complete(participant)
        except BadFile as error:
            raise _not_saved(error) from None
    title = study.title or study.name
    base = f"/study/{room.records.key}"
    common = {"title": title, "base": base, "study": study, "problem": problem, "step": step}
    if step == "game" and participant:
        session = room.games[participant.name].session.id
        game = {"heading": title, "onward": base, "session": session}
        return page("study_game.html", status=status, **game, **common)
    task = room.task_of(participant) if participant else None
    return page(
        "study.html",
        status=status,
        **common,
        task=task,
        number=len(participant.finished(task.name)) + 1 if participant and task else 0,
        partner=task is not None and len(task.people) > 1,
        poll=POLL_SECONDS,
        code=participant.code if participant else "",
        form=form,
        questions={"before": study.before, "after": study.after}.get(step, ()),
    )


@checks_own_token
async def answer(request: web.Request) -> web.Response:
    """Whatever a participant sends: consent, answers, being ready."""
    room = _room(request)
    form = {name: str(value) for name, value in (await request.post()).items()}
    participant = room.records.find(request.cookies.get(COOKIE, ""))
    reply = web.HTTPSeeOther(f"/study/{room.records.key}")
    try:
        if participant is None:
            if form.get("do") != "consent" or room.study.participants:
                raise web.HTTPForbidden(text=_STRANGER)
            if len(room.records.participants) >= MOST_PARTICIPANTS:
                raise web.HTTPServiceUnavailable(text="This study takes no more participants.")
            if not request.app[_NEWCOMERS].allows(address_of(request)):
                raise web.HTTPTooManyRequests(text=_CROWD, headers={"Retry-After": "3600"})
            participant = room.records.add()
            _give(request, reply, room, participant)
        _do(room, participant, form)
    except BadOption as error:
        return _step(room, participant, str(error), 400, form)
    except BadFile as error:
        if participant is None:
            raise _not_saved(error) from None
        LOG.error("what a participant has sent was not saved: %s", error)
        return _step(room, participant, _NOT_SAVED, 507, form)
    raise reply


def _do(room: Room, participant: Participant, form: Mapping[str, str]) -> None:
    doing, step = form.get("do", ""), room.step(participant)
    if doing == "withdraw":
        room.withdraw(participant)
    elif doing != step and (doing, step) != ("skip", "waiting"):
        return  # a form of an earlier step, sent again
    match doing:
        case "consent":
            room.records.note(participant, "consented")
        case "before" | "after":
            questions = room.study.before if doing == "before" else room.study.after
            room.records.note(
                participant, doing, answers={q.name: q.read(form.get(f"q.{q.name}", "")) for q in questions}
            )
        case "task":
            room.ready(participant)
        case "skip":
            room.skip(participant)
        case "game":
            room.go_on(participant)


def _not_saved(error: BadFile) -> web.HTTPException:
    LOG.error("what a participant has sent was not saved: %s", error)
    return web.HTTPInsufficientStorage(text=_NOT_SAVED)


@checks_own_token
async def waiting(request: web.Request) -> web.Response:
    """A browser that waits for a partner asks whether there is one."""
    room = _room(request)
    participant = _participant(request, room)
    waited = room.asks(participant)
    may_skip = waited is not None and waited >= room.study.wait_minutes * 60
    plays = room.seat_of(participant) is not None
    return web.json_response({"waiting": waited is not None, "skip": may_skip, "plays": plays})


@checks_own_token
async def connect(request: web.Request) -> web.WebSocketResponse:
    room = _room(request)
    place = room.seat_of(_participant(request, room))
    if place is None:
        raise web.HTTPConflict(text="This game is over.")
    return await serve(request, place[0].session, place[1])


@may_be_linked
async def progress(request: web.Request) -> web.Response:
    if not request.app[ACCESS].is_organiser(request):
        raise web.HTTPForbidden(text="Only the organiser may see this: open the organiser's link.")
    room = _room(request)
    origin = f"{request.url.origin()}/study/{room.records.key}"
    title = f"{room.study.name}: progress"
    return page("study_progress.html", title=title, study=room.study, link=origin, **progress_of(room))
