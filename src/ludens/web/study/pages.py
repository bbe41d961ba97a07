"""The pages of a study. One address shows every participant the step they are at.

/study/KEY                the study, for the participant of the cookie or for a new one
/study/KEY/join/TOKEN     the link of one participant
/study/KEY/progress       for the organiser
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hmac import compare_digest

from aiohttp import web

from ludens.core.errors import BadOption
from ludens.suites.people.file import MOST_PARTICIPANTS, Question
from ludens.web.addresses import address_of
from ludens.web.pages import page
from ludens.web.security import ACCESS, RateLimit, checks_own_token
from ludens.web.settings import Settings
from ludens.web.socket import serve
from ludens.web.spending import SPENDING
from ludens.web.study.progress import progress_of
from ludens.web.study.records import Participant
from ludens.web.study.room import POLL_SECONDS, Room

COOKIE = "participant"
_STRANGER = "You do not take part in this study: open the link that you were sent."
_CROWD = "Too many people have joined from your network; try again later, or ask for a personal link."
ROOM = web.AppKey("room", Room)
NEW_AT_ONCE, NEW_PER_HOUR = 50.0, 10.0
"""Participants that one address may add: a class at once, and later few."""
_NEWCOMERS = web.AppKey("newcomers", RateLimit)


def add_routes(app: web.Application, settings: Settings) -> None:
    """Add the pages of the study, if there is one."""
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
    with room.store:
        looking = asyncio.create_task(room.run())
        yield
        looking.cancel()
        await room.close()


def study_path(app: web.Application) -> str | None:
    """The address of the study; None where there is none."""
    return f"/study/{app[ROOM].records.key}" if ROOM in app else None


def _room(request: web.Request) -> Room:
    room = request.app[ROOM]
    if not compare_digest(request.match_info["key"].encode(), room.records.key.encode()):
        raise web.HTTPNotFound(text="There is no such study; check the link.")
    return room


def _participant(request: web.Request, room: Room) -> Participant:
    found = room.records.find(request.cookies.get(COOKIE, ""))
    if found is None:
        raise web.HTTPForbidden(text=_STRANGER)
    return found


def _give(request: web.Request, reply: web.StreamResponse, room: Room, participant: Participant) -> None:
    path = f"/study/{room.records.key}"
    month = 30 * 86400
    reply.set_cookie(
        COOKIE,
        participant.token,
        path=path,
        httponly=True,
        samesite="Lax",
        secure=request.secure,
        max_age=month,
    )


@checks_own_token
async def join(request: web.Request) -> web.Response:
    """The link of one participant."""
    room = _room(request)
    participant = room.records.find(request.match_info["token"])
    if participant is None:
        raise web.HTTPForbidden(text="This link is not valid; check it, or ask for a new one.")
    reply = web.HTTPSeeOther(f"/study/{room.records.key}")
    _give(request, reply, room, participant)
    raise reply


@checks_own_token
async def show(request: web.Request) -> web.Response:
    """The step of the participant."""
    room = _room(request)
    participant = room.records.find(request.cookies.get(COOKIE, ""))
    if participant is None and room.study.participants:
        raise web.HTTPForbidden(text="This study has personal links: open the one that you were sent.")
    return _step(room, participant)


def _step(room: Room, participant: Participant | None, problem: str = "", status: int = 200) -> web.Response:
    study = room.study
    step = room.step(participant) if participant else "consent"
    title = study.title or study.name
    base = f"/study/{room.records.key}"
    common = {"title": title, "base": base, "study": study, "problem": problem, "step": step}
    if step == "game":
        return page("study_game.html", status=status, heading=title, **common)
    task = room.task_of(participant) if participant else None
    return page(
        "study.html",
        status=status,
        **common,
        task=task,
        number=participant.finished(task.name) + 1 if participant and task else 0,
        partner=task is not None and len(task.people) > 1,
        poll=POLL_SECONDS,
        code=participant.name if participant else "",
        questions={"before": study.before, "after": study.after}.get(step, ()),
    )


@checks_own_token
async def answer(request: web.Request) -> web.Response:
    """Whatever a participant sends: consent, answers, being ready."""
    room = _room(request)
    form = {name: str(value) for name, value in (await request.post()).items()}
    participant = room.records.find(request.cookies.get(COOKIE, ""))
    reply = web.HTTPSeeOther(f"/study/{room.records.key}")
    doing = form.get("do", "")
    if participant is None:
        if doing != "consent" or room.study.participants:
            raise web.HTTPForbidden(text=_STRANGER)
        if len(room.records.participants) >= MOST_PARTICIPANTS:
            raise web.HTTPServiceUnavailable(text="This study takes no more participants.")
        if not request.app[_NEWCOMERS].allows(address_of(request)):
            raise web.HTTPTooManyRequests(text=_CROWD, headers={"Retry-After": "3600"})
        participant = room.records.add()
        _give(request, reply, room, participant)
    if doing == "withdraw":
        room.withdraw(participant)
        raise reply
    if doing != room.step(participant) and not (doing, room.step(participant)) == ("skip", "waiting"):
        raise reply  # a form of an earlier step, sent again
    match doing:
        case "consent":
            room.records.note(participant, "consented")
        case "before" | "after":
            try:
                answers = _answers(room.study.before if doing == "before" else room.study.after, form)
            except BadOption as error:
                return _step(room, participant, str(error), 400)
            room.records.note(participant, doing, answers=answers)
        case "task":
            room.ready(participant)
        case "skip":
            room.skip(participant)
        case "game":
            room.go_on(participant)
    raise reply


def _answers(questions: tuple[Question, ...], form: dict[str, str]) -> dict[str, str | float]:
    return {question.name: question.read(form.get(f"q.{question.name}", "")) for question in questions}


@checks_own_token
async def waiting(request: web.Request) -> web.Response:
    """A browser that waits for a partner asks whether there is one."""
    room = _room(request)
    participant = _participant(request, room)
    waited = room.asks(participant)
    may_skip = waited is not None and waited >= room.study.wait_minutes * 60
    return web.json_response({"waiting": waited is not None, "skip": may_skip})


@checks_own_token
async def connect(request: web.Request) -> web.WebSocketResponse:
    """The WebSocket of the participant's game."""
    room = _room(request)
    found = room.seat_of(_participant(request, room))
    if found is None:
        raise web.HTTPConflict(text="You do not play now; reload the page.")
    game, seat = found
    return await serve(request, game.session, seat)


async def progress(request: web.Request) -> web.Response:
    """For the organiser: what was played, and where everybody is."""
    if not request.app[ACCESS].is_organiser(request):
        raise web.HTTPForbidden(text="Only the organiser may see this: open the organiser's link.")
    room = _room(request)
    origin = f"{request.url.origin()}/study/{room.records.key}"
    title = f"{room.study.name}: progress"
    return page("study_progress.html", title=title, study=room.study, link=origin, **progress_of(room))
