"""Vision-Zero: the spy game of a model against a reference, as civilians and as the spy.

    vision-zero-sight       votes in twin worlds; 100 games on each source, the model in one seat
    vision-zero-sight-mini  10 games on drawn scenes
    vision-zero             the paper's seats: the model is all civilians, or the spy
    vision-zero-mini        10 games on drawn scenes
    vision-zero-ablations   2 to 4 civilians, 1 to 3 rounds of clues

Sources are drawn scenes, rendered scenes, and charts if all players at the table can read them. Each takes
`?reference=SPEC`, the agent that the model plays against: a bot, a model or a checkpoint. The paper's
reference is the model before training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import ClassVar

from ludens.core.episode import Move
from ludens.core.errors import BadOption, UsageError
from ludens.core.options import Touch, option
from ludens.core.registry import make
from ludens.core.replay import game_of
from ludens.games.spy.checker import check, informativeness
from ludens.games.spy.clues import Truth
from ludens.games.spy.game import SPY, Spy, clean_clue
from ludens.games.spy.pairs import FLAT, described, installed_sources, kind_of, largest_set, with_hash
from ludens.games.spy.scene import ScenePair
from ludens.games.spy.vote import SEAT as VOTER
from ludens.pictures import set_names
from ludens.run.task import (
    COUNT,
    MODEL,
    EpisodeResult,
    Metric,
    Published,
    Seating,
    Suite,
    SuiteBuilder,
    Task,
    fact,
    mean_of,
    rate_of,
    read_deviations,
)
from ludens.run.twins import both_of

PUBLISHED = tuple(
    Published("Vision-Zero, figure 6", model, {"clevr": won})
    for model, won in (("Qwen2.5-VL-7B", 50.0), ("Qwen2.5-VL-7B, trained", 71.0))
)
"""The only win rates in the paper's text; no table has any. They are against the model before training."""
PAPER_REFERENCE = "qwen2.5-vl-7b"

REFERENCES = Path(__file__).with_name("references.toml")
PAPER = Path(__file__).with_name("paper.bib")
DEVIATIONS = read_deviations(Path(__file__).with_name("deviations.md"))
SEATS = (
    "The model has one seat among players of several kinds, and not all civilian seats: copies of one model "
    "can agree without talking on what to say and whom to vote for (seats=copies: all, as in the paper).",
    "Tables show the votes of the model first: games are won by four votes, of which one is its own.",
)
"""Deviations of the suites that seat one model among others."""
GAMES, FEW = 100, 10
REFERENCE = "bot/clever"
PARTNERS = ("bot/clever", "bot/blunt", "bot/vague")
SETS = ("clevr", "chart")
VOTES = ("scenes", "chart")
"""Kinds of pictures about which clues can be made."""


def _as_spy(result: EpisodeResult) -> bool:
    return SPY in result.seats


def _won(result: EpisodeResult) -> bool:
    """Whether the side of the agent won; other players may be on its side."""
    return all(result.episode.returns[seat] == 1.0 for seat in result.seats)


def _won_as(role_is_spy: bool) -> Callable[[EpisodeResult], bool | None]:
    """Whether a game was won; None for games in the other role."""
    return lambda result: _won(result) if _as_spy(result) == role_is_spy else None


def _votes(holds: Callable[[EpisodeResult, str], bool]) -> Callable[[EpisodeResult], float | None]:
    """The share of the agent's votes of which something holds; None where it does not vote."""

    def value(result: EpisodeResult) -> float | None:
        votes = [vote for seat, vote in result.episode.facts["votes"].items() if seat in result.seats]
        return sum(holds(result, vote) for vote in votes) / len(votes) if votes else None

    return value


def _right(result: EpisodeResult, vote: str) -> bool:
    return vote == str(result.episode.facts["spy"])


def _received(role_is_spy: bool) -> Callable[[EpisodeResult], float | None]:
    """The votes that the agent received in one role, as a share of all voters."""

    def value(result: EpisodeResult) -> float | None:
        facts = result.episode.facts
        if _as_spy(result) != role_is_spy or not facts["votes"]:
            return None
        by_seat = zip(facts["table"], facts["received"], strict=True)
        received = [votes for seat, votes in by_seat if seat in result.seats]
        return float(sum(received) / len(received) / len(facts["votes"]))

    return value


def _clues(result: EpisodeResult) -> list[str]:
    """The clues of the agent under measurement, without those that could not be read."""
    return [clue for move in _moves(result, clues=True) if (clue := clean_clue(move.action))]


def _moves(result: EpisodeResult, clues: bool) -> list[Move]:
    """The clue or vote moves of the agent under measurement."""
    game, facts = result.episode.options, result.episode.facts
    spoken = len(facts["table"]) * int(game["rounds"])
    moves = result.episode.moves[:spoken] if clues else result.episode.moves[spoken:]
    return [move for move in moves if move.seat in result.seats]


def _pair(result: EpisodeResult) -> ScenePair | None:
    """The scenes of an episode; None where they are not described, or the picture set is not here."""
    try:
        game = game_of(result.episode)
        assert isinstance(game, Spy)
        return described(game.start(result.episode.seed).pair)
    except UsageError:
        return None


def _truth(of: Callable[[Truth, Truth], bool | None]) -> Callable[[EpisodeResult], float | None]:
    """The share of clues for which `of(own picture, other picture)` holds; None does not count."""

    def value(result: EpisodeResult) -> float | None:
        pair = _pair(result)
        if pair is None:
            return None
        own, other = pair.original, pair.modified
        if _as_spy(result):
            own, other = other, own
        values = [of(check(clue, own), check(clue, other)) for clue in _clues(result)]
        decided = [value for value in values if value is not None]
        return sum(decided) / len(decided) if decided else None

    return value


def _informative(result: EpisodeResult) -> float | None:
    clues = _clues(result)
    if not clues or _pair(result) is None:
        return None
    return sum(map(informativeness, clues)) / len(clues)


def _tokens(clues: bool) -> Callable[[EpisodeResult], float | None]:
    """Mean output tokens of a reply in a stage, reasoning included; None where they were not counted."""

    def value(result: EpisodeResult) -> float | None:
        tokens = [each.usage.output_tokens for m in _moves(result, clues) for each in m.tries if each.usage]
        return sum(tokens) / len(tokens) if tokens else None

    return value


def _words(result: EpisodeResult) -> float | None:
    clues = _clues(result)
    return sum(len(clue.split()) for clue in clues) / len(clues) if clues else None


_share_of = partial(mean_of, percent=True)
_low_share_of = partial(_share_of, higher_is_better=False)
_count_of = partial(mean_of, bounds=COUNT)

WON = rate_of("won", _won, about="share of games won, as civilians and as the spy alike")
METRICS: tuple[Metric, ...] = (
    WON,
    rate_of("won as civilians", _won_as(False), about="games won by the civilians"),
    rate_of("won as spy", _won_as(True), about="games won as the spy"),
    _share_of("votes right", _votes(_right), about="share of votes for the spy"),
    _share_of("votes n/a", _votes(lambda p, vote: vote == "n/a"), about="share of abstentions"),
    _low_share_of(
        "votes unreadable",
        _votes(lambda p, vote: vote == "unreadable"),
        about="share of votes that could not be read",
    ),
    _low_share_of("votes on spy", _received(True), about="votes received as the spy"),
    _low_share_of("votes on civilian", _received(False), about="share of votes that a civilian receives"),
    _share_of(
        "clues true",
        _truth(lambda own, other: own),
        about="share of the clues that can be checked that are true of the speaker's own picture",
    ),
    _share_of(
        "clues true of other",
        _truth(lambda own, other: other),
        about="share of the clues that can be checked that are true of the other side's picture",
    ),
    _low_share_of(
        "clues undecidable",
        _truth(lambda own, other: own is None),
        about="share of clues that the checker cannot decide",
    ),
    _share_of("informativeness", _informative, about="share of scenes that a clue excludes"),
    _count_of("clue words", _words, about="words of a clue"),
    _count_of("clue tokens", _tokens(True), about="tokens of a reply with a clue, reasoning included"),
    _count_of("decision tokens", _tokens(False), about="tokens of a reply with a vote, reasoning included"),
)
_FIRST = ("votes right", "won as spy", "clues true", "informativeness")
SIGHT_METRICS: tuple[Metric, ...] = (
    *(metric for name in _FIRST for metric in METRICS if metric.name == name),
    *(metric for metric in METRICS if metric.name not in _FIRST),
)
"""Where the model has one seat: first what depends on that seat alone."""


@dataclass(frozen=True)
class VisionZero(SuiteBuilder):
    """100 games on each source, half of them as the spy."""

    reference: str = option(
        "",
        help="the agent to play against; bot/clever by default, which cannot read charts",
        touches=Touch.PLAYER,
    )
    source: str = option(
        "",
        help="one picture set, by name or path, instead of the sources that come along",
        touches=Touch.READ,
        installed=installed_sources,
    )

    metrics: ClassVar[tuple[Metric, ...]] = METRICS

    def build(self) -> Suite:
        sources = {"set": self.source} if self.source else self._installed()
        tasks = tuple(self._task(name, f"source={where}", where) for name, where in sources.items())
        same = PAPER_REFERENCE in self.reference.lower()
        return self._suite("vision-zero", tasks, PUBLISHED if same else ())

    def _suite(self, name: str, tasks: tuple[Task, ...], published: tuple[Published, ...] = ()) -> Suite:
        about = "Vision-Zero: the spy game against a reference, as all civilians and as the spy."
        return Suite(name, about, tasks, published, DEVIATIONS, references=REFERENCES, paper=PAPER)

    def _task(self, name: str, options: str, source: str = FLAT) -> Task:
        if option := self._required_option(source):
            raise BadOption(f"no bot can read the pictures of {source}: name a model with {option}=SPEC.")
        game = f"spy?{options}"
        return Task(name, game, self._seatings(game), GAMES, self.metrics)

    def _required_option(self, source: str) -> str:
        """The option that must name players that can read the pictures of a source; empty for none."""
        return "" if self.reference or _described(source) else "reference"

    def _seatings(self, game: str) -> tuple[Seating, Seating]:
        """The model in all civilian seats, and the model as the spy."""
        civilians, reference = _civilians(game), self.reference or REFERENCE
        return (
            {SPY: reference, **dict.fromkeys(civilians, MODEL)},
            {SPY: MODEL, **dict.fromkeys(civilians, reference)},
        )

    def _installed(self) -> dict[str, str]:
        """The sources that are installed and that all players can read."""
        return {name: where for name, where in _sources().items() if not self._required_option(where)}


class VisionZeroMini(VisionZero):
    """A few games on drawn scenes."""

    def build(self) -> Suite:
        full = VisionZero(self.reference).build()
        return full.limited("vision-zero-mini", full.about, lambda task: FEW if task.name == "flat" else 0)


class VisionZeroAblations(VisionZero):
    """The paper's numbers of civilians and of clue rounds."""

    def build(self) -> Suite:
        source = self.source or FLAT
        varied = [f"civilians={count}" for count in (2, 3, 4)] + [f"rounds={count}" for count in (1, 2, 3)]
        tasks = (self._task(each.replace("=", "-"), f"{each}&source={source}", source) for each in varied)
        return self._suite("vision-zero-ablations", tuple(tasks))


def _sources() -> dict[str, str]:
    """Drawn scenes, and the sets that are installed."""
    names, sets = set_names(), {kind: largest_set(kind) for kind in SETS}
    return {FLAT: FLAT} | {kind: name for kind, name in sets.items() if name in names}


def _kind(source: str) -> str:
    return kind_of(with_hash(source))


def _described(source: str) -> bool:
    """Whether bots can read the pictures of a source."""
    return _kind(source) == "scenes"


def _civilians(game: str) -> list[str]:
    return [seat for seat in make(game).seats if seat != SPY]


def vote(name: str, source: str) -> Task:
    """Votes in twin worlds: the same clues, and the pictures of the civilians and of the spy exchanged."""
    right = rate_of("right", fact("right"), about="votes for the spy")
    abstained = rate_of("n/a", fact("abstained"), higher_is_better=False, about="abstentions")
    metrics = (both_of(fact("right")), right, abstained)
    return Task(f"vote/{name}", f"spy/vote?source={source}&twins=true", ({VOTER: MODEL},), GAMES, metrics)


@dataclass(frozen=True)
class VisionZeroSight(VisionZero):
    """Votes in twin worlds, and 100 games on each source with the model in one seat: as a civilian among
    others, and as the spy."""

    partners: str = option(
        "",
        help="the other players at the table, joined by commas; bots of several kinds by default, which "
        "cannot read charts",
        touches=Touch.PLAYER,
    )
    seats: str = option(
        "one", choices=("one", "copies"), help="seats of the model as civilians: one, or all as in the paper"
    )

    metrics = SIGHT_METRICS

    def build(self) -> Suite:
        sources = {"set": self.source} if self.source else _sources()
        votes = tuple(vote(name, where) for name, where in sources.items() if _kind(where) in VOTES)
        readable = sources if self.source else self._installed()
        games = tuple(self._task(name, f"source={where}", where) for name, where in readable.items())
        about = "Votes in twin worlds, and games with one seat for the model, as a civilian and as the spy."
        deviations = (*SEATS, *DEVIATIONS)
        return Suite(
            "vision-zero-sight",
            about,
            (*votes, *games),
            deviations=deviations,
            references=REFERENCES,
            paper=PAPER,
        )

    @property
    def _partners(self) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, self.partners.split(",")))) or PARTNERS

    def _required_option(self, source: str) -> str:
        return super()._required_option(source) or ("" if self.partners or _described(source) else "partners")

    def _seatings(self, game: str) -> tuple[Seating, Seating]:
        """The model as one civilian among partners or as all of them, and as the spy among partners."""
        civilians, reference = _civilians(game), self.reference or REFERENCE
        own = civilians[:1] if self.seats == "one" else civilians
        partners = dict(
            zip([seat for seat in civilians if seat not in own], cycle(self._partners), strict=False)
        )
        return (
            {SPY: reference, **dict.fromkeys(own, MODEL), **partners},
            {SPY: MODEL, **dict(zip(civilians, cycle(self._partners), strict=False))},
        )


class VisionZeroSightMini(VisionZeroSight):
    """A few games on drawn scenes."""

    def build(self) -> Suite:
        full = VisionZeroSight(self.reference, "", self.partners, self.seats).build()
        return full.limited(
            "vision-zero-sight-mini", full.about, lambda task: FEW if task.name.endswith("flat") else 0
        )
