"""Finding, reading and showing single episodes of a run."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.run.index import RowDict
from ludens.run.lines import Head, read_episode, read_lines, read_records
from ludens.run.replays import (
    STRIP_PICTURES,
    animation,
    evenly,
    film_strip,
    find,
    last_picture,
    main_seat,
    pictures,
    read_episode_file,
)
from ludens.run.rows import EPISODES, Location
from ludens.run.store import read_places
from tests.support.runs import plan_of, played


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    await played(tmp_path / "run", plan_of("bot/random", "bot/first"))
    return tmp_path / "run"


KNOWN: list[RowDict] = [
    {"key": "bot/random:turns:0:0"},
    {"key": "bot/first:turns:0:0", "status": "void", "offset": 100},
    {"key": "bot/first:turns:0:0", "status": "done", "offset": 200},
    {"key": "bot/first:talk:0:0", "status": "void", "offset": 300},
    {"key": "12:odd:0:0", "offset": 400},
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
    assert find(KNOWN, key) == (KNOWN[index]["key"], Location(EPISODES, 100 * index))


def test_a_key_that_matches_several_or_none_is_an_error() -> None:
    with pytest.raises(BadOption, match="matches 2 episodes"):
        find(KNOWN, "bot/first")
    with pytest.raises(BadOption, match="matches 2 episodes"):
        find(KNOWN, "turns")
    with pytest.raises(UnknownName, match="did you mean 'bot/first:talk:0:0'"):
        find(KNOWN, "bot/frst:talk:0:0")
    with pytest.raises(UnknownName, match="known: none"):
        find([], "1")


def lines(folder: Path) -> list[tuple[Head, Location]]:
    return [(line.head, line.location) for line in read_lines(folder)]


def read(folder: Path, key: str) -> Episode:
    return read_episode(folder, *find(read_places(folder), key))


def test_every_line_has_the_offset_of_its_episode(folder: Path) -> None:
    records = list(read_records(folder))
    for (head, location), record in zip(lines(folder), records, strict=True):
        assert head.key == record.key
        assert read_episode(folder, head.key, location) == record.episode


def test_an_incomplete_last_line_is_skipped_and_broken_lines_are_named(folder: Path) -> None:
    whole = lines(folder)
    path = folder / EPISODES
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    assert lines(folder) == whole[:-1]
    path.write_bytes(b"nonsense\n" + data)
    with pytest.raises(BadFile, match="line 1 of"):
        lines(folder)
    path.write_bytes(data.replace(b'"schema":2', b'"schema":7', 1))
    with pytest.raises(BadFile, match="schema 7"):
        read_episode(folder, lines(folder)[0][0].key, Location(EPISODES, 0))


def test_captions_name_the_moves(folder: Path) -> None:
    episode = read(folder, "random:turns:0:0")
    shown = list(pictures(episode, size=256))
    assert len(shown) == len(episode.moves) + 1
    assert shown[0].caption == "0. start"
    assert [one.caption for one in shown[1:]] == [
        f"{number}. {move.seat} {move.action}" for number, move in enumerate(episode.moves, 1)
    ]
    assert len({one.picture.hash for one in shown}) == len(shown)
    assert last_picture(episode, 256) == shown[-1].picture
    with pytest.raises(UnknownName, match="seat of tic_tac_toe"):
        list(pictures(episode, "y"))


def test_animation_and_strip_show_every_position(folder: Path) -> None:
    episode = read(folder, "random:turns:1:1")
    gif = Image.open(io.BytesIO(animation(episode, size=256, ms=100)))
    assert gif.format == "GIF"
    assert gif.n_frames == len(episode.moves) + 1  # type: ignore[attr-defined]
    strip = Image.open(io.BytesIO(film_strip(episode, size=256)))
    rows = -(-(len(episode.moves) + 1) // 4)
    assert strip.width > 4 * 256
    assert strip.height > rows * 256


def test_the_main_seat_is_the_first_that_saw_pictures(folder: Path) -> None:
    episode = read(folder, "random:talk:0:0")
    assert main_seat(episode) in episode.seats
    assert len(list(pictures(episode, "expert", 256))) == len({move.step for move in episode.moves}) + 1


def test_long_episodes_are_sampled_evenly(folder: Path) -> None:
    episode = read(folder, "random:turns:0:0")
    few = list(pictures(episode, size=256))
    many = few * 20
    chosen = evenly(many, STRIP_PICTURES)
    assert len(chosen) == STRIP_PICTURES
    assert (chosen[0], chosen[-1]) == (many[0], many[-1])
    assert evenly(few, STRIP_PICTURES) == few


def test_files_of_one_or_several_episodes(folder: Path, tmp_path: Path) -> None:
    episodes = [record.episode for record in read_records(folder)][:3]
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
