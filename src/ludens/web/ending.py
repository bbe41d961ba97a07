"""The end of a game, as the person of a seat is told it."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.plain import plural


def outcome_of(game: Game, episode: Episode, seat: str, specs: Mapping[str, str]) -> str:
    """One sentence: "You lost to bot/alphabeta after 23 moves."

    Args:
        game: The game.
        episode: What was played; nothing is said about one that is void.
        seat: Whose end it is.
        specs: Seat to player; without the other seats where it is not told who they are.
    """
    if episode.status == "void":
        return ""
    own, returns = episode.returns[seat], episode.returns
    others = {each: value for each, value in returns.items() if each != seat}
    after = f"after {plural(len({move.step for move in episode.moves}), 'move')}"
    if game.question:
        return {1.0: "Right.", 0.0: "Wrong."}.get(own, f"You scored {own:.0%}.")
    if not others:
        return f"You scored {own:g} {after}."
    if game.cooperative:
        return f"Together you scored {own:g} {after}."
    if len(others) == 1 and abs(sum(returns.values())) < 1e-9:
        [other] = others
        who = _player(other, specs)
        if own == returns[other]:
            return f"You drew with {who} {after}."
        return f"You won against {who} {after}." if own > returns[other] else f"You lost to {who} {after}."
    scores = ", ".join(f"{_player(each, specs)} {value:g}" for each, value in others.items())
    return f"You scored {own:g} {after}; the others: {scores}."


def _player(seat: str, specs: Mapping[str, str]) -> str:
    spec = specs.get(seat, seat)
    return f"the other person ({seat})" if spec == "human" else spec
