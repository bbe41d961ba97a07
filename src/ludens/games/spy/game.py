"""The spy game: clues in turn, then a vote of everyone but the spy; what clues and votes earn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Self

from ludens.core.episode import Move
from ludens.core.errors import Ambiguous, BadOption, Illegal, Unreadable
from ludens.core.game import DecisionScore, Game, GameStage, Preset
from ludens.core.options import Touch, option
from ludens.core.random import Stream, stream
from ludens.core.reply import DASHES, ReplyFormat, fold, without_reasoning
from ludens.core.state import Legal, State
from ludens.games.spy.checker import check, informativeness
from ludens.games.spy.clues import STOCK_CLUES, named, related, sayable
from ludens.games.spy.pairs import (
    BLANK,
    FLAT,
    StoredPair,
    described,
    draw_noise,
    installed_sources,
    kind_of,
    with_hash,
    with_noise,
)
from ludens.games.spy.scene import ScenePair, make_pair, modify, parse_change

BETA = LAMBDA = 0.1
"""Weights of the competition between spy and civilians, and of the differences among civilians."""
RIGHT, ABSTAINED, WRONG = 1.0, -0.5, -1.0


def clue_rewards(spy: int, civilians: Sequence[int]) -> tuple[float, list[float]]:
    """The reward of the spy and of each civilian, from the votes each of them received; they sum to zero."""
    count = len(civilians)
    mean = sum(civilians) / count
    lead = spy - mean
    return -BETA * lead, [BETA / count * lead - LAMBDA * (votes - mean) for votes in civilians]


def lowest_clue_rewards(civilians: int, voters: int) -> tuple[float, float]:
    """The least a spy and a civilian can earn with a clue: every vote goes to them."""
    spy, _ = clue_rewards(voters, [0] * civilians)
    _, [civilian, *_] = clue_rewards(0, [voters] + [0] * (civilians - 1))
    return spy, civilian


def score_votes(votes: Sequence[str], spy: str) -> DecisionScore:
    """Whether the spy alone is the most frequent vote, n/a counted as a vote of its own, and the share of
    n/a (equation 7): ties and mostly n/a are wrong."""
    counts = Counter(votes).most_common(2)
    alone = len(counts) < 2 or counts[0][1] > counts[1][1]
    right = bool(counts) and counts[0][0] == spy and alone
    return DecisionScore(float(right), votes.count(ABSTAIN) / len(votes) if votes else 0.0)


def vote_reward(vote: str, spy: str, abstention: str) -> float:
    """The reward of a vote; one that could not be read earns what a wrong one does."""
    return RIGHT if vote == spy else ABSTAINED if vote == abstention else WRONG


ABSTAIN = "n/a"
CLUE_LIMIT = 300
"""The most characters of a clue: about three sentences."""

_OPEN = re.compile(r"(?<![A-Za-z])boxed\s*\{|<\|begin_of_box\|>")
_BRACES = re.compile(r"\\?[{}]")
_END_TAG = "<|end_of_box|>"
_STYLE = re.compile(r"\\(?:boxed|(?:text|math)(?:bf|it|rm|sf|tt|normal)?)\{([^{}]*)\}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_PLAYER = re.compile(r"(?:(?:player|seat|no|number)[ .:#_-]{0,3})?#? ?(\d{1,6})", re.ASCII)
_ABSTENTIONS = frozenset(("n/a", "na", "n.a", "n / a", "n\\a", "not applicable"))
_DEEPEST = 8
"""How many boxes inside each other are unwrapped."""
_QUOTES = "'\"`“”‘’«»"


def clean_clue(text: str) -> str:
    """A clue as one line without control characters, which could imitate the moderator's lines."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def quoted(clue: str) -> str:
    """A clue between quotation marks, of which it has none itself."""
    return '"' + clue.translate(dict.fromkeys(map(ord, '"“”„«»'), "'")) + '"'


@dataclass(frozen=True)
class BoxFormat(ReplyFormat):
    """What clue and vote have in common: the box."""

    instruction: str
    styles: Mapping[str, str] = field(default_factory=dict)
    """The wording of each prompt style."""

    def ask(self, legal: Legal) -> str:
        return self.instruction

    def write(self, action: str) -> str:
        return f"\\boxed{{{action.upper() if action == ABSTAIN else action}}}"

    def typed(self, text: str) -> str:
        bare = text.replace("{", "(").replace("}", ")")
        return text if not text or _OPEN.search(text) else self.write(bare)

    def style_instruction(self, style: str) -> str | None:
        return self.styles.get(style)


class ClueFormat(BoxFormat):
    """One sentence in a box."""

    def read(self, text: str, legal: Legal) -> str:
        clues = list(dict.fromkeys(filter(None, (clean_clue(_unstyled(box)) for box in boxes(text)))))
        if not clues:
            raise Unreadable("the reply has no clue in \\boxed{}.")
        if len(clues) > 1:
            raise Ambiguous("the reply has several different boxes; put one clue in one \\boxed{}.")
        if legal.text_limit is not None and len(clues[0]) > legal.text_limit:
            raise Illegal(
                f"the clue has {len(clues[0])} characters; at most {legal.text_limit} are allowed: "
                "one sentence."
            )
        return clues[0]


class VoteFormat(BoxFormat):
    """A player's number or N/A in a box; a reply that is nothing else is accepted too."""

    def read(self, text: str, legal: Legal) -> str:
        contents = list(boxes(text))
        bare = without_reasoning(text).strip()
        if not contents and len(bare) <= 20:
            contents = [bare]
        votes = list(dict.fromkeys(_vote(_unstyled(box)) for box in contents))
        if not votes or votes == [None]:
            raise Unreadable("the reply has no vote in \\boxed{}: a player's number or N/A.")
        if len(votes) > 1:
            raise Ambiguous("the reply has several different boxes; put one vote in one \\boxed{}.")
        [vote] = votes
        if vote not in legal:
            raise Illegal(f"there is no player {vote}; vote for {legal[0]} to {legal[-2]} or N/A.")
        assert vote is not None
        return vote


def boxes(text: str) -> Iterator[str]:
    """The contents of the outermost boxes of a reply, without those that are only quoted inside a sentence.

    A box that is not closed is none. Every character is looked at a bounded number of times.
    """
    reply = without_reasoning(text)
    place = 0
    while (opened := _OPEN.search(reply, place)) is not None:
        if opened[0].startswith("<"):
            end = reply.find(_END_TAG, opened.end())
            after = end + len(_END_TAG)
        else:
            end = _closing(reply, opened.end())
            after = end + 1
        if end < 0:
            return
        place = after
        if not _mentioned(reply, opened.start(), after):
            yield reply[opened.end() : end]


def _closing(text: str, start: int) -> int:
    """The place of the brace that closes the one before `start`; -1 where there is none."""
    depth = 1
    for brace in _BRACES.finditer(text, start):
        if len(brace[0]) == 1:
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                return brace.start()
    return -1


def _mentioned(text: str, start: int, end: int) -> bool:
    """Whether a box stands in quotation marks and the sentence goes on: it is talked about, not given."""
    rest = text[end : end + 80].split("\n", 1)[0]
    before = text[max(0, start - 3) : start].rstrip("\\")[-1:]
    return before in tuple(_QUOTES) and rest.strip(_QUOTES + " \t.;,!$*)") != ""


def _unstyled(box: str) -> str:
    """The contents of a box without boxes inside it and without font commands."""
    for _ in range(_DEEPEST):
        bare = box.strip().lstrip("\\")
        inner = _OPEN.match(bare)
        if inner is None or inner[0].startswith("<") or _closing(bare, inner.end()) != len(bare) - 1:
            break
        box = bare[inner.end() : -1]
    return _STYLE.sub(r"\1", box).replace("\\ ", " ")


def _vote(box: str) -> str | None:
    folded = fold(box.translate(DASHES).replace("\\", ""))
    if folded in _ABSTENTIONS:
        return ABSTAIN
    number = _PLAYER.fullmatch(folded)
    return str(int(number[1])) if number else None


SPY, CIVILIAN, JUDGE = "spy", "civilian", "judge"
CLUE, DECISION = "clue", "decision"
JUDGES = 8
UNREADABLE = "unreadable"
"""The vote of a seat whose reply could not be read: it counts for nobody."""


@dataclass(frozen=True)
class Spy(Game):
    """Describe your picture and find the player whose picture differs, or be that player and blend in.

    Seats: `spy` and `civilian_1`, `civilian_2` and so on. The seed decides who sits where at the table:
    players know each other by their numbers there, 1 and up, never by the names of their seats.
    Observation: your picture (all civilians have the same, the spy's differs), and all clues so far.
    Actions: in each round every player in turn gives one sentence about its picture, as text; then all
    civilians vote at once for a player's number or `n/a`. The spy does not vote.
    Rewards: 1 for the side that wins, 0 for the other. The civilians win if the spy alone has the most votes;
    everything else is the spy's win. For training, clues earn by the votes received and votes by being right.
    """

    name = "spy"
    version = 2
    view_class = "ludens.games.spy.view:SpyView"
    imperfect_information = True
    best = "bot/oracle"
    presets = {
        "easy": Preset({"civilians": 3}, others="bot/clever"),
        "medium": Preset(others="bot/clever"),
        "hard": Preset({"civilians": 6, "change": "color"}, others="bot/clever"),
        "paper": Preset(others="bot/clever"),
    }
    stages = (GameStage(CLUE), GameStage(DECISION, decision=True, group=("episode",)))
    bots = {
        "blunt": "ludens.games.spy.bots:Blunt",
        "vague": "ludens.games.spy.bots:Vague",
        "clever": "ludens.games.spy.bots:Clever",
        "blind": "ludens.games.spy.bots:BlindPlayer",
    }

    civilians: int = option(4, low=2, high=12, help="players who share one picture; the spy is one more")
    rounds: int = option(2, low=1, high=4, help="clues that every player gives")
    source: str = option(
        "flat",
        help="flat, which draws pictures from the seed, or a picture set",
        touches=Touch.READ,
        installed=installed_sources,
    )
    change: str = option("color+shape", help="what differs in drawn pictures: color, shape, size, material")
    votes: str = option(
        "each",
        choices=("each", "judge"),
        help="each civilian votes, or eight times one judge without a role, as in the released code",
    )

    clue: str = option(
        "free",
        choices=("free", "informative"),
        help="informative: clues that are true of most pictures, or that repeat a clue, are refused",
    )
    least: float = option(
        0.6, low=0, high=1, help="clue=informative: share of other pictures of which a clue must be false"
    )
    noise: bool = option(
        False,
        help="one modified picture in ten is blank and one in ten equals the original: the paper's noise",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "change", "+".join(parse_change(self.change)))
        object.__setattr__(self, "source", with_hash(self.source))
        if self.clue == "informative" and kind_of(self.source) != "scenes":
            raise BadOption("clue=informative needs pictures of described scenes, such as source=flat.")

    @cached_property
    def players(self) -> tuple[str, ...]:
        """The seats at the table: those that give clues."""
        return (SPY, *(f"{CIVILIAN}_{number}" for number in range(1, self.civilians + 1)))

    @cached_property
    def voters(self) -> tuple[str, ...]:
        if self.votes == "judge":
            return tuple(f"{JUDGE}_{number}" for number in range(1, JUDGES + 1))
        return self.players[1:]

    @cached_property
    def seats(self) -> tuple[str, ...]:
        return self.players if self.votes == "each" else (*self.players, *self.voters)

    @cached_property
    def ballot(self) -> Legal:
        return Legal((*(str(number) for number in range(1, len(self.players) + 1)), ABSTAIN))

    @cached_property
    def changes(self) -> tuple[str, ...]:
        return parse_change(self.change)

    def actions(self, seat: str) -> tuple[str, ...] | None:
        """The ballot of a judge; players also give clues, which are texts."""
        return None if seat in self.players else self.ballot

    def start(self, seed: int) -> SpyState:
        table = list(self.players)
        stream(seed, "table").shuffle(table)
        noise = draw_noise(stream(seed, "noise")) if self.noise else ""
        if self.source == FLAT:
            drawn = make_pair(stream(seed, "pair"), self.changes)
            return SpyState(self, tuple(table), with_noise(drawn, noise))
        return SpyState(self, tuple(table), replace(self._stored(seed), noise=noise))

    def _stored(self, seed: int) -> StoredPair:
        return StoredPair(self.source, stream(seed, "pair").bits())

    def cluster(self, seed: int) -> str:
        """The entry of the picture set: sixteen pairs do not become a hundred by being drawn again."""
        return "" if self.source == FLAT else f"{self.source}/{self._stored(seed).entry.id}"

    def rewards(self, state: State, moves: Sequence[Move]) -> list[float]:
        assert isinstance(state, SpyState)
        if not state.over:
            return [0.0] * len(moves)
        received = state.received
        spy, civilians = clue_rewards(
            received[state.spy], [received[place] for place in range(len(state.table)) if place != state.spy]
        )
        by_place = [civilians.pop(0) if place != state.spy else spy for place in range(len(state.table))]
        lowest = lowest_clue_rewards(self.civilians, len(self.voters))
        earned = []
        for number, move in enumerate(moves):
            if number >= len(state.clues):
                earned.append(vote_reward(state.votes[move.seat], str(state.spy + 1), ABSTAIN))
            elif state.clues[number]:
                earned.append(by_place[state.table.index(move.seat)])
            else:
                earned.append(lowest[move.seat != SPY])
        return earned

    def decision_score(self, state: State) -> DecisionScore:
        assert isinstance(state, SpyState)
        return score_votes(list(state.votes.values()), str(state.spy + 1))

    def measures(self, state: State) -> dict[str, float]:
        """Clues that are true of the own picture, of those that can be decided; votes by kind; wins."""
        assert isinstance(state, SpyState)
        measured, pair, votes = dict[str, float](), described(state.pair), list(state.votes.values())
        if pair is not None:
            by_seat = zip(state.clues, state.table * self.rounds, strict=False)
            truths = [check(clue, pair.modified if seat == SPY else pair.original) for clue, seat in by_seat]
            decided = [truth for truth in truths if truth is not None]
            if decided:
                measured["clue truth"] = fmean(decided)
            if truths:
                measured["clues undecided"] = 1 - len(decided) / len(truths)
        if self.clue == "informative" and state.clues:
            given = list(filter(None, state.clues))
            measured["clues refused"] = 1 - len(given) / len(state.clues)
            if given:
                measured["clue informativeness"] = fmean(map(informativeness, given))
        if votes:
            measured["votes right"] = votes.count(str(state.spy + 1)) / len(votes)
            measured["votes n/a"] = votes.count(ABSTAIN) / len(votes)
            measured["votes unreadable"] = votes.count(UNREADABLE) / len(votes)
            measured["civilians won"] = float(state.winner == CIVILIAN)
        return measured


class SpyState(State):
    """A table of players, the clues so far, and the votes once they were cast."""

    __slots__ = ("clues", "game", "pair", "table", "votes")

    def __init__(self, game: Spy, table: tuple[str, ...], pair: ScenePair | StoredPair) -> None:
        self.game = game
        self.table = table
        """The seats in the order in which they speak; player 1 is the first."""
        self.pair = pair
        self.clues: list[str] = []
        """In the order in which they were given; an empty one stands for no clue."""
        self.votes: dict[str, str] = {}

    @property
    def spy(self) -> int:
        """The place of the spy at the table, from 0."""
        return self.table.index(SPY)

    def speaker(self, clue: int) -> int:
        """The place at the table of the player who gives a clue; both count from 0."""
        return clue % len(self.table)

    @property
    def stage(self) -> str:
        return CLUE if len(self.clues) < len(self.table) * self.game.rounds else DECISION

    def role(self, seat: str) -> str:
        return seat.partition("_")[0]

    @property
    def to_act(self) -> tuple[str, ...]:
        if self.stage == CLUE:
            return (self.table[self.speaker(len(self.clues))],)
        return () if self.votes else self.game.voters

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        return Legal.text(CLUE_LIMIT) if self.stage == CLUE else self.game.ballot

    def refusal(self, seat: str, action: str) -> str | None:
        if action == UNREADABLE and self.stage == DECISION and seat in self.to_act:
            return None
        reason = super().refusal(seat, action)
        if reason is None and action and self.stage == CLUE and self.game.clue == "informative":
            return self.emptiness(action)
        return reason

    def emptiness(self, clue: str) -> str | None:
        """Why a clue says too little for `clue=informative`; None if it does not."""
        if fold(clean_clue(clue)) in map(fold, self.clues):
            return "the clue repeats an earlier one."
        share, least = informativeness(clue), self.game.least
        if share >= least:
            return None
        return (
            f"the clue says too little: it is false of {share:.0%} of other pictures, and {least:.0%} are "
            "needed; what cannot be checked counts as true of all."
        )

    def fallback(self, seat: str) -> str | None:
        return "" if self.stage == CLUE else UNREADABLE

    def solution(self, seat: str) -> str | None:
        """The vote for the spy, and a clue about objects that are the same in both pictures."""
        if self.stage == DECISION:
            return str(self.spy + 1)
        pair = described(self.pair)
        if pair is None:
            return STOCK_CLUES[len(self.clues) % len(STOCK_CLUES)]
        objects = pair.original.objects
        same = [thing for index, thing in enumerate(objects) if index not in pair.changed]
        things = same if seat == SPY else objects
        if not things:
            return STOCK_CLUES[len(self.clues) % len(STOCK_CLUES)]
        new = [clue for thing in things if (clue := named(thing)) not in self.clues]
        known = same or things
        clues = [*new, related(known[0], known[-1])]
        if self.game.clue == "informative":
            own = pair.modified if seat == SPY else pair.original
            clues += [*sayable(known), *sayable(own.objects)]
            return next((clue for clue in clues if self.emptiness(clue) is None), clues[0])
        return clues[0]

    def _advance(self, actions: Mapping[str, str]) -> None:
        if self.stage == CLUE:
            self.clues.extend(map(clean_clue, actions.values()))
        else:
            self.votes = dict(actions)

    @property
    def received(self) -> list[int]:
        cast = list(self.votes.values())
        return [cast.count(str(place + 1)) for place in range(len(self.table))]

    @property
    def winner(self) -> str:
        """`civilian` or `spy`; empty before the votes were cast."""
        if not self.votes:
            return ""
        received = self.received
        most = max(votes for place, votes in enumerate(received) if place != self.spy)
        return CIVILIAN if received[self.spy] > most else SPY

    @property
    def returns(self) -> dict[str, float]:
        winner = self.winner
        return {seat: float(bool(winner) and (seat == SPY) == (winner == SPY)) for seat in self.game.seats}

    @property
    def facts(self) -> dict[str, Any]:
        spy, cast = str(self.spy + 1), list(self.votes.values())
        clues = list(zip(self.clues, self.table * self.game.rounds, strict=False))
        return {
            "winner": self.winner,
            "spy": self.spy + 1,
            "table": list(self.table),
            "votes": dict(self.votes),
            "received": self.received,
            "right": cast.count(spy),
            "wrong": sum(vote not in (spy, ABSTAIN, UNREADABLE) for vote in cast),
            "abstained": cast.count(ABSTAIN),
            "unreadable": cast.count(UNREADABLE),
            "silent": {
                role: sum(not clue and self.role(seat) == role for clue, seat in clues)
                for role in (SPY, CIVILIAN)
            },
        }

    def clone(self) -> Self:
        twin = object.__new__(type(self))
        twin.game, twin.table, twin.pair = self.game, self.table, self.pair
        twin.clues, twin.votes = self.clues.copy(), self.votes
        return twin

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        """Another picture of the other side, and, until it is over, the others at other places."""
        twin, pair, change = self.clone(), self.pair, self.game.changes
        if isinstance(pair, StoredPair):
            pass  # nobody can make another version of a photograph
        elif seat == SPY and not pair.modified.objects:
            twin.pair = with_noise(make_pair(random, change), BLANK)
        elif seat == SPY:
            other, changed = modify(pair.modified, random, change)
            twin.pair = ScenePair(other, pair.modified, changed, change)
        else:
            other, changed = modify(pair.original, random, change)
            twin.pair = ScenePair(pair.original, other, changed, change)
        if not self.over:
            others = [each for each in self.table if each != seat]
            random.shuffle(others)
            twin.table = tuple(each if each == seat else others.pop() for each in self.table)
        return twin
