"""Conformance rules for games and states: seeds, clones, legal actions, endings, returns, randomness."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from math import isfinite

import orjson

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import Illegal
from ludens.core.options import configure
from ludens.core.random import stream
from ludens.core.registry import GAMES, make
from ludens.core.replay import replay
from ludens.core.state import State
from ludens.core.sync import run_sync
from ludens.core.verify import verify
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.testing.trial import MESSAGES, Trial, is_text, is_tuple, rule, sight, snapshot

_AHEAD = 25


@rule
def game_is_described(trial: Trial) -> None:
    """A game is a frozen dataclass with a name, an integer version, distinct seats and a summary."""
    game = trial.game
    frozen = getattr(getattr(type(game), "__dataclass_params__", None), "frozen", False)
    trial.need(frozen, "it is not a frozen dataclass")
    name, version = getattr(game, "name", None), getattr(game, "version", None)
    trial.need(isinstance(name, str) and re.fullmatch(r"[\w./-]+", name), f"its name is {name!r}")
    trial.need(type(version) is int and version >= 1, f"its version is {version!r}, not an integer from 1")
    seats = game.seats
    trial.need(is_tuple(seats) and all(map(is_text, seats)), f"its seats are {seats!r}")
    trial.need(len(set(seats)) == len(seats) > 0, f"its seats are {seats!r}")
    trial.need(game.summary.strip(), "its docstring has no first line")
    hash(game)


@rule
def same_seed_same_episode(trial: Trial) -> None:
    """The same seed and actions lead to the same states, whatever else was played in between."""
    before = {seed: [snapshot(trial, state) for state in trial.walk(seed)] for seed in trial.seeds}
    for seed in reversed(trial.seeds):
        for state, earlier in zip(trial.walk(seed), before[seed], strict=True):
            trial.need(snapshot(trial, state) == earlier, "the same seed and actions led to another state")


@rule
def a_seed_decides_only_what_is_declared(trial: Trial) -> None:
    """Where a game says that the seed decides nothing (`Game.seeded`), equal actions make equal games."""
    if trial.game.seeded:
        return
    course = trial.course(trial.seeds[0])
    states = [snapshot(trial, state) for state in trial.walk(trial.seeds[0])]
    for seed in trial.seeds[1:]:
        state = trial.game.start(seed)
        for step, before in enumerate(states):
            trial.seed, trial.step = seed, step
            trial.need(snapshot(trial, state) == before, "another seed led to another state")
            if step < len(course):
                state.apply(course[step])


@rule
def to_act_and_legal_agree(trial: Trial) -> None:
    """Seats that must act have legal actions, other seats have none, and nobody must act when it is over."""
    for state in trial.states():
        to_act, seats = state.to_act, trial.game.seats
        trial.need(
            is_tuple(to_act) and set(to_act) <= set(seats), f"to_act is {to_act!r}; the seats are {seats}"
        )
        trial.need(len(set(to_act)) == len(to_act), f"to_act has a seat twice: {to_act}")
        trial.need(state.over == (not to_act), f"over is {state.over} while to_act is {to_act}")
        for seat in seats:
            legal = trial.legal(state, seat)
            if seat in to_act:
                trial.need(legal.is_text or legal, f"{seat} must act but has no legal action")
            else:
                idle = not legal.is_text and not legal
                trial.need(idle, f"{seat} must not act but has legal actions")


@rule
def clones_are_independent(trial: Trial) -> None:
    """Changing a clone does not change the original, and equal clones have equal futures."""
    for state in trial.states(6):
        before = snapshot(trial, state)
        first, second = state.clone(), state.clone()
        equal = snapshot(trial, first) == before == snapshot(trial, second)
        trial.need(equal, "a clone differs from its original")
        dice, same_dice = (stream(trial.seed or 0, "ahead", trial.step or 0) for _ in "ab")
        still = before
        for _ in range(_AHEAD):
            if first.over:
                break
            first.apply(trial.choose(first, dice))
            trial.need(snapshot(trial, second) == still, "a clone changed when another clone moved")
            second.apply(trial.choose(second, same_dice))
            still = snapshot(trial, second)
            trial.need(
                still == snapshot(trial, first), "two clones with the same actions reached different states"
            )
        trial.need(snapshot(trial, state) == before, "a state changed when its clone moved")
    trial.keep_states()


@rule
def legal_actions_apply(trial: Trial) -> None:
    """Legal actions are distinct, canonical strings, and every one of them can be applied."""
    for state in trial.states(8):
        actions = trial.choose(state, stream(trial.seed or 0, "others"))
        for seat in state.to_act:
            legal = state.legal(seat)
            trial.need(len(set(legal)) == len(legal), f"{seat} has a legal action twice: {legal}")
            for action in legal:
                canonical = is_text(action) and action == " ".join(action.split())
                trial.need(canonical, f"{action!r} is not canonical: one line without extra spaces")
                try:
                    state.clone().apply({**actions, seat: action})
                except Illegal as error:
                    trial.fail(f"{action!r} is legal for {seat} but rejected by apply: {error}")


@rule
def every_legal_action_is_listed(trial: Trial) -> None:
    """`actions` lists every action of a seat once, in an order that never changes; None only for texts."""
    listed = {seat: trial.game.actions(seat) for seat in trial.game.seats}
    texts, names = set[str](), set[str]()
    for seat, actions in listed.items():
        trial.need(trial.game.actions(seat) == actions, f"two calls of actions({seat!r}) differ")
        if actions is not None:
            trial.need(is_tuple(actions) and actions, f"actions({seat!r}) is not a tuple of names")
            trial.need(len(set(actions)) == len(actions), f"actions({seat!r}) has an action twice")
    listed_actions = {seat: frozenset(actions or ()) for seat, actions in listed.items()}
    for state in trial.states():
        for seat in state.to_act:
            legal = state.legal(seat)
            (texts if legal.is_text else names).add(seat)
            if listed[seat] is None:
                continue
            trial.need(not legal.is_text, f"{seat} may reply with a text, so actions({seat!r}) must be None")
            strange = next((action for action in legal if action not in listed_actions[seat]), None)
            trial.need(strange is None, f"{strange!r} is legal for {seat} but not in actions({seat!r})")
    trial.seed = trial.step = None
    for seat in trial.game.seats:
        silent = listed[seat] is None and seat in names - texts
        trial.need(not silent, f"actions({seat!r}) is None although all actions of {seat} have names")


@rule
def illegal_actions_are_refused(trial: Trial) -> None:
    """Illegal actions, actions of the wrong seat and missing actions raise Illegal and change nothing."""
    for state in trial.states(5):
        due = trial.choose(state, stream(trial.seed or 0, "due"))
        _refuses(trial, state, {}, "no action at all")
        _refuses(trial, state, {**due, "nobody's seat": "x"}, "an action of a seat that does not exist")
        for seat in trial.game.seats:
            if seat not in state.to_act:
                _refuses(trial, state, {**due, seat: "x"}, f"an action of {seat}, who must not act")
                _refuses(trial, state, {seat: "x"}, f"an action of {seat} alone, who must not act")
                continue
            incomplete = {other: action for other, action in due.items() if other != seat}
            _refuses(trial, state, incomplete, f"a step without {seat}")
            for action in _wrong(trial, state, seat):
                _refuses(trial, state, {**due, seat: action}, f"{action[:40]!r} of {seat}")


def _wrong(trial: Trial, state: State, seat: str) -> list[str]:
    legal = state.legal(seat)
    if legal.text_limit is not None:
        return ["x" * (legal.text_limit + 1)]
    near = [legal[0] + " ", legal[0].swapcase(), legal[0] + legal[0]]
    wrong = ["", "no such action", "🙂" * 1000, *near, *trial.strangers(state, seat)[:5]]
    return [action for action in wrong if action not in legal]


def _refuses(trial: Trial, state: State, actions: dict[str, str], description: str) -> None:
    before, clone = snapshot(trial, state), state.clone()
    try:
        clone.apply(actions)
    except Illegal:
        trial.need(snapshot(trial, clone) == before, f"{description} was rejected but changed the state")
        return
    trial.fail(f"{description} was applied instead of raising Illegal")


@rule
def any_text_is_handled(trial: Trial) -> None:
    """Where text is expected, the empty text is accepted and any other is accepted or rejected."""
    for state in trial.states(5):
        due = trial.choose(state, stream(trial.seed or 0, "due"))
        for seat in state.to_act:
            legal = state.legal(seat)
            if (limit := legal.text_limit) is None:
                continue
            trial.need(state.refusal(seat, "") is None, f"{seat} may not send the empty text")
            for text in (*MESSAGES, "(" * limit, "a1 " * (limit // 3)):
                clone = state.clone()
                if state.refusal(seat, text) is None:
                    clone.apply({**due, seat: text})
                for other in trial.game.seats:
                    sight(trial.view, clone, other)


@rule
def games_end(trial: Trial) -> None:
    """Random play ends within the allowed number of steps."""
    for seed in trial.seeds:
        *_, last = trial.walk(seed)
        trial.need(not last.to_act, f"random play did not end in {trial.steps} steps")


@rule
def returns_are_finite(trial: Trial) -> None:
    """Returns have a finite number for every seat in every state, also after a forfeit."""
    for state in trial.states():
        seats = trial.game.seats
        for returns in (state.returns, *(state.forfeited(seat) for seat in seats)):
            trial.need(set(returns) == set(seats), f"returns has {sorted(returns)}, not {seats}")
            numbers = all(_is_number(value) and isfinite(value) for value in returns.values())
            trial.need(numbers, f"returns are not finite numbers: {returns}")


@rule
def facts_are_plain_json(trial: Trial) -> None:
    """Facts are a dict of plain JSON values that survive writing and reading."""
    for state in trial.states():
        facts = state.facts
        try:
            again = orjson.loads(orjson.dumps(facts))
        except TypeError as error:
            trial.fail(f"facts cannot be written as JSON: {error}")
        trial.need(_same(facts, again), f"facts change when written as JSON: {facts}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(ours: object, read: object) -> bool:
    """Equal and of the same types: a tuple is not a list."""
    if isinstance(ours, dict) and isinstance(read, dict):
        return ours.keys() == read.keys() and all(_same(ours[key], read[key]) for key in ours)
    if isinstance(ours, list) and isinstance(read, list):
        return len(ours) == len(read) and all(map(_same, ours, read))
    return type(ours) is type(read) and ours == read


def _global_generators() -> tuple[object, ...]:
    """The states of Python's and numpy's global generators, as values that can be compared."""
    import numpy

    state = numpy.random.get_state(legacy=False)
    inner = dict(state["state"])
    key = inner.pop("key").tobytes()
    return random.getstate(), {**state, "state": inner}, key


@rule
def global_randomness_is_not_used(trial: Trial) -> None:
    """Playing and showing a game neither draws from nor seeds a global random generator."""
    import numpy

    python_state, numpy_state = random.getstate(), numpy.random.get_state(legacy=False)
    # A state that no seeding produces, so that seeding is detected as well as drawing.
    random.setstate(random.Random("conformance").getstate())
    numpy.random.set_state(dict(numpy.random.MT19937([4, 8, 15, 16, 23, 42]).state))
    before = _global_generators()
    try:
        for state in trial.states(6, anew=True):
            for seat in trial.game.seats:
                sight(trial.game.view(trial.views[0], trial.seed or 0), state, seat)
                state.clone().resample_hidden(seat, stream(trial.seed or 0, "resampled"))
            trial.need(_global_generators() == before, "a global random generator was used")
    finally:
        random.setstate(python_state)
        numpy.random.set_state(numpy_state)


@dataclass
class Looker(Agent):
    """Looks at picture and text, replies in the reply format, and sometimes gives an unreadable reply."""

    kind = "looker"
    sees = "both"

    async def act(self, ask: Ask) -> Reply:
        if ask.legal.is_text:
            return Reply(self.random.choice(MESSAGES))
        if not ask.refused and self.random.below(4) == 0:
            return Reply("I am not sure yet.")
        return Reply(f"I have looked.\n{ask.format.write(self.random.choice(ask.legal))}")


def play_episode(trial: Trial, seed: int, render: RenderOptions, horizon: int) -> Episode:
    """One episode among `Looker`s, without an event loop."""
    trial.seed, trial.step = seed, None
    agents = dict.fromkeys(trial.game.seats, Looker())
    return run_sync(play(trial.game, agents, seed, render=render, config=PlayConfig(horizon=horizon)))


@rule
def episode_survives_json(trial: Trial) -> None:
    """An episode survives writing and reading JSON."""
    for seed in trial.seeds:
        episode = play_episode(trial, seed, trial.views[0], 5)
        again = Episode.from_json(episode.to_json())
        trial.need(again == episode, "an episode differs after it was written and read")
        trial.need(
            again.fingerprint() == episode.fingerprint(), "an episode read again has another fingerprint"
        )


@rule
def replay_renders_the_same_pictures(trial: Trial) -> None:
    """Seed and actions re-render every picture shown and lead to the same returns and facts."""
    for number, render in enumerate(trial.views):
        for seed in trial.seeds[: 1 if number else 2]:
            episode = play_episode(trial, seed, render, 4 if number else 40)
            recorded = sum(len(move.pictures) for move in episode.moves)
            compared = verify(Episode.from_json(episode.to_json()), trial.game).pictures
            trial.need(compared == recorded > 0, f"{recorded} pictures were shown and {compared} compared")


@rule
def options_rebuild_the_game(trial: Trial) -> None:
    """The options in an episode rebuild the same game, also by name where it is registered."""
    game = trial.game
    options = Episode.from_json(play_episode(trial, trial.seeds[0], trial.views[0], 1).to_json()).options
    trial.need(configure(type(game), options, game.name) == game, f"the options {options} make another game")
    if game.name in GAMES.names():
        trial.need(
            make(game.name, **options) == game, f"the name {game.name!r} and {options} make another game"
        )


@rule
def roles_fallbacks_and_rewards_are_valid(trial: Trial) -> None:
    """Roles and stages are strings, fallbacks legal, rewards of moves and measures of games finite."""
    for state in trial.states(6):
        trial.need(isinstance(state.stage, str), f"the stage is {state.stage!r}, not a string")
        for seat in trial.game.seats:
            trial.need(isinstance(state.role(seat), str), f"the role of {seat} is not a string")
        for seat in state.to_act:
            action = state.fallback(seat)
            trial.need(
                action is None or state.refusal(seat, action) is None,
                f"the fallback {action!r} of {seat} is not legal",
            )
    episode = play_episode(trial, trial.seeds[0], trial.views[0], 40)
    *_, last = replay(episode, trial.game)
    rewards = trial.game.rewards(last.state, episode.moves)
    finite = all(map(isfinite, rewards))
    trial.need(
        len(rewards) == len(episode.moves) and finite, "rewards() is not one finite number for every move"
    )
    measures = trial.game.measures(last.state)
    finite = all(map(isfinite, measures.values()))
    trial.need(finite, f"measures() is not a finite number for every name: {measures}")


@rule
def stages_are_declared(trial: Trial) -> None:
    """Every move belongs to a stage that the game declares, and decisions are scored from 0 to 1."""
    game = trial.game
    names = [stage.name for stage in game.stages]
    trial.need(len(set(names)) == len(names), f"it declares a stage twice: {names}")
    for state in trial.states():
        for seat in state.to_act:
            name = game.stage_of(seat, state.stage)
            trial.need(name in (names or [""]), f"{seat} moves in the stage {name!r}; declared are {names}")
    if any(stage.decision for stage in game.stages):
        for seed in trial.seeds:
            *_, last = trial.walk(seed)
            score = game.decision_score(last)
            trial.need(all(0 <= share <= 1 for share in score), f"decisions are scored {tuple(score)}")
