"""Options: read from text, checked against what was declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.agents.bots import Mcts
from ludens.core.errors import BadOption, UnknownName, UsageError
from ludens.core.options import check_options, configure, option, option_values, options_of
from ludens.core.registry import GAMES, make
from ludens.games.chess import Chess
from ludens.games.hanabi.game import Hanabi
from ludens.games.minesweeper import Minesweeper
from ludens.models.settings import PromptOptions


@dataclass(frozen=True)
class Kettle:
    cups: int = option(2, low=1, high=12, help="how many cups it fills")
    heat: float = option(90.0, low=0, high=100, help="degrees")
    whistle: bool = option(True, help="whether it whistles")
    colour: str = option("red", choices=("red", "blue"), help="its colour")
    label: str = option("", help="anything")
    dents: int = 0


def test_only_declared_fields_are_options() -> None:
    assert list(options_of(Kettle)) == ["cups", "heat", "whistle", "colour", "label"]
    assert option_values(Kettle(dents=3)) == {
        "cups": 2, "heat": 90.0, "whistle": True, "colour": "red", "label": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given_as", "value"),
    [
        ({"cups": "7"}, 7),
        ({"cups": 7}, 7),
        ({"cups": " 7 "}, 7),
        ({"heat": "85"}, 85.0),
        ({"heat": 85}, 85.0),
        ({"heat": "8.5e1"}, 85.0),
        ({"whistle": "no"}, False),
        ({"whistle": "TRUE"}, True),
        ({"whistle": False}, False),
        ({"colour": "blue"}, "blue"),
        ({"label": "8"}, "8"),
    ],
)
def test_text_and_values_are_read(given_as: dict[str, Any], value: Any) -> None:
    [name] = given_as
    read = getattr(configure(Kettle, given_as, "kettle"), name)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("given_as", "told"),
    [
        ({"cups": "many"}, "option 'cups' of kettle must be a whole number, not 'many'"),
        ({"cups": "2.5"}, "must be a whole number"),
        ({"cups": 2.5}, "must be a whole number"),
        ({"cups": True}, "must be a whole number, not True"),
        ({"cups": None}, "must be a whole number, not None"),
        ({"cups": [2]}, "must be a whole number"),
        ({"cups": 0}, "must be at least 1 and at most 12, not 0"),
        ({"cups": "13"}, "must be at least 1 and at most 12, not 13"),
        ({"cups": "9" * 5000}, "must be a whole number"),
        ({"heat": "nan"}, "must be at least 0 and at most 100"),
        ({"heat": "inf"}, "must be at least 0 and at most 100"),
        ({"heat": 10**400}, "too large"),
        ({"heat": "warm"}, "must be a number, not 'warm'"),
        ({"whistle": "perhaps"}, "must be true or false"),
        ({"whistle": 1}, "must be true or false"),
        ({"colour": "blu"}, "did you mean 'blue'"),
        ({"label": 8}, "must be text, not 8"),
        ({"cup": 3}, "unknown option of kettle 'cup'; did you mean 'cups'"),
        ({"dents": 3}, "unknown option of kettle 'dents'"),
    ],
)
def test_what_does_not_fit_is_told_in_a_sentence(given_as: dict[str, Any], told: str) -> None:
    with pytest.raises((BadOption, UnknownName)) as error:
        configure(Kettle, given_as, "kettle")
    assert told in str(error.value)


NAMES = st.sampled_from(["cups", "heat", "whistle", "colour", "label", "x"])
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())


@given(st.dictionaries(NAMES, ANYTHING))
def test_anything_given_is_taken_or_refused(given_as: dict[str, Any]) -> None:
    try:
        kettle = configure(Kettle, given_as, "kettle")
    except UsageError:
        return
    assert 1 <= kettle.cups <= 12
    assert 0 <= kettle.heat <= 100
    assert configure(Kettle, option_values(kettle), "kettle") == kettle


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: Hanabi(players=9), "'players' of hanabi must be at least 2 and at most 5, not 9"),
        (lambda: Hanabi(players="two"), "'players' of hanabi must be a whole number"),
        (lambda: Minesweeper(first="never"), "value of option 'first' of minesweeper 'never'"),
        (lambda: Chess(fen=3), "'fen' of chess must be text"),
        (lambda: Mcts(simulations=0), "'simulations' of bot/mcts must be at least 1"),
        (lambda: PromptOptions(style="explane"), "did you mean 'explain'"),
        (lambda: PromptOptions(frames=0), "must be at least 1"),
    ],
)
def test_bounds_hold_in_constructors(made: Callable[[], object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        made()


@pytest.mark.parametrize("path", ["a" * 256, "a/" * 2048 + "a", "folder/\0"])
@pytest.mark.parametrize(
    ("game", "name"), [("files", "data"), ("spy", "source"), ("viki/plan", "data"), ("viki/plan", "pictures")]
)
def test_what_can_be_no_path_is_refused_before_a_system_is_asked(game: str, name: str, path: str) -> None:
    with pytest.raises(BadOption, match=f"option '{name}' of {game} is not a path: '") as refused:
        make(game, **{name: path}).start(0)
    assert len(str(refused.value)) < 150


def test_a_whole_number_is_a_number() -> None:
    check_options(Kettle(heat=85), "kettle")
    with pytest.raises(BadOption, match="must be a number"):
        check_options(Kettle(heat=True), "kettle")
    with pytest.raises(BadOption, match="at most 100"):
        check_options(Kettle(heat=101), "kettle")


@pytest.mark.parametrize("name", GAMES.names())
def test_every_game_checks_its_options(name: str) -> None:
    game = GAMES.get(name)
    for option_name, declared in options_of(game).items():
        if declared.metadata["kind"] is not bool:
            with pytest.raises(UsageError):
                game(**{option_name: object()})


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", float("nan")])
def test_number_without_bounds_is_finite(number: Any) -> None:
    @dataclass(frozen=True)
    class Scale:
        weight: float = option(0.5, help="any number")

    assert configure(Scale, {"weight": "-0.25"}, "scale").weight == -0.25
    with pytest.raises(BadOption, match="must be a finite number"):
        configure(Scale, {"weight": number}, "scale")
