"""Conformance checks: `check_game` tests a game against every rule of the contract.

    from ludens.testing import check_game

    def test_my_game() -> None:
        check_game(MyGame())

A broken rule raises a `ConformanceError` that names rule, seed and step. Each rule in `RULES` has a name and
a sentence, and can be checked alone: `views.hidden_information_stays_hidden(Trial(MyGame()))`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ludens.core.game import Game
from ludens.core.view import RenderOptions
from ludens.testing import states, views
from ludens.testing.trial import VIEWS, ConformanceError, Rule, Trial

RULES: tuple[Rule, ...] = (
    states.game_is_described,
    views.rules_are_complete,
    states.same_seed_same_episode,
    states.a_seed_decides_only_what_is_declared,
    states.to_act_and_legal_agree,
    states.games_end,
    states.facts_are_plain_json,
    states.returns_are_finite,
    states.clones_are_independent,
    states.legal_actions_apply,
    states.illegal_actions_are_refused,
    states.any_text_is_handled,
    states.global_randomness_is_not_used,
    views.every_seat_has_a_view,
    views.pictures_have_the_requested_size,
    views.rendering_has_no_side_effects,
    views.picture_and_text_agree,
    views.places_can_be_clicked,
    views.people_can_answer,
    views.hidden_information_stays_hidden,
    views.random_future_stays_hidden,
    views.reader_accepts_legal_actions,
    views.reader_rejects_everything_else,
    states.episode_survives_json,
    states.replay_renders_the_same_pictures,
    states.options_rebuild_the_game,
    states.roles_fallbacks_and_rewards_are_valid,
    states.stages_are_declared,
    states.every_legal_action_is_listed,
    views.twins_differ_only_in_pictures,
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
