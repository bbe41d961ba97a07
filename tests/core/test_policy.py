"""Who may set options that name files, programs, addresses and keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from ludens.agents import player_accesses
from ludens.agents.bots import First
from ludens.concurrent import play_sync
from ludens.core import policy
from ludens.core.errors import BadOption
from ludens.core.options import Touch, option
from ludens.core.policy import MOST_NESTED, Access, Setter, game_accesses, make_by, permit
from ludens.core.registry import GAMES, make
from ludens.core.verify import verify
from ludens.games.tic_tac_toe import TicTacToe
from ludens.models import MODELS
from ludens.pictures import open_set
from ludens.run.plan import make_plan

BOARD = make("tic_tac_toe")


@pytest.fixture(autouse=True)
def _nothing_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_confirmed", set())


@dataclass(frozen=True)
class Fetching(TicTacToe):
    """A game of another package that asks a server."""

    server: str = option("", help="its address", touches=Touch.CONNECT)
    made = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        Fetching.made += 1


@pytest.mark.parametrize(
    ("touch", "value", "file"),
    [
        (Touch.READ, "/etc", True),
        (Touch.PAY, "gpt-4.1", True),
        (Touch.WRITE, "/etc", False),
        (Touch.RUN, "/bin/sh", False),
        (Touch.KEY, "HOME", False),
        (Touch.PLAYER, "bot/random", False),
        (Touch.CONNECT, "https://evil.example", False),
        (Touch.CONNECT, "http://127.0.0.1.evil.example", False),
        (Touch.CONNECT, "http://[", False),
        (Touch.CONNECT, "http://localhost:8000/v1", True),
        (Touch.CONNECT, "http://[::1]:8000", True),
    ],
)
def test_the_rules(touch: Touch, value: str, file: bool) -> None:
    access = Access("x", "y", touch, value)
    assert [access.is_free(setter) for setter in Setter] == [True, file, False]
    assert all(replace(access, installed=True).is_free(setter) for setter in Setter)
    if not file:
        with pytest.raises(BadOption, match="add --allow"):
            permit([access], Setter.FILE, ["another"])
    permit([access], Setter.FILE, [value])
    permit([access], Setter.FILE)
    with pytest.raises(BadOption, match="installed here"):
        permit([access], Setter.VISITOR)


def test_visitors_may_use_defaults_and_installed_names() -> None:
    named = open_set("clevr-16")
    for source in ("flat", "clevr", "chart-16", f"clevr-16@{named.hash}"):
        assert make_by(Setter.VISITOR, "spy", source=source) == make("spy", source=source)
    assert make_by(Setter.VISITOR, "viki/plan?pictures=viki-8&data=").name == "viki/plan"
    assert make_by(Setter.VISITOR, "hanabi?players=3").options["players"] == 3


@pytest.mark.parametrize(
    "spec",
    [
        "spy?source=",
        "spy?source=.",
        "spy?source=/etc",
        "spy?source=/etc@0123456789abcdef",
        "spy?source=clevr-16@0123456789abcdef",
        "spy?source=../clevr-16",
        "spy?source=viki-8",
        "viki/plan?data=/etc",
        "viki/trace?look=camera&pictures=/etc",
        "viki/activate?pictures=clevr-16",
        "rule?board=spy?source=/etc",
        "perceive?board=viki/plan?data=/etc",
        "perceive?board=rule?board=spy%3Fsource=/etc",
    ],
)
def test_visitors_may_not_name_anything_else(spec: str) -> None:
    with pytest.raises(BadOption, match="installed here"):
        make_by(Setter.VISITOR, spec)


def test_specs_inside_of_specs_are_bounded() -> None:
    with pytest.raises(BadOption, match=f"more than {MOST_NESTED}"):
        list(game_accesses("rule?board=" * 700 + "tic_tac_toe"))


def test_an_episode_may_not_make_a_game_reach_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES._added, "fetching", Fetching)
    episode = play_sync(make("tic_tac_toe"), {"x": First(), "o": First()}, 0)
    before = Fetching.made
    for game, options in (
        ("fetching", {"server": "https://evil.example"}),
        ("rule", {"board": "fetching?server=https://evil.example"}),
    ):
        with pytest.raises(BadOption, match="a file may not decide"):
            verify(replace(episode, game=game, options=options))
    assert Fetching.made == before
    make_plan("play?game=fetching%3Fserver=https://mine.example", {"human": "human"})  # typed by the person
    assert make_by(Setter.FILE, "fetching?server=https://mine.example")


def test_players() -> None:
    def found(spec: str) -> list[tuple[Touch, str]]:
        return [(access.touch, access.value) for access in player_accesses(spec, BOARD)]

    assert not found("bot/mcts?simulations=5")
    assert not found("nano?temperature=1")
    assert not found("bot/nobody?engine=/bin/sh")
    assert found("human?pictures=/tmp") == [(Touch.WRITE, "/tmp")]
    assert found("openai/gpt-4.1?key_env=HOME&templates=/t&temperature=0") == [
        (Touch.PAY, "gpt-4.1"), (Touch.KEY, "HOME"), (Touch.READ, "/t"),
    ]  # fmt: skip
    assert found("compat/x@http://h/v1?cache=c") == [
        (Touch.PAY, "x"), (Touch.WRITE, "c"), (Touch.CONNECT, "http://h/v1"),
    ]  # fmt: skip
    chess = [access.value for access in player_accesses("bot/uci?engine=/bin/sh&nodes=5", make("chess"))]
    assert chess == ["/bin/sh"]


def test_models_of_other_packages_that_declare_nothing_are_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(MODELS._added, "theirs", lambda spec: None)
    accesses = list(player_accesses("theirs/x?weights=/somewhere&temperature=0", BOARD))
    with pytest.raises(BadOption, match="--allow /somewhere"):
        permit(accesses, Setter.FILE)
    permit(accesses, Setter.FILE, ["/somewhere"])
