"""The contract as a test: `check_game` tries a game against every rule of the house.

    from ludens.testing import check_game

    def test_my_game() -> None:
        check_game(MyGame())

A broken rule raises a `ConformanceError` that names rule, seed and step. Each rule in `RULES` has a name and
a sentence, and can be checked alone: `secrets_stay_hidden(Trial(MyGame()))`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ludens.core.game import Game
from ludens.core.view import RenderOptions
from ludens.testing.episodes import (
    episode_survives_json,
    options_rebuild_the_game,
    replay_shows_the_same_frames,
)
from ludens.testing.replies import reader_rejects_the_rest, reader_takes_legal_actions
from ludens.testing.states import (
    clones_are_independent,
    facts_are_plain_json,
    game_introduces_itself,
    games_end,
    global_randomness_is_untouched,
    illegal_actions_are_refused,
    legal_actions_apply,
    returns_are_finite,
    same_seed_same_episode,
    turn_and_legal_fit,
    words_cannot_break_it,
)
from ludens.testing.trial import VIEWS, ConformanceError, Rule, Trial
from ludens.testing.views import (
    every_seat_sees_at_every_turn,
    picture_and_text_tell_the_same,
    pictures_have_the_asked_size,
    rules_are_told,
    secrets_stay_hidden,
    showing_changes_nothing,
)

RULES: tuple[Rule, ...] = (
    game_introduces_itself,
    rules_are_told,
    same_seed_same_episode,
    turn_and_legal_fit,
    games_end,
    facts_are_plain_json,
    returns_are_finite,
    clones_are_independent,
    legal_actions_apply,
    illegal_actions_are_refused,
    words_cannot_break_it,
    global_randomness_is_untouched,
    every_seat_sees_at_every_turn,
    pictures_have_the_asked_size,
    showing_changes_nothing,
    picture_and_text_tell_the_same,
    secrets_stay_hidden,
    reader_takes_legal_actions,
    reader_rejects_the_rest,
    episode_survives_json,
    replay_shows_the_same_frames,
    options_rebuild_the_game,
)
"""Every rule, in the order in which they are checked: later ones lean on earlier ones."""

__all__ = ["RULES", "VIEWS", "ConformanceError", "Rule", "Trial", "check_game"]


def check_game(
    game: Game, *, seeds: Sequence[int] = (0, 1, 2), views: Sequence[RenderOptions] = VIEWS, steps: int = 1000
) -> None:
    """Try a game against every rule; the first broken one raises a `ConformanceError`.

    Args:
        game: The game with its options; it need not be registered.
        seeds: Which episodes are tried.
        views: Which looks are tried; the first one the most.
        steps: Within how many steps random play must end.
    """
    trial = Trial(game, tuple(seeds), tuple(views), steps)
    for each in RULES:
        each(trial)
