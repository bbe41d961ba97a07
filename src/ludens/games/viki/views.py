"""The views of the levels: the kitchen as a map or through cameras, the task in the notes."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludens.core.game import Game
from ludens.core.random import Stream
from ludens.core.view import Picture, RenderOptions, View
from ludens.draw import Canvas, SpriteSheet, sprite_sheet
from ludens.games.viki.art import furniture_sprite, robot_sprite, thing_sprite
from ludens.games.viki.closed_loop import HORIZON, MESSAGE, Acting, Teaming, write_step, write_turn
from ludens.games.viki.floor import BOTTOM, GROUND, HEAD, ROBOT, SIDE, Box, Floor, Item, Snapshot, own_box
from ludens.games.viki.levels import Activation, Answered, Level, Planning, Tracing, read_types, write_plan
from ludens.games.viki.replies import POINTS, AnswerFormat
from ludens.games.viki.rules import tell
from ludens.games.viki.sources import Shown
from ludens.games.viki.world import KINDS, PRECONDITIONS, PRIMITIVES, ROBOTS, Asset, RobotType, Task

if TYPE_CHECKING:
    from ludens.core.view import RenderOptions


@lru_cache(maxsize=1)
def robots_text() -> str:
    """One line for each robot type."""
    return "\n".join(f"- {name}: {_robot(kind)}" for name, kind in ROBOTS.items())


def _robot(kind: RobotType) -> str:
    said = [kind.body]
    said.append("moves" if kind.mobile else "cannot leave the area it is in")
    if kind.arms:
        said.append(f"reaches things between {kind.low:g} m and {kind.high:g} m high")
    if kind.pushes:
        said.append("pushes boxes")
    return f"{', '.join(said)}; primitives: {', '.join(kind.primitives)}"


@lru_cache(maxsize=1)
def primitives_text() -> str:
    """One paragraph for each primitive: arguments, preconditions, effect."""
    lines = []
    for name, primitive in PRIMITIVES.items():
        arguments = ", ".join(f'"{argument}"' for argument in primitive.arguments)
        needs = "; ".join(PRECONDITIONS[need].rule for need in primitive.needs if need not in _OBVIOUS)
        lines.append(f'- ["{name}", {arguments}]: {primitive.text}. Needs: {needs or "nothing else"}. '
                     f"Then: {primitive.effect}.")  # fmt: skip
    return "\n".join(lines)


_OBVIOUS = ("capable", "exists", "second_exists")
"""Said once for all primitives."""


def describe(floor: Floor, you: str = "") -> str:
    """Areas with their things, then robots."""
    lines = []
    for area in sorted(floor.scene.areas, key=lambda one: _reading_order(floor, one.name)):
        things = "; ".join(_thing(floor, asset) for asset in floor.seen_in(area.name)) or "nothing"
        things = things if floor.sees(area.name) else "not in view"
        height = "floor" if area.name == GROUND else f"{area.height:g} m high"
        lines.append(f"{area.name} ({height}): {things}")
    for robot in floor.present:
        held = ", ".join(_thing(floor, asset) for asset in floor.seen_in(robot.id))
        reached = ", ".join(floor.snapshot.reached.get(robot.id, ()))
        name = f"{robot.id} (you)" if robot.id == you else robot.id
        said = [f"{name}: {robot.type} at {floor.snapshot.robots[robot.id]}"]
        said += [f"holds {held}"] if held else []
        said += [f"reaches for {reached}"] if reached else []
        lines.append(", ".join(said))
    return "\n".join(lines)


def _reading_order(floor: Floor, area: str) -> tuple[float, float]:
    box = floor.surfaces[area]
    return box.y, box.x


def _thing(floor: Floor, asset: Asset) -> str:
    kind, marks = KINDS[asset.kind], []
    if kind.opens:
        marks.append("closed" if asset.name in floor.snapshot.closed else "open")
    if kind.height is not None:
        marks.append(f"{kind.height:g} m high inside")
    if asset.name in floor.snapshot.active:
        marks.append("used")
    said = f"{asset.name} ({', '.join(marks)})" if marks else asset.name
    inside = floor.seen_in(asset.name)
    return f"{said} with {' and '.join(_thing(floor, one) for one in inside)}" if inside else said


INKS = (
    "ink", "accent", "line", "muted", "white", "black", "gray", "red", "orange", "yellow", "green", "blue",
    "cyan", "purple", "magenta", "brown",
)  # fmt: skip
GROUNDS = ("page", "panel", "light", "wood")
_LEGEND = "1.2 m: height of a surface, or of what is inside.  ON: used.  A line from a robot: reaches for."


class Map:
    """Draws floor plans in one theme and size."""

    def __init__(self, render: RenderOptions, seed: int = 0) -> None:
        self._sheet: SpriteSheet = sprite_sheet(render.theme, render.size, seed, inks=INKS, grounds=GROUNDS)
        self._base: Canvas | None = None

    def picture(self, floor: Floor, you: str = "") -> Picture:
        """The picture of a floor plan; the robot `you` is marked."""
        if self._base is None:
            self._base = self._background()
        canvas = self._base.copy()
        heights = {area.name: area.height for area in floor.scene.areas}
        for area, box in floor.surfaces.items():
            self._surface(canvas, area, box, heights[area])
            if not floor.sees(area):
                cx, cy = box.centre
                ground = "page" if area == GROUND else "wood"
                canvas.text(self._sheet.px(cx), self._sheet.px(cy), "not in view", self._sheet.font_px(11),
                            "ink", ground, "mm")  # fmt: skip
            for item in floor.items[area]:
                self._item(canvas, item, floor, "page" if area == GROUND else "wood")
        self._reaching(canvas, floor)
        for one in floor.present:
            self._robot(canvas, floor, one.id, one.type, you == one.id)
        return canvas.picture()

    def _background(self) -> Canvas:
        sheet, px = self._sheet, self._sheet.px
        canvas = Canvas(sheet, "page")
        canvas.fill(px(4), px(4), px(SIDE - 8), px(BOTTOM - 4), "light")
        canvas.frame(px(4), px(4), px(SIDE - 8), px(BOTTOM - 4), "line", px(2))
        font, step = sheet.font_px(10.5), (SIDE - 8) / len(ROBOTS)
        canvas.text(px(8), px(BOTTOM + 8), "Robot types:", font, bold=True)
        for number, kind in enumerate(ROBOTS):
            x = 4 + step * (number + 0.5)
            canvas.centre(robot_sprite(sheet, kind, px(ROBOT), "page"), px(x), px(BOTTOM + 40))
            canvas.text(px(x), px(BOTTOM + 71), kind, font, anchor="mm")
        canvas.text(px(8), px(BOTTOM + 90), _LEGEND, font, "muted")
        canvas.pixels.setflags(write=False)
        return canvas

    def _surface(self, canvas: Canvas, area: str, box: Box, height: float) -> None:
        px, sheet = self._sheet.px, self._sheet
        x, y, w, h = px(box.x), px(box.y), px(box.w), px(box.h)
        ground = "page" if area == GROUND else "wood"
        canvas.fill(x, y, w, h, ground)
        canvas.frame(x, y, w, h, "line", px(1 if area == GROUND else 2))
        font, middle = sheet.font_px(10), px(box.y + HEAD / 2 + 1)
        canvas.text(x + px(4), middle, area, font, "ink", ground, bold=True)
        if area != GROUND:
            canvas.text(x + w - px(4), middle, f"{height:g} m", font, "ink", ground, "rm")

    def _item(self, canvas: Canvas, item: Item, floor: Floor, ground: str) -> None:
        px, sheet, box = self._sheet.px, self._sheet, own_box(item)
        if item.inside:
            group = item.box
            canvas.frame(px(group.x + 1), px(group.y), px(group.w - 2), px(group.h - 2), "line", px(1))
        name, kind = item.asset.name, KINDS[item.asset.kind]
        lines = [name, f"{kind.height:g} m"] if kind.height is not None else [name]
        if " " in name:
            lines = name.split(" ")
        size = px(min(box.w - 6, box.h - 8 - 9 * (len(lines) + item.low), 32))
        cx, cy = px(box.x + box.w / 2), px(box.y + 2) + size // 2
        if kind.fixture:
            state = "" if not kind.opens else "closed" if name in floor.snapshot.closed else "open"
            canvas.centre(furniture_sprite(sheet, item.asset.kind, state, size, ground), cx, cy)
        else:
            canvas.centre(thing_sprite(sheet, item.asset.kind, size, ground), cx, cy)
        font = sheet.font_px(9)
        for number, line in enumerate(lines):
            y = cy + size // 2 + px(5) + (number + item.low) * max(px(9), font - 1)
            canvas.text(cx, y, line, font, "ink", ground, "mm", room=px(max(box.w + 6, 60)))
        if name in floor.snapshot.active:
            canvas.text(cx, cy, "ON", sheet.font_px(10), "white", "black", "mm", bold=True)
        for one in item.inside:
            self._item(canvas, one, floor, ground)

    def _robot(self, canvas: Canvas, floor: Floor, name: str, kind: str, you: bool) -> None:
        px, sheet, small = self._sheet.px, self._sheet, self._sheet.font_px(9)
        x, y = floor.robots[name]
        side = min(ROBOT, floor.room(name) - 2)
        canvas.centre(robot_sprite(sheet, kind, px(side), "light"), px(x), px(y - side / 2))
        ink, ground = ("black", "yellow") if you else ("white", "black")
        top = px(y - side - 6)
        canvas.text(px(x), top, f"{name} (you)" if you else name, sheet.font_px(11), ink, ground, "mm", True)
        held = floor.seen_in(name)
        for number, one in enumerate(held):
            canvas.centre(
                thing_sprite(sheet, one.kind, px(18), "light"), px(x + 22), px(y - side + 8 + 20 * number)
            )
        for number, one in enumerate(held):
            at = px(y + 5 + 10 * number)
            canvas.text(px(x), at, one.name, small, "ink", "light", "mm", room=px(floor.room(name) + 6))

    def _reaching(self, canvas: Canvas, floor: Floor) -> None:
        """A line from each robot to what it reaches for."""
        px = self._sheet.px
        for name, (x, y) in floor.robots.items():
            assets = floor.snapshot.reached.get(name, ())
            for asset in assets:
                if asset in floor.centres:
                    cx, cy = floor.centres[asset]
                    canvas.line(px(x), px(y - 30), px(cx), px(cy), "accent", px(2))


__all__ = ["Map"]


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


class ActView(View):
    """The whole kitchen, for the seat that commands all robots."""

    templates_file = "act.md"
    shared_templates = Path(__file__).parent / "shared.md"

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._map = Map(render, seed)

    def image(self, state: Acting, seat: str) -> Picture:
        return self._map.picture(state.floor)

    def text(self, state: Acting, seat: str) -> str:
        return describe(state.floor)

    def notes(self, state: Acting, seat: str) -> str:
        task = self.templates.fill("task", task=state.scene.task.text)
        said = [task, f"Steps taken: {state.steps}; at most {HORIZON} are allowed."]
        if state.reason:
            said.append(self.templates.fill("refused", reason=state.reason))
        return "\n\n".join(said)

    def values(self, seat: str) -> dict[str, object]:
        seen = self.templates.fill("seen map")
        return {
            **super().values(seat),
            "seen": seen,
            "robots": robots_text(),
            "primitives": primitives_text(),
        }

    def format(self, state: Acting, seat: str) -> AnswerFormat:
        return AnswerFormat(self.templates.fill("answer"), state.canonical)

    def guess(self, state: Acting, seat: str, random: Stream) -> str:
        """A random action for one robot."""
        robot = random.choice(state.scene.robots)
        return write_step({robot.id: random_action(state, robot.type, random)})


def random_action(state: Acting, kind: str, random: Stream) -> tuple[str, ...]:
    """A random primitive of a robot type on random things."""
    primitive = PRIMITIVES[random.choice(ROBOTS[kind].primitives)]
    things = [asset.name for asset in state.scene.assets]
    places = [*things, *(area.name for area in state.scene.areas)]
    robots = [robot.id for robot in state.scene.robots]
    names = {"thing": things, "box": things, "target": places, "destination": places, "robot": robots}
    return (primitive.name, *(random.choice(names[argument]) for argument in primitive.arguments))


HEARD = 20
"""The latest messages that are shown."""


class TeamView(ActView):
    """What one robot sees."""

    templates_file = "team.md"

    def image(self, state: Teaming, seat: str) -> Picture:  # type: ignore[override]
        return self._map.picture(state.seen_by(seat), seat)

    def text(self, state: Teaming, seat: str) -> str:  # type: ignore[override]
        return describe(state.seen_by(seat), seat)

    def notes(self, state: Teaming, seat: str) -> str:  # type: ignore[override]
        task = self.templates.fill("task", task=state.scene.task.text)
        said = [task, f"Steps taken: {state.steps}; at most {HORIZON} are allowed."]
        if reason := state.reasons.get(seat):
            said.append(self.templates.fill("refused", reason=reason))
        heard = [f"step {step}, {who}: {text}" for step, who, text in state.messages[-HEARD:]]
        said.append("\n".join(["Messages:", *(heard or ["none"])]))
        return "\n\n".join(said)

    def values(self, seat: str) -> dict[str, object]:
        return {**super().values(seat), "longest": MESSAGE}

    def guess(self, state: Teaming, seat: str, random: Stream) -> str:  # type: ignore[override]
        kind = next(robot.type for robot in state.scene.robots if robot.id == seat)
        return write_turn(random_action(state, kind, random), "")
