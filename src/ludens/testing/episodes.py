"""Conformance rules for episodes: JSON round trip, replay, options."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.options import configure
from ludens.core.registry import GAMES, make
from ludens.core.replay import replay
from ludens.core.sync import run_sync
from ludens.core.verify import verify
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.testing.trial import MESSAGES, Trial, rule


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


def played(trial: Trial, seed: int, render: RenderOptions, horizon: int) -> Episode:
    """One episode among `Looker`s, without an event loop."""
    trial.seed, trial.step = seed, None
    agents = dict.fromkeys(trial.game.seats, Looker())
    return run_sync(play(trial.game, agents, seed, render=render, config=PlayConfig(horizon=horizon)))


@rule
def episode_survives_json(trial: Trial) -> None:
    """An episode survives writing and reading JSON."""
    for seed in trial.seeds:
        episode = played(trial, seed, trial.views[0], 5)
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
            episode = played(trial, seed, render, 4 if number else 40)
            shown = sum(len(move.pictures) for move in episode.moves)
            compared = verify(Episode.from_json(episode.to_json()), trial.game).pictures
            trial.need(compared == shown > 0, f"{shown} pictures were shown and {compared} compared")


@rule
def options_rebuild_the_game(trial: Trial) -> None:
    """The options in an episode rebuild the same game, also by name where it is registered."""
    game = trial.game
    options = Episode.from_json(played(trial, trial.seeds[0], trial.views[0], 1).to_json()).options
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
    episode = played(trial, trial.seeds[0], trial.views[0], 40)
    *_, last = replay(episode, trial.game)
    rewards = trial.game.rewards(last.state, episode.moves)
    finite = all(map(isfinite, rewards))
    trial.need(
        len(rewards) == len(episode.moves) and finite, "rewards() is not one finite number for every move"
    )
    measures = trial.game.measures(last.state)
    finite = all(map(isfinite, measures.values()))
    trial.need(finite, f"measures() is not a finite number for every name: {measures}")
