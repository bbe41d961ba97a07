"""The view of the closed loop: the kitchen as it is now, and what the last step led to."""

from __future__ import annotations

from pathlib import Path

from ludens.core.game import Game
from ludens.core.random import Stream
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.viki.act import HORIZON, Acting, write_step
from ludens.games.viki.data import PRIMITIVES, ROBOTS
from ludens.games.viki.manual import primitives_text, robots_text
from ludens.games.viki.map import Map
from ludens.games.viki.reply import AnswerFormat
from ludens.games.viki.words import describe


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
