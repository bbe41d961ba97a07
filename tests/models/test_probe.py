"""The test question shows whether a model answers and sees, and what it costs."""

from __future__ import annotations

import base64

import pytest

from ludens.core.errors import AgentFailure, ModelRejected
from ludens.draw.picture import Picture
from ludens.models.probe import COLUMNS, ROWS, draw_question, probe, read_square
from tests.support.model_server import ModelServer


@pytest.mark.parametrize(
    ("text", "square"),
    [
        ("c3", "c3"),
        ("The red discs are on a1 and b2; the blue one is on **D 4**.", "d4"),
        ("Action: (e5)", "e5"),
        ("I cannot see a picture.", None),
        ("f3, c9, abc3", None),
    ],
)
def test_last_square_is_the_answer(text: str, square: str | None) -> None:
    assert read_square(text) == square


def test_questions_have_different_pictures() -> None:
    questions = [draw_question(seed) for seed in range(20)]
    assert len({picture.hash for picture, _ in questions}) == 20
    assert len({square for _, square in questions}) > 8
    assert all(square[0] in COLUMNS and square[1] in ROWS for _, square in questions)


async def test_correct_and_wrong_answers() -> None:
    picture, expected = draw_question(3)
    server = ModelServer(player=lambda prompt, digest: f"It is on {expected}.")
    async with server:
        found = await probe(f"vllm/tiny@{server.url}?temperature=0", seed=3)
        server.player = lambda prompt, digest: "z9"
        blind = await probe(f"vllm/tiny@{server.url}", seed=3)
    assert (found.correct, blind.correct) == (True, False)
    assert found.usage.input_tokens == 100
    image = server.requests[0]["messages"][0]["content"][0]["image_url"]["url"]
    assert Picture.from_bytes(base64.b64decode(image.partition(",")[2])).hash == picture.hash
    first, second, version = found.lines()
    assert version == "vllm/tiny was answered by tiny-2025."
    assert first == f"vllm/tiny@{server.url}?temperature=0 answered: It is on {expected}. (correct)"
    assert "100 tokens in, 4 out, price unknown" in second
    assert f"wrong: the blue disc is on {expected}" in blind.lines()[0]


async def test_cut_off_answer() -> None:
    async with ModelServer(script=["length", "length"]) as server:
        found = await probe(f"vllm/tiny@{server.url}")
    assert "the answer is incomplete: length" in found.lines()


async def test_reasoning_tokens() -> None:
    async with ModelServer(script=["reasoning"], player=lambda prompt, digest: "c3") as server:
        found = await probe(f"vllm/tiny@{server.url}")
    assert "100 tokens in, 8 out, 7 of them reasoning, price unknown" in found.lines()[1]


async def test_errors_are_reported_soon() -> None:
    async with ModelServer(script=["500", "500", "500", "unknown_model"]) as server:
        with pytest.raises(AgentFailure, match="no answer in 3 attempts"):
            await probe(f"vllm/tiny@{server.url}?backoff=0.001")
        with pytest.raises(ModelRejected, match="no such model"):
            await probe(f"vllm/tiny@{server.url}")


async def test_cached_answers_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("LUDENS_CACHE", f"{tmp_path}/answers.db")
    async with ModelServer() as server:
        for _ in range(2):
            await probe(f"vllm/tiny@{server.url}")
        assert len(server.requests) == 2
