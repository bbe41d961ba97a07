"""Pong: the console against ALE itself, its rules, both ways to play it, what is seen, and the tracker."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest

import ludens
from ludens.core.errors import MissingExtra
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.draw import get_theme
from ludens.draw.palette import contrast
from ludens.games.pong import (
    ACTIONS,
    BOTTOM,
    COARSE,
    FRAMES,
    NO_OPS,
    TOP,
    Follower,
    Knob,
    Pong,
    PongState,
    PongTracker,
    colours,
    combined,
)
from ludens.loop import play

ale_py = pytest.importorskip("ale_py", reason="Pong needs the extra 'atari' (ale-py)")

roms = pytest.importorskip("ale_py.roms")

TO_ALE = {"STAY": 0, "UP": 3, "DOWN": 4}


def walk(state: PongState, actions: str) -> PongState:
    """Play the actions, given by their first letters, at the only seat."""
    names = {name[0]: name for name in ACTIONS}
    for letter in actions:
        state.apply({"player": names[letter]})
    return state


def sight(state: PongState) -> tuple[Any, ...]:
    return state.points, [frame.screen.tobytes() for frame in state.frames]


# --- the console -----------------------------------------------------------------------------------------


def test_every_frame_is_the_one_ale_shows() -> None:
    """One emulator played straight through against ours, shared and restored between steps."""
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path("pong"))
    ale.reset_game()
    state, stranger = Pong(sticky=0.0).start(5), Pong().start(6)
    for _ in range(FRAMES * stream(5, "pong").between(1, NO_OPS)):
        ale.act(0)
    dice = stream(0, "test")
    for _ in range(90):
        action = dice.choice(ACTIONS)
        walk(state, action[0])
        for _ in range(FRAMES):
            ale.act(TO_ALE[action])
        assert (state.frames[-1].screen == ale.getScreen()).all()
        walk(stranger, "U")


def test_games_played_in_turns_and_in_threads_are_the_same() -> None:
    actions = "UDSUUSDD" * 6
    alone = [sight(walk(Pong().start(seed), actions)) for seed in range(4)]
    together = [Pong().start(seed) for seed in range(4)]
    for letter in actions:
        for state in together:
            walk(state, letter)
    assert [sight(state) for state in together] == alone
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: sight(walk(Pong().start(seed), actions)), range(4))) == alone


def test_without_ale_py_one_sentence_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ale_py", None)
    with ThreadPoolExecutor(1) as pool:  # a thread of its own has no emulator yet
        missing = pool.submit(Pong().start, 0).exception()
    assert isinstance(missing, MissingExtra)
    assert str(missing) == "pong needs the extra 'atari': pip install 'ludens[atari]'."


def test_our_knob_turns_as_ale_turns_its_own() -> None:
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path("pong"))
    ale.reset_game()
    for _ in range(30):
        ale.act(0)
    knob, dice = Knob(), stream(1, "knob")
    for _ in range(60):
        action, frames = dice.choice(ACTIONS), dice.between(1, 20)
        for _ in range(frames):
            ale.act(TO_ALE[action])
            knob = knob.after(action)
            assert abs(knob.smoothed - int(ale.getRAM()[60])) <= 2


# --- the rules -------------------------------------------------------------------------------------------


def test_the_first_decision_comes_after_one_to_thirty_of_staying_and_sees_four_screens() -> None:
    waits = {stream(seed, "pong").between(1, NO_OPS) for seed in range(40)}
    assert min(waits) <= 3
    assert max(waits) >= 28
    for seed in range(40):
        if stream(seed, "pong").between(1, NO_OPS) == 1:
            state = Pong().start(seed)
            assert len(state.frames) == FRAMES
            assert len({frame.screen.tobytes() for frame in state.frames}) == 1
            assert state.frames[0].screen.any()
            break
    else:
        pytest.fail("no seed begins after one decision")


def test_hands_stick_with_the_asked_probability() -> None:
    """The frames in which a knob does not turn yet are geometric: 1/4 + 1/16 + 1/64 + 1/256 on average."""
    state = Pong().start(0)
    turned = [
        -walk(state.resample_hidden("player", stream(n, "sticky")), "U").console.right.turned / 2
        for n in range(400)
    ]
    assert set(turned) <= {0, 1, 2, 3, 4}
    assert abs(mean(turned) - (4 - 85 / 256)) < 3 * stdev(turned) / 20


def test_without_sticking_every_frame_obeys() -> None:
    state = Pong(sticky=0.0).start(3)
    for letter in "UDSU":
        walk(state, letter)
        assert state.turns[0][0] == letter


def test_staying_loses_three_to_nothing_as_long_as_the_paper_says() -> None:
    """Models that never move last 121.4 decisions in the paper, with a deviation of 8.4 over ten episodes."""
    lasted = []
    for seed in range(12):
        state = Pong().start(seed)
        while not state.over:
            walk(state, "S")
        assert state.points == (3, 0)
        assert state.returns == {"player": -3.0}
        lasted.append(state.decisions)
    assert abs(mean(lasted) - 121.4) < 2 * 8.4 / 10**0.5 + 2 * stdev(lasted) / 12**0.5


def test_the_game_ends_at_the_asked_points_or_decisions() -> None:
    one = Pong(points=1).start(0)
    while not one.over:
        walk(one, "S")
    assert one.points == (1, 0)
    short = walk(Pong(decisions=5).start(0), "SSSSS")
    assert short.over
    assert short.legal("player") == ()
    assert short.facts["decisions"] == 5


@pytest.mark.parametrize(
    ("decisions", "published"), [(147.2, 0.0), (230.5, 2.9), (194.4, 1.6), (121.4, -0.9)]
)
def test_the_combined_score_gives_the_published_figures(decisions: float, published: float) -> None:
    assert combined(0, decisions) == pytest.approx(published, abs=0.06)
    assert combined(3, decisions) == pytest.approx(published + 90, abs=0.06)


def test_lasting_longer_than_the_longest_episode_earns_no_more() -> None:
    assert combined(0, 435) == combined(0, 1000) == 10
    assert combined(3, 1000) == 100


def test_facts_hold_the_combined_score() -> None:
    state = walk(Pong(decisions=10).start(0), "S" * 10)
    assert state.facts == {
        "decisions": 10,
        "left_points": 0,
        "right_points": 0,
        "combined": combined(0, 10),
    }


def test_what_sticks_is_hidden_and_drawn_anew() -> None:
    state = walk(Pong().start(2), "U" * 20)
    other = state.resample_hidden("player", stream(9, "other"))
    assert sight(other) == sight(state)
    futures = {
        str(sight(walk(state.resample_hidden("player", stream(n, "other")), "UD" * 4))) for n in range(6)
    }
    assert len(futures) > 1


# --- two players -----------------------------------------------------------------------------------------


def both(state: PongState, left: str, right: str) -> None:
    state.apply({"left": left, "right": right})


def test_both_paddles_do_the_same_when_both_players_do() -> None:
    state = Pong(players=2, sticky=0.0).start(0)
    dice, apart = stream(4, "pair"), []
    for _ in range(60):
        action = dice.choice(ACTIONS)
        both(state, action, action)
        left, right = state.frames[-1].left, state.frames[-1].right
        assert left is not None
        assert right is not None
        apart += [abs(left[2] - right[2]), abs(left[3] - right[3])]
    assert max(apart) <= 8, "the console reads the knobs in turns, a frame apart"
    assert mean(apart) < 3


def test_the_left_player_moves_the_left_paddle_alone() -> None:
    state = Pong(players=2, sticky=0.0).start(0)
    for _ in range(3):
        both(state, "STAY", "STAY")
    still = state.frames[-1].right
    rows = []
    for _ in range(4):
        both(state, "DOWN", "STAY")
        assert state.frames[-1].left is not None
        rows.append(state.frames[-1].left[2])
        assert state.frames[-1].right == still
    assert all(below > above for above, below in pairwise(rows))


def test_either_side_can_win_and_balls_are_served_without_a_button() -> None:
    for winner, action in (("left", ("T", "UP")), ("right", ("DOWN", "T"))):
        game = Pong(players=2, points=2, sticky=0.0)
        state = game.start(1)
        tracker = PongTracker().sit(game, winner, stream(0, "tracker"))
        while not state.over:
            left, right = (tracker.choose(state) if each == "T" else each for each in action)
            both(state, left, right)
        assert state.returns[winner] > 0
        assert sum(state.returns.values()) == 0
        assert max(state.points) == 2


# --- what is seen ----------------------------------------------------------------------------------------


def test_ball_and_paddles_are_told_as_they_are_drawn() -> None:
    state = walk(Pong().start(1), "S" * 30)
    frame = state.frames[-1]
    assert frame.ball is not None
    assert frame.right is not None
    first, last, top, bottom = frame.ball
    told = view_of(state.game, RenderOptions(), 0).text(state, "player").splitlines()[-1]
    assert f"now: ball columns {first} to {last}, rows {top} to {bottom};" in told
    assert (last - first, bottom - top) == (1, 3)
    assert TOP <= frame.right[2] < frame.right[3] <= BOTTOM
    picture = view_of(state.game, RenderOptions("plain", 420), 0).image(state, "player").rgb()
    assert (picture[2 * top + 1, 50 + 2 * first + 1] == 255).all()
    assert (picture[2 * top + 1, 50 + 2 * first - 3] == 24).all()


def test_ball_and_paddles_can_be_told_from_the_ground_in_every_theme() -> None:
    looks = [
        get_theme("classic"),
        get_theme("contrast"),
        get_theme("plain"),
        *(get_theme("random", n) for n in range(60)),
    ]
    for render in looks:
        ground, ball, left, right, *_ = colours(render)
        assert contrast(ball, ground) >= 4.5
        assert left != right
        assert min(contrast(left, ground), contrast(right, ground)) >= 3


@pytest.mark.parametrize("size", [256, 512])
@pytest.mark.parametrize("seat", ["left", "right"])
def test_you_is_written_beside_the_seats_own_paddle(seat: str, size: int) -> None:
    state = Pong(players=2).start(1)
    for _ in range(30):
        state.apply({"left": "UP", "right": "DOWN"})
    for theme in ("classic", "contrast", "plain", "random"):
        picture = view_of(state.game, RenderOptions(theme, size), 3).image(state, seat).rgb()
        margin = round(size * (1 - 160 / 210) / 2) - 1
        sides = {"left": picture[:, :margin], "right": picture[:, -margin:]}
        written = {side: np.nonzero((part != part[0, 0]).any(axis=2))[0] for side, part in sides.items()}
        paddle = getattr(state.frames[-1], seat)
        assert [side for side, rows in written.items() if len(rows)] == [seat]
        assert abs(written[seat].mean() / size - (paddle[2] + paddle[3]) / 420) < 0.03
    words = view_of(state.game, RenderOptions(), 0).text(state, seat)
    assert words.count(f"{seat} paddle (you)") == words.count("(you)") == 4


def test_every_code_on_the_screen_has_a_colour() -> None:
    state = Pong().start(3)
    while not state.over:
        assert set(np.unique(state.frames[-1].screen)) <= {0, 14, 34, 56, 200}
        walk(state, "U")


def test_rules_say_who_plays_where() -> None:
    one = view_of(Pong(), RenderOptions(), 0).rules("player")
    assert "the paddle on the right; the console's own player controls the paddle on the left" in one
    two = view_of(Pong(players=2), RenderOptions(), 0).rules("left")
    assert "the paddle on the left; another player controls the paddle on the right" in two
    assert "25 percent" in one


async def test_the_follower_goes_by_the_screens_alone() -> None:
    """A state with the same screens and another console gets the same action."""
    game = Pong(decisions=60)
    follower = ludens.agent("bot/follower", game).sit(game, "player", stream(0, "test"))
    assert isinstance(follower, Follower)
    state, done = game.start(3), set()
    while not state.over:
        [action] = follower.policy(state)
        twin = state.clone()
        twin.console = game.start(9).console
        assert follower.policy(twin) == {action: 1.0}
        done.add(action)
        state.apply({"player": action})
    assert done == {"STAY", "UP", "DOWN"}


# --- the tracker -----------------------------------------------------------------------------------------


async def test_the_tracker_returns_balls() -> None:
    game = ludens.make("pong", decisions=250)
    for seed in (0, 1):
        episode = await play(game, {"player": ludens.agent("bot/tracker", game)}, seed)
        assert episode.facts["decisions"] == 250
        assert episode.returns["player"] >= 0


@pytest.mark.slow
async def test_the_tracker_beats_the_built_in_player() -> None:
    game = ludens.make("pong")
    results = [
        (await play(game, {"player": ludens.agent("bot/tracker", game)}, seed)).returns["player"]
        for seed in range(20)
    ]
    assert sum(result > 0 for result in results) >= 3 * sum(result < 0 for result in results)
    assert mean(results) > 0.5


def test_a_bot_that_reasons_says_where_ball_and_paddle_are_drawn() -> None:
    game = ludens.make("pong?points=1&decisions=60")
    episode = ludens.play_sync(game, {"player": ludens.agent("bot/follower?reason=true", game)}, 1)
    state, seen = game.start(1), 0
    for move in episode.moves:
        words, action = move.tries[-1].text.splitlines()
        assert action == f"Action: {move.action}"
        *flight, _, aim, _, paddle = words.split()
        now = state.frames[-1]
        assert now.right is not None
        assert abs(int(paddle) * COARSE - now.right[2]) <= now.right[3] - now.right[2]
        off = int(aim) - int(paddle)
        assert move.action == "STAY" or (move.action == "DOWN") == (off > 0)
        if flight and now.ball is not None:
            assert abs(int(flight[-2]) * COARSE - now.ball[0]) < 16
            seen += 1
        state.apply({"player": str(move.action)})
    assert seen > 20
