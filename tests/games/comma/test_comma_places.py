"""The Solver's actions are clicked where the panel shows them, and only by the Solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ludens
from ludens import RenderOptions
from ludens.core.view import view_of
from ludens.games.comma.view import CommaView
from tests.support.clicks import LOOKS, changed, only_at, part, shown

PANELS = ("atm", "color", "keypad", "led", "maze", "memory", "password", "telehealth", "who", "wire")
looks = pytest.mark.parametrize(("theme", "size"), LOOKS)


def opened(name: str, theme: str = "classic", size: int = 512, seed: int = 0) -> tuple[CommaView, Any]:
    game = ludens.make(f"comma/{name}")
    view = view_of(game, RenderOptions(theme, size), 3)
    assert isinstance(view, CommaView)
    return view, game.start(seed)


def replaced(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])


@pytest.mark.parametrize("name", PANELS)
def test_every_action_of_the_solver_has_a_place(name: str) -> None:
    for seed in range(4):
        view, state = opened(name, seed=seed)
        places = view.places(state, "solver")
        missing = set(state.puzzle.actions) - set(places)
        assert not missing if name != "maze" else all(action.startswith("move_") for action in missing)
        assert set(places) <= set(state.puzzle.actions)
        assert not view.places(state, "expert")
        state.apply({"solver": "hello"})
        assert not view.places(state, "solver")
        assert not view.places(state, "expert")


@pytest.mark.parametrize("name", PANELS)
def test_the_key_of_a_place_is_a_line_that_acts(name: str) -> None:
    view, state = opened(name)
    for action in view.places(state, "solver"):
        after = state.clone()
        after.apply({"solver": f"I do this:\n{action}"})
        assert [event.words for event in after.messages[-1].events] == [action]
        assert after.messages[-1].events[0].outcome != "unread"


CHANGES: dict[str, tuple[str, Callable[[Any, int], str]]] = {
    "wire": ("wires", lambda panel, n: "blue" if panel.wires[n] != "blue" else "red"),
    "color": ("board", lambda panel, n: "white"),
    "keypad": ("symbols", lambda panel, n: panel.symbols[(n + 1) % 4]),
    "led": ("letters", lambda panel, n: "A" if panel.letters[n] != "A" else "B"),
    "who": ("labels", lambda panel, n: "OTHER"),
}
"""What a panel's elements are, in the order of its actions, and another value for each."""


@looks
@pytest.mark.parametrize("name", CHANGES)
def test_another_element_changes_pixels_at_its_place_only(name: str, theme: str, size: int) -> None:
    attribute, other = CHANGES[name]
    view, state = opened(name, theme, size)
    before, places = shown(view, state, "solver"), view.places(state, "solver")
    for number, action in enumerate(state.puzzle.actions):
        now = state.clone()
        value = replaced(getattr(state.puzzle, attribute), number, other(state.puzzle, number))
        setattr(now.puzzle, attribute, value)
        assert only_at(changed(before, shown(view, now, "solver")), *places[action]), action


@looks
def test_the_buttons_of_memory_are_clicked_by_label(theme: str, size: int) -> None:
    view, state = opened("memory", theme, size)
    before, places = shown(view, state, "solver"), view.places(state, "solver")
    turned = state.clone()
    turned.puzzle.labels = state.puzzle.labels[::-1]
    after, moved = shown(view, turned, "solver"), view.places(turned, "solver")
    for action in state.puzzle.actions:
        assert moved[action] != places[action]
        assert np.array_equal(part(before.rgb(), *places[action]), part(after.rgb(), *moved[action]))


@looks
def test_the_mouse_moves_to_the_cell_that_is_clicked(theme: str, size: int) -> None:
    moves = 0
    for seed in range(6):
        view, state = opened("maze", theme, size, seed)
        before, places = shown(view, state, "solver"), view.places(state, "solver")
        for action in state.puzzle.actions[:-1]:
            after = state.clone()
            if action in places and after.puzzle.act(action) == "done":
                mask = changed(before, shown(view, after, "solver"))
                assert only_at(mask, *places[action], *places["check_position"]), action
                moves += 1
    assert moves > 6


def test_a_mouse_at_the_edge_cannot_leave() -> None:
    view, state = opened("maze")
    state.puzzle.mouse = (0, 0)
    assert set(view.places(state, "solver")) == {"move_down", "move_right", "check_position"}


@looks
def test_letters_turn_between_their_arrows(theme: str, size: int) -> None:
    view, state = opened("password", theme, size)
    before, places = shown(view, state, "solver"), view.places(state, "solver")
    arrows = {
        way: [part(before.rgb(), *places[f"{way}_button_{slot}"]) for slot in range(1, 6)]
        for way in ("up", "down")
    }
    for same in arrows.values():
        assert all(np.array_equal(same[0], each) for each in same)
    assert not np.array_equal(arrows["up"][0], arrows["down"][0])
    for slot in range(1, 6):
        (up,), (down,) = places[f"up_button_{slot}"], places[f"down_button_{slot}"]
        window = ludens.Place(up.x, up.y + up.height, up.width, down.y - up.y - up.height)
        for way in ("up", "down"):
            after = state.clone()
            after.puzzle.act(f"{way}_button_{slot}")
            assert only_at(changed(before, shown(view, after, "solver")), window)


CODES = ("BCC", "SCC", "MEL", "ACK", "NEV", "SEK")
LABELS = {
    "atm": {
        **{f"press_{digit}": (str(digit), "panel", "wood") for digit in range(10)},
        "press_up_arrow": ("UP", "gray", "wood"),
        "press_down_arrow": ("DOWN", "gray", "wood"),
        "press_enter": ("ENTER", "gray", "wood"),
        "press_delete": ("DELETE", "gray", "wood"),
    },
    "telehealth": {
        **{f"diagnose_{code}": (code, "panel", "page") for code in CODES},
        "treat_surgery": ("SURGERY", "panel", "page"),
        "treat_no_treatment": ("NO TREATMENT", "panel", "page"),
        "treat_cryotherapy": ("CRYOTHERAPY", "panel", "page"),
    },
    "password": {"submit": ("SUBMIT", "blue", "page")},
}
"""The label of a button, its colour, and the colour behind it."""


@looks
@pytest.mark.parametrize("name", LABELS)
def test_a_button_with_the_right_label_is_at_its_place(name: str, theme: str, size: int) -> None:
    view, state = opened(name, theme, size)
    picture, places = shown(view, state, "solver"), view.places(state, "solver")
    for action, (label, fill, ground) in LABELS[name].items():
        found = part(picture.pixels, *places[action])  # type: ignore[attr-defined]
        height, width = found.shape
        assert np.array_equal(found, view.sheet.button(label, width, height, fill, ground)), action
