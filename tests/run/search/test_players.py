"""What blind players know, and what they make of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ludens.core.errors import BadFile
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of
from ludens.run.search import rebuilt
from ludens.run.search.beliefs import Belief
from ludens.run.search.players import (
    BruteForce,
    Copycat,
    Mixture,
    MoveTable,
    Script,
    SeatKnowledge,
    WordPlayer,
    first_allowed,
    messages_in,
    received_words,
)
from ludens.run.search.training import Training
from ludens.run.task import MODEL, WON, Task

KNOWN = SeatKnowledge("x", "", 0, "words", ("a", "b", "c"), (), "", "")
TASK = Task("turns", "tic_tac_toe", ({"x": MODEL, "o": "bot/random"},), 20, (WON,))


def choice(player: WordPlayer, known: SeatKnowledge) -> str:
    return player.choose(known, None)  # type: ignore[arg-type]


def test_the_first_action_is_taken_that_nothing_speaks_against() -> None:
    assert first_allowed(KNOWN, ["z", "b"]) == "b"
    assert first_allowed(replace(KNOWN, refused=(("b", "no"),)), ["z", "b"]) == "a"
    assert first_allowed(replace(KNOWN, legal=()), ["z", "b"]) == "z"


def test_a_script_plays_its_list_and_then_its_reserve() -> None:
    script = Script(actions={"x": ["b", "q"]}, reserve={"x": ["c"]})
    assert [choice(script, replace(KNOWN, move=move)) for move in range(3)] == ["b", "c", "c"]


def test_brute_force_does_not_repeat_itself() -> None:
    player = BruteForce(candidates={"x": ["a", "b"]})
    player.begin()
    assert [choice(player, KNOWN) for _ in range(3)] == ["a", "b", "a"]


def test_keys_tell_apart_what_is_known() -> None:
    later = replace(KNOWN, move=1, trail="t", history="h")
    other = replace(later, history="i")
    assert KNOWN.key("stage") == later.key("stage")
    assert KNOWN.key("move") != later.key("move") == other.key("move")
    assert later.key("refusals") == other.key("refusals") != KNOWN.key("refusals")
    assert later.key("words") != other.key("words")


def test_messages_are_read_from_the_words() -> None:
    assert (
        messages_in('Round 1, player 2: "A red cube"\nRound 2, player 3: "It is round"')[-1] == "It is round"
    )
    assert messages_in("Solver:\n    cut = 2\n    thanks\nExpert:\n    press it\n") == [
        "cut = 2\nthanks",
        "press it",
    ]


def test_a_copycat_repeats_in_stages_of_talk_only() -> None:
    talk = replace(KNOWN, legal=(), words='Other: "hello there"', stage="talk")
    base = Script(reserve={"x": ["vote"]})
    assert choice(Copycat(stages=["talk"], base=base), talk) == "hello there"
    assert choice(Copycat(mode="reversed", stages=["talk"], base=base), talk) == "there hello"
    assert choice(Copycat(stages=["talk"], base=base), replace(talk, stage="vote")) == "vote"


def test_words_hold_nothing_of_the_picture() -> None:
    """Where moves are not listed, an empty and a full board are the same to who does not look."""
    game = make("tic_tac_toe")
    view, first, second = view_of(game, RenderOptions(), 0), game.start(0), game.start(0)
    second.apply({"x": "A1"})
    second.apply({"o": "B2"})
    hidden = replace(TASK.config, listed=False)
    assert received_words(view, first, "x", hidden) == received_words(view, second, "x", hidden)
    assert received_words(view, first, "x", TASK.config) != received_words(view, second, "x", TASK.config)


def test_a_belief_wins_where_the_listed_moves_tell_the_board() -> None:
    training = Training(TASK, 10)
    lost = [
        result.episode.returns["x"] < 0
        for number in range(12)
        for result in [training.play(Belief(TASK.config, "any", 12, 4, TASK.seatings), number)]
    ]
    assert not any(lost)


@pytest.mark.parametrize("definition", [{"kind": "magic"}, {"kind": "script"}, {}])
def test_a_bad_definition_is_refused(definition: dict[str, object]) -> None:
    with pytest.raises(BadFile, match="not valid"):
        rebuilt(TASK, definition)


def test_a_table_without_an_entry_plays_as_its_base() -> None:
    base = Script(actions={"x": ["c"]})
    assert choice(MoveTable(by="move", actions={KNOWN.key("move"): "b"}, base=base), KNOWN) == "b"
    assert choice(MoveTable(by="move", actions={}, base=base), KNOWN) == "c"


def test_a_mixed_player_plays_each_part_as_another() -> None:
    clue, vote = Script(actions={"x": ["b"]}), Script(actions={"x": ["c"]})
    player = Mixture(TASK.config, {"spy/clue": clue}, base=vote)
    assert choice(player, replace(KNOWN, role="spy", stage="clue")) == "b"
    assert choice(player, replace(KNOWN, role="spy", stage="vote")) == "c"
    assert not player.memory
    again = rebuilt(TASK, player.definition)
    assert isinstance(again, Mixture)
    assert again.definition == player.definition
