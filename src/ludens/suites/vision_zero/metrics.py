"""Metrics of the spy game: wins by role, votes, truth and informativeness of clues, lengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ludens.core.episode import Move
from ludens.core.errors import UsageError
from ludens.core.replay import game_of
from ludens.games.spy.checker import check, informativeness
from ludens.games.spy.clues import Truth
from ludens.games.spy.game import SPY, Spy, clean_clue
from ludens.games.spy.pairs import described
from ludens.games.spy.scene import ScenePair
from ludens.run.task import COUNT, EpisodeResult, Metric, mean_of, rate_of


def _as_spy(played: EpisodeResult) -> bool:
    return SPY in played.seats


def _won(played: EpisodeResult) -> bool:
    """Whether the side of the agent won; other players may be on its side."""
    return all(played.episode.returns[seat] == 1.0 for seat in played.seats)


def _won_as(role_is_spy: bool) -> Callable[[EpisodeResult], bool | None]:
    """Whether a game was won; None for games in the other role."""
    return lambda played: _won(played) if _as_spy(played) == role_is_spy else None


def _votes(holds: Callable[[EpisodeResult, str], bool]) -> Callable[[EpisodeResult], float | None]:
    """The share of the agent's votes of which something holds; None where it does not vote."""

    def value(played: EpisodeResult) -> float | None:
        votes = [vote for seat, vote in played.episode.facts["votes"].items() if seat in played.seats]
        return sum(holds(played, vote) for vote in votes) / len(votes) if votes else None

    return value


def _right(played: EpisodeResult, vote: str) -> bool:
    return vote == str(played.episode.facts["spy"])


def _received(role_is_spy: bool) -> Callable[[EpisodeResult], float | None]:
    """The votes that the agent received in one role, as a share of all voters."""

    def value(played: EpisodeResult) -> float | None:
        facts = played.episode.facts
        if _as_spy(played) != role_is_spy or not facts["votes"]:
            return None
        by_seat = zip(facts["table"], facts["received"], strict=True)
        received = [votes for seat, votes in by_seat if seat in played.seats]
        return float(sum(received) / len(received) / len(facts["votes"]))

    return value


def _clues(played: EpisodeResult) -> list[str]:
    """The clues of the agent under measurement, without those that could not be read."""
    return [clue for move in _moves(played, clues=True) if (clue := clean_clue(move.action))]


def _moves(played: EpisodeResult, clues: bool) -> list[Move]:
    """The clue or vote moves of the agent under measurement."""
    game, facts = played.episode.options, played.episode.facts
    spoken = len(facts["table"]) * int(game["rounds"])
    moves = played.episode.moves[:spoken] if clues else played.episode.moves[spoken:]
    return [move for move in moves if move.seat in played.seats]


def _pair(played: EpisodeResult) -> ScenePair | None:
    """The scenes of an episode; None where they are not described, or the picture set is not here."""
    try:
        game = game_of(played.episode)
        assert isinstance(game, Spy)
        return described(game.start(played.episode.seed).pair)
    except UsageError:
        return None


def _truth(of: Callable[[Truth, Truth], bool | None]) -> Callable[[EpisodeResult], float | None]:
    """The share of clues for which `of(own picture, other picture)` holds; None does not count."""

    def value(played: EpisodeResult) -> float | None:
        pair = _pair(played)
        if pair is None:
            return None
        own, other = pair.original, pair.modified
        if _as_spy(played):
            own, other = other, own
        values = [of(check(clue, own), check(clue, other)) for clue in _clues(played)]
        counted = [value for value in values if value is not None]
        return sum(counted) / len(counted) if counted else None

    return value


def _informative(played: EpisodeResult) -> float | None:
    clues = _clues(played)
    if not clues or _pair(played) is None:
        return None
    return sum(map(informativeness, clues)) / len(clues)


def _tokens(clues: bool) -> Callable[[EpisodeResult], float | None]:
    """Mean output tokens of a reply in a stage, reasoning included; None where they were not counted."""

    def value(played: EpisodeResult) -> float | None:
        used = [each.usage.output_tokens for m in _moves(played, clues) for each in m.tries if each.usage]
        return sum(used) / len(used) if used else None

    return value


def _words(played: EpisodeResult) -> float | None:
    clues = _clues(played)
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
