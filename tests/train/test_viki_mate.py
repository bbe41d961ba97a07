"""`recipes/viki_mate.py`: a teacher of `viki/team` that knows what its seat knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.agents import AGENTS, agent, import_agent
from ludens.concurrent import play_sync
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.games.viki import sources
from ludens.games.viki.closed_loop import Team, TeamState
from ludens.games.viki.floor import FloorPlan
from ludens.games.viki.generate import generate_short
from ludens.games.viki.replies import read_turn, write_turn
from ludens.games.viki.sources import SceneSetup
from ludens.games.viki.world import ROBOTS, Scene
from ludens.train.demonstrations import SourceChunk, replies
from ludens.train.recipe import Demonstration
from recipes.viki_mate import Belief, Choice, choose, notes_in, thoughts
from recipes.viki_scenes import keep_scenes

MATE = "recipes.viki_mate:Mate"


@pytest.fixture(autouse=True)
def _imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AGENTS, "_added", dict(AGENTS._added))
    import_agent(MATE)


def short_scenes(count: int, first: int = 0) -> list[SceneSetup]:
    """Scenes of two robots that are made fast."""
    made: list[SceneSetup] = []
    for seed in range(first, first + 40 * count):
        scene = generate_short(seed, "train", 6)
        if len(scene.robots) == 2:
            made.append(SceneSetup(seed, scene))
        if len(made) == count:
            break
    return made


SETUPS = short_scenes(12)


@pytest.fixture
def game(monkeypatch: pytest.MonkeyPatch) -> Game:
    def start(self: Team, seed: int) -> TeamState:
        return TeamState(self, SETUPS[seed % len(SETUPS)])

    monkeypatch.setattr(Team, "start", start)
    return make("viki/team?split=train")


def thought(state: TeamState, seat: str) -> tuple[Choice, str]:
    belief = Belief(state, seat)
    choice = choose(belief)
    return choice, thoughts(belief, choice)


def states(setup: SceneSetup, seat: str) -> Iterator[TeamState]:
    """The positions of a game in which the mate has a seat and the oracle has the other."""
    state = TeamState(Team(), setup)
    while state.to_act:
        yield state
        choice = choose(Belief(state, seat))
        turns = {one: state.solution(one) or "" for one in state.game.seats}
        state = state.clone()
        state._advance({**turns, seat: write_turn(choice.action, choice.message)})


def test_it_earns_more_than_waiting_beside_the_oracle(game: Game) -> None:
    def earned(spec: str) -> float:
        seats = [(seed, seat) for seed in range(len(SETUPS)) for seat in game.seats]
        table = [(dict.fromkeys(game.seats, "bot/oracle") | {seat: spec}, seed) for seed, seat in seats]
        results = [
            play_sync(game, {one: agent(name, game) for one, name in players.items()}, seed)
            for players, seed in table
        ]
        assert all(result.status in ("done", "horizon") for result in results)
        return sum(result.returns["R1"] for result in results) / len(results)

    waiting = [TeamState(Team(), setup) for setup in SETUPS]
    alone = 0.0
    for state in waiting:
        for seat in ("R1", "R2"):
            here = state.clone()
            while here.to_act:
                turns = {one: here.solution(one) or "" for one in here.game.seats}
                here._advance({**turns, seat: write_turn(None, "")})
            alone += here.returns[seat] / (2 * len(waiting))
    assert earned(MATE) > max(0.7, alone + 0.25)


def test_what_is_hidden_changes_nothing() -> None:
    """Things that are not in view change places, and a partner that is not in view is another one."""
    moved = swapped = 0
    for setup in SETUPS:
        for seat in ("R1", "R2"):
            for state in states(setup, seat):
                said = thought(state, seat)
                other = state.resample_hidden(seat, stream(setup.seed, seat, state.steps))
                moved += other.position != state.position
                assert thought(other, seat) == said
                another = with_another_partner(state, seat)
                swapped += another is not state
                assert thought(another, seat) == said
    assert moved > 50
    assert swapped > 25


def with_another_partner(state: TeamState, seat: str) -> TeamState:
    """The state with another type of a partner who is not in view and holds nothing, in another area."""
    world, number = state.world, next(n for n, one in enumerate(state.world.robots) if one != seat)
    area = world.areas[state.position.at[number]]
    here = world.areas[state.position.at[1 - number]]
    if area == here or any(code >= world.first_robot for code in state.position.place):
        return state
    kinds = [name for name in ROBOTS if name != world.type_names[number]]
    place = next(name for name in world.areas if name not in (here, area))
    copy = TeamState(Team(), SceneSetup(0, replaced(state.scene, number, kinds[state.steps % len(kinds)])))
    at = tuple(world.code[place] if n == number else one for n, one in enumerate(state.position.at))
    copy.position = state.position._replace(at=at)
    copy.steps, copy.reasons, copy.messages = state.steps, state.reasons, state.messages
    return copy


def replaced(scene: Scene, number: int, kind: str) -> Scene:
    robots = [replace(one, type=kind) if n == number else one for n, one in enumerate(scene.robots)]
    return replace(scene, robots=tuple(robots), plan=(), limit=scene.limit)


def test_it_names_only_what_is_in_view_or_asked_for() -> None:
    for setup in SETUPS:
        for state in states(setup, "R1"):
            floor: FloorPlan = state.seen_by("R1")
            said = notes_in(choose(Belief(state, "R1")).message)
            for name in said:
                inside = floor.area_of(name)
                assert name == "R1" or inside == floor.view_from


def test_it_remembers_by_its_own_messages() -> None:
    state = next(iter(states(SETUPS[0], "R1")))
    state.messages = ((1, "R1", "pear table; cabinet room open used; R2 fetch rack"), (2, "R2", "pear rack"))
    belief = Belief(state, "R1")
    assert belief.memory == {"pear": "table", "cabinet": "room open used", "R2": "fetch rack"}
    assert "cabinet" in belief.used


@pytest.mark.parametrize(
    "text", ["pear pear", "bowl plate; plate bowl", "R2 nobody nowhere", "knife ; cup closed", "cabinet", "x"]
)
def test_any_message_of_its_own_is_read(text: str) -> None:
    for setup in SETUPS[:6]:
        state = TeamState(Team(), setup)
        state.messages = ((1, "R1", text),)
        thought(state, "R1")


def test_demonstrations_of_one_seat(game: Game) -> None:
    def samples(player: str = "") -> list[str]:
        source = Demonstration(
            game="viki/team?split=train",
            bot=f"{MATE}?reason=true&only=R2",
            player=player,
            roles="R2",
            episodes=4,
            theme="classic",
            size="256",
        )
        found = list(replies(SourceChunk(source, range(4))))
        assert found
        assert {sample.ask.seat for sample in found} == {"R2"}
        return [sample.completion for sample in found]

    played = samples()
    for text in played:
        thoughts, _, answer = text.partition("</think>")
        assert thoughts.startswith("<think>")
        assert "R2" in thoughts
        read_turn(answer.removeprefix("<answer>").removesuffix("</answer>"))
    slipped = samples(player=f"{MATE}?only=R2&slips=0.5")
    assert len(slipped) > len(played)
    assert all(text.startswith("<think>") for text in slipped)


def test_a_silent_one_sends_nothing(game: Game) -> None:
    for spec, talks in ((MATE, True), (f"{MATE}?silent=true", False)):
        said = 0
        for seed in range(6):
            players = {"R1": agent(spec, game), "R2": agent("bot/oracle", game)}
            episode = play_sync(game, players, seed)
            moves = [move for move in episode.moves if move.seat == "R1"]
            said += sum(bool(read_turn(move.action)[1]) for move in moves if move.action)
        assert bool(said) is talks


def test_scenes_that_are_made_in_advance_are_those_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path))
    seed, team = 10, make("viki/team?split=train")
    assert keep_scenes("train", 2, seed) > 0
    assert keep_scenes("train", 2, seed) == 0
    made = team.start(seed)
    for kept in (sources.setup_of, sources._generated):
        kept.cache_clear()
    monkeypatch.setattr(sources, "generate", None)
    found = team.start(seed)
    assert isinstance(made, TeamState)
    assert isinstance(found, TeamState)
    assert found.setup is not made.setup
    assert found.scene == made.scene
