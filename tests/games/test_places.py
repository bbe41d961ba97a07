"""Places are where the picture shows the thing: pixels change there when the action is taken."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ludens
from ludens import Place, RenderOptions, View
from ludens.core.view import view_of
from ludens.games.boards import BoardView
from tests.support.clicks import LOOKS, changed, only_at, part, reached, shown

OWN_CELLS = ("tic_tac_toe", "gomoku?size=9", "sudoku", "breakthrough?rows=6", "chess")
"""Games in which a move changes the cells that are clicked, and seldom others."""
BOARDS = (*OWN_CELLS, "reversi", "minesweeper")
CASTLING = ("e1g1", "e1c1", "e8g8", "e8c8")
SHORT = ("tic_tac_toe", "sudoku", "minesweeper")
"""Games that random play soon ends."""
looks = pytest.mark.parametrize(("theme", "size"), LOOKS)


def view(name: str, theme: str = "classic", size: int = 512) -> View:
    return view_of(ludens.make(name), RenderOptions(theme, size), 3)


def board_view(name: str) -> BoardView:
    found = view(name)
    assert isinstance(found, BoardView)
    return found


def some(places: ludens.Places, count: int = 4) -> list[str]:
    """A few actions, spread over all."""
    return list(places)[:: max(1, len(places) // count)]


@looks
@pytest.mark.parametrize("name", BOARDS)
def test_a_move_changes_the_cells_that_are_clicked(name: str, theme: str, size: int) -> None:
    game_view, moves = view(name, theme, size), 0
    for state in reached(name, steps=30, every=2 if name in SHORT else 9):
        seat = state.to_act[0]
        places, before = game_view.places(state, seat), shown(game_view, state, seat)
        for action in some(places):
            after = state.clone()
            after.apply({seat: action})
            mask = changed(before, shown(game_view, after, seat))
            assert all(part(mask, place, 0.7).any() for place in places[action]), action
            if name in OWN_CELLS and action not in CASTLING:
                others = {place for path in places.values() for place in path} - set(places[action])
                assert not any(part(mask, place, 0.7).any() for place in others), action
            moves += 1
    assert moves >= 12


@pytest.mark.parametrize("name", BOARDS)
def test_every_legal_move_that_names_a_cell_has_a_place(name: str) -> None:
    game_view = view(name)
    for state in reached(name):
        for seat in state.to_act:
            assert set(game_view.places(state, seat)) == set(state.legal(seat)) - {"pass"}
        for seat in set(game_view.game.seats) - set(state.to_act):
            assert not game_view.places(state, seat)


@pytest.mark.parametrize("name", [name for name in BOARDS if name != "minesweeper"])
def test_places_and_text_twin_agree_on_rows_and_columns(name: str) -> None:
    """The characters of the text twin that change are in the rows and columns that are clicked."""
    game_view = board_view(name)
    cells = [place for path in game_view.places_of(game_view.clickable()).values() for place in path]
    tops, lefts = sorted({place.y for place in cells}), sorted({place.x for place in cells})
    assert (len(tops), len(lefts)) == (game_view.rows, game_view.columns)
    for state in reached(name, seeds=1):
        seat = state.to_act[0]
        places, before = game_view.places(state, seat), _rows(game_view, state, seat)
        for action in some(places):
            after = state.clone()
            after.apply({seat: action})
            now = _rows(game_view, after, seat)
            differ = {
                (row, column)
                for row, marks in enumerate(before)
                for column, mark in enumerate(marks)
                if now[row][column] != mark
            }
            clicked = {(tops.index(place.y), lefts.index(place.x)) for place in places[action]}
            assert clicked <= differ, action


def _rows(game_view: BoardView, state: Any, seat: str) -> list[list[str]]:
    """The marks of the text twin, without labels."""
    lines = game_view.text(state, seat).splitlines()[1 : game_view.rows + 1]
    return [line.split()[1:] for line in lines]


def test_a_piece_is_clicked_first_and_its_target_second() -> None:
    game_view, state = view("chess"), ludens.make("chess").start(0)
    places = game_view.places(state, "white")
    (start, end), (_, two) = places["e2e3"], places["e2e4"]
    assert (start.x, end.x, two.x) == (start.x,) * 3
    assert start.y > end.y > two.y
    assert start.y == pytest.approx(end.y + end.height)
    # From the right of e1, the king's bishop is three cells from the corner.
    assert places["g1f3"][0].x == pytest.approx(places["h2h3"][0].x - start.width)


def test_promotions_share_their_places() -> None:
    game_view = board_view("chess")
    places = game_view.places_of([f"a7a8{piece}" for piece in "qrbn"])
    assert len(places) == 4
    assert len(set(places.values())) == 1


def test_digits_share_the_place_of_their_cell() -> None:
    game_view, state = view("sudoku"), ludens.make("sudoku").start(0)
    places = game_view.places(state, "player")
    cells = {action[:2] for action in places}
    assert len(set(places.values())) == len(cells) < len(places)


@pytest.mark.parametrize(
    "board", ["tic_tac_toe", "chess", "reversi", "gomoku", "breakthrough", "sudoku", "minesweeper"]
)
def test_rule_offers_every_move_that_can_be_clicked(board: str) -> None:
    """Valid or not: places do not give the answer away."""
    game = ludens.make(f"rule?board={board}")
    offered = set()
    for seed in range(6):
        state = game.start(seed)
        position: Any = state.position  # type: ignore[attr-defined]
        places = view_of(game, RenderOptions(), 0).places(state, "player")
        mover = position.to_act[0]
        valid = view(board).places(position, mover)
        assert all(places[move] == path for move, path in valid.items())
        offered.add(tuple(places))
    assert len(offered) == 1


def test_rule_offers_chess_promotions() -> None:
    game = ludens.make("rule?board=chess")
    places = view_of(game, RenderOptions(), 0).places(game.start(0), "player")
    assert {"a7a8q", "a7b8n", "h2g1r"} <= set(places)
    assert "a7c8q" not in places


@looks
@pytest.mark.parametrize("name", ["coin_dilemma", "monster_hunt", "battle_of_colors"])
def test_a_step_on_a_grid_leads_to_the_cell_that_is_clicked(name: str, theme: str, size: int) -> None:
    game_view, off_grid = view(name, theme, size), False
    for state in reached(name, seeds=1, every=15):
        for seat in state.to_act:
            places = game_view.places(state, seat)
            assert _framed(game_view, state, seat, places["STAY"][0])
            off_grid = off_grid or len(places) < 5
            for action, (place,) in places.items():
                after = state.clone()
                after.apply({**dict.fromkeys(state.to_act, "STAY"), seat: action})
                if after.facts | {"steps": 0} == state.facts | {"steps": 0}:  # an event may move a player
                    assert _framed(game_view, after, seat, place), action
    assert off_grid


def _framed(game_view: View, state: Any, seat: str, place: Place) -> bool:
    """Whether a square of one colour, the frame around the player who looks, is at the edge of the place."""
    ink = game_view._sheet.index("ink")  # type: ignore[attr-defined]
    mask = part(shown(game_view, state, seat).pixels, place) == ink  # type: ignore[attr-defined]
    side = len(mask)
    inside = (mask[a : side - b, a : side - b] for a in range(4) for b in range(4))
    return any(rim[0].all() and rim[-1].all() and rim[:, 0].all() and rim[:, -1].all() for rim in inside)


@looks
def test_overcooked_steps_and_uses_what_is_clicked(theme: str, size: int) -> None:
    game_view, used, stepped = view("overcooked", theme, size), 0, 0
    for state in reached("overcooked", seeds=1, steps=90, every=9):
        for seat in state.to_act:
            places, before = game_view.places(state, seat), shown(game_view, state, seat)
            kitchen, cell, facing = _kitchen(game_view.text(state, seat), seat)
            (own,) = places["STAY"]
            for action, (place,) in places.items():
                down, right = _steps(own, place)
                there = kitchen[cell[0] + down][cell[1] + right]
                if action == "INTERACT":
                    assert (down, right) == WAYS[facing]
                    assert there != "."
                    used += 1
                elif action != "STAY":
                    assert (down, right) == WAYS[action.lower()]
                after = state.clone()
                after.apply({**dict.fromkeys(state.to_act, "STAY"), seat: action})
                _, moved, _ = _kitchen(game_view.text(after, seat), seat)
                if moved != cell:
                    assert moved == (cell[0] + down, cell[1] + right)
                    mask = changed(before, shown(game_view, after, seat))
                    assert part(mask, place, 0.8).any()
                    assert part(mask, own, 0.8).any()
                    stepped += 1
    assert used > 3
    assert stepped > 10


WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def _steps(own: Place, place: Place) -> tuple[int, int]:
    return round((place.y - own.y) / own.height), round((place.x - own.x) / own.width)


def _kitchen(text: str, seat: str) -> tuple[list[str], tuple[int, int], str]:
    """From the text twin: the kitchen's rows, the seat's cell and the direction it looks in."""
    rows = [line[2:] for line in text.splitlines() if re.match(r"[A-I] \S", line)]
    latest = text.rpartition("\nStep ")[2]
    found = re.search(rf"{seat} \(\w+, you\) at ([A-I])(\d+) facing (\w+)", latest)
    assert found is not None
    return rows, ("ABCDEFGHI".index(found[1]), int(found[2]) - 1), found[3]


@looks
@pytest.mark.parametrize("name", ["hanabi", "hanabi?players=3", "hanabi?players=5", "tiny_hanabi"])
def test_cards_are_where_they_are_clicked(name: str, theme: str, size: int) -> None:
    """A change in what is known of one card changes pixels within that card only."""
    game_view, hints, cards = view(name, theme, size), 0, 0
    for state in reached(name, seeds=1, steps=24, every=8):
        table: Any = state.table  # type: ignore[attr-defined]
        seat, before = state.to_act[0], shown(game_view, state, state.to_act[0])
        for action, (place,) in game_view.places(state, seat).items():
            own = re.fullmatch(r"\((?:Play|Discard) (\d)\)", action)
            hint = re.match(r"\(Reveal player \+(\d)", action)
            player = (table.mover + (int(hint[1]) if hint else 0)) % len(game_view.game.seats)
            slots = [int(own[1])] if own else [0, len(table.hands[player]) - 1]
            other = state.clone()
            for slot in slots:
                held = table.hands[player][slot]
                flipped = held._replace(colors=held.colors ^ 1, ranks=held.ranks ^ 1)
                other.table.hands[player][slot] = flipped  # type: ignore[attr-defined]
            assert only_at(changed(before, shown(game_view, other, seat)), place), action
            hints, cards = hints + bool(hint), cards + bool(own)
    assert hints > 0 < cards


@pytest.mark.parametrize("name", ["pong", "qa", "perceive", "kuhn_poker", "vs-bench/kuhn"])
def test_games_without_places(name: str) -> None:
    game = ludens.make(name)
    assert not view_of(game, RenderOptions(), 0).places(game.start(0), game.seats[0])


def test_fractions_and_pixels() -> None:
    place = Place.of_pixels((10, 20, 30, 40), 100, 200)
    assert place == (0.1, 0.1, 0.3, 0.2)
    assert place.pixels(100, 200) == (10, 20, 30, 40)
    assert place.pixels(50, 100) == (5, 10, 15, 20)


def test_json_has_each_rectangle_once() -> None:
    from ludens.core.forms import places_to_json

    one, two = Place(0, 0, 0.25, 0.5), Place(1 / 3, 0, 0.25, 0.5)
    assert places_to_json({"a1b1": (one, two), "b1a1": (two, one), "a1": (one,)}) == {
        "places": [[0, 0, 0.25, 0.5], [0.333333, 0, 0.25, 0.5]],
        "actions": {"a1b1": [0, 1], "b1a1": [1, 0], "a1": [0]},
    }
    assert places_to_json({}) == {"places": [], "actions": {}}


def test_places_are_the_same_at_every_size() -> None:
    """Up to a pixel: a browser may scale the picture."""
    state = ludens.make("chess").start(0)
    large = view("chess", size=1024).places(state, "white")
    for action, path in view("chess", size=512).places(state, "white").items():
        assert np.allclose(path, large[action], atol=0.03), action
