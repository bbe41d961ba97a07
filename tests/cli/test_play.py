"""`ludens play` with bots in this process, and with people at real pipes and terminals."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from ludens import Episode, verify
from ludens.agents import AGENTS
from ludens.agents.human import Human
from ludens.core.agent import Agent, Ask, Reply
from tests.cli.conftest import Run


def test_other_seats_get_random_bots(ludens: Run) -> None:
    ran = ludens("play", "tic_tac_toe", "--seat", "o=bot/first", "--seed", "2")
    assert (ran.code, ran.err) == (0, "")
    head, *moves, end = ran.out.splitlines()
    assert head == "tic_tac_toe, seed 2: x is bot/random, o is bot/first"
    assert moves[0].startswith("   1. x ")
    assert end.startswith(f"Finished after {len(moves)} steps: x ")


def test_the_episode_is_saved_and_replays(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "episode.json"
    ran = ludens("play", "coin_dilemma?horizon=4", "--seat", "red=bot/self_interest", "--out", str(file))
    assert ran.code == 0
    assert str(file) in ran.out
    episode = Episode.from_json(file.read_bytes())
    assert episode.seats == {"red": "bot/self_interest", "blue": "bot/random"}
    assert len(episode.moves) == 8
    verify(episode)


def test_json_is_the_episode(ludens: Run) -> None:
    argv = ("play", "tic_tac_toe", "--theme", "plain", "--size", "300", "--json")
    episode = Episode.from_json(ludens(*argv).out)
    assert (episode.theme, episode.size, episode.status) == ("plain", 300, "done")
    again = Episode.from_json(ludens(*argv).out)
    assert again.fingerprint() == episode.fingerprint()


def test_control_characters_are_removed(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Rude(Agent):
        kind = "bot/rude"
        sees = "nothing"

        async def act(self, ask: Ask) -> Reply:
            return Reply("", "\x1b[2J[red]gone")

    monkeypatch.setitem(AGENTS._added, "bot/rude", Rude)
    ran = ludens("play", "comma/wire?turns=1", "--seat", "solver=bot/rude")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "[2J[red]gone" in ran.out


def test_a_bot_that_raises_aborts_the_game(
    ludens: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @dataclass
    class Broken(Agent):
        kind = "bot/broken"
        sees = "nothing"

        async def act(self, ask: Ask) -> Reply:
            raise RuntimeError("no idea")

    monkeypatch.setitem(AGENTS._added, "bot/broken", Broken)
    file = tmp_path / "episode.json"
    ran = ludens("play", "tic_tac_toe", "--seat", "o=bot/broken", "--out", str(file))
    assert ran.code == 1
    assert "Void after 1 step: " in ran.out
    [line] = ran.err.splitlines()
    assert "aborted by o" in line
    assert "no idea" in line
    assert "Traceback" in caplog.text
    episode = Episode.from_json(file.read_bytes())
    assert (episode.status, episode.culprit, len(episode.moves)) == ("void", "o", 1)


def test_a_person_types_into_a_pipe(process: Run, tmp_path: Path) -> None:
    file = tmp_path / "episode.json"
    human = f"x=human?pictures={tmp_path}"
    typed = "B2\nZ9\nb2\n\n" + "".join(f"{row}{column}\n" for row in "ac" for column in "123") + "B1\nB3\n"
    ran = process("play", "tic_tac_toe", "--seat", human, "--out", str(file), typed=typed)
    assert ran.code == 0
    assert "'Z9' is not a legal action for x now" in ran.err
    assert "You are X." in ran.err
    assert (tmp_path / "x-001.png").read_bytes().startswith(b"\x89PNG")
    episode = Episode.from_json(file.read_bytes())
    mine = [move for move in episode.moves if move.seat == "x"]
    assert [(move.action, move.verdict) for move in mine[:2]] == [("B2", "ok"), (mine[1].action, "retried")]
    assert [t.verdict for t in mine[1].tries[:3]] == ["illegal"] * 3
    assert verify(episode).pictures == len(mine)


def test_two_people_take_turns_at_one_pipe(process: Run) -> None:
    argv = ("play", "coin_dilemma?horizon=2", "--seat", "red=human", "--seat", "blue=human", "--json")
    ran = process(*argv, typed="UP\ndown\nleft\nSTAY\n")
    assert ran.code == 0
    actions = [(move["seat"], move["action"]) for move in json.loads(ran.out)["moves"]]
    assert actions == [("red", "UP"), ("blue", "DOWN"), ("red", "LEFT"), ("blue", "STAY")]


@pytest.mark.parametrize("typed", ["B2\n", "B2\nquit\n", "b2\nQUIT\nA1\n"])
def test_leaving_is_not_a_failure(ludens: Run, tmp_path: Path, typed: str) -> None:
    file = tmp_path / "episode.json"
    argv = ("play", "tic_tac_toe", "--seat", "x=human", "--seat", "o=bot/first", "--out", str(file))
    ran = ludens(*argv, typed=typed)
    assert ran.code == 0
    assert "You left the game after 2 steps" in ran.out
    assert "void" not in (ran.out + ran.err).lower()
    assert "aborted" not in ran.err
    episode = Episode.from_json(file.read_bytes())
    assert (episode.status, episode.culprit) == ("void", "x")


def test_an_error_is_not_called_leaving(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(human: Human, ask: Ask) -> str:
        raise OSError("disk full")

    monkeypatch.setattr(Human, "_describe", broken)
    ran = ludens("play", "tic_tac_toe", "--seat", "x=human")
    assert ran.code == 1
    assert "left the game" not in ran.out
    assert "disk full" in ran.err


def test_help_prints_rules_actions_and_how_to_leave(ludens: Run) -> None:
    ran = ludens(
        "play", "tic_tac_toe", "--seat", "x=human", "--seat", "o=bot/first", typed="B2\nhelp\nquit\n"
    )
    assert ran.code == 0
    helped = ran.err.split("x> ")[2]
    assert "You are X." in helped
    assert "legal actions: " in helped
    assert "'quit'" in helped
    assert "not accepted" not in ran.err


def test_help_is_not_sent_as_a_message(ludens: Run) -> None:
    argv = ("play", "comma/wire?turns=1", "--seat", "solver=human", "--json")
    ran = ludens(*argv, typed="help\nHelp!\n")
    assert ran.code == 0
    assert [move["action"] for move in json.loads(ran.out)["moves"]] == ["Help!"]


def test_ctrl_c_stops_at_once() -> None:
    code = "import sys, fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from ludens.cli import main; "
    code += "sys.exit(main(['play', 'tic_tac_toe', '--seat', 'x=human']))"
    near, far = pty.openpty()
    player = subprocess.Popen(
        [sys.executable, "-c", code], stdin=far, stdout=far, stderr=far, start_new_session=True
    )
    os.close(far)
    try:
        assert "x> " in _until(near, "x> ")
        os.write(near, b"B2\n")
        assert "your move 2" in _until(near, "x> ")
        os.write(near, b"\x03")
        assert "ludens: stopped." in _until(near, "stopped.")
        assert player.wait(timeout=60) == 130
    finally:
        player.kill()
        player.wait()
        os.close(near)


def test_words_are_wrapped_to_the_width_of_the_terminal() -> None:
    code = "import sys; from ludens.cli import main; "
    code += "sys.exit(main(['play', 'comma/wire?turns=1', '--seat', 'solver=human']))"
    near, far = pty.openpty()
    termios.tcsetwinsize(far, (40, 44))
    player = subprocess.Popen([sys.executable, "-c", code], stdin=far, stdout=far, stderr=far)
    os.close(far)
    try:
        shown = _until(near, "solver> ")
        os.write(near, b"four and twenty blackbirds baked in a pie for the king\n")
        shown += _until(near, "Finished")
        assert player.wait(timeout=60) == 0
    finally:
        player.kill()
        player.wait()
        os.close(near)
    lines = [line.rstrip() for line in shown.splitlines()]
    typed = next(number for number, line in enumerate(lines) if line.startswith("solver> four"))
    assert (
        max(
            len(line)
            for line in lines[:typed]
            if not line.startswith("comma/wire,") and "/ludens-" not in line
        )
        <= 44
    )
    assert "   1. solver four and twenty blackbirds" in lines
    assert "      baked in a pie for the king" in lines


def _until(source: int, mark: str) -> str:
    """Terminal output up to `mark`."""
    shown, deadline = b"", time.monotonic() + 120
    while mark.encode() not in shown and (left := deadline - time.monotonic()) > 0:
        if not select.select([source], [], [], left)[0]:
            break
        try:
            shown += os.read(source, 4096)
        except OSError:  # the other end is closed
            break
    return shown.decode(errors="replace")


def test_messages_of_several_lines_are_indented(ludens: Run) -> None:
    ran = ludens("play", "comma/wire", "--seat", "solver=bot/oracle", "--seat", "expert=bot/oracle")
    lines = ran.out.splitlines()[1:-1]
    assert any(line.startswith("      ") for line in lines)
    assert all(line.startswith("   ") for line in lines)
