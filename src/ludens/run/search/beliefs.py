"""A player that imagines the states which agree with every word it received, and asks the best bot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ludens.agents import BEST, agent
from ludens.core.agent import Agent, Ask
from ludens.core.ask import build_ask
from ludens.core.config import fallback_action, forfeits
from ludens.core.errors import LudensError
from ludens.core.random import Stream, stream
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of
from ludens.run.baselines.questions import OTHER_SEEDS
from ludens.run.search.players import (
    SeatKnowledge,
    WordPlayer,
    action_of,
    first_allowed,
    received_words,
)
from ludens.run.search.training import PARTICLES, Memo, remembering
from ludens.run.task import MODEL

Others = Literal["known", "any"]
"""How the other seats move in imagined states: as the bots that sit there, or in any legal way."""
MOST_STEPS = 400
"""Steps of other seats between two own moves."""


@dataclass
class Belief(WordPlayer):
    """Plays what the best bot would play in most of the states that agree with all it was told.

    States are imagined from other seeds: they are played on with the own actions, and dropped where the seat
    would have received other words, or another reply would have been refused.
    """

    others: Others = "known"
    states: int = 12
    """Imagined at a time."""
    tries: int = 4
    """For each of them."""
    seatings: Sequence[Mapping[str, str]] = ()
    memo: Memo = field(default_factory=dict)
    choices: Memo = field(default_factory=dict)
    kind = "belief"
    parameters = ("others", "states", "tries", "seatings")

    def begin(self) -> None:
        super().begin()
        self._imagined: list[State] = []
        own = (seating for seating in self.seatings if seating.get(self.seat) == MODEL)
        self._seating: Mapping[str, str] = next(own, {})
        self._has_moved = False

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        view = view_of(self.game, RenderOptions(), 0)
        if not knowledge.refused:
            self._imagined = self._continued(view, knowledge)
        else:
            reply, _ = knowledge.refused[-1]
            agreeing = [state for state in self._imagined if state.refusal(self.seat, reply) is not None]
            self._imagined = agreeing or self._imagined
        votes = Counter(
            action
            for number, state in enumerate(self._imagined)
            if (action := self._best(view, state, number)) is not None and knowledge.allows(action)
        )
        self._has_moved = True
        candidates = [action for action, _ in votes.most_common()]
        if not candidates and not knowledge.legal and self._imagined:
            candidates = [action for action in self._imagined[0].legal(self.seat) if knowledge.allows(action)]
        return first_allowed(knowledge, candidates)

    def _continued(self, view: View, knowledge: SeatKnowledge) -> list[State]:
        """States that follow from those imagined so far and the own last action, and agree with the words."""
        before, agreeing, any_way = self._imagined, list[State](), list[State]()
        for attempt in range(self.states * self.tries):
            if len(agreeing) >= self.states:
                break
            random = self.random.fork("imagined", knowledge.move, attempt)
            state = self._next(view, before, random, attempt)
            if state is None:
                continue
            if received_words(view, state, self.seat, self.config) == knowledge.words:
                agreeing.append(state)
            elif len(any_way) < self.states:
                any_way.append(state)
        return agreeing or any_way or before

    def _next(self, view: View, before: Sequence[State], random: Stream, attempt: int) -> State | None:
        if not self._has_moved:
            seed = OTHER_SEEDS + PARTICLES + random.below(2**20)
            state = self.game.start(seed)
        elif before:
            state = before[attempt % len(before)].clone()
        else:
            return None
        agents = self._seated(random)
        due = self._before
        for _ in range(MOST_STEPS):
            if not state.to_act:
                return None
            if self.seat in state.to_act and not due:
                return state
            own = None
            if self.seat in state.to_act:
                own = self._own_action(state, due)
                if own is None:
                    return None
                due = ()
            try:
                state.apply(
                    {seat: self._move(view, state, seat, own, agents, random) for seat in state.to_act}
                )
            except LudensError:
                return None
        return None

    def _own_action(self, state: State, due: Sequence[str]) -> str | None:
        """What the own last replies led to; None if it was something else in this state."""
        *refused, last = due
        if any(state.refusal(self.seat, reply) is None for reply in refused):
            return None
        if state.refusal(self.seat, last) is None:
            return last
        if forfeits(state, self.seat, self.config) or len(due) <= self.config.retries:
            return None
        return fallback_action(state, self.seat, self.config, 0, 0, 0)

    def _move(
        self,
        view: View,
        state: State,
        seat: str,
        own: str | None,
        agents: dict[str, Agent],
        random: Stream,
    ) -> str:
        if seat == self.seat and own is not None:
            return own
        if self.others == "any" and seat not in self._copies:
            return state.legal(seat).sample(random)
        bot = agents[seat]
        return action_of(bot, build_ask(view, state, seat, bot.sees, self.config))

    @property
    def _copies(self) -> set[str]:
        return {seat for seat, player in self._seating.items() if player == MODEL}

    def _seated(self, random: Stream) -> dict[str, Agent]:
        """Bots in the other seats; copies of the player itself are imagined as the best bot."""
        agents = {}
        for seat in self.game.seats:
            player = self._seating.get(seat, MODEL)
            if seat == self.seat or (self.others == "any" and player != MODEL):
                continue
            bot = remembering(agent(BEST if player == MODEL else player, self.game), self.game, self.memo, 3)
            agents[seat] = bot.sit(self.game, seat, random.fork("bot", seat))
        return agents

    def _best(self, view: View, state: State, number: int) -> str | None:
        """What the best bot plays in a state; the same position is computed once."""
        random, key = self.random.fork("best", number), (self.seat, "")
        if view.has_text:
            key = (self.seat, view.text(state, self.seat))
            if key in self.choices:
                return self.choices[key][0]
            random = stream(0, *key)  # whichever episode comes to it first
        bot = agent(BEST, self.game).sit(self.game, self.seat, random)
        ask = build_ask(view, state, self.seat, bot.sees, self.config)
        try:
            action = action_of(bot, ask)
        except LudensError:
            return None
        if view.has_text:
            self.choices[key] = [action]
        return action
