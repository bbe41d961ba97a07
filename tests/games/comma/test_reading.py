"""Reading: every field of a panel counts by itself."""

from __future__ import annotations

import pytest

from ludens.core.errors import Unreadable
from ludens.core.registry import make
from ludens.core.state import Legal
from ludens.core.view import RenderOptions
from ludens.games.comma.reading import READ, Reading, fields_of, kind_of
from ludens.testing import check_game


@pytest.mark.parametrize("puzzle", ["wire", "memory"])
def test_it_keeps_every_rule(puzzle: str) -> None:
    check_game(Reading(puzzle=puzzle, twins=True), seeds=(0, 1))


@pytest.mark.parametrize("puzzle", READ)
def test_what_is_on_the_panel_is_right(puzzle: str) -> None:
    state = Reading(puzzle=puzzle).start(3)
    state.apply({"solver": state.solution("solver") or ""})
    assert state.returns == {"solver": 1.0}
    assert state.facts["exact"]
    assert state.facts["fields"]["serial"] == [1, 1]
    right, count = map(sum, zip(*state.facts["fields"].values(), strict=True))
    assert right == count > 1


def test_fields_are_scored_one_by_one() -> None:
    state = Reading(puzzle="wire").start(3)
    wires = state.fields["wires"].split(", ")
    other = "red" if wires[0] != "red" else "blue"
    state.apply({"solver": f"serial = 1\nwires = {', '.join([other, *wires[1:]])}"})
    assert state.facts["fields"] == {"serial": [0, 1], "colours": [len(wires) - 1, len(wires)]}
    assert not state.facts["exact"]


def test_a_value_too_much_is_wrong() -> None:
    state = Reading(puzzle="memory").start(3)
    state.apply({"solver": f"labels = {state.fields['labels']}, 1"})
    assert state.facts["fields"]["digits"][0] == 4
    assert state.facts["fields"]["digits"][1] == 2 + 4 + 1


def test_only_fields_that_differ_are_compared_in_twins() -> None:
    first, second = Reading(puzzle="memory", twins=True).pair(0)
    assert first.compared == second.compared
    assert "serial" in first.compared
    assert all(first.fields[name] != second.fields[name] for name in first.compared)
    for state in (first, second):
        state.apply({"solver": first.solution("solver") or ""})
    assert set(first.facts["marks"]) == {"1"}
    assert set(second.facts["marks"]) == {"0"}


def test_replies_are_read_line_by_line() -> None:
    game = make("comma/read?puzzle=wire")
    state = game.start(3)
    form = game.view(RenderOptions()).format(state, "solver")
    text = "I see:\nSerial = 12\nlight = off\n<think>serial = 13</think>wires = red,  blue"
    assert form.read(text, Legal.text()) == "serial = 12\nwires = red, blue"
    with pytest.raises(Unreadable):
        form.read("The serial number is 12.", Legal.text())


def test_every_field_has_a_kind() -> None:
    for puzzle in READ:
        panel = Reading(puzzle=puzzle).start(0).panel
        kinds = {kind_of(puzzle, name) for name in fields_of(panel)}
        assert kinds <= {"serial", "colours", "digits", "letters", "words", "symbols", "positions"}
        assert len(kinds) > 1
