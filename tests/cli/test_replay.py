"""`ludens replay`: verification, errors, and output as GIF, film strip or page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from ludens.core.episode import Move, Try
from ludens.run.lines import read_records
from ludens.run.rows import EPISODES
from ludens.run.viewer import move_lines
from tests.cli.conftest import Run
from tests.support.reported import make_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entrants = {"seer": "fake/seer", "rude": "fake/rude"}
    return make_run(tmp_path_factory.mktemp("runs") / "first", entrants, tasks=("turns",), limit=2)


def test_keys_are_listed_when_none_is_given(folder: Path, ludens: Run) -> None:
    ran = ludens("replay", str(folder))
    assert (ran.code, ran.err) == (0, "")
    assert "seer:turns:0:0" in ran.out
    assert "void" in ran.out
    listed = json.loads(ludens("replay", str(folder), "--json").out)
    records = read_records(folder)
    assert [entry["key"] for entry in listed] == [record.key for record in records]
    assert [entry["returns"] for entry in listed] == [record.episode.returns for record in records]
    assert any(entry["fallbacks"] for entry in listed)
    lines = {line.split()[1]: line for line in ran.out.splitlines() if ":turns:" in line}
    for record, entry in zip(records, listed, strict=True):
        episode = record.episode
        assert (entry["status"], entry["fallbacks"]) == (episode.status, episode.verdicts()["fallback"])
        if episode.status != "void":
            score = f"x {episode.returns['x']:g}, o {episode.returns['o']:g}"
            assert f" {episode.status} {score}" in " ".join(lines[record.key].split())


def test_moves_and_replies_are_printed_in_one_line_each(folder: Path, ludens: Run) -> None:
    ran = ludens("replay", str(folder), "rude:turns:0:0")
    episode = next(r.episode for r in read_records(folder) if r.key == "rude:turns:0:0")
    for move in episode.moves:
        verdict = "" if move.verdict == "ok" else f" ({move.verdict})"
        assert f"{move.step:>4}. {move.seat}: {move.action}{verdict}\n" in ran.out
    assert "\n        illegal: Action: Z9 ['Z9' is not a legal action now.]\n" in ran.out
    insult = next(t.text for move in episode.moves for t in move.tries if "<script>" in t.text)
    assert "\u202e" in insult
    assert "\n        unreadable: <script>alert('you')</script>\ufffd<b>Action: A1\ufffd & " in ran.out
    assert not set(ran.out) & {"\u202e", "\x00", "\x1b"}
    assert len(ran.out.splitlines()) == 3 + len(episode.moves) + sum(len(m.tries) for m in episode.moves)


def test_long_replies_are_shortened() -> None:
    long = Move(3, "x", "B2", "retried", tries=[Try("a\n" * 500, "unreadable"), Try("Action: B2")])
    first, second, third = move_lines(long)
    assert first == "   3. x: B2 (retried)"
    assert second.startswith("        unreadable: a a a")
    assert second.endswith("... (999 characters)")
    assert len(second) < 220
    assert third == "        ok: Action: B2"


def test_a_replay_is_verified(folder: Path, ludens: Run) -> None:
    ran = ludens("replay", str(folder), "rude:turns:0:0")
    assert (ran.code, ran.err) == (0, "")
    assert "rude:turns:0:0: tic_tac_toe, seed 0; x is fake/rude, o is bot/random" in ran.out
    found = json.loads(ludens("replay", str(folder), "rude:turns:0:0", "--json").out)
    moves, counts = found["episode"]["moves"], found["verified"]
    assert counts["moves"] == len(moves)
    assert counts["pictures"] == sum(len(move["pictures"]) for move in moves) > 0
    assert counts["replies"] == sum(len(move["tries"]) for move in moves) > 0
    assert (
        f"{counts['moves']} moves, {counts['replies']} replies and {counts['pictures']} pictures" in ran.out
    )


def test_gif_png_and_page(folder: Path, ludens: Run, tmp_path: Path) -> None:
    for name in ("e.gif", "e.png", "e.html"):
        ran = ludens("replay", str(folder), "rude:turns:0:1", "--out", str(tmp_path / name), "--size", "256")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.endswith(f"Written to {tmp_path / name}.\n")
    for name, kind in (("e.gif", "GIF"), ("e.png", "PNG")):
        with Image.open(tmp_path / name) as image:
            assert image.format == kind
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(&#39;you&#39;)&lt;/script&gt;" in page
    assert page.count("<script>") == 1


def test_files_of_episodes_can_be_replayed(folder: Path, ludens: Run, tmp_path: Path) -> None:
    records = read_records(folder)
    file = tmp_path / "episode.json"
    file.write_bytes(records[-1].episode.to_json())
    ran = ludens("replay", str(file), "--out", str(tmp_path / "e.png"))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("episode.json: tic_tac_toe")
    file.write_bytes(b"\n".join(record.episode.to_json() for record in records))
    assert ludens("replay", str(file), "2").code == 0
    of_a_run = ludens("replay", str(folder / "episodes.jsonl"), "2")
    assert (of_a_run.code, of_a_run.out) == (0, ludens("replay", str(folder), "2").out)


def test_an_episode_that_does_not_replay_is_an_error(folder: Path, ludens: Run, tmp_path: Path) -> None:
    episode = read_records(folder)[-1].episode
    shown = next(move for move in episode.moves if move.pictures)
    file = tmp_path / "episode.json"
    file.write_bytes(episode.to_json().replace(shown.pictures[0].encode(), b"0" * 16))
    ran = ludens("replay", str(file), "--out", str(tmp_path / "e.png"))
    assert (ran.code, ran.out) == (2, "")
    assert "differ" in ran.err
    assert not (tmp_path / "e.png").exists()


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["{run}", "sear:turns:0:1"], "did you mean 'seer:turns:0:1'?"),
        (["{run}", "turns"], "matches 4 episodes"),
        (["{run}", "--out", "{}/e.png"], "missing argument KEY"),
        (["{run}", "1", "--out", "{}/e.mp4"], ".gif, .html or .png, not 'e.mp4'"),
        (["{run}", "seer:turns:0:1", "--out", "{}/no/e.png"], "cannot write"),
        (["{run}", "seer:turns:0:1", "--out", "{}/e.png", "--seat", "y"], "seat of tic_tac_toe"),
        (["{run}", "seer:turns:0:1", "--size", "9"], "64 to 1024"),
        (["{run}", "seer:turns:0:1", "--ms", "1"], "20 to 60000"),
        (["{run}", "seer:turns:0:1", "--out", "{}/e.gif", "--ms", "99999999999"], "20 to 60000"),
        (["{}"], "no run.json"),
        (["{}/none.json"], "cannot read"),
        (["{}/none.json", "key"], "must be a number"),
    ],
)
def test_usage_errors(argv: list[str], hint: str, folder: Path, ludens: Run, tmp_path: Path) -> None:
    ran = ludens("replay", *[word.format(tmp_path, run=folder) for word in argv])
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert hint in line
    assert list(tmp_path.iterdir()) == []


def test_a_void_episode_is_shown_with_its_reason(folder: Path, ludens: Run) -> None:
    lines = (folder / EPISODES).read_bytes().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if b'"void":true' in line)
    ran = ludens("replay", str(folder), str(number))
    assert ran.code == 0
    culprit = json.loads(lines[number - 1])["episode"]["culprit"]
    assert f"void because of {culprit}: the <server> is away" in ran.out


def test_a_void_episode_without_moves_is_an_error(folder: Path, ludens: Run, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes((folder / "run.json").read_bytes())
    lines = (folder / EPISODES).read_bytes().splitlines()
    void = next(json.loads(line) for line in lines if b'"void":true' in line)
    void["episode"]["moves"] = []
    (tmp_path / EPISODES).write_text(json.dumps(void, separators=(",", ":")) + "\n")
    ran = ludens("replay", str(tmp_path), "1")
    assert (ran.code, ran.out) == (2, "")
    assert "void from the start: the <server> is away" in ran.err
