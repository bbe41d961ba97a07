"""What the COMMA tests share: all puzzles that are registered, and ways to hold a conversation."""

from __future__ import annotations

from hypothesis import strategies as st

from ludens.core import registry
from ludens.core.random import Stream, stream
from ludens.games.comma.dialogue import Comma, Dialogue, advise, solve

PUZZLES = [name for name in registry.GAMES.names() if name.startswith("comma/")]
MANUALS = ("standard", "random")

TALK = (
    "",
    "hello",
    "What do you see?",
    "Panel: cut_wire_1: done.",
    "Expert:\n    cut the third one",
    "I would try {action}, but I am not sure.",
    "<think>{action}</think>",
    "- {action}",
    "ACTION: {action}\n{action}",
    "{action}\n{action}\nand now?",
    "{action}",
)


def make(name: str, **options: object) -> Comma:
    """A puzzle by its name."""
    game = registry.make(name, **options)
    assert isinstance(game, Comma)
    return game


def oracle_pair(state: Dialogue) -> Dialogue:
    """Let the oracles talk to the end."""
    while not state.over:
        oracle_step(state)
    return state


def oracle_step(state: Dialogue) -> None:
    """One message of whichever oracle's turn it is."""
    if state.to_act == ("solver",):
        advice = [said.text for said in state.messages if said.seat == "expert"]
        state.apply({"solver": solve(state.puzzle.clone(), advice[-1] if advice else "")})
    else:
        state.apply(
            {"expert": advise(state.manual, [words for seat, words in state.heard if seat == "solver"])}
        )


def descriptions(game: Comma, seed: int) -> list[str]:
    """What is on the panel after every message of the oracles."""
    state, seen = game.start(seed), []
    while not state.over:
        oracle_step(state)
        seen.append(state.puzzle.describe())
    return seen


def random_solver(state: Dialogue, random: Stream) -> Dialogue:
    """The paper's baseline: one action a turn, each as likely; a silent Expert."""
    while not state.over:
        said = random.choice(state.puzzle.actions) if state.to_act == ("solver",) else ""
        state.apply({state.to_act[0]: said})
    return state


def random_play(game: Comma, episodes: int) -> dict[str, float]:
    """What the baseline reaches on average: solved, partial score, mistakes, turns."""
    totals = dict.fromkeys(("solved", "partial", "mistakes", "turns"), 0.0)
    for seed in range(episodes):
        facts = random_solver(game.start(seed), stream(seed, "random solver")).facts
        totals = {key: total + facts[key] for key, total in totals.items()}
    return {key: total / episodes for key, total in totals.items()}


def chatter(state: Dialogue, random: Stream, messages: int) -> Dialogue:
    """So many messages of talk, tries, fakes and actions, or fewer when that ends the game."""
    for _ in range(messages):
        if state.over:
            break
        said = random.choice(TALK).replace("{action}", random.choice(state.puzzle.actions))
        state.apply({state.to_act[0]: said})
    return state


SEEDS = st.integers(0, 2**32)


def dialogue(name: str, seed: int, messages: int, **options: object) -> Dialogue:
    """A conversation under way."""
    return chatter(make(name, **options).start(seed), stream(seed, "chatter"), messages)
