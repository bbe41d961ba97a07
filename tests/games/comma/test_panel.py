"""Panel: the whole manual and one panel; what must be done is right on one panel of a pair only."""

from __future__ import annotations

import pytest

import ludens
from ludens.core.errors import BadOption, Illegal, Unreadable
from ludens.core.registry import make
from ludens.core.state import Legal
from ludens.core.view import RenderOptions
from ludens.games.comma.panel import PUZZLES, PanelQuestion
from ludens.loop import play
from ludens.run.twins import pair_scores
from ludens.testing import check_game
from ludens.testing.trial import Trial
from ludens.testing.views import twins_differ_only_in_pictures


@pytest.mark.parametrize("manual", ["standard", "random"])
@pytest.mark.parametrize("puzzle", PUZZLES)
def test_solution_is_right_on_one_panel_of_a_pair(puzzle: str, manual: str) -> None:
    game = PanelQuestion(puzzle=puzzle, manual=manual, twins=True)
    for seed in range(6):
        first, second = (world.panel for world in game.pair(seed))
        assert first.right(first.solution())
        assert second.right(second.solution())
        assert not first.right(second.solution())
        assert not second.right(first.solution())


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_words_do_not_tell_the_panels_of_a_pair_apart(puzzle: str) -> None:
    game = PanelQuestion(puzzle=puzzle, twins=True)
    twins_differ_only_in_pictures(Trial(game, seeds=(0, 1), views=(RenderOptions("random", 256),)))


def test_keypad_keeps_every_rule() -> None:
    check_game(PanelQuestion(puzzle="keypad", twins=True), seeds=(0, 1))


@pytest.mark.parametrize("puzzle", ["wire", "who"])
async def test_a_guess_is_right_in_one_world_at_most(puzzle: str) -> None:
    game = PanelQuestion(puzzle=puzzle, twins=True)
    marks = {}
    for seed in range(20):
        agent = ludens.agent(f"bot/{'oracle' if seed < 10 else 'first'}", game)
        episode = await play(game, {"solver": agent}, seed)
        marks[seed, 0, 0] = "01"[int(episode.returns["solver"])]
    assert list(pair_scores(marks).values()) == [1.0] * 5 + [0.0] * 5


def test_nothing_may_follow_the_last_right_action() -> None:
    state = PanelQuestion(puzzle="wire").start(3)
    panel = state.panel
    [right] = panel.solution()
    wrong = next(action for action in panel.actions if action != right)
    assert panel.right([right])
    assert not panel.right([])
    assert not panel.right([wrong, right])
    assert not panel.right([right, wrong])


def test_only_the_next_action_is_asked_where_panels_change() -> None:
    panel = PanelQuestion(puzzle="memory").start(3).panel
    [right] = panel.solution()
    assert panel.right([right])
    assert not panel.right([right, right])


def test_replies_are_read_line_by_line() -> None:
    game = make("comma/panel?puzzle=wire")
    state = game.start(3)
    form, legal = game.view(RenderOptions()).format(state, "solver"), Legal.text()
    assert form.read("The third wire is red.\n- cut_wire_2\n", legal) == "cut_wire_2"
    assert form.read("cut_wire_1\ncut_wire_2", legal) == "cut_wire_1\ncut_wire_2"
    with pytest.raises(Unreadable):
        form.read("I would cut the second wire.", legal)
    with pytest.raises(Illegal):
        form.read("cut_wire_99", legal)
    assert state.refusal("solver", "cut_wire_99") == "'cut_wire_99' is not one of the actions."


@pytest.mark.parametrize("puzzle", ["wire", "atm"])
def test_a_panel_in_single_moves_keeps_every_rule(puzzle: str) -> None:
    check_game(PanelQuestion(puzzle=puzzle, moves="single"), seeds=(0, 1))


@pytest.mark.parametrize("manual", ["standard", "random"])
@pytest.mark.parametrize("puzzle", PUZZLES)
async def test_oracle_solves_panels_in_single_moves(puzzle: str, manual: str) -> None:
    game = PanelQuestion(puzzle=puzzle, manual=manual, moves="single")
    for seed in range(3):
        episode = await play(game, {"solver": ludens.agent("bot/oracle", game)}, seed)
        assert episode.returns == {"solver": 1.0}
        assert episode.facts["mistakes"] == 0


def test_the_third_mistake_ends_a_panel_in_single_moves() -> None:
    state = PanelQuestion(puzzle="wire", moves="single").start(3)
    right = state.solution("solver")
    wrong = next(action for action in state.legal("solver") if action != right)
    for mistakes in range(1, 4):
        state.apply({"solver": wrong})
        assert state.facts["mistakes"] == mistakes
        assert state.over == (mistakes == 3)
    assert state.returns == {"solver": 0.0}


@pytest.mark.parametrize("puzzle", PUZZLES)
async def test_the_reader_says_what_it_sees_and_solves_the_panel(puzzle: str) -> None:
    game = PanelQuestion(puzzle=puzzle)
    episode = await play(game, {"solver": ludens.agent("bot/reader", game)}, 3)
    assert episode.returns == {"solver": 1.0}
    assert "<think>" in episode.moves[0].tries[-1].text


def test_the_reader_refuses_single_moves_in_a_sentence() -> None:
    game = PanelQuestion(moves="single")
    with pytest.raises(BadOption, match="needs comma/panel\\?moves=all"):
        ludens.play_sync(game, {"solver": ludens.agent("bot/reader", game)}, 3)


def test_what_small_models_are_told_has_the_manual_where_it_is_new() -> None:
    for manual in ("standard", "random"):
        game = PanelQuestion(manual=manual)
        told = game.view(RenderOptions()).observe(game.start(3), "solver", "image")
        assert told.brief == ("wire" if manual == "standard" else told.notes)
        assert "wire" in told.notes
