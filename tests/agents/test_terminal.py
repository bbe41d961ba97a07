"""Lines from people: pipes, files, typed ahead, cut short, or another object in place of standard input."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ludens.agents import human


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    near, far = os.pipe()
    human._typed.clear()
    with os.fdopen(near, "r") as source:
        monkeypatch.setattr("sys.stdin", source)
        yield far
    try:
        os.close(far)
    except OSError:
        pass


async def test_lines_typed_ahead_are_kept_in_order(pipe: int) -> None:
    os.write(pipe, "one\ntwo\r\nthrée".encode())
    os.close(pipe)
    assert [await human.line("> ") for _ in range(3)] == ["one", "two", "thrée"]
    with pytest.raises(EOFError):
        await human.line("> ")


async def test_a_line_in_pieces_is_waited_for_while_others_go_on(pipe: int) -> None:
    reading = asyncio.create_task(human.line("> "))
    for piece in (b"on", b"", b"e", b"\n"):
        os.write(pipe, piece)
        await asyncio.sleep(0.01)
    assert await reading == "one"


async def test_waiting_can_be_given_up(pipe: int) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(human.line("> "), 0.01)
    os.write(pipe, b"late\n")
    assert await human.line("> ") == "late"


async def test_a_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "moves.txt"
    file.write_bytes(b"A1\n\xff\n")
    human._typed.clear()
    with file.open() as source:
        monkeypatch.setattr("sys.stdin", source)
        assert [await human.line("> "), await human.line("> ")] == ["A1", "\N{REPLACEMENT CHARACTER}"]
        with pytest.raises(EOFError):
            await human.line("> ")


async def test_another_object_in_place_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("A1\n"))
    assert await human.line("> ") == "A1"
    with pytest.raises(EOFError):
        await human.line("> ")


def test_long_lines_are_wrapped_and_keep_their_indentation() -> None:
    board = "1 2 3\n  X O X"
    assert human.wrap_text(board, 20) == board
    assert human.wrap_text("    one two three four", 12) == "    one two\n    three\n    four"
    assert human.wrap_text("an extraordinarily-long-unbroken word", 20).splitlines() == [
        "an",
        "extraordinarily-long-unbroken",
        "word",
    ]
    assert human.wrap_text("x" * 300, None) == "x" * 300


def test_only_terminals_have_a_width(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("w") as file:
        assert human.width_of(file) is None
    assert human.width_of(io.StringIO()) is None
