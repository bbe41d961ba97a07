"""Training samples from an episode: every reply with the exact prompt it answers, its role and its reward.

Nothing but the episode is needed: states are replayed, asks are rebuilt by the function that built them, and
prompts by the function that made them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ludens.agents.vlm import prompt
from ludens.core.ask import Ask, Exchange, build_ask
from ludens.core.episode import Episode, Move, Try, TryVerdict
from ludens.core.game import Game
from ludens.core.options import configure, options_of
from ludens.core.replay import Step, config_of, game_of, render_options_of, replay
from ludens.core.spec import parse_spec
from ludens.core.state import State
from ludens.core.templates import TemplateOverrides
from ludens.core.view import Picture, view_of
from ludens.models.chat import Message
from ludens.models.settings import PromptOptions, is_model


@dataclass(frozen=True, slots=True)
class Sample:
    """One reply of one seat, and what it was a reply to."""

    messages: list[Message]
    completion: str
    move: Move
    attempt: Try
    ask: Ask
    options: PromptOptions
    reward: float | None
    """What the move earned; None in a step that was cut short."""
    game: str
    model: bool
    """Whether a model replied. The completion of a bot or a person is its action in the asked format."""

    @property
    def pictures(self) -> list[Picture]:
        return [picture for message in self.messages for picture in message.pictures]

    @property
    def role(self) -> str:
        return self.ask.role

    @property
    def stage(self) -> str:
        return self.ask.stage

    @property
    def verdict(self) -> TryVerdict:
        return self.attempt.verdict


def samples(
    episode: Episode,
    game: Game | None = None,
    *,
    state: State | None = None,
    steps: Sequence[Step] | None = None,
    size: int | None = None,
    options: PromptOptions | None = None,
) -> Iterator[Sample]:
    """Every reply of every seat, in order.

    Args:
        state: The state in which it began, where the episode does not record how to reach it.
        steps: Its replay, where that is at hand.
        size: Of the pictures, where another than the episode's is wanted.
        options: How seats of bots and people are addressed; models are addressed as they were.
    """
    game = game_of(episode, game)
    view, config = view_of(game, render_options_of(episode, size), episode.seed), config_of(episode)
    steps = steps or list(replay(episode, game, state))
    moves = [(step.state, move) for step in steps for move in step.moves]
    moves += [(steps[-1].state, move) for move in episode.unfinished]
    prompts = {seat: prompt_options_of(episode, seat, options) for seat in episode.seats}
    histories = {seat: each.history() for seat, each in prompts.items()}
    rewards = move_rewards(episode, game, steps[-1].state)
    for (position, move), reward in zip_longest(moves, rewards):
        seat, own, history = move.seat, prompts[move.seat], histories[move.seat]
        tools = own.act == "tools"
        ask = build_ask(view, position, seat, own.sees, config, history, move.step, episode.sample, tools)
        model = is_model_seat(episode, seat)
        for attempt in move.tries or [Try(move.action)]:
            as_said = model or not (attempt.verdict == "ok" and attempt.text == move.action)
            completion = attempt.text if as_said else ask.format.write(move.action)
            messages = prompt(ask, own)
            yield Sample(messages, completion, move, attempt, ask, own, reward, episode.game, model)
            ask = ask.again(attempt.text, attempt.reason)
        history.add(Exchange(move.step, ask.observation, move.said, bool(ask.observation.images)))


def move_rewards(episode: Episode, game: Game, state: State) -> list[float]:
    """What every finished move earned, given the last state."""
    if episode.status == "forfeit":
        return [episode.returns[move.seat] for move in episode.moves]
    return game.rewards(state, episode.moves)


def is_model_seat(episode: Episode, seat: str) -> bool:
    return is_model(episode.seats[seat])


def prompt_options_of(episode: Episode, seat: str, default: PromptOptions | None = None) -> PromptOptions:
    """How the seat was addressed; `default` for seats that no model played."""
    if not is_model_seat(episode, seat):
        return default or PromptOptions()
    spec, names = parse_spec(episode.seats[seat]), options_of(PromptOptions)
    own = {name: value for name, value in spec.options.items() if name in names and name != "templates"}
    options = configure(PromptOptions, own, spec.name)
    sections = episode.prompt_templates.get(seat)
    if not sections:
        return options
    values = {name: getattr(options, name) for name in names}
    return PromptOptions(**values, overrides=TemplateOverrides.of({"agent": sections}))
