"""A player that answers with forms, as the browser of a person does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ludens.agents.human import form_reply
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.episode import Move
from ludens.core.forms import Choose, Draw, Fill, Form, Matrix, Plan, Select, Sentence
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of


def filled_in(form: Form) -> str:
    """What a browser sends for a form that somebody filled in."""
    match form:
        case Choose():
            return form.legal[-1]
        case Sentence():
            return next(iter(form.lines or form.places), "I see a red object.")
        case Fill():
            return json.dumps(dict.fromkeys(form.fields, "1"))
        case Select():
            return json.dumps([next(iter(form.labels))])
        case Plan():
            robot, (_, names) = next(iter(form.robots.items()))
            objects = [offered[-1] for _, offered in form.commands[names[0]]]
            return json.dumps({"steps": [{robot: [names[0], *objects]}], "message": ""})
        case Draw():
            path = [[0.1 * (number + 1), 0.5] for number in range(form.points)]
            return json.dumps([path for _ in form.paths])
        case Matrix():
            return json.dumps([next(iter(form.contents))] * (len(form.rows) * len(form.columns)))
    raise AssertionError(form)


@dataclass
class FormPlayer(Agent):
    """Fills in every form, and keeps what it was shown."""

    steps: list[tuple[State, State, Sequence[Move]]] = field(default_factory=list)
    """The states before and after each move of a seat, and the move."""
    kind = "bot/forms"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state: Any = ask.state
        view = view_of(self.game, RenderOptions(), 1)
        reply = form_reply(filled_in(view.form(state, ask.seat)), view.form(state, ask.seat))
        before, after = state.clone(), state.clone()
        action = reply.action or ask.format.read(reply.text, ask.legal)
        if len(state.to_act) == 1:
            after.apply({ask.seat: action})
        self.steps.append((before, after, [Move(0, ask.seat, action)]))
        return reply
