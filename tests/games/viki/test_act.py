"""The closed loops: lost steps, plans from anywhere, own views, messages and what stays hidden."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import ludens
from ludens.agents import agent
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import MoveError
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.viki import bots
from ludens.games.viki.closed_loop import (
    HORIZON,
    Act,
    ActState,
    Team,
    TeamState,
)
from ludens.games.viki.replies import MESSAGE, read_step, read_turn, write_step, write_turn
from ludens.games.viki.sources import SEAT, SceneSetup
from ludens.games.viki.subgoals import told
from ludens.games.viki.teams import greedy_plan
from ludens.games.viki.world import Plan, Scene
from tests.games.viki.hand_kitchen import PLAN, SCENE

GIVEN = SceneSetup(5, SCENE)
SEATS = ("R1", "R2", "R3", "R4")


def turns(**actions: tuple[str, ...]) -> dict[str, str]:
    return {seat: write_turn(actions.get(seat), "") for seat in SEATS}


def test_a_refused_step_is_lost_and_explained() -> None:
    state = ActState(Act(), GIVEN)
    before = state.position
    state.apply({SEAT: write_step({"R1": ("Reach", "apple"), "R2": ("Move", "rack")})})
    assert state.position == before
    assert (state.steps, state.refused) == (1, 1)
    notes = view_of(state.game, RenderOptions(), 0).notes(state, SEAT)
    assert "R2 Move rack: R2 (panda) cannot Move" in notes
    state.apply({SEAT: ""})
    assert (state.steps, state.refused) == (2, 2)


def test_done_by_length() -> None:
    state = ActState(Act(), GIVEN)
    state.apply({SEAT: "{}"})
    for step in PLAN:
        assert not state.over
        state.apply({SEAT: write_step(step)})
    assert state.over
    assert state.returns == {SEAT: 3 / 4}
    assert (state.facts["above"], state.facts["refused"]) == (1, 0)


def test_it_ends_after_the_horizon() -> None:
    state = ActState(Act(), GIVEN)
    while not state.over:
        state.apply({SEAT: "{}"})
    assert state.steps == HORIZON
    assert state.returns == {SEAT: 0.0}


@pytest.mark.parametrize("seed", [0, 3])
def test_there_is_a_plan_from_anywhere(seed: int) -> None:
    """Random moves first; what the planner says from there still does the task."""
    game, random = Act(), stream(seed, "anywhere")
    state, view = game.start(seed), view_of(game, RenderOptions(), 0)
    for _ in range(6):
        state.apply({SEAT: view.guess(state, SEAT, random)})
    while not state.over:
        refused = state.refused
        state.apply({SEAT: state.solution(SEAT) or ""})
        assert state.refused == refused
    assert state.reached


@pytest.mark.parametrize(
    "text",
    [
        '{"R1": ["Move", "rack"]}',
        '{"step": 4, "actions": {"r1": ["Move", "rack"]}}',
        "[{'R1': ('Move', 'rack')}]",
    ],
)
def test_steps_are_read(text: str) -> None:
    assert read_step(text) == {"R1": ("Move", "rack")}


@pytest.mark.parametrize("text", ["Move rack", "[]", "7", '[["Move", "rack"]]', '{"R1": "Move"}', "{" * 500])
def test_steps_are_refused(text: str) -> None:
    with pytest.raises(MoveError):
        read_step(text)


def test_a_team_shares_steps() -> None:
    state = TeamState(Team(robots=4), GIVEN)
    state.apply(turns(R1=("Reach", "apple"), R2=("Move", "rack"), R4=("Interact", "cardboardbox")))
    assert set(state.reasons) == {"R2"}
    assert state.floor.reached == {"R1": ("apple",)}
    assert state.floor.active == {"cardboardbox"}
    # Two robots cannot take one thing in one step: neither gets it.
    state.apply(turns(R2=("Reach", "apple")))
    state.apply(turns(R1=("Grasp", "apple"), R2=("Grasp", "apple")))
    assert set(state.reasons) == {"R1", "R2"}
    assert state.floor.places["apple"] == "table"


def test_a_robot_sees_where_it_is_and_reads_messages() -> None:
    state = TeamState(Team(robots=4), GIVEN)
    view = view_of(state.game, RenderOptions(), 0)
    assert "apple" in view.text(state, "R1")
    assert "apple" not in view.text(state, "R3")
    assert view.image(state, "R1").hash != view.image(state, "R2").hash  # each is marked as you
    said = turns()
    said["R1"] = write_turn(None, "the apple is on the table")
    state.apply(said)
    assert "step 1, R1: the apple is on the table" in view.notes(state, "R3")


def test_hidden_things_change_places_unseen() -> None:
    state = TeamState(Team(robots=4), GIVEN)
    view, texts, kiwis = view_of(state.game, RenderOptions(), 0), set(), set()
    for number in range(12):
        other = state.resample_hidden("R3", stream(number, "hidden"))
        texts.add((view.text(other, "R3"), view.image(other, "R3").hash))
        kiwis.add(other.floor.places["kiwi"])
    assert len(texts) == 1
    assert len(kiwis) > 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"do": 1}', "action"),
        ('{"action": 7}', "list of texts"),
        ('{"action": null, "message": 7}', "not a text"),
        (json.dumps({"message": "x" * (MESSAGE + 1)}), "characters"),
        ("hello", "neither"),
    ],
)
def test_turns_are_refused(text: str, reason: str) -> None:
    with pytest.raises(MoveError, match=reason):
        read_turn(text)


def test_bots_of_a_team() -> None:
    game = ludens.make("viki/team")
    scores = {
        bot: ludens.play_sync(game, {seat: agent(bot, game) for seat in game.seats}, seed=1).returns["R1"]
        for bot in ("bot/random", "bot/greedy", "bot/best")
    }
    assert scores["bot/best"] == 1.0
    assert scores["bot/random"] == 0.0


@pytest.mark.parametrize("name", ["viki/act", "viki/team"])
def test_the_greedy_plan_is_made_once_by_each_seat(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(scene: Scene) -> Plan:
        made.append(scene)
        return greedy_plan(scene)

    monkeypatch.setattr(bots, "greedy_plan", counted)
    game = ludens.make(name)
    episode = ludens.play_sync(game, {seat: agent("bot/greedy", game) for seat in game.seats}, seed=1)
    assert len(episode.moves) > len(game.seats)
    assert len(made) == len(game.seats)


async def test_the_oracle_says_where_everything_is_before_a_step() -> None:
    game = Act()
    state = ActState(game, GIVEN)
    bot = agent("bot/oracle?reason=true", game).sit(game, SEAT, stream(0, "bot"))
    view = view_of(game, RenderOptions(size=256), 0)
    reply = await bot.act(build_ask(view, state, SEAT, "state", PlayConfig()))
    thought, _, answer = reply.text.partition("</think>")
    assert all(f"{robot.id} " in thought for robot in state.scene.robots)
    assert view.format(state, SEAT).read(answer, state.legal(SEAT)) == reply.action == state.solution(SEAT)


def test_the_oracle_tells_what_robots_reach_for_and_hold_and_what_is_left() -> None:
    state, tellings = ActState(Act(), GIVEN), []
    while state.to_act:
        telling = told(replace(state.as_scene(), plan=tuple(state.rest)), state.floor).split("; ")
        robots = {part.split(" ")[0]: part for part in telling if part[0] == "R" and ": " in part}
        for robot, names in state.floor.reached.items():
            assert all(name in robots[robot] for name in names)
        for one in state.as_scene().assets:
            if one.place in robots:
                where = robots[one.place].split(":")[0].removeprefix(f"{one.place} ")
                assert f"{one.name} {where}: {one.place}" in telling
        tellings.append(telling)
        state.play(state.next_step())
    assert [int(telling[-1]) for telling in tellings] == [*range(len(tellings), 0, -1)]
    assert any(": R" in part for telling in tellings for part in telling)
