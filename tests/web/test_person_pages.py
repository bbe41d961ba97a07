"""What people are shown in every game: forms and words, never what a model is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ludens import RenderOptions
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.forms import Choose, Form
from ludens.core.registry import GAMES
from ludens.core.state import State
from ludens.core.verify import verify
from ludens.core.view import View, view_of
from ludens.loop import play
from ludens.web.sessions import MoveLog, form_for, observation_fields
from tests.support.form_player import FormPlayer
from tests.support.playable import playable

FORBIDDEN = ("<answer", "</", "\\boxed", "json", "{", '["', "`", "action:")
SHORT = {
    "battle_of_colors": "horizon=3",
    "breakthrough": "rows=4&columns=3",
    "chess": "fen=7k/8/8/8/8/8/1r6/K7 w - - 0 1",
    "coin_dilemma": "horizon=3",
    "comma/atm": "turns=2",
    "comma/color": "turns=2",
    "comma/keypad": "turns=2",
    "comma/led": "turns=2",
    "comma/maze": "turns=2",
    "comma/memory": "turns=2",
    "comma/password": "turns=2",
    "comma/telehealth": "turns=2",
    "comma/who": "turns=2",
    "comma/wire": "turns=2",
    "gomoku": "size=5",
    "minesweeper": "rows=3&columns=3&mines=1",
    "monster_hunt": "horizon=3",
    "overcooked": "horizon=3",
    "pong": "decisions=3",
    "spy": "civilians=2&rounds=1",
    "sudoku": "clues=79",
}
"""Options with which a game is soon over."""


def spec_of(game: str) -> str:
    return f"{game}?{SHORT[game]}" if game in SHORT else game


def texts_of(value: Any) -> Iterator[str]:
    """Every text that a browser may show of a snapshot: values, not the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each)


def shown(view: View, state: State, seat: str) -> Iterator[str]:
    ask = build_ask(view, state, seat, "nothing", PlayConfig())
    fields = observation_fields(view, state, seat, ask if seat in state.to_act else None)
    yield view.rules_for_person(seat)
    yield from texts_of({name: value for name, value in fields.items() if name not in ("images", "form")})
    form = fields.get("form", {})
    names = (
        "labels",
        "lines",
        "prompt",
        "help",
        "robots",
        "commands",
        "paths",
        "contents",
        "rows",
        "columns",
    )
    yield from texts_of({name: form[name] for name in names if name in form})


def model_words(text: str) -> list[str]:
    return [word for word in FORBIDDEN if word in text.lower()]


@pytest.mark.parametrize("name", GAMES.names())
async def test_no_model_format_is_shown_and_the_episode_verifies(name: str) -> None:
    """A whole game is played with forms, by a player who sends what a browser would."""
    game = playable(spec_of(name))
    player = FormPlayer()
    episode = await play(game, dict.fromkeys(game.seats, player), 1)
    assert episode.status in ("done", "horizon")
    assert all(move.verdict == "ok" for move in episode.moves)
    verify(episode)
    view = view_of(game, RenderOptions(), 1)
    log = MoveLog(game.seats)
    for before, state, moves in player.steps:
        for seat in game.seats:
            for text in shown(view, before, seat):
                assert model_words(text) == [], text
        log.add(view, state, moves)
    for seat in game.seats:
        told = [str(line["action"]) for line in log.of(seat)]
        assert not any(model_words(text) for text in told), told


def test_solutions_are_told_in_words() -> None:
    for name in ("perceive", "viki/activate", "viki/plan", "viki/trace", "comma/panel"):
        game = playable(name)
        solution = game.start(1).solution(game.seats[0])
        assert solution is not None
        assert model_words(view_of(game, RenderOptions(), 1).label(solution)) == []


def test_a_wrong_plan_is_told_in_words() -> None:
    game = playable("viki/plan?feedback=1")
    state, view = game.start(1), view_of(game, RenderOptions(), 1)
    form = view.form(state, "planner")
    state.apply({"planner": form.read('{"steps": [{"R1": ["Move", "R2"]}], "message": ""}')})
    notes = view.notes_for_person(state, "planner")
    assert "R1 Move R2" in notes
    assert model_words(notes) == []
    assert '"actions"' in view.notes(state, "planner")


def test_a_form_reveals_no_more_than_the_picture() -> None:
    """Neither the types of robots nor things out of view that the task does not name."""
    game = playable("viki/team")
    view = view_of(game, RenderOptions(), 0)
    hidden = 0
    for seed in range(3):
        state: Any = game.start(seed)
        described = json.dumps(view.form(state, "R1").describe())
        assert not any(robot.type in described for robot in state.scene.robots)
        seen = view.text(state, "R1") + view.notes(state, "R1")
        for asset in state.scene.assets:
            if asset.name not in seen:
                hidden += 1
                assert f'"{asset.name}"' not in described
    assert hidden


async def test_a_panel_is_solved_action_by_action() -> None:
    game = playable("comma/panel?moves=single")
    episode = await play(game, dict.fromkeys(game.seats, FormPlayer()), 1)
    assert {move.verdict for move in episode.moves} == {"ok"}
    assert all(move.action.startswith("cut_wire_") for move in episode.moves)


def test_actions_that_are_not_listed() -> None:
    game = playable("tic_tac_toe")
    state, view = game.start(0), view_of(game, RenderOptions(), 0)
    ask = build_ask(view, state, "x", "nothing", PlayConfig(listed=False))
    form: Form = form_for(view, state, "x", ask)
    assert isinstance(form, Choose)
    assert "A1" not in json.dumps(form.describe())
