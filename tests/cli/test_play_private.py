"""`ludens play` prints of other seats' moves only what the person may know."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from ludens import make
from ludens.agents import AGENTS
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.random import stream
from ludens.core.registry import GAMES
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.dialogue import Comma, Dialogue
from ludens.games.spy.game import SpyState
from tests.cli.conftest import Run
from tests.support.pebbles import Pebbles

PUBLIC_ACTIONS = {"hanabi", "tiny_hanabi", "kuhn_poker"}
"""Games of imperfect information in which every action is public."""
STEP = re.compile(r"^ +\d+\. ", re.MULTILINE)


class Stdin(io.StringIO):
    """Standard input that records what was printed before each line was read."""

    def __init__(self, text: str, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(text)
        self.printed: list[str] = []
        self._capsys = capsys

    def readline(self, size: int | None = -1, /) -> str:
        shown = self._capsys.readouterr()
        self.printed.append(shown.out + shown.err)
        return super().readline(-1 if size is None else size)


def imperfect() -> list[str]:
    games = {name: GAMES.get(name) for name in GAMES.names()}
    return [name for name, game in games.items() if game.imperfect_information and len(game().seats) > 1]


@pytest.mark.parametrize("name", [name for name in imperfect() if name != "viki/team"])
def test_public_actions_are_what_the_other_seats_may_know(name: str) -> None:
    game = make(name)
    view, state, random = view_of(game, RenderOptions(), 0), game.start(1), stream(1, name)
    for _ in range(6):
        if state.over:
            break
        [seat] = state.to_act
        if isinstance(state, Dialogue):
            action = "\n".join(["Look.", *random.sample(state.puzzle.actions, 2)])
        else:
            action = state.legal(seat).sample(random)
        state.apply({seat: action})
        shown = view.public_action(state, seat, action)
        if isinstance(state, SpyState):
            assert all(shown in view.notes(state, other) for other in game.seats)
            continue
        if not isinstance(state, Dialogue):
            assert name in PUBLIC_ACTIONS
            assert shown == action
            continue
        assert seat == "expert" or not set(shown.splitlines()) & state.puzzle.hidden
        [other] = {*game.seats} - {seat}
        assert "\n".join(f"    {line}" for line in shown.splitlines()) in view.notes(state, other)


def test_only_messages_of_robots_are_public() -> None:
    game = make("viki/team")
    view, state = view_of(game, RenderOptions(), 0), game.start(1)
    secret, nothing = map(
        state.canonical,
        ('{"action": ["Move", "table"], "message": "I go."}', '{"action": null, "message": ""}'),
    )
    state.apply({seat: secret if seat == "R1" else nothing for seat in game.seats})
    shown = view.public_action(state, "R1", secret)
    assert "Move" not in shown
    assert shown in ("(moved)", "I go.")
    assert "I go." in view.notes(state, "R2")


def test_actions_are_private_by_default_where_information_is_imperfect() -> None:
    game = Pebbles()
    state = game.start(0)
    state.apply({"left": "take 1"})
    assert view_of(game, RenderOptions(), 0).public_action(state, "left", "take 1") == "(moved)"


@pytest.mark.parametrize("name", [name for name in imperfect() if name.startswith("comma/")])
def test_a_human_expert_does_not_see_private_keys(
    name: str,
    ludens: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    game = make(name)
    assert isinstance(game, Comma)
    hidden = sorted(game.start(0).puzzle.hidden)

    @dataclass
    class Pressing(Agent):
        sees = "nothing"

        async def act(self, ask: Ask) -> Reply:
            return Reply("\n".join(["I see a panel.", *hidden]))

    monkeypatch.setitem(AGENTS._added, "bot/pressing", Pressing)
    stdin = Stdin("What do you see?\n", capsys)
    monkeypatch.setattr("sys.stdin", stdin)
    ran = ludens("play", name, "--seat", "solver=bot/pressing", "--seat", f"expert=human?pictures={tmp_path}")
    printed = "".join(stdin.printed) + ran.out + ran.err
    assert "1. solver I see a panel." in printed
    assert not {line.strip() for line in printed.splitlines()} & set(hidden)


def test_the_moves_of_bots_are_printed_in_full(ludens: Run) -> None:
    ran = ludens("play", "comma/atm?turns=2", "--seat", "solver=bot/oracle", "--seat", "expert=bot/oracle")
    assert "(a private key)" not in ran.out


@pytest.mark.parametrize("name", ["battle_of_colors", "coin_dilemma", "monster_hunt", "overcooked"])
def test_simultaneous_moves_are_printed_after_all_have_moved(
    name: str,
    ludens: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    game = make(name, horizon=3)
    person, bot = game.seats[::-1]
    assert len(game.start(0).to_act) == 2
    stdin = Stdin(f"{game.start(0).legal(person)[-1]}\n" * 3, capsys)
    monkeypatch.setattr("sys.stdin", stdin)
    ran = ludens("play", f"{name}?horizon=3", "--seat", f"{person}=human?pictures={tmp_path}")
    assert [len(STEP.findall(text)) for text in stdin.printed] == [0, 1, 1]
    assert len(STEP.findall(ran.out)) == 1
    assert f"{bot} " in ran.out
