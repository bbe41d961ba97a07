"""Agents by their specs: bots, search, replay, a person at the terminal."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import pytest

from ludens import Agent, Game, agent, make
from ludens.agents.bots import _StateSearch
from ludens.core.agent import Ask
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.random import stream
from ludens.core.reply import ActionFormat
from ludens.core.state import State
from ludens.loop import play
from tests.support.pebbles import Pebbles, Talk
from tests.support.players import Scripted
from tests.support.replaying import Replay, replaying


def ask(state: State, seat: str) -> Ask:
    return Ask(seat, state.legal(seat), ActionFormat(), state=state)


@pytest.mark.parametrize(
    "spec",
    ["bot/random", "bot/first", "bot/alphabeta?depth=2", "bot/mcts?simulations=10&rollouts=2", "human"],
)
def test_a_spec_makes_the_agent_that_has_it(spec: str) -> None:
    assert agent(spec, make("tic_tac_toe")).spec == spec


@pytest.mark.parametrize(
    ("spec", "error", "told"),
    [
        ("bot/randm", UnknownName, "did you mean 'bot/random'"),
        ("random", UnknownName, "did you mean 'bot/random'"),
        ("bot/mcts?simulation=5", UnknownName, "did you mean 'simulations'"),
        ("bot/mcts?simulations=0", BadOption, "must be at least 1"),
        ("bot/mcts?simulations=many", BadOption, "must be a whole number"),
        ("bot/first@localhost", BadOption, "bot/first has no address"),
        ("", BadOption, "has no name"),
    ],
)
def test_a_wrong_spec_is_a_clear_error(spec: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        agent(spec, make("tic_tac_toe"))


async def test_random_follows_its_stream_and_first_does_not() -> None:
    state = Pebbles().start(1)
    seated = agent("bot/random", Pebbles()).sit(Pebbles(), "left", stream(4))
    drawn = [(await seated.act(ask(state, "left"))).action for _ in range(40)]
    dice = stream(4)
    assert drawn == [dice.choice(["take 1", "take 2", "take 3"]) for _ in range(40)]
    assert set(drawn) == {"take 1", "take 2", "take 3"}
    first = agent("bot/first", Pebbles()).sit(Pebbles(), "left", stream(4))
    assert (await first.act(ask(state, "left"))).action == "take 1"


async def test_simple_bots_say_nothing_where_words_are_asked_for() -> None:
    for spec in ("bot/random", "bot/first"):
        episode = await play(Talk(), dict.fromkeys("ab", agent(spec, Talk())), 1)
        assert {move.action for move in episode.moves} == {""}
        assert episode.status == "done"


def test_one_agent_sits_at_many_tables() -> None:
    one = agent("bot/random", Pebbles())
    left, right = (one.sit(Pebbles(), seat, stream(1, seat)) for seat in ("left", "right"))
    assert left is not right
    assert (left.seat, right.seat) == ("left", "right")
    assert left.random != right.random


@cache
def minimax(history: tuple[str, ...], seat: str) -> float:
    """What a position of tic-tac-toe is worth to a seat: no pruning, no depth."""
    state = make("tic_tac_toe").start(0)
    for action in history:
        state.apply({state.to_act[0]: action})
    if state.over:
        return state.returns[seat]
    values = [minimax((*history, action), seat) for action in state.legal(state.to_act[0])]  # type: ignore[union-attr]
    return max(values) if state.to_act == (seat,) else min(values)


@pytest.mark.parametrize("number", range(12))
async def test_full_alpha_beta_plays_what_minimax_would(number: int) -> None:
    game, dice = make("tic_tac_toe"), stream(number, "position")
    state, history = game.start(0), list[str]()
    for _ in range(3 + number % 4):
        if not state.over:
            history.append(dice.choice(list(state.legal(state.to_act[0]))))  # type: ignore[arg-type]
            state.apply({state.to_act[0]: history[-1]})
    if state.over:
        return
    [seat] = state.to_act
    searcher = agent("bot/alphabeta?depth=9", game).sit(game, seat, stream(number))
    action = (await searcher.act(ask(state, seat))).action
    assert action is not None
    assert minimax((*history, action), seat) == minimax(tuple(history), seat)


@pytest.mark.parametrize("spec", ["bot/alphabeta?depth=9", "bot/mcts?simulations=200&rollouts=5"])
async def test_search_wins_at_once_when_it_can(spec: str) -> None:
    game = make("tic_tac_toe")
    state = game.start(0)
    for action in ("A1", "B1", "A2", "B2"):
        state.apply({state.to_act[0]: action})
    seated = agent(spec, game).sit(game, "x", stream(1))
    assert (await seated.act(ask(state, "x"))).action == "A3"


@pytest.mark.parametrize("spec", ["bot/alphabeta?depth=4", "bot/mcts?simulations=50&rollouts=2"])
async def test_search_is_repeatable_and_beats_chance(spec: str) -> None:
    game = make("tic_tac_toe")
    players = {"x": agent(spec, game), "o": agent("bot/random", game)}
    episodes = [await play(game, players, seed) for seed in range(6)]
    assert [episode.fingerprint() for episode in episodes] == [
        (await play(game, players, seed)).fingerprint() for seed in range(6)
    ]
    assert sum(episode.returns["x"] for episode in episodes) >= 4
    assert min(episode.returns["x"] for episode in episodes) >= 0


@pytest.mark.parametrize(
    ("spec", "game", "told"),
    [
        ("bot/alphabeta", Pebbles(), "needs two seats and perfect information, unlike test/pebbles"),
        ("bot/alphabeta", Talk(), "needs one seat to act at a time"),
        ("bot/mcts", Pebbles(), "plays OpenSpiel games only"),
    ],
)
async def test_search_says_what_it_cannot_play(spec: str, game: Game, told: str) -> None:
    players: dict[str, Agent] = dict.fromkeys(game.seats, agent(spec, game))
    with pytest.raises(BadOption, match=told):
        await play(game, players, 1)


def test_alpha_beta_prefers_the_sooner_win() -> None:
    game = make("tic_tac_toe")
    search = _StateSearch(game, "x")
    state = game.start(0)
    for action in ("A1", "B1", "A2", "B2", "A3"):
        state.apply({state.to_act[0]: action})
    assert search.value((state, 1), 5) > search.value((state, 1), 2) > 0


async def test_a_replay_that_runs_out_says_so() -> None:
    game = Pebbles()
    short = await play(game, dict.fromkeys(game.seats, agent("bot/first", game)), 1)
    del short.moves[2:]
    again = await play(game, replaying(short), 1)
    assert (again.status, again.culprit) == ("void", "left")
    assert again.error == "the replayed episode has no move 2 of left."
    assert Replay(episode=short).spec == f"replay/{short.fingerprint()}"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    stdin = io.StringIO()
    monkeypatch.setattr("sys.stdin", stdin)
    return stdin


def types(stdin: io.StringIO, text: str) -> None:
    stdin.write(text)
    stdin.seek(0)


async def test_a_person_sees_types_errs_and_leaves(
    typed: io.StringIO, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    types(typed, "take nine\n  TAKE 2 \ntake 1\n")
    game = Pebbles(heap=30)
    players = {"left": agent(f"human?pictures={tmp_path}", game), "right": agent("bot/first", game)}
    episode = await play(game, players, 1)
    shown = capsys.readouterr()
    assert [move.action for move in episode.moves if move.seat == "left"] == ["take 2", "take 1"]
    first = episode.moves[0]
    assert (first.verdict, [attempt.text for attempt in first.tries]) == ("retried", ["take nine", "TAKE 2"])
    assert (episode.status, episode.culprit, episode.error) == ("void", "left", "left left the game.")
    assert shown.out == ""
    for told in (
        "You sit at left.", "=== left, your move 1", f"picture: {tmp_path / 'left-001.png'}", "30 pebbles",
        "legal actions: take 1, take 2, take 3",
        "not accepted: 'take nine' is not a legal action for left now",
    ):  # fmt: skip
        assert told in shown.err
    assert shown.err.count("You sit at left.") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "left-001.png",
        "left-002.png",
        "left-003.png",
    ]
    assert (tmp_path / "left-001.png").read_bytes().startswith(b"\x89PNG")


async def test_a_person_may_talk_over_several_lines_and_is_told_how(
    typed: io.StringIO, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    types(typed, "first line\\\nsecond line\n")
    game = Talk(rounds=1)
    players = {"a": agent(f"human?pictures={tmp_path}", game), "b": Scripted(says=["hello"])}
    episode = await play(game, players, 1)
    assert episode.moves[0].action == "first line\nsecond line"
    assert capsys.readouterr().err.count("to continue the message on the next line") == 1


async def test_pictures_need_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="cannot write pictures to"):
        agent(f"human?pictures={tmp_path / 'file'}", Pebbles()).sit(Pebbles(), "left", stream(1))
