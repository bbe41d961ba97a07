"""Episodes are found by as little of their key as is needed, and shown as they were."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.run.replays import (
    STRIP_FRAMES,
    Entry,
    animation,
    entries,
    evenly,
    film_strip,
    find,
    frames,
    last_picture,
    main_seat,
    read_episode,
    read_episode_file,
)
from ludens.run.store import EPISODES, read_records
from tests.support.runs import plan_of, played


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    await played(tmp_path / "run", plan_of("bot/random", "bot/first"))
    return tmp_path / "run"


KNOWN = [
    Entry("bot/random:turns:0:0", False, 0),
    Entry("bot/first:turns:0:0", True, 100),
    Entry("bot/first:turns:0:0", False, 200),
    Entry("bot/first:talk:0:0", True, 300),
    Entry("12:odd:0:0", False, 400),
]


@pytest.mark.parametrize(
    ("key", "index"),
    [
        ("bot/random:turns:0:0", 0),
        ("bot/first:turns:0:0", 2),
        ("bot/r", 0),
        ("BOT/Random", 0),
        ("talk", 3),
        ("first:tu", 2),
        ("1", 0),
        ("2", 1),
        ("5", 4),
        ("12", 4),
    ],
)
def test_a_key_may_be_short(key: str, index: int) -> None:
    assert find(KNOWN, key) == KNOWN[index]


def test_a_key_that_fits_several_or_none_is_refused() -> None:
    with pytest.raises(BadOption, match="fits 2 episodes"):
        find(KNOWN, "bot/first")
    with pytest.raises(BadOption, match="fits 2 episodes"):
        find(KNOWN, "turns")
    with pytest.raises(UnknownName, match="did you mean 'bot/first:talk:0:0'"):
        find(KNOWN, "bot/frst:talk:0:0")
    with pytest.raises(UnknownName, match="known: none"):
        find([], "1")


def test_every_line_is_an_entry_that_leads_to_its_episode(folder: Path) -> None:
    found = entries(folder)
    records = read_records(folder)
    assert [entry.key for entry in found] == [record.key for record in records]
    for entry, record in zip(found, records, strict=True):
        assert read_episode(folder, entry) == record.episode


def test_torn_lines_are_left_out_and_broken_ones_named(folder: Path) -> None:
    whole = entries(folder)
    path = folder / EPISODES
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    assert entries(folder) == whole[:-1]
    path.write_bytes(b"nonsense\n" + data)
    with pytest.raises(BadFile, match="line 1 of"):
        entries(folder)
    path.write_bytes(data.replace(b'"schema":2', b'"schema":7', 1))
    with pytest.raises(BadFile, match="schema 7"):
        read_episode(folder, entries(folder)[0])


def test_frames_tell_who_did_what(folder: Path) -> None:
    episode = read_episode(folder, find(entries(folder), "random:turns:0:0"))
    shown = list(frames(episode, size=256))
    assert len(shown) == len(episode.moves) + 1
    assert shown[0].caption == "0. start"
    assert [frame.caption for frame in shown[1:]] == [
        f"{number}. {move.seat} {move.action}" for number, move in enumerate(episode.moves, 1)
    ]
    assert len({frame.picture.hash for frame in shown}) == len(shown)
    assert last_picture(episode, 256) == shown[-1].picture
    with pytest.raises(UnknownName, match="seat of tic_tac_toe"):
        list(frames(episode, "y"))


def test_animation_and_strip_show_every_frame(folder: Path) -> None:
    episode = read_episode(folder, find(entries(folder), "random:turns:1:1"))
    gif = Image.open(io.BytesIO(animation(episode, size=256, ms=100)))
    assert gif.format == "GIF"
    assert gif.n_frames == len(episode.moves) + 1  # type: ignore[attr-defined]
    strip = Image.open(io.BytesIO(film_strip(episode, size=256)))
    rows = -(-(len(episode.moves) + 1) // 4)
    assert strip.width > 4 * 256
    assert strip.height > rows * 256


def test_a_conversation_is_seen_by_the_one_who_looks(folder: Path) -> None:
    episode = read_episode(folder, find(entries(folder), "random:talk:0:0"))
    assert main_seat(episode) in episode.seats
    assert len(list(frames(episode, "expert", 256))) == len({move.step for move in episode.moves}) + 1


def test_of_many_frames_some_are_chosen_with_the_first_and_the_last(folder: Path) -> None:
    episode = read_episode(folder, find(entries(folder), "random:turns:0:0"))
    few = list(frames(episode, size=256))
    many = few * 20
    chosen = evenly(many, STRIP_FRAMES)
    assert len(chosen) == STRIP_FRAMES
    assert (chosen[0], chosen[-1]) == (many[0], many[-1])
    assert evenly(few, STRIP_FRAMES) == few


def test_files_of_one_or_several_episodes(folder: Path, tmp_path: Path) -> None:
    episodes = [record.episode for record in read_records(folder)[:3]]
    file = tmp_path / "some.jsonl"
    file.write_bytes(b"\n".join(episode.to_json() for episode in episodes))
    assert read_episode_file(file) == episodes[0]
    assert read_episode_file(file, 3) == episodes[2]
    with pytest.raises(BadOption, match="no number 4"):
        read_episode_file(file, 4)
    with pytest.raises(BadFile, match="cannot read"):
        read_episode_file(tmp_path / "none.json")
    for nonsense in (b"", b"{}", b"[1]", b"\xff"):
        file.write_bytes(nonsense)
        with pytest.raises(BadFile, match="not an episode"):
            read_episode_file(file)
