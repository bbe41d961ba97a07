"""The spy game in the terminal: a person at the table, and replays without the picture set."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.games.spy.game import Spy
from ludens.run.lines import read_records
from tests.cli.conftest import Run
from tests.support.picture_pairs import made_set

BOTS = ("--seat", "spy=bot/clever", "--seat", "civilian_2=bot/clever")


def test_a_person_types_a_plain_sentence_and_a_number(ludens: Run) -> None:
    typed = "There is a } cube\n9\nn/a\n"
    ran = ludens(
        "play", "spy", "-o", "civilians=2", "-o", "rounds=1", "--seat", "civilian_1=human", *BOTS, typed=typed
    )
    assert ran.code == 0, ran.err
    assert ran.err.count("not accepted") == 1
    number = Spy(civilians=2).start(0).table.index("civilian_1") + 1
    assert f'player {number} "There is a ) cube"' in ran.out


def test_the_terminal_does_not_tell_a_person_who_the_spy_is(ludens: Run) -> None:
    typed = "There is a cube\nn/a\n"
    ran = ludens(
        "play", "spy", "-o", "civilians=2", "-o", "rounds=1", "--seat", "civilian_1=human", *BOTS, typed=typed
    )
    [steps] = [ran.out[ran.out.index("   1. ") : ran.out.index("Finished")]]
    assert "spy" not in steps
    assert "civilian" not in steps
    assert steps.count("player") == 3 + 2


def test_a_replay_without_the_set_shows_the_moves_and_says_what_is_missing(
    ludens: Run, process: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_set(tmp_path / "sets")
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path / "sets"))
    episode = tmp_path / "episode.json"
    options = ("-o", "civilians=2", "-o", "rounds=1", "-o", "source=rendered")
    played = ludens(
        "play", "spy", *options, "--seat", "civilian_1=human", *BOTS, "--out", str(episode),
        typed="There is a cube\nn/a\n",
    )  # fmt: skip
    assert played.code == 0, played.err
    assert "2 pictures verified" in ludens("replay", str(episode)).out
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path / "elsewhere"))
    ran = process("replay", str(episode))
    assert ran.code == 2
    assert "civilian_1: There is a cube" in ran.out
    assert "done after 4 steps" in ran.out
    assert "verified" not in ran.out
    assert len(ran.err.splitlines()) == 1
    assert "picture set 'rendered' with the hash" in ran.err
    page = tmp_path / "page.html"
    ran = process("replay", str(episode), "--out", str(page))
    assert ran.code == 2
    assert f"Written to {page}." in ran.out
    assert "There is a cube" in page.read_text()
    assert "picture set &#39;rendered&#39; with the hash" in page.read_text()
    assert process("replay", str(episode), "--out", str(tmp_path / "film.gif")).code == 2
    assert not (tmp_path / "film.gif").exists()


def test_a_reference_is_named_on_the_command_line(ludens: Run, tmp_path: Path) -> None:
    words = ("eval", "vision-zero-mini", "-m", "bot/blunt", "--limit", "2")
    ran = ludens(*words, "--reference", "bot/vague", "--out", str(tmp_path / "run"))
    assert ran.code == 0
    episodes = [record.episode for record in read_records(tmp_path / "run")]
    assert {episode.seats["spy"] for episode in episodes} == {"bot/blunt", "bot/vague"}
    refused = ludens("eval", "demo", "-m", "bot/first", "--reference", "bot/best")
    assert (refused.code, "has no options" in refused.err) == (2, True)
