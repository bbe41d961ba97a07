"""What the three grid dilemmas share: moves, outcomes, clones, pictures, replays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ludens
from ludens.core.errors import BadOption, Illegal, UnknownName
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.grid import (
    ACTIONS,
    CELLS,
    SEATS,
    SIDE,
    TORUS,
    WALLS,
    GridGame,
    GridState,
    GridView,
    Walker,
    around,
    name,
    quarter_turn,
)
from ludens.loop import play
from ludens.testing import Trial, check_game
from ludens.testing.views import twins_differ_only_in_pictures
from tests.games.grids import CELL, places, put

GAMES = ("coin_dilemma", "monster_hunt", "battle_of_colors")
LOOKS = [
    ("classic", 512),
    ("classic", 256),
    ("classic", 1024),
    ("contrast", 512),
    ("plain", 512),
    ("random", 300),
]

cells = st.integers(0, CELLS - 1)


def grid_game(name: str, **options: Any) -> GridGame:
    game = ludens.make(name, **options)
    assert isinstance(game, GridGame)
    return game


def walked(game: GridGame, seed: int, steps: int) -> GridState:
    state, random = game.start(seed), stream(seed, "test")
    for _ in range(steps):
        state.apply({seat: random.choice(ACTIONS) for seat in state.to_act})
    return state


def test_directions_are_as_drawn() -> None:
    moved = {action: name(WALLS.after[action][CELL["B3"]]) for action in ACTIONS}
    assert moved == {"STAY": "B3", "RIGHT": "B4", "LEFT": "B2", "UP": "A3", "DOWN": "C3"}


def test_moves_are_clipped_at_the_border() -> None:
    corner = {action: name(WALLS.after[action][CELL["E5"]]) for action in ACTIONS}
    assert corner == {"STAY": "E5", "RIGHT": "E5", "LEFT": "E4", "UP": "D5", "DOWN": "E5"}


@given(cells, cells)
def test_toward_holds_every_action_that_comes_nearer(here: int, there: int) -> None:
    row, column = abs(here // 5 - there // 5), abs(here % 5 - there % 5)
    assert WALLS.distance[here][there] == row + column
    for action in ACTIONS:
        nearer = WALLS.distance[WALLS.after[action][here]][there] < WALLS.distance[here][there]
        assert (action in WALLS.toward[here][there]) == (nearer or (here == there and action == "STAY"))


@given(cells, cells, cells)
def test_going_around_costs_nothing_or_two_steps(here: int, goal: int, wall: int) -> None:
    if wall in (here, goal):
        return
    assert around(WALLS, goal, wall)[here] - WALLS.distance[here][goal] in (0, 2)


@pytest.mark.parametrize("game", GAMES)
def test_actions_with_the_same_outcome_are_equivalent(game: str) -> None:
    made = grid_game(game)
    state = made.start(0)
    state.cells[:2] = [CELL["A1"], CELL["C5"]]
    assert made.equivalent(state, "red", "STAY") == {"STAY", "UP", "LEFT"}
    assert made.equivalent(state, "red", "LEFT") == {"STAY", "UP", "LEFT"}
    assert made.equivalent(state, "red", "DOWN") == {"DOWN"}
    assert made.equivalent(state, "blue", "RIGHT") == {"STAY", "RIGHT"}
    assert made.equivalent(state, "blue", "LEFT") == {"LEFT"}


@pytest.mark.parametrize("game", GAMES)
def test_everything_starts_on_a_cell_of_its_own_and_anywhere(game: str) -> None:
    made = grid_game(game)
    starts = [made.start(seed).cells for seed in range(300)]
    assert all(len(set(start)) == len(made.things) for start in starts)
    for thing in range(len(made.things)):
        assert {start[thing] for start in starts} == set(range(CELLS))


@pytest.mark.parametrize("game", GAMES)
def test_the_game_ends_at_its_horizon(game: str) -> None:
    made = grid_game(game, horizon=3)
    state = walked(made, 1, 3)
    assert state.over
    assert state.legal("red") == ()
    assert state.facts["steps"] == 3
    with pytest.raises(Illegal, match="the game is over"):
        state.apply({"red": "STAY", "blue": "STAY"})
    assert len(walked(grid_game(game), 1, 49).to_act) == 2
    assert walked(grid_game(game), 1, 50).over


def test_illegal_actions_are_refused() -> None:
    state = put("coin_dilemma", "A1", "A2", "B1", "B2")
    for wrong in ({"red": "STAY"}, {"red": "STAY", "blue": "JUMP"}, {"red": "STAY", "green": "STAY"}):
        with pytest.raises(Illegal):
            state.apply(wrong)
    assert places(state) == ["A1", "A2", "B1", "B2"]
    assert state.step == 0
    assert state.legal("green") == ()


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(BadOption):
        ludens.make("coin_dilemma", horizon=0)
    with pytest.raises(UnknownName):
        ludens.make("monster_hunt", variant="papre")
    with pytest.raises(UnknownName):
        ludens.make("coin_dilemma", variant="released")


@pytest.mark.parametrize("game", GAMES)
def test_clones_are_independent_and_go_on_alike(game: str) -> None:
    state = walked(grid_game(game), 5, 10)
    twin, kept = state.clone(), (list(state.cells), list(state.counts), state.facts)
    random = stream(9, "test")
    actions = [{"red": random.choice(ACTIONS), "blue": random.choice(ACTIONS)} for _ in range(30)]
    for joint in actions:
        twin.apply(joint)
    assert (state.cells, state.counts, state.facts) == kept
    for joint in actions:
        state.apply(joint)
    assert (state.cells, state.facts, state.last) == (twin.cells, twin.facts, twin.last)


@pytest.mark.parametrize("theme_size", LOOKS)
@pytest.mark.parametrize("game", GAMES)
def test_every_thing_and_number_shows(game: str, theme_size: tuple[str, int]) -> None:
    made = grid_game(game)
    view = view_of(made, RenderOptions(*theme_size), 3)
    state = walked(made, 2, 20)
    picture, text = view.image(state, "red"), view.text(state, "red")
    assert (picture.width, picture.height) == (theme_size[1], theme_size[1])
    assert view.image(state, "blue").hash != picture.hash
    for seat, other in (("red", "blue"), ("blue", "red")):
        assert f"{seat} player (you): " in view.text(state, seat)
        assert f"{other} player: " in view.text(state, seat)

    def differs(**changes: Any) -> None:
        other = state.clone()
        for field, value in changes.items():
            setattr(other, field, value)
        assert view.image(other, "red").hash != picture.hash, changes
        assert view.text(other, "red") != text, changes

    free = next(cell for cell in range(CELLS) if cell not in state.cells)
    for thing in range(len(made.things)):
        differs(cells=[*state.cells[:thing], free, *state.cells[thing + 1 :]])
    for event in range(len(made.events)):
        differs(counts=[count + (place == event) for place, count in enumerate(state.counts)])
    assert state.last is not None
    differs(last=("UP" if state.last[0] != "UP" else "DOWN", state.last[1]))
    differs(step=state.step + 1)


@pytest.mark.parametrize("theme_size", LOOKS)
@pytest.mark.parametrize("game", GAMES)
def test_only_the_cell_of_the_player_who_looks_is_framed(game: str, theme_size: tuple[str, int]) -> None:
    made = grid_game(game)
    view = view_of(made, RenderOptions(*theme_size), 3)
    assert isinstance(view, GridView)
    state, ink = walked(made, 2, 20), view._sheet.index("ink")
    for number, seat in enumerate(SEATS):
        pixels = view.image(state, seat).pixels
        found = []
        for cell in range(CELLS):
            x, y, px = view._board.cell(*divmod(cell, SIDE))
            if (pixels[y : y + 8, x + px // 4 : x + px - px // 4] == ink).all(axis=1).sum() >= 2:
                found.append(cell)
        assert found == [state.cells[number]]


@pytest.mark.parametrize("game", GAMES)
def test_two_players_on_one_cell_are_half_and_half(game: str) -> None:
    made = grid_game(game)
    view = view_of(made, RenderOptions(), 0)
    assert isinstance(view, GridView)
    state = made.start(0)
    state.cells = [CELL["C3"], CELL["C3"], CELL["A1"], CELL["A2"], CELL["E5"]][: len(state.cells)]
    x, y, px = view._board.cell(2, 2)
    pixels = view._sheet.palette.colours[view.image(state, "red").pixels]
    left, right = pixels[y : y + px, x : x + px // 2], pixels[y : y + px, x + px // 2 : x + px]
    for half, shown, other in ((left, "red", "blue"), (right, "blue", "red")):
        assert (half == view._sheet.rgb(shown)).all(axis=2).sum() > 100
        assert not (half == view._sheet.rgb(other)).all(axis=2).any()


@pytest.mark.parametrize("game", GAMES)
def test_rules_say_who_you_are_how_long_it_lasts_and_what_events_earn(game: str) -> None:
    made = grid_game(game, horizon=37)
    rules = {seat: view_of(made, RenderOptions(), 0).rules(seat) for seat in made.seats}
    assert "You are the red player" in rules["red"]
    assert "You are the blue player" in rules["blue"]
    assert all("37 steps" in said for said in rules.values())
    for event in made.events:
        for points in (event.red, event.blue):
            assert not points or f"{points:+d} point" in rules["red"]


@pytest.mark.parametrize("game", GAMES)
async def test_an_episode_replays_to_the_same_pictures(game: str) -> None:
    made = grid_game(game, horizon=12)
    bots = {seat: ludens.agent(f"bot/{bot}", made) for seat, bot in zip(made.seats, made.bots, strict=False)}
    episode = await play(made, bots, seed=4)
    assert episode.status == "done"
    assert episode.facts["steps"] == 12
    assert ludens.verify(ludens.Episode.from_json(episode.to_json())).pictures == 0
    watching = {seat: ludens.agent("bot/random", made) for seat in made.seats}
    for bot in watching.values():
        bot.sees = "image"
    assert ludens.verify(await play(made, watching, seed=4)).pictures == 24


@pytest.mark.parametrize("game", GAMES)
async def test_a_bot_that_is_imitated_says_what_it_sees_and_every_best_action(game: str) -> None:
    made = grid_game(game, horizon=12)
    bots = {"red": ludens.agent("bot/optimal?reason=true", made), "blue": ludens.agent("bot/optimal", made)}
    episode = await play(made, bots, seed=4)
    state, strategy = made.start(4), bots["red"].sit(made, "red", stream(0))
    assert isinstance(strategy, Walker)
    for red, blue in zip(episode.moves[::2], episode.moves[1::2], strict=True):
        seen, *weighed, best, answer = red.tries[0].text.split("\n")
        found, counts = seen.split()[: len(made.things)], seen.split()[len(made.things) :]
        expected = [name(cell) for cell in state.cells]
        assert found == expected[:3] + sorted(expected[3:])
        assert counts == ([str(count) for count in state.counts[:2]] if game == "battle_of_colors" else [])
        assert weighed == ([steps_to_blocks(found, strategy, state)] if game == "battle_of_colors" else [])
        assert tuple(best.split()) == strategy.choices(state)
        assert red.action in best.split()
        assert answer == f"Action: {red.action}"
        assert not blue.tries, "nothing but the action"
        state.apply({"red": red.action, "blue": blue.action})


def steps_to_blocks(found: list[str], strategy: Walker, state: GridState) -> str:
    """Each block with the steps of both players, and the goal, from the names of the cells."""

    def steps(one: str, other: str) -> int:
        return abs(ord(one[0]) - ord(other[0])) + abs(int(one[1]) - int(other[1]))

    *players, first, second = found
    weighed = [f"{block} {' '.join(str(steps(one, block)) for one in players)}" for block in (first, second)]
    [goal] = strategy.goals(state)
    return f"{' '.join(weighed)} = {name(goal)}"


@pytest.mark.parametrize("game", ["monster_hunt?variant=released", "battle_of_colors?variant=released"])
def test_released_variants_conform(game: str) -> None:
    check_game(ludens.make(game))


def test_moves_off_a_torus_come_back_on_the_opposite_side() -> None:
    moved = {action: name(TORUS.after[action][CELL["A5"]]) for action in ACTIONS}
    assert moved == {"STAY": "A5", "RIGHT": "A1", "LEFT": "A4", "UP": "E5", "DOWN": "B5"}


@given(cells, cells)
def test_ways_on_a_torus_are_the_shortest_of_those_around_it(here: int, there: int) -> None:
    steps, edge, length = {here}, {here}, 0
    while there not in steps:
        edge = {TORUS.after[action][cell] for cell in edge for action in ACTIONS}
        steps |= edge
        length += 1
    assert TORUS.distance[here][there] == length <= 4
    for action in TORUS.toward[here][there]:
        assert TORUS.distance[TORUS.after[action][here]][there] == max(0, length - 1)


def test_a_quarter_turn_moves_the_top_row_to_the_right_column() -> None:
    assert [name(quarter_turn(CELL[cell])) for cell in ("A1", "A5", "E5", "B3", "C3")] == [
        "A5", "E5", "E1", "C4", "C3",
    ]  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_twins_are_a_quarter_turn_apart(game: str) -> None:
    made = grid_game(game, edges="torus", twins=True)
    twins_differ_only_in_pictures(Trial(made, seeds=range(3), views=(RenderOptions("random", 256),)))
    first, second = made.start(4), made.start(5)
    assert second.cells == [quarter_turn(cell) for cell in first.cells]
    assert first.cells == grid_game(game).start(2).cells


@pytest.mark.parametrize("game", GAMES)
def test_rules_say_what_is_beyond_the_edge(game: str) -> None:
    walls, torus = (
        view_of(grid_game(game, edges=edges), RenderOptions(), 0).rules("red") for edges in ("walls", "torus")
    )
    assert "A move off the grid leaves you where you are." in walls
    assert "comes back on the opposite side" in torus


@pytest.mark.parametrize("game", GAMES)
def test_grids_without_edges_keep_the_contract(game: str) -> None:
    check_game(grid_game(game, edges="torus", horizon=12), seeds=(1, 2))
