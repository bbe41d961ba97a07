"""Replies with any characters: every game records them, and what is recorded can be stored and verified."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludens import GAMES, Episode, Game, PlayConfig, make, play, samples, verify
from ludens.core.agent import Agent, Reply
from ludens.core.errors import AgentFailure, Unreadable
from ludens.core.view import RenderOptions
from ludens.models.chat import Answer
from ludens.run.lines import read_records
from tests.support.model_server import ModelServer
from tests.support.pebbles import Talk
from tests.support.playable import playable
from tests.support.players import Scripted
from tests.support.runs import plan_of
from tests.support.runs import played as run_plan

HALF = "\ud800"
UNITS = (HALF, "\udfff", r"\ud800", r"\udc00", "\x00", "\x1b[2J", "\x85", "\u202e", "\u2066", "\ufeff", "😀")
HOSTILE = st.text() | st.lists(st.sampled_from(UNITS), min_size=1, max_size=6).map("".join)
LONG = st.builds(str.__mul__, st.sampled_from(UNITS), st.sampled_from([500, 5_000, 25_000]))
TEXTS = HOSTILE | LONG
ANSWERS = (
    '[{{"step": 1, "actions": {{"{0}": ["Move", "apple"]}}}}]',
    '[{{"step": 1, "actions": {{"R1": ["Move", "{0}"]}}}}]',
    '[{{"step": 1, "actions": {{"{0}": [1]}}}}]',
    '{{"R1": ["{0}", "apple"]}}',
    '{{"action": ["Move", "{0}"], "message": ""}}',
    '{{"action": null, "message": "{0}"}}',
    '["{0}"]',
    "('{0}',)",
    "\\boxed{{{0}}}",
    "Action: {0}",
    "<think>{0}</think>",
    "{0}",
)
"""Replies in the forms that games read."""


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    text = draw(st.sampled_from(ANSWERS)).format(draw(TEXTS))
    action = draw(st.none() | TEXTS | st.just(text))
    return Reply(text, action, finish=draw(HOSTILE), reasoning=draw(TEXTS))


def played(game: Game, said: Sequence[str | Reply | BaseException], retries: int = 0) -> Episode:
    """An episode in which every seat says this."""
    agents: dict[str, Agent] = {seat: Scripted(says=said) for seat in game.seats}
    config = PlayConfig(retries=retries, horizon=3)
    return asyncio.run(play(game, agents, 0, config=config, render=RenderOptions(size=256)))


def check_stored(episode: Episode, game: Game) -> None:
    """What is read back is what was played: it is verified, and its prompts are built again."""
    assert episode.status in ("done", "horizon", "forfeit"), episode.error
    stored = Episode.from_json(episode.to_json())
    assert stored.fingerprint() == episode.fingerprint()
    verify(stored, game)
    for sample in samples(stored, game):
        texts = [part for message in sample.messages for part in message.parts if isinstance(part, str)]
        "".join([sample.completion, *texts]).encode()


game_of = cache(playable)


@pytest.mark.parametrize("name", GAMES.names())
def test_every_game_takes_any_reply(name: str) -> None:
    game = game_of(name)

    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    @given(said=st.lists(replies(), min_size=1, max_size=4), retries=st.integers(0, 2))
    def check(said: list[Reply], retries: int) -> None:
        check_stored(played(game, said, retries), game)

    check()


@pytest.mark.parametrize("name", ["activate", "plan", "plan?feedback=2", "act", "team"])
@pytest.mark.parametrize("answer", [form.format(r"\ud800") for form in ANSWERS])
def test_half_a_pair_that_json_spells_is_not_stored(name: str, answer: str) -> None:
    game = game_of(f"viki/{name}")
    check_stored(played(game, [f"<think>Hm.</think><answer>{answer}</answer>"], retries=1), game)


def test_half_a_pair_that_json_spells_is_no_answer() -> None:
    episode = played(game_of("viki/team"), ['{"action": null, "message": "\\ud800"}'])
    assert {attempt.verdict for move in episode.moves for attempt in move.tries} == {"unreadable"}
    assert "no character" in episode.moves[0].tries[0].reason


def test_half_a_pair_in_a_message_is_replaced() -> None:
    episode = played(Talk(), [f"a{HALF}b"])
    assert {move.action for move in episode.moves} == {"a?b"}
    assert all(move.tries == [] for move in episode.moves)
    check_stored(episode, Talk())


def test_an_action_is_as_long_as_a_reply_at_most() -> None:
    agents: dict[str, Agent] = dict.fromkeys(Talk().seats, Scripted(says=[Reply("hm", "x" * 30)]))
    episode = asyncio.run(play(Talk(), agents, 0, config=PlayConfig(reply_limit=20)))
    assert {move.action for move in episode.moves} == {"x" * 20}


def test_a_refused_action_is_recorded_in_place_of_the_text() -> None:
    episode = played(make("tic_tac_toe"), [Reply("I think of a1.", "z9")])
    assert {attempt.text for move in episode.moves for attempt in move.tries} == {"z9"}
    check_stored(episode, make("tic_tac_toe"))


def test_reasons_and_errors_can_be_stored() -> None:
    refused = Unreadable(f"not {HALF}")
    refused.reply = Reply(f"{HALF}!", finish=HALF, reasoning=HALF)
    episode = played(make("tic_tac_toe"), [refused])
    [attempt] = episode.moves[0].tries
    assert (attempt.text, attempt.reason, attempt.finish, attempt.reasoning) == ("?!", "not ?", "?", "?")
    void = played(make("tic_tac_toe"), [AgentFailure(f"down: {HALF}")])
    assert (void.status, void.error) == ("void", "down: ?")
    assert Episode.from_json(void.to_json()) == void


async def test_an_evaluation_goes_on_after_half_a_pair(tmp_path: Path) -> None:
    """The server spells it in JSON twice: in the text of the answer, and in the answer's own JSON."""

    def says(prompt: str, digest: bytes) -> str:
        return '\ud800<answer>[{"step": 1, "actions": {"\\ud800": [1]}}]</answer>'

    async with ModelServer(player=says) as server:
        plan = plan_of(f"compat/m@{server.url}", suite="viki-mini", tasks=("plan/in-domain",), limit=2)
        result = await run_plan(tmp_path / "run", plan)
    assert result.complete
    records = list(read_records(tmp_path / "run"))
    assert [record.episode.status for record in records] == ["done"] * 2
    for record in records:
        check_stored(record.episode, make("viki/plan", split="id"))


def test_names_of_models_can_be_stored() -> None:
    answer = Answer(HALF, model=HALF, reasoning=HALF)
    assert (answer.text, answer.model, answer.reasoning) == ("?", "?", "?")
