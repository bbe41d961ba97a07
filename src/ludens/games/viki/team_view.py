"""The view of one robot of a team: the area it is in, and what was said."""

from __future__ import annotations

from ludens.core.random import Stream
from ludens.core.view import Picture
from ludens.games.viki.act import HORIZON
from ludens.games.viki.act_view import ActView, random_action
from ludens.games.viki.team import MESSAGE, Teaming, write_turn
from ludens.games.viki.words import describe

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
