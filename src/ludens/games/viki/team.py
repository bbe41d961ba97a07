"""Closed loop without a commander: one seat per robot, each with its own view, and messages between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Self

from ludens.core.errors import MoveError, Unreadable
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.games.viki.act import Acting, read_step
from ludens.games.viki.data import KINDS
from ludens.games.viki.floor import Floor
from ludens.games.viki.parse import read_value
from ludens.games.viki.rules import Refused
from ludens.games.viki.scene import Action, Step
from ludens.games.viki.source import SPLIT_HELP, SPLITS, shown

_TRIES = 20
MESSAGE = 300
"""Characters of a message."""


@dataclass(frozen=True)
class Team(Game):
    """Robots do a task together; each decides for itself, sees only where it is, and may send messages.

    Seats: `R1`, `R2`, ...: one for each robot, acting at the same time.
    Observation: the area the robot is in, with its things and robots; names and heights of the other areas;
    the task; all messages; why the robot's last action was refused, if it was.
    Actions: a JSON object with an action or null, and a message to all others, which may be empty.
    Rules: an action that cannot be done is lost; actions of one step that exclude each other are all lost.
    Rewards, shared: length of the shortest plan divided by the steps taken, once the task is done; else 0.
    Ends when the task is done, or after 30 steps.
    """

    name = "viki/team"
    imperfect_information = True
    view_class = "ludens.games.viki.team_view:TeamView"
    best = "bot/oracle"
    bots = {"greedy": "ludens.games.viki.bots:GreedyMate"}

    robots: int = option(2, low=2, high=4, help="number of robots")
    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(f"R{number}" for number in range(1, self.robots + 1))

    def start(self, seed: int) -> Teaming:
        seeds = (stream(seed, "team", number).bits() >> 16 for number in count())
        scenes = (shown("viki/team", "map", self.split, "", "", one) for one in seeds)
        return Teaming(self, next(one for one in scenes if len(one.scene.robots) == self.robots))


class Teaming(Acting):
    """A state of the closed loop, with what was said."""

    def __init__(self, game: Team, given: Any) -> None:
        super().__init__(game, given)
        self.reasons: dict[str, str] = {}
        """Why the last action of a robot was refused."""
        self.messages: tuple[tuple[int, str, str], ...] = ()
        """Step, robot and text of each message."""

    def seen_by(self, seat: str) -> Floor:
        """What a robot sees: the area it is in."""
        floor = self.floor
        return Floor(floor.scene, floor.snapshot, floor.snapshot.robots[seat])

    def canonical(self, answer: str) -> str:
        return write_turn(*read_turn(answer))

    def _advance(self, actions: Mapping[str, str]) -> None:
        turns: Step = {}
        self.reasons = {}
        for seat, answer in actions.items():
            if not answer:
                self.reasons[seat] = "the answer could not be read"
                continue
            action, message = read_turn(answer)
            if message:
                self.messages = (*self.messages, (self.steps + 1, seat, message))
            if action is None:
                continue
            try:
                self.world.parse(self.position, seat, action)
                turns[seat] = action
            except Refused as error:
                self.reasons[seat] = error.message
        before = self.refused
        self.play(turns)
        if self.reason:
            self.reasons |= dict.fromkeys(turns, self.reason)
        self.refused = before + bool(self.reasons)

    def solution(self, seat: str) -> str | None:
        return write_turn(self.next_step().get(seat), "")

    def clone(self) -> Self:
        copy = super().clone()
        copy.reasons = dict(self.reasons)
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        """Things that the seat does not see change places, such that the task is not done by it."""
        copy, world, position = self.clone(), self.world, self.position
        floor = self.seen_by(seat)
        fixed = {asset.name for asset in self.scene.assets if KINDS[asset.kind].fixture}
        held = {one.name for robot in floor.present for one in floor.seen_in(robot.id)}
        hidden = [
            n
            for n, name in enumerate(world.assets)
            if name not in fixed and name not in floor.centres and name not in held
            and _loose(world.names[position.place[n]], fixed, world.areas)
        ]  # fmt: skip
        places = [position.place[n] for n in hidden]
        copy._plan = []
        for _ in range(_TRIES):
            random.shuffle(places)
            moved = dict(zip(hidden, places, strict=True))
            new = tuple(moved.get(n, place) for n, place in enumerate(position.place))
            copy.position = position._replace(place=new)
            if copy.reached == self.reached:
                return copy
        copy.position = position
        return copy


def _loose(place: str, fixed: set[str], areas: list[str]) -> bool:
    return place in fixed or place in areas


def read_turn(answer: str) -> tuple[Action | None, str]:
    """The action, or None, and the message in an answer."""
    value = read_value(answer, what="answer")
    if isinstance(value, list | tuple):
        value = {"action": value}
    if not isinstance(value, dict) or not set(value) <= {"action", "message"}:
        raise Unreadable('the answer is not an object with "action" and "message".')
    message = value.get("message") or ""
    if not isinstance(message, str):
        raise Unreadable("the message is not a text.")
    if len(message) > MESSAGE:
        raise Unreadable(f"the message has {len(message)} characters; at most {MESSAGE} are sent.")
    if not value.get("action"):
        return None, message
    try:
        step = read_step(json.dumps({"R1": value["action"]}))
    except (MoveError, TypeError, ValueError):
        raise Unreadable('the action is not a list of texts such as ["Move", "apple"].') from None
    return step["R1"], message


def write_turn(action: Action | None, message: str) -> str:
    """The canonical form of an answer."""
    turn = {"action": list(action) if action else None, "message": message}
    return json.dumps(turn, separators=(",", ":"), ensure_ascii=False)
