"""Vote, a one-move question of the spy game: all clues were given; who is the spy?

Two players contradict each other, one by the picture of the civilians and one by that of the spy; everybody
else says what is true of both. Only the picture tells which of the two is the spy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from ludens.core.errors import BadOption
from ludens.core.forms import Choose, Form
from ludens.core.game import Preset
from ludens.core.options import Touch, option
from ludens.core.random import Stream, stream
from ludens.core.reply import ReplyFormat
from ludens.core.state import Legal, Question
from ludens.core.twins import TwinGame
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.spy.checker import check
from ludens.games.spy.clues import sayable
from ludens.games.spy.game import ABSTAIN, SPY, Spy, SpyState
from ludens.games.spy.pairs import FLAT, StoredPair, charted, described, installed_sources
from ludens.games.spy.scene import Scene, ScenePair
from ludens.games.spy.tables import ChartData, chart_clues, check_chart
from ludens.games.spy.view import SpyView

SEAT, CIVILIAN = "voter", "civilian_1"
_ATTEMPTS = 100


@dataclass(frozen=True)
class SpyVote(TwinGame["VoteQuestion"]):
    """Find the spy: who said something that is false of your picture?

    Seats: `voter`, alone, for one move: a civilian of the game `spy`, after the last clue.
    Observation: the picture of the civilians, and all clues. They are made from the pictures: all are true of
        what their players see. The spy and one civilian say what is true of their own picture only; the clues
        of the others are true of both.
    Actions: the number of a player, or `n/a`.
    Rewards: 1 for the spy, else 0.
    Twins: the same clues; the pictures of civilians and spy are exchanged, and so are the roles of the two
        who contradict each other.
    """

    name = "spy/vote"
    seats = (SEAT,)
    view_class = "ludens.games.spy.vote:SpyVoteView"
    best = "bot/oracle"
    bots: ClassVar[Mapping[str, str]] = {"blunt": "ludens.games.spy.bots:Voter"}
    presets = {
        "easy": Preset({"civilians": 3}),
        "medium": Preset(),
        "hard": Preset({"civilians": 8}),
        "paper": Preset(),
    }
    question = True

    civilians: int = option(4, low=2, high=12, help="players who share one picture; the spy is one more")
    rounds: int = option(2, low=1, high=4, help="clues that every player gives")
    source: str = option(
        "flat",
        help="flat, which draws pictures from the seed, or a picture set with described scenes or charts",
        touches=Touch.READ,
        installed=installed_sources,
    )
    change: str = option("color+shape", help="what differs in drawn pictures: color, shape, size, material")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "source", self.table.source)

    @cached_property
    def table(self) -> Spy:
        """The game in which the vote is cast."""
        return Spy(civilians=self.civilians, rounds=self.rounds, source=self.source, change=self.change)

    def actions(self, seat: str) -> tuple[str, ...]:
        return self.table.ballot

    def cluster(self, seed: int) -> str:
        """The entry of the picture set that has enough to say."""
        if self.source == FLAT:
            return ""
        shown = self.start(seed).table.pair
        assert isinstance(shown, StoredPair)
        return f"{self.source}/{shown.entry.id}"

    def world(self, seed: int) -> VoteQuestion:
        return self.pair(seed)[0]

    def pair(self, seed: int) -> tuple[VoteQuestion, VoteQuestion]:
        random = stream(seed, "clues")
        for attempt in range(_ATTEMPTS):
            first = self.table.start(stream(seed, "game", attempt).bits() if attempt else seed)
            shown = _shown(first)
            if shown is None:
                raise BadOption(f"nothing describes the pictures of {self.source}, which clues need.")
            civilian = random.choice([p for p, who in enumerate(first.table) if who not in (SPY, CIVILIAN)])
            clues = _clues(first, shown, civilian, random)
            if clues:
                first.clues = clues
                return VoteQuestion(self.table, first), VoteQuestion(self.table, _exchanged(first, civilian))
        raise BadOption(
            f"the pictures of {self.source} give too few clues for {self.civilians + 1} players and "
            f"{self.rounds} rounds."
        )


Shown = Scene | ChartData
"""What a picture shows."""


def _shown(state: SpyState) -> tuple[Shown, Shown] | None:
    """What the pictures of the civilians and of the spy show; None where only pictures are known."""
    scenes = described(state.pair)
    return charted(state.pair) if scenes is None else (scenes.original, scenes.modified)


def _clues(state: SpyState, shown: tuple[Shown, Shown], civilian: int, random: Stream) -> list[str]:
    """A clue for each player and round, none of them twice; empty where there are not enough."""
    own, other = shown
    pools = {
        civilian: _told(own, false_of=other, random=random),
        state.spy: _told(other, false_of=own, random=random),
    }
    shared = [clue for clue in _told(own, random=random) if is_true(clue, other)]
    rounds, clues = state.game.rounds, list[str]()
    contrary = random.below(rounds)  # the two contradict each other in this round at least
    for number in range(rounds):
        apart = number == contrary or random.below(2) == 0
        for place in range(len(state.table)):
            pool = pools[place] if apart and place in pools else shared
            clue = next((clue for clue in pool if clue not in clues), None)
            if clue is None:
                return []
            clues.append(clue)
    return clues


def _told(shown: Shown, *, random: Stream, false_of: Shown | None = None) -> list[str]:
    """True clues about a picture in random order; with `false_of`, those that are false of another one."""
    clues = list(
        dict.fromkeys(chart_clues(shown) if isinstance(shown, ChartData) else sayable(shown.objects))
    )
    random.shuffle(clues)
    true = [clue for clue in clues if is_true(clue, shown)]
    return true if false_of is None else [clue for clue in true if is_true(clue, false_of) is False]


def is_true(clue: str, shown: Shown) -> bool | None:
    """Whether a clue is true of what is shown; None where it cannot be decided."""
    return check(clue, shown) if isinstance(shown, Scene) else check_chart(clue, shown)


def _exchanged(state: SpyState, civilian: int) -> SpyState:
    """The same clues after the pictures were exchanged: now the civilian who contradicted is the spy."""
    twin = state.clone()
    table = list(state.table)
    table[civilian], table[state.spy] = table[state.spy], table[civilian]
    twin.table = tuple(table)
    pair = state.pair
    twin.pair = pair.exchanged() if isinstance(pair, ScenePair) else replace(pair, exchanged=True)
    return twin


class VoteQuestion(Question):
    """A table after the last clue, and the vote of one civilian."""

    def __init__(self, game: Spy, table: SpyState) -> None:
        super().__init__(SEAT, game.ballot)
        self.table = table

    def solution(self, seat: str) -> str | None:
        return str(self.table.spy + 1)

    @property
    def right(self) -> bool:
        return self.answer == str(self.table.spy + 1)

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.right)}

    @property
    def facts(self) -> dict[str, Any]:
        return {"right": self.right, "abstained": self.answer == ABSTAIN, "spy": self.table.spy + 1}


class SpyVoteView(View):
    """What a civilian of the spy game sees and reads when it votes."""

    templates_file = "templates.md"

    @property
    def smallest(self) -> int:
        return 192

    def __init__(self, game: SpyVote, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._table = _table_view(game.table, render, seed)

    @property
    def has_text(self) -> bool:
        return self._table.has_text

    @property
    def enlarges(self) -> bool:
        return self._table.enlarges

    def rules(self, seat: str) -> str:
        return self._table.rules(CIVILIAN)

    def image(self, state: VoteQuestion, seat: str) -> Picture:
        return self._table.image(state.table, CIVILIAN)

    def text(self, state: VoteQuestion, seat: str) -> str:
        return self._table.text(state.table, CIVILIAN)

    def notes(self, state: VoteQuestion, seat: str) -> str:
        return self._table.notes(state.table, CIVILIAN)

    def brief(self, state: VoteQuestion, seat: str) -> str:
        return self._table.brief(state.table, CIVILIAN)

    def format(self, state: VoteQuestion, seat: str) -> ReplyFormat:
        return self._table.format(state.table, CIVILIAN)

    def form(self, state: VoteQuestion, seat: str) -> Form:
        labels = {vote: self.label(vote) for vote in state.legal(seat)}
        prompt = self.templates.fill("person decision")
        return Choose(state.legal(seat), labels, format=self.format(state, seat), prompt=prompt)

    def label(self, action: str) -> str:
        return self._table.label(action)

    def guess(self, state: VoteQuestion, seat: str, random: Stream) -> str:
        return Legal(state.table.game.ballot).sample(random)


@lru_cache(maxsize=16)
def _table_view(game: Spy, render: RenderOptions, seed: int) -> SpyView:
    return SpyView(game, render, seed)
