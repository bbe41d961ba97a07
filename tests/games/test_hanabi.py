"""Hanabi against OpenSpiel, what each seat sees and what it may not, and the strong player's strength."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from statistics import mean

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import ludens
from ludens.core.errors import BadOption
from ludens.core.view import RenderOptions, view_of
from ludens.games.hanabi.bots import CommonKnowledge, StrongPolicy, literal, visible
from ludens.games.hanabi.game import (
    Hanabi,
    HanabiGame,
    HanabiMove,
    HanabiState,
    HandCard,
    Sight,
    TinyHanabi,
    guess_hands,
    read_move,
    recent_actions,
    unseen_copies,
)
from ludens.loop import play
from ludens.testing import check_game

GAMES = [Hanabi(2), Hanabi(3), Hanabi(4), Hanabi(5), TinyHanabi()]
ids = [f"{game.name}-{game.shape.players}" for game in GAMES]


def walk(game: HanabiGame, seed: int, strong: bool = False) -> list[HanabiState]:
    """Every state of a game among random players, or strong ones."""
    state, dice, states = game.start(seed), ludens.stream(seed, "test"), []
    minds = {seat: StrongPolicy() for seat in game.seats}
    while not state.over:
        states.append(state.clone())
        [seat] = state.to_act
        action = minds[seat].choose(state.sight(seat)) if strong else dice.choice(state.legal(seat))
        state.apply({seat: action})
    return [*states, state]


def test_five_players_conform() -> None:
    check_game(Hanabi(5), seeds=(0,), views=(RenderOptions("classic", 256),))


@pytest.mark.slow
@pytest.mark.parametrize("players", [3, 4])
def test_three_and_four_players_conform(players: int) -> None:
    check_game(Hanabi(players))


def theirs(spiel: pyspiel.State, player: int) -> dict[str, object]:
    """What OpenSpiel's observation says, taken apart."""
    text = spiel.observation_string(player).replace("Cur player\n", "")
    hands = text.split("Hands:\n")[1].split("\nDeck size")[0].split("-----")
    cards = [re.findall(r"(\w\w) \|\| \w\w\|([RYGWB]+)(\d+)", hand) for hand in hands]
    numbers = {name: int(n) for name, n in re.findall(r"(Life|Info|Deck)\D+(\d+)", text)}
    return {
        **numbers,
        "fireworks": re.findall(r"[RYGWB]\d", text.split("Fireworks:")[1].split("\n")[0]),
        "discards": sorted(re.findall(r"[RYGWB]\d", text.split("Discards:")[1])),
        "hands": [[(face.replace("XX", "unknown"), *rest) for face, *rest in hand] for hand in cards],
    }


def ours(state: HanabiState, seat: str) -> dict[str, object]:
    """The same, taken from our text twin."""
    text = view_of(state.game, RenderOptions(), 0).text(state, seat)
    head, *hands = re.split(r"\n(?=player|you)", text)
    found = [re.findall(r"\d: (\w+); its holder knows: color (\w+), rank (\d+)", hand) for hand in hands]
    numbers = re.search(r"Lives: (\d).* Info: (\d).* Deck: (\d+)", head)
    assert numbers
    return {
        **dict(zip(("Life", "Info", "Deck"), map(int, numbers.groups()), strict=True)),
        "fireworks": re.findall(r"[RYGWB]\d", head.split("Fireworks:")[1].split("\n")[0]),
        "discards": sorted(re.findall(r"[RYGWB]\d", head.split("Discards:")[1])),
        "hands": found[-1:] + found[:-1],
    }


@pytest.mark.parametrize("strong", [False, True], ids=["random", "strong"])
@pytest.mark.parametrize("game", GAMES, ids=ids)
def test_play_and_sights_agree_with_open_spiel(game: HanabiGame, strong: bool) -> None:
    for seed in range(1 if strong else 4):
        for state in walk(game, seed, strong):
            assert len(state.to_act) == (not state.spiel.is_terminal())
            for seat in state.to_act:
                player = state.spiel.current_player()
                assert game.seats[player] == seat
                assert state.table.mover == player
                names = [state.spiel.action_to_string(player, a) for a in state.spiel.legal_actions()]
                assert list(state.legal(seat)) == names
            for player, seat in enumerate(game.seats):
                assert ours(state, seat) == theirs(state.spiel, player)
        assert list(state.returns.values()) == state.spiel.returns()
        assert set(state.returns.values()) == {state.facts["final"]}


def test_decks_are_those_of_the_game() -> None:
    assert Counter(Hanabi().shape.copies) == {3: 5, 2: 15, 1: 5}
    assert TinyHanabi().shape.copies == (3, 2, 1, 3, 2, 1)
    assert [Hanabi(players).shape.hand for players in (2, 3, 4, 5)] == [5, 5, 4, 4]
    for game in GAMES:
        table = game.start(0).table
        assert table.deck == sum(game.shape.copies) - game.shape.players * game.shape.hand


def test_names_of_moves() -> None:
    assert read_move("(Play 4)") == HanabiMove("play", 4)
    assert read_move("(Discard 0)") == HanabiMove("discard", 0)
    assert read_move("(Reveal player +2 color W)") == HanabiMove("color", 3, 2)
    assert read_move("(Reveal player +1 rank 5)") == HanabiMove("rank", 4, 1)


def test_two_scores() -> None:
    lost = next(
        states[-1] for states in (walk(Hanabi(), seed) for seed in range(50)) if not states[-1].facts["lives"]
    )
    assert lost.facts["final"] == 0
    assert lost.facts["fireworks"] == sum(lost.table.stacks)
    kept = walk(Hanabi(), 0, strong=True)[-1].facts
    assert kept["lives"] > 0
    assert kept["final"] == kept["fireworks"] > 0
    assert kept["turns"] == kept["plays"] + kept["discards"] + kept["hints"]


def test_a_forfeit_costs_everybody_everything() -> None:
    state = walk(Hanabi(), 0, strong=True)[-1]
    assert state.forfeited("player_1") == {"player_0": 0.0, "player_1": 0.0}


@pytest.mark.parametrize("game", GAMES, ids=ids)
def test_what_a_seat_may_not_know_changes_nothing_it_knows(game: HanabiGame) -> None:
    changed = 0
    for number, state in enumerate(walk(game, 3, strong=True)):
        for player, seat in enumerate(game.seats):
            other = state.resample_hidden(seat, ludens.stream(number, "test"))
            assert other.sight(seat) == state.sight(seat)
            assert other.to_act == state.to_act
            assert sum(other.spiel.returns()) == sum(state.spiel.returns())
            changed += other.table.hands[player] != state.table.hands[player]
    assert changed > 5


def fits(ranks: int, held: HandCard, card: int) -> bool:
    color, rank = divmod(card, ranks)
    return bool(held.colors >> color & 1 and held.ranks >> rank & 1)


def test_guessed_hands_are_spread_as_the_cards_are() -> None:
    """Three 1s of each of two colours: a hand told to be one 1 and two others has known odds."""
    state = TinyHanabi().start(0)
    sight = state.sight("player_0")
    left = unseen_copies(sight)
    first = Counter(faces[0] for faces in islice(guess_hands(sight, ludens.stream(0, "test")), 2500))
    for card, count in enumerate(left):
        assert abs(first[card] / 2500 - count / sum(left)) < 0.03
    hinted = state.resample_hidden("player_0", ludens.stream(0, "test"))
    hinted.apply({"player_0": hinted.legal("player_0")[-1]})
    sight = hinted.sight("player_1")
    exact: Counter[tuple[int, ...]] = Counter()
    own, left = sight.hands[1], unseen_copies(sight)
    deck = [(card, copy) for card, count in enumerate(left) for copy in range(count)]
    for a in deck:
        for b in deck:
            for c in deck:
                if len({a, b, c}) == 3 and all(
                    fits(sight.shape.ranks, held, card)
                    for held, (card, _) in zip(own, (a, b, c), strict=True)
                ):
                    exact[a[0], b[0], c[0]] += 1
    total = sum(exact.values())
    guesses = islice(guess_hands(sight, ludens.stream(0, "again")), 4000)
    draws = Counter(tuple(faces[held.serial] for held in own) for faces in guesses)
    assert set(draws) == set(exact)
    for hand, ways in exact.items():
        assert abs(draws[hand] / 4000 - ways / total) < 0.03


@settings(max_examples=8, deadline=None)
@given(some.integers(0, 10**6), some.integers(2, 5), some.data())
def test_the_strong_player_knows_only_what_its_seat_may(
    seed: int, players: int, data: some.DataObject
) -> None:
    states = walk(Hanabi(players), seed, strong=True)
    state = states[data.draw(some.integers(0, len(states) - 2))]
    [seat] = state.to_act
    chosen = StrongPolicy().choose(state.sight(seat))
    assert chosen in state.legal(seat)
    for number in range(3):
        other = state.resample_hidden(seat, ludens.stream(number, "test"))
        assert StrongPolicy().choose(other.sight(seat)) == chosen


def test_the_cache_changes_nothing() -> None:
    mind = StrongPolicy()
    for state in walk(Hanabi(3), 5, strong=True)[:-1]:
        sight = state.sight(state.to_act[0])
        assert mind.choose(sight) == StrongPolicy().choose(sight)
    first = Hanabi(3).start(6).sight("player_0")
    assert mind.choose(first) == StrongPolicy().choose(first)


async def test_the_strong_player_through_the_loop() -> None:
    game = ludens.make("hanabi")
    players = {seat: ludens.agent("bot/strong", game) for seat in game.seats}
    episode = await play(game, players, 0)
    assert episode.status == "done"
    assert episode.verdicts() == {"ok": len(episode.moves)}
    assert episode.returns["player_0"] == walk(Hanabi(), 0, strong=True)[-1].facts["final"]


@pytest.mark.parametrize(("game", "least"), list(zip(GAMES, (21, 21, 20, 19, 4), strict=True)), ids=ids)
def test_strength_on_a_few_games(game: HanabiGame, least: float) -> None:
    scores = [walk(game, seed, strong=True)[-1].facts["final"] for seed in range(8)]
    assert mean(scores) > least


@pytest.mark.slow
def test_mean_of_a_thousand_games_is_over_eighteen() -> None:
    scores = [walk(Hanabi(), seed, strong=True)[-1].facts["final"] for seed in range(1000)]
    assert mean(scores) > 22.5


async def test_the_literal_player_is_between_random_and_strong_and_knows_no_more() -> None:
    game = Hanabi()
    players = {seat: ludens.agent("bot/literal", game) for seat in game.seats}
    episodes = [await play(game, players, seed) for seed in range(15)]
    assert 8 < mean(episode.returns["player_0"] for episode in episodes) < 21
    for state in walk(game, 2, strong=True)[:-1]:
        [seat] = state.to_act
        other = state.resample_hidden(seat, ludens.stream(0, "test"))
        said = [
            literal(each.sight(seat), each.legal(seat), ludens.stream(1, "test")) for each in (state, other)
        ]
        assert said[0] == said[1]
        assert said[0] in state.legal(seat)


def test_wrong_numbers_of_players_are_refused() -> None:
    with pytest.raises(BadOption, match="at most 5"):
        ludens.make("hanabi", players=6)


async def test_the_visible_player_goes_by_what_is_shown_and_is_not_bad() -> None:
    game = ludens.make("hanabi")
    players = {seat: ludens.agent("bot/visible", game) for seat in game.seats}
    scores = []
    for seed in range(4):
        episode = await play(game, players, seed)
        scores.append(episode.facts["fireworks"])
        state = game.start(seed)
        for move in episode.moves:
            assert isinstance(state, HanabiState)
            sight = state.sight(move.seat)
            assert visible(replace(sight, log=sight.log[-1:])) == move.action
            state.apply({move.seat: move.action})
    assert mean(scores) > 12


async def test_a_glance_is_enough_to_play_with_the_strong_player() -> None:
    """It looks at the table and the last actions: nothing older, and nothing hidden, counts."""
    game = ludens.make("hanabi")
    scores = []
    for seed in range(6):
        seats = (game.seats[seed % 2], game.seats[1 - seed % 2])
        players = {seats[0]: ludens.agent("bot/glance", game), seats[1]: ludens.agent("bot/strong", game)}
        episode = await play(game, players, seed)
        scores.append(episode.returns[seats[0]])
        state = game.start(seed)
        for move in episode.moves:
            assert isinstance(state, HanabiState)
            if move.seat == seats[0]:
                sight = state.sight(move.seat)
                other = state.resample_hidden(move.seat, ludens.stream(0, "test")).sight(move.seat)
                assert (
                    glance(replace(sight, log=tuple(recent_actions(sight)))) == move.action == glance(other)
                )
            state.apply({move.seat: move.action})
    assert mean(scores) > 19


def glance(sight: Sight) -> str:
    policy = StrongPolicy()
    policy.look(sight, CommonKnowledge.at_a_glance(sight))
    return policy.decide()


def test_the_glance_says_what_hints_mean_and_which_are_good() -> None:
    game = ludens.make("hanabi")
    bots = {seat: ludens.agent("bot/glance?reason=true", game) for seat in game.seats}
    episode = ludens.play_sync(game, bots, 20_000)
    state, words = game.start(20_000), []
    for move in episode.moves:
        assert isinstance(state, HanabiState)
        said = {line.split()[0]: line.split()[1:] for line in move.tries[-1].text.splitlines()[:-1]}
        assert [*said][-5:] == ["heard", "meant", "told", "hints", "best"]
        other = state.sight(move.seat).hands[1 - state.sight(move.seat).me]
        assert [word[0] == "x" for word in said["told"]] == [held.colors.bit_count() > 1 for held in other]
        assert set(said["play"]) <= set(said["meant"])
        if move.action.startswith("(Play"):
            assert move.action[len("(Play ") : -1] in said["meant"]
        if move.action.startswith("(Reveal"):
            assert move.action == f"(Reveal player {' '.join(said['best'])})" or "good" not in said["hints"]
        for kind, name, card, verdict in zip(
            *(said["hints"][start::5] for start in range(1, 5)), strict=True
        ):
            touched = [
                n
                for n, held in enumerate(other)
                if held.face is not None and name in "RYGWB"[held.face // 5] + str(held.face % 5 + 1)
            ]
            assert card == "none" or int(card) in touched, (kind, name)
            assert verdict in ("good", "bad", "idle")
        words.append(said)
        state.apply({move.seat: move.action})
    assert any(len(said["meant"]) > len(said["play"]) for said in words)
    assert {"good", "bad", "idle"} <= {word for said in words for word in said["hints"]}


def test_a_bot_that_reasons_says_what_its_seat_sees_and_knows() -> None:
    game = ludens.make("hanabi")
    spoken, silent = (
        ludens.play_sync(game, {seat: ludens.agent(bot, game) for seat in game.seats}, 5)
        for bot in ("bot/glance?reason=true", "bot/glance")
    )
    assert [move.action for move in spoken.moves] == [move.action for move in silent.moves]
    state = game.start(5)
    for move in spoken.moves:
        tops, other, fit, own, playable, useless, *_, action = move.tries[-1].text.splitlines()
        sight = state.sight(move.seat)
        stacks = {color: int(top) for color, top in zip("RYGWB", sight.stacks, strict=True)}
        assert tops == " ".join(
            [*(f"{color}{top}" for color, top in stacks.items()), "info", str(sight.info)]
        )
        cards = [sight.shape.name(held.face) for held in sight.hands[1 - sight.me] if held.face is not None]
        assert other.split()[1:] == cards
        assert fit.split()[1:] == [card for card in cards if int(card[1]) == stacks[card[0]] + 1]
        for card, held in zip(own.split()[1:], sight.hands[sight.me], strict=True):
            assert (card[0] == "x") == (held.colors.bit_count() > 1)
            assert (card[1] == "0") == (held.ranks.bit_count() > 1)
        assert not playable.split()[1:] or "Play" in action or "Reveal" in action
        assert not set(playable.split()) & set(useless.split())
        state.apply({move.seat: str(move.action)})
