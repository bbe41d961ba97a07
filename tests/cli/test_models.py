"""`ludens models`: the list of kinds, and the test of one model."""

import json
import subprocess
import sys

import pytest

from ludens.cli import main
from tests.support.model_server import ModelServer


def ludens(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ludens", *words], capture_output=True, text=True, timeout=120, check=False
    )


def test_list_of_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json"]) == 0
    kinds = {row["kind"] for row in json.loads(capsys.readouterr().out)}
    assert {"openai", "vllm", "compat", "anthropic", "google", "hf"} <= kinds


async def test_model_that_answers() -> None:
    import asyncio

    async with ModelServer() as server:
        done = await asyncio.to_thread(ludens, "models", "test", f"compat/tiny@{server.url}")
    assert done.returncode == 0, done.stderr
    assert "answered" in done.stdout
    assert "ms" in done.stdout


async def test_spec_of_a_seat_and_control_characters_in_the_answer() -> None:
    import asyncio

    async with ModelServer(player=lambda prompt, digest: "It is \x1b[2J c2.") as server:
        spec = f"compat/tiny@{server.url}?temperature=0&style=cot&memory=all"
        done = await asyncio.to_thread(ludens, "models", "test", spec)
    assert done.returncode == 0, done.stderr
    assert "(correct)" in done.stdout
    assert "\x1b" not in done.stdout


async def test_text_modality_sends_no_picture() -> None:
    import asyncio

    async with ModelServer(player=lambda prompt, digest: _blue(prompt)) as server:
        spec = f"compat/tiny@{server.url}?modality=text"
        done = await asyncio.to_thread(ludens, "models", "test", spec)
    assert done.returncode == 0, done.stderr
    assert "(correct)" in done.stdout
    assert "image_url" not in json.dumps(server.requests)


def _blue(prompt: str) -> str:
    return prompt.rpartition(" blue,")[0][-2:]


def test_list_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    said = capsys.readouterr().out
    for name in (
        "temperature",
        "max_tokens",
        "reasoning_effort",
        "detail",
        "seed",
        "rpm",
        "extend",
        "pixel_cache",
        "modality",
    ):
        assert f"\n {name} " in said


def test_missing_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "test", "compat/tiny@http://127.0.0.1:9/v1?retries=0&deadline=0.1"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "gave no answer" in said.err


@pytest.mark.parametrize(
    "words",
    [["models", "tset"], ["models", "test"], ["models", "test", "opnai/x"], ["models", "list", "openai/x"]],
)
def test_wrong_arguments(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
