"""Conformance checks: `check_game` tests a game against every rule of the contract.

    from ludens.testing import check_game

    def test_my_game() -> None:
        check_game(MyGame())

A broken rule raises a `ConformanceError` that names rule, seed and step. Each rule in `RULES` has a name and
a sentence, and can be checked alone: `hidden_information_stays_hidden(Trial(MyGame()))`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ludens.core.game import Game
from ludens.core.view import RenderOptions
from ludens.testing.states import (
    any_text_is_handled,
    clones_are_independent,
    episode_survives_json,
    facts_are_plain_json,
    game_is_described,
    games_end,
    global_randomness_is_not_used,
    illegal_actions_are_refused,
    legal_actions_apply,
    options_rebuild_the_game,
    replay_renders_the_same_pictures,
    returns_are_finite,
    roles_fallbacks_and_rewards_are_valid,
    same_seed_same_episode,
    stages_are_declared,
    to_act_and_legal_agree,
)
from ludens.testing.trial import VIEWS, ConformanceError, Rule, Trial
from ludens.testing.views import (
    every_seat_has_a_view,
    hidden_information_stays_hidden,
    picture_and_text_agree,
    pictures_have_the_requested_size,
    places_can_be_clicked,
    random_future_stays_hidden,
    reader_accepts_legal_actions,
    reader_rejects_everything_else,
    rendering_has_no_side_effects,
    rules_are_complete,
)

RULES: tuple[Rule, ...] = (
    game_is_described,
    rules_are_complete,
    same_seed_same_episode,
    to_act_and_legal_agree,
    games_end,
    facts_are_plain_json,
    returns_are_finite,
    clones_are_independent,
    legal_actions_apply,
    illegal_actions_are_refused,
    any_text_is_handled,
    global_randomness_is_not_used,
    every_seat_has_a_view,
    pictures_have_the_requested_size,
    rendering_has_no_side_effects,
    picture_and_text_agree,
    places_can_be_clicked,
    hidden_information_stays_hidden,
    random_future_stays_hidden,
    reader_accepts_legal_actions,
    reader_rejects_everything_else,
    episode_survives_json,
    replay_renders_the_same_pictures,
    options_rebuild_the_game,
    roles_fallbacks_and_rewards_are_valid,
    stages_are_declared,
)
"""All rules in the order in which they are checked: later ones rely on earlier ones."""

__all__ = ["RULES", "VIEWS", "ConformanceError", "Rule", "Trial", "check_game"]


def check_game(
    game: Game, *, seeds: Sequence[int] = (0, 1, 2), views: Sequence[RenderOptions] = VIEWS, steps: int = 1000
) -> None:
    """Test a game against every rule; the first broken one raises a `ConformanceError`.

    Args:
        game: The game with its options; it need not be registered.
        seeds: Which episodes are played.
        views: Render options to test; the first one is tested most.
        steps: Steps within which random play must end.
    """
    trial = Trial(game, tuple(seeds), tuple(views), steps)
    for each in RULES:
        each(trial)
