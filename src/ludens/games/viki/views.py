"""The views of the levels: the kitchen as a map or through cameras, the task in the notes."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from ludens.core.random import Stream
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.viki.activate import Activation, read_types
from ludens.games.viki.data import ROBOTS
from ludens.games.viki.floor import BOTTOM, SIDE, Floor, Snapshot
from ludens.games.viki.level import Answered, Level
from ludens.games.viki.manual import primitives_text, robots_text
from ludens.games.viki.map import Map
from ludens.games.viki.plan import Planning, write_plan
from ludens.games.viki.points import POINTS
from ludens.games.viki.reply import AnswerFormat
from ludens.games.viki.rules import tell
from ludens.games.viki.scene import Task
from ludens.games.viki.source import Shown
from ludens.games.viki.trace import Tracing
from ludens.games.viki.words import describe

PICTURES = 256
"""Pictures of a level that are kept in memory."""


class LevelView(View):
    """A scene at its start, and the task."""

    shared_templates = Path(__file__).parent / "shared.md"

    def __init__(self, game: Level, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._map = Map(render, seed)
        # All episodes of a group show one scene.
        self._drawn = lru_cache(maxsize=PICTURES)(self._draw)

    def image(self, state: Answered, seat: str) -> Picture:
        return self.images(state, seat)[0]

    def images(self, state: Answered, seat: str) -> tuple[Picture, ...]:
        if state.given.pictures:
            return state.given.pictures
        return (self._drawn(state.given, self.you(state)),)

    def _draw(self, given: Shown, you: str) -> Picture:
        return self._map.picture(Floor(given.scene, Snapshot.at_start(given.scene)), you)

    def text(self, state: Any, seat: str) -> str:
        if not self.has_text:
            return View.text(self, state, seat)
        return describe(self._floor(state), self.you(state))

    @property
    def has_text(self) -> bool:
        """Released pictures cannot be put into words."""
        assert isinstance(self.game, Level)
        return not self.game.data

    def you(self, state: Any) -> str:
        """The robot that is marked as the player's."""
        return ""

    def _floor(self, state: Answered) -> Floor:
        return Floor(state.scene, Snapshot.at_start(state.scene))

    def notes(self, state: Any, seat: str) -> str:
        return state.given.prompt or self.templates.fill("task", task=state.scene.task.text)

    def brief(self, state: Any, seat: str) -> str:
        """The task in words, and what must hold: words of a held-out family are new to a small model."""
        if state.given.prompt:
            return str(state.given.prompt)
        return f"{state.scene.task.text}\n{_conditions(state.scene.task)}"

    def values(self, seat: str) -> dict[str, object]:
        assert isinstance(self.game, Level)
        seen = self.templates.fill(f"seen {self.game.look}")
        return {
            **super().values(seat),
            "seen": seen,
            "robots": robots_text(),
            "primitives": primitives_text(),
            "types": ", ".join(ROBOTS),
        }


class ActivateView(LevelView):
    """Level 1."""

    templates_file = "activate.md"

    def format(self, state: Activation, seat: str) -> AnswerFormat:
        return AnswerFormat(self.templates.fill("answer", types=", ".join(ROBOTS)), read_types)

    def guess(self, state: Activation, seat: str, random: Stream) -> str:
        """One to three types, each set as likely as another of its size."""
        return json.dumps(sorted(random.sample(list(ROBOTS), 1 + random.below(3))))


class PlanView(LevelView):
    """Level 2."""

    templates_file = "plan.md"

    def format(self, state: Planning, seat: str) -> AnswerFormat:
        return AnswerFormat(self.templates.fill("answer"), state.canonical)

    def notes(self, state: Planning, seat: str) -> str:
        said = [super().notes(state, seat)]
        for number, (answer, verdict) in enumerate(zip(state.answers, state.verdicts, strict=True), 1):
            said.append(self.templates.fill("attempt", number=number, answer=answer[:4000] or "(unreadable)"))
            if state.game.told:
                said.append(self.templates.fill("feedback", reason=verdict.message))
        return "\n\n".join(said)

    def brief(self, state: Planning, seat: str) -> str:
        said = [super().brief(state, seat)]
        for answer, verdict in zip(state.answers, state.verdicts, strict=True):
            said.append(answer or "(unreadable)")
            if state.game.told:
                said.append(verdict.message)
        return "\n".join(said)

    def guess(self, state: Planning, seat: str, random: Stream) -> str:
        """A plan that moves one robot to one thing and takes it: it does not look."""
        things = sorted(asset.name for asset in state.scene.assets)
        robot, name = f"R{1 + random.below(2)}", random.choice(things)
        place = random.choice(sorted(area.name for area in state.scene.areas))
        words = (("Move", name), ("Reach", name), ("Grasp", name), ("Move", place), ("Place", place))
        return write_plan([{robot: action} for action in words])


class TraceView(LevelView):
    """Level 3."""

    templates_file = "trace.md"

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        return {**values, "way": self.templates.fill(f"way {values['look']}")}

    def you(self, state: Tracing) -> str:
        return "" if state.given.prompt else state.errands[0].robot

    def notes(self, state: Tracing, seat: str) -> str:
        task = super().notes(state, seat)
        if state.given.prompt:
            return task
        mine, partner = state.errands
        values = {"mine": mine.words, "robot": mine.robot, "other": partner.robot, "partner": partner.words}
        return f"{task}\n\n{self.templates.fill('errands', **values)}"

    def brief(self, state: Tracing, seat: str) -> str:
        if state.given.prompt:
            return state.given.prompt
        return "\n".join(f"{errand.robot} {errand.words}" for errand in state.errands)

    def text(self, state: Tracing, seat: str) -> str:
        floor = self._floor(state)
        lines = [super().text(state, seat), "Positions as [x, y] in the picture:"]
        if state.given.pictures:
            seen = (f"{name}: {_at(*at)}" for name, at in state.given.positions.items())
            return "\n".join([*lines, *seen])
        lines += [f"{name}, feet: {_at(*point)}" for name, point in floor.robots.items()]
        lines += [f"{name}: {_at(*point)}" for name, point in floor.centres.items()]
        for name, box in floor.surfaces.items():
            corners = f"{_at(box.x, box.y)} to {_at(box.x + box.w, box.y + box.h)}"
            lines.append(f"{name}: from {corners}")
        return "\n".join(lines)

    def format(self, state: Tracing, seat: str) -> AnswerFormat:
        width, height = state.given.size
        instruction = self.templates.fill("answer", width=width, height=height, points=POINTS)
        return AnswerFormat(instruction, state.canonical)

    def guess(self, state: Tracing, seat: str, random: Stream) -> str:
        """Straight lines between random points of the floor."""
        width, height = state.given.size
        high = height * BOTTOM // SIDE

        def line() -> list[list[float]]:
            (ax, ay), (bx, by) = ((random.below(width), random.below(high)) for _ in range(2))
            parts = [number / (POINTS - 1) for number in range(POINTS)]
            return [[round(ax + (bx - ax) * part, 1), round(ay + (by - ay) * part, 1)] for part in parts]

        return json.dumps([line(), line()], separators=(",", ":"))


def _conditions(task: Task) -> str:
    """Goals and orders: "bread at toaster, then toaster activated; plate at table"."""
    orders = [", then ".join(map(tell, order)) for order in task.orders]
    return "; ".join([*orders, *(tell((goal,)) for goal in task.goals)])


def _at(x: float, y: float) -> str:
    return f"[{x:.0f}, {y:.0f}]"
