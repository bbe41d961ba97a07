"""The views of the levels: the kitchen as a map or through cameras, the task in the notes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from ludens.core.forms import Draw, Plan, Select
from ludens.core.game import Game
from ludens.core.random import Stream
from ludens.core.view import Picture, RenderOptions, View
from ludens.draw import Canvas, SpriteSheet, sprite_sheet
from ludens.games.viki.art import sprite
from ludens.games.viki.closed_loop import HORIZON, ActState, TeamState
from ludens.games.viki.floor import (
    BOTTOM,
    GROUND,
    HEAD,
    ROBOT,
    SIDE,
    Box,
    FloorItem,
    FloorPlan,
    own_box,
    straight_line,
)
from ludens.games.viki.forms import paths_form, plan_form, step_form, tell_answer, turn_form, types_form
from ludens.games.viki.levels import ActivateState, AnswerState, Level, PlanLevel, PlanState, TraceState
from ludens.games.viki.replies import (
    MESSAGE,
    POINTS,
    AnswerFormat,
    write_plan,
    write_points,
    write_step,
    write_turn,
)
from ludens.games.viki.rules import tell
from ludens.games.viki.sources import SceneSetup, SceneState
from ludens.games.viki.world import (
    KINDS,
    PRECONDITIONS,
    PRIMITIVES,
    ROBOTS,
    Asset,
    KitchenTask,
    Stage,
    random_action,
)


@lru_cache(maxsize=1)
def robots_text() -> str:
    """One line for each robot type."""
    lines = []
    for name, kind in ROBOTS.items():
        parts = [kind.body, "moves" if kind.mobile else "cannot leave the area it is in"]
        if kind.arms:
            parts.append(f"reaches things between {kind.low:g} m and {kind.high:g} m high")
        if kind.pushes:
            parts.append("pushes boxes")
        lines.append(f"- {name}: {', '.join(parts)}; primitives: {', '.join(kind.primitives)}")
    return "\n".join(lines)


@lru_cache(maxsize=2)
def primitives_text(for_people: bool = False) -> str:
    """One paragraph for each primitive: arguments, preconditions, effect."""
    lines = []
    for name, primitive in PRIMITIVES.items():
        arguments = ", ".join(f'"{argument}"' for argument in primitive.arguments)
        call = f"{name} ({', '.join(primitive.arguments)})" if for_people else f'["{name}", {arguments}]'
        needs = "; ".join(PRECONDITIONS[need].rule for need in primitive.needs if need not in _OBVIOUS)
        lines.append(
            f"- {call}: {primitive.text}. Needs: {needs or 'nothing else'}. Then: {primitive.effect}."
        )
    return "\n".join(lines)


_OBVIOUS = ("capable", "exists", "second_exists")
"""Said once for all primitives."""


def describe(floor: FloorPlan, you: str = "") -> str:
    """Areas with their things, then robots."""
    lines = []
    boxes = floor.surfaces
    for area in sorted(floor.scene.areas, key=lambda area: (boxes[area.name].y, boxes[area.name].x)):
        things = "; ".join(_thing(floor, asset) for asset in floor.seen_in(area.name)) or "nothing"
        things = things if floor.sees(area.name) else "not in view"
        height = "floor" if area.name == GROUND else f"{area.height:g} m high"
        lines.append(f"{area.name} ({height}): {things}")
    for robot in floor.present:
        held = ", ".join(_thing(floor, asset) for asset in floor.seen_in(robot.id))
        reached = ", ".join(floor.reached.get(robot.id, ()))
        name = f"{robot.id} (you)" if robot.id == you else robot.id
        parts = [f"{name}: {robot.type} at {robot.place}"]
        parts += [f"holds {held}"] if held else []
        parts += [f"reaches for {reached}"] if reached else []
        lines.append(", ".join(parts))
    return "\n".join(lines)


def _thing(floor: FloorPlan, asset: Asset) -> str:
    height = KINDS[asset.kind].height
    marks = [asset.door] if asset.door else []
    marks += [] if height is None else [f"{height:g} m high inside"]
    marks += ["used"] if asset.name in floor.active else []
    text = f"{asset.name} ({', '.join(marks)})" if marks else asset.name
    inside = floor.seen_in(asset.name)
    return f"{text} with {' and '.join(_thing(floor, one) for one in inside)}" if inside else text


@lru_cache(maxsize=1)
def looks() -> str:
    """How robots of each type look in camera pictures."""
    from ludens.games.viki.models import SOURCES

    return "; ".join(f"{kind}: {source.looks}" for kind, source in SOURCES.items())


def conditions(task: KitchenTask) -> str:
    """What must hold for the task to be done: orders first, then goals."""
    orders = [", then ".join(map(_stage, order)) for order in task.orders]
    return "; ".join([*orders, *(_stage((goal,)) for goal in task.goals)])


def _stage(stage: Stage) -> str:
    """The conditions of a stage; an area that a thing must be in is named by the furniture there, because the
    picture shows where that is."""
    anchor = next((one.place for one in stage if one.place is not None and not one.along), None)
    return " and ".join(
        f"{one.thing} where the {anchor} is" if one.along and anchor is not None else tell((one,))
        for one in stage
    )


INKS = (
    "ink", "accent", "line", "muted", "white", "black", "gray", "red", "orange", "yellow", "green", "blue",
    "cyan", "purple", "magenta", "brown",
)  # fmt: skip
GROUNDS = ("page", "panel", "light", "wood")
MAP_STYLES = tuple(
    (room, wood, tiled)
    for tiled in (False, True)
    for room, wood in (
        ("light", "wood"), ("panel", "wood"), ("light", "panel"),
        ("panel", "light"), ("light", "page"), ("panel", "page"),
    )
)  # fmt: skip
"""For each style of a scene the colours of floor and surfaces, and whether the floor has tiles."""
TILE = 32
_LEGEND = "1.2 m: height of a surface, or of what is inside.  ON: used.  A line from a robot: reaches for."


class Map:
    """Draws floor plans in one theme and size."""

    def __init__(self, render: RenderOptions, seed: int = 0) -> None:
        self._sheet: SpriteSheet = sprite_sheet(render.theme, render.size, seed, inks=INKS, grounds=GROUNDS)
        self._backgrounds: dict[int, Canvas] = {}

    def picture(self, floor: FloorPlan, you: str = "") -> Picture:
        """The picture of a floor plan; the robot `you` is marked."""
        style = floor.scene.style % len(MAP_STYLES)
        if style not in self._backgrounds:
            self._backgrounds[style] = self._background(*MAP_STYLES[style])
        canvas = self._backgrounds[style].copy()
        room, wood, _ = MAP_STYLES[style]
        heights = {area.name: area.height for area in floor.scene.areas}
        for area, box in floor.surfaces.items():
            ground = room if area == GROUND else wood
            self._surface(canvas, area, box, heights[area], ground)
            if not floor.sees(area):
                cx, cy = map(self._sheet.px, box.centre)
                canvas.text(cx, cy, "not in view", self._sheet.font_px(11), "ink", ground, "mm")
            for item in floor.items[area]:
                self._item(canvas, item, floor, ground)
        self._reaching(canvas, floor)
        for one in floor.present:
            self._robot(canvas, floor, one.id, one.type, room, you == one.id)
        return canvas.picture()

    def _background(self, room: str, wood: str, tiled: bool) -> Canvas:
        sheet, px = self._sheet, self._sheet.px
        canvas = Canvas(sheet, "page")
        canvas.fill(px(4), px(4), px(SIDE - 8), px(BOTTOM - 4), room)
        for at in range(TILE, SIDE, TILE) if tiled else ():
            canvas.fill(px(at), px(4), max(1, px(1)), px(BOTTOM - 4), wood)
            if at < BOTTOM:
                canvas.fill(px(4), px(at), px(SIDE - 8), max(1, px(1)), wood)
        canvas.frame(px(4), px(4), px(SIDE - 8), px(BOTTOM - 4), "line", px(2))
        font, step = sheet.font_px(10.5), (SIDE - 8) / len(ROBOTS)
        canvas.text(px(8), px(BOTTOM + 8), "Robot types:", font, bold=True)
        for number, kind in enumerate(ROBOTS):
            x = 4 + step * (number + 0.5)
            canvas.centre(sprite(sheet, kind, px(ROBOT), "page"), px(x), px(BOTTOM + 40))
            canvas.text(px(x), px(BOTTOM + 71), kind, font, anchor="mm")
        canvas.text(px(8), px(BOTTOM + 90), _LEGEND, font, "muted")
        canvas.pixels.setflags(write=False)
        return canvas

    def _surface(self, canvas: Canvas, area: str, box: Box, height: float, ground: str) -> None:
        px, sheet = self._sheet.px, self._sheet
        x, y, w, h = px(box.x), px(box.y), px(box.w), px(box.h)
        canvas.fill(x, y, w, h, ground)
        canvas.frame(x, y, w, h, "line", px(1 if area == GROUND else 2))
        font, middle = sheet.font_px(10), px(box.y + HEAD / 2 + 1)
        canvas.text(x + px(4), middle, area, font, "ink", ground, bold=True)
        if area != GROUND:
            canvas.text(x + w - px(4), middle, f"{height:g} m", font, "ink", ground, "rm")

    def _item(self, canvas: Canvas, item: FloorItem, floor: FloorPlan, ground: str) -> None:
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
        picture = f"{item.asset.kind} {item.asset.door}".strip()
        canvas.centre(sprite(sheet, picture, size, ground), cx, cy)
        font = sheet.font_px(9)
        for number, line in enumerate(lines):
            y = cy + size // 2 + px(5) + (number + item.low) * max(px(9), font - 1)
            canvas.text(cx, y, line, font, "ink", ground, "mm", room=px(max(box.w + 6, 60)))
        if name in floor.active:
            canvas.text(cx, cy, "ON", sheet.font_px(10), "white", "black", "mm", bold=True)
        for one in item.inside:
            self._item(canvas, one, floor, ground)

    def _robot(self, canvas: Canvas, floor: FloorPlan, name: str, kind: str, room: str, you: bool) -> None:
        px, sheet, small = self._sheet.px, self._sheet, self._sheet.font_px(9)
        x, y = floor.robots[name]
        side = min(ROBOT, floor.room(name) - 2)
        canvas.centre(sprite(sheet, kind, px(side), room), px(x), px(y - side / 2))
        ink, ground = ("black", "yellow") if you else ("white", "black")
        top = px(y - side - 6)
        canvas.text(px(x), top, f"{name} (you)" if you else name, sheet.font_px(11), ink, ground, "mm", True)
        held = floor.seen_in(name)
        for number, asset in enumerate(held):
            picture = sprite(sheet, asset.kind, px(18), room)
            canvas.centre(picture, px(x + 22), px(y - side + 8 + 20 * number))
        for number, asset in enumerate(held):
            at = px(y + 5 + 10 * number)
            canvas.text(px(x), at, asset.name, small, "ink", room, "mm", room=px(floor.room(name) + 6))

    def _reaching(self, canvas: Canvas, floor: FloorPlan) -> None:
        """A line from each robot to what it reaches for."""
        px = self._sheet.px
        for name, (x, y) in floor.robots.items():
            for asset in floor.reached.get(name, ()):
                if asset in floor.centres:
                    cx, cy = floor.centres[asset]
                    canvas.line(px(x), px(y - 30), px(cx), px(cy), "accent", px(2))


PICTURES = 256
"""Pictures of a level that are kept in memory."""
_SMALLEST_PHOTOGRAPH = 512
"""The size at which the labels in camera pictures, which are 800 pixels wide, can still be read."""
MESSAGES = 20
"""The latest messages that are shown."""


class SceneView(View):
    """The kitchen as a map, and the task."""

    shared_templates = Path(__file__).parent / "shared.md"
    look = "map"

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._map = Map(render, seed)

    def floor(self, state: Any, seat: str) -> FloorPlan:
        raise NotImplementedError

    def you(self, state: Any, seat: str) -> str:
        """The robot that is marked as the player's."""
        return ""

    def image(self, state: Any, seat: str) -> Picture:
        return self._map.picture(self.floor(state, seat), self.you(state, seat))

    def text(self, state: Any, seat: str) -> str:
        return describe(self.floor(state, seat), self.you(state, seat))

    def notes(self, state: Any, seat: str) -> str:
        task = state.scene.task
        return self.templates.fill("task", task=task.text, conditions=conditions(task))

    def format(self, state: SceneState, seat: str) -> AnswerFormat:
        return AnswerFormat(self.templates.fill("answer", **self.answer_values(state)), state.canonical)

    def answer_values(self, state: Any) -> dict[str, str]:
        """What the template of the answer needs."""
        return {}

    def label(self, action: str) -> str:
        return tell_answer(action)

    def rules_for_person(self, seat: str) -> str:
        values = {**self.values(seat), "primitives": primitives_text(for_people=True)}
        return self.templates.fill("rules", seat=seat, **values)

    def values(self, seat: str) -> dict[str, object]:
        return {
            **super().values(seat),
            "seen": self.templates.fill(f"seen {self.look}", looks=looks()),
            "timing": self.templates.fill("timing"),
            "robots": robots_text(),
            "primitives": primitives_text(),
        }


class LevelView(SceneView):
    """A scene at its start; its pictures may come from files."""

    game: Level

    def __init__(self, game: Level, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self.look = game.look
        # All episodes of a group show one scene.
        self._shown = lru_cache(maxsize=PICTURES)(self._show)

    def floor(self, state: AnswerState, seat: str) -> FloorPlan:
        return FloorPlan(state.scene)

    def image(self, state: AnswerState, seat: str) -> Picture:
        return self.images(state, seat)[0]

    def images(self, state: AnswerState, seat: str) -> tuple[Picture, ...]:
        return self._shown(state.setup, self.you(state, seat))

    def _show(self, setup: SceneSetup, you: str) -> tuple[Picture, ...]:
        """Released pictures stay as they are: their pixels are the coordinates that their prompts ask for."""
        if not setup.pictures:
            return (self._map.picture(FloorPlan(setup.scene), you),)
        return setup.pictures if self.game.data else tuple(p.within(self.render.size) for p in setup.pictures)

    @property
    def smallest(self) -> int:
        return _SMALLEST_PHOTOGRAPH if self.game.look == "camera" else super().smallest

    @property
    def enlarges(self) -> bool:
        return self.game.look == "map" and not self.game.data

    def text(self, state: Any, seat: str) -> str:
        return super().text(state, seat) if self.has_text else View.text(self, state, seat)

    @property
    def has_text(self) -> bool:
        """Released pictures cannot be put into words."""
        return not self.game.data

    def notes(self, state: Any, seat: str) -> str:
        return state.setup.prompt or super().notes(state, seat)

    def brief(self, state: Any, seat: str) -> str:
        """The notes without the words around them."""
        task = state.scene.task
        return state.setup.prompt or f"{task.text}\n{conditions(task)}"

    def system(self, state: Any, seat: str) -> str | None:
        return state.setup.system if self.game.data else None

    def rules(self, seat: str) -> str:
        """Nothing for released data, whose prompts say what there is to say."""
        return "" if self.game.data else super().rules(seat)

    def rules_for_person(self, seat: str) -> str:
        return "" if self.game.data else super().rules_for_person(seat)

    def values(self, seat: str) -> dict[str, object]:
        return {**super().values(seat), "types": ", ".join(ROBOTS)}


class ActivateView(LevelView):
    """Level 1."""

    templates_file = "activate.md"

    def form(self, state: ActivateState, seat: str) -> Select:
        return types_form()

    def answer_values(self, state: ActivateState) -> dict[str, str]:
        return {"types": ", ".join(ROBOTS)}

    def guess(self, state: ActivateState, seat: str, random: Stream) -> str:
        """One to three types, each set as likely as another of its size."""
        return json.dumps(sorted(random.sample(list(ROBOTS), 1 + random.below(3))))


class PlanView(LevelView):
    """Level 2."""

    game: PlanLevel
    templates_file = "plan.md"

    def values(self, seat: str) -> dict[str, object]:
        right = "shortest" if self.game.step_penalty else "any"
        return {**super().values(seat), "right": self.templates.fill(f"right {right}")}

    def form(self, state: PlanState, seat: str) -> Plan:
        floor = None if self.game.data else self.floor(state, seat)
        return plan_form(state.scene, floor, on_map=not state.setup.pictures)

    def notes(self, state: PlanState, seat: str) -> str:
        return self._attempts(state, seat, lambda answer: answer)

    def notes_for_person(self, state: PlanState, seat: str) -> str:
        return self._attempts(state, seat, tell_answer)

    def _attempts(self, state: PlanState, seat: str, tell: Callable[[str], str]) -> str:
        parts = [super().notes(state, seat)]
        tried = zip(state.answers, state.verdicts, state.accuracies, strict=True)
        for number, (answer, verdict, accuracy) in enumerate(tried, 1):
            if accuracy == 1.0:
                continue
            answer = tell(answer)[:4000] if answer else "(unreadable)"
            parts.append(self.templates.fill("attempt", number=number, answer=answer))
            if state.game.told:
                parts.append(self.templates.fill("feedback", reason=verdict.message))
        return "\n\n".join(parts)

    def brief(self, state: PlanState, seat: str) -> str:
        parts = [super().brief(state, seat)]
        for answer, verdict in zip(state.answers, state.verdicts, strict=True):
            parts.append(answer or "(unreadable)")
            if state.game.told:
                parts.append(verdict.message)
        return "\n".join(parts)

    def guess(self, state: PlanState, seat: str, random: Stream) -> str:
        """A plan that moves one robot to one thing and takes it: it does not look."""
        things = sorted(asset.name for asset in state.scene.assets)
        robot, name = f"R{1 + random.below(2)}", random.choice(things)
        place = random.choice(sorted(area.name for area in state.scene.areas))
        words = (("Move", name), ("Reach", name), ("Grasp", name), ("Move", place), ("Place", place))
        return write_plan([{robot: action} for action in words])


class TraceView(LevelView):
    """Level 3."""

    templates_file = "trace.md"

    def form(self, state: TraceState, seat: str) -> Draw:
        if state.setup.prompt:
            return paths_form("Your path", "Your partner's path", state.setup.size)
        own, partner = state.errands
        return paths_form(f"{own.robot}, you", f"{partner.robot}, your partner", state.setup.size)

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        return {**values, "way": self.templates.fill(f"way {values['look']}")}

    def you(self, state: TraceState, seat: str) -> str:
        return "" if state.setup.prompt else state.errands[0].robot

    def notes(self, state: TraceState, seat: str) -> str:
        task = super().notes(state, seat)
        if state.setup.prompt:
            return task
        own, partner = state.errands
        values = {"mine": own.words, "robot": own.robot, "other": partner.robot, "partner": partner.words}
        return f"{task}\n\n{self.templates.fill('errands', **values)}"

    def brief(self, state: TraceState, seat: str) -> str:
        if state.setup.prompt:
            return state.setup.prompt
        return "\n".join(f"{errand.robot} {errand.words}" for errand in state.errands)

    def text(self, state: TraceState, seat: str) -> str:
        floor = self.floor(state, seat)
        lines = [super().text(state, seat), "Positions as [x, y] in the picture:"]
        if state.setup.pictures:
            lines += [f"{name}: {_at(*point)}" for name, point in state.setup.positions.items()]
            return "\n".join(lines)
        lines += [f"{name}, feet: {_at(*point)}" for name, point in floor.robots.items()]
        lines += [f"{name}: {_at(*point)}" for name, point in floor.centres.items()]
        for name, box in floor.surfaces.items():
            corners = f"{_at(box.x, box.y)} to {_at(box.x + box.w, box.y + box.h)}"
            lines.append(f"{name}: from {corners}")
        return "\n".join(lines)

    def answer_values(self, state: TraceState) -> dict[str, str]:
        width, height = state.setup.size
        return {"width": f"{width}", "height": f"{height}", "points": f"{POINTS}"}

    def guess(self, state: TraceState, seat: str, random: Stream) -> str:
        """Straight lines between random points of the floor."""
        width, height = state.setup.size
        high = height * BOTTOM // SIDE
        a, b, c, d = [(random.below(width), random.below(high)) for _ in range(4)]
        return write_points([straight_line(a, b, POINTS), straight_line(c, d, POINTS)])


def _at(x: float, y: float) -> str:
    return f"[{x:.0f}, {y:.0f}]"


class ActView(SceneView):
    """The whole kitchen, for the seat that commands all robots."""

    templates_file = "act.md"

    def form(self, state: Any, seat: str) -> Plan:
        return step_form(state.scene, self.floor(state, seat))

    def floor(self, state: ActState, seat: str) -> FloorPlan:
        return state.floor

    def notes(self, state: Any, seat: str) -> str:
        parts = [super().notes(state, seat), f"Steps taken: {state.steps}; at most {HORIZON} are allowed."]
        if reason := state.reason_for(seat):
            parts.append(self.templates.fill("refused", reason=reason))
        return "\n\n".join(parts)

    def guess(self, state: Any, seat: str, random: Stream) -> str:
        """A random action for one robot."""
        robot = random.choice(state.scene.robots)
        return write_step({robot.id: random_action(state.scene, robot.type, random)})


class TeamView(ActView):
    """What one robot sees."""

    templates_file = "team.md"

    def form(self, state: TeamState, seat: str) -> Plan:
        return turn_form(state.scene, self.floor(state, seat), seat)

    def floor(self, state: TeamState, seat: str) -> FloorPlan:  # type: ignore[override]
        return state.seen_by(seat)

    def you(self, state: Any, seat: str) -> str:
        return seat

    def notes(self, state: TeamState, seat: str) -> str:
        messages = [f"step {step}, {sender}: {text}" for step, sender, text in state.messages[-MESSAGES:]]
        return "\n".join([f"{super().notes(state, seat)}\n\nMessages:", *(messages or ["none"])])

    def values(self, seat: str) -> dict[str, object]:
        return {**super().values(seat), "longest": MESSAGE}

    def guess(self, state: TeamState, seat: str, random: Stream) -> str:
        kind = next(robot.type for robot in state.scene.robots if robot.id == seat)
        return write_turn(random_action(state.scene, kind, random), "")
