"""After a run that stopped, the command that is printed works; resuming would fail with the same settings."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from ludens.cli.advice import advice
from ludens.cli.eval import ExecutionOptions
from ludens.models.errors import RequestRejected, Secret, classify_error, fault_of
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, QUICK, TURNS, Ran, ludens_here, plan_of

FOLDER = Path("runs/a run")


def command(text: str) -> list[str]:
    """The words after `ludens` of the command that is printed."""
    assert "ludens resume" not in text
    [line] = [line for line in text.splitlines() if "ludens eval " in line]
    return shlex.split(line[line.index("ludens eval ") :])[1:]


async def stopped(server: ModelServer, run: Path, *more: str, options: str = HASTE) -> Ran:
    spec = f"vllm/tiny@{server.url}?{options}"
    argv = ("eval", TURNS, "-m", spec, "--name", "a model's name", "--limit", "2", "--out", str(run))
    return await ludens_here(*argv, *more)


async def test_text_only_model(tmp_path: Path) -> None:
    async with ModelServer(script=["no_pictures"] * 999) as server:
        ran = await stopped(server, tmp_path / "run", "--theme", "contrast", "--blind-control")
        assert ran.code == 2, ran.err
        again = command(ran.err)
        assert again[:2] == ["eval", TURNS]
        assert "a model's name" in again
        assert "--blind-control" not in again
        assert again[-6:] == ["--modality", "text", "--limit", "2", "--theme", "contrast"]
        resumed = await ludens_here("resume", str(tmp_path / "run"), "--suite", TURNS)
        assert resumed.code == 2
        assert command(resumed.err) == again
        working = await ludens_here(*again, "--out", str(tmp_path / "text"))
    assert working.code == 0, working.err
    assert "2/2 episodes" in working.err


@pytest.mark.parametrize(
    ("options", "flags", "changed"),
    [("", (), ["--size", "256"]), ("&memory=all&frames=2", ("--size", "256"), ["--size", "256"])],
    ids=["pictures", "memory"],
)
async def test_context_that_is_too_small(
    options: str, flags: tuple[str, ...], changed: list[str], tmp_path: Path
) -> None:
    async with ModelServer(script=["small_context"] * 999) as server:
        ran = await stopped(server, tmp_path / "run", *flags, options=HASTE + options)
        assert ran.code == 3, ran.err
        again = command(ran.err)
        assert again[-4:] == ["--limit", "2", *changed]
        assert "memory" not in " ".join(again)
        working = await ludens_here(*again, "--out", str(tmp_path / "small"))
    assert working.code == 0, working.err


def advised(*errors: str, models: tuple[str, ...] = ("vllm/tiny",), **choices: Any) -> str:
    options = ExecutionOptions(workers=2, max_calls=50, yes=True)
    plan = plan_of(*models, **{"suite": TURNS, **choices})
    return advice(plan, FOLDER, options.flags, options.words, errors)


NO_PICTURES = "vllm/tiny does not accept pictures (HTTP 400: no): use --modality text."
CONTEXT = "vllm/tiny has too small a context for this prompt (HTTP 400: {})."


def test_other_errors_are_resumed() -> None:
    for errors in ((), ("vllm/tiny gave no answer in 3 attempts.",), ("vllm/tiny: no credit left.",)):
        text = advised(*errors)
        assert text.endswith(f"ludens resume 'runs/a run' --suite {TURNS} --workers 2")
        assert "ludens eval" not in text
    both = advised(NO_PICTURES, "a worker process died")
    assert "ludens eval" in both
    assert "ludens resume" in both


def test_options_of_the_run_are_kept() -> None:
    words = command(advised(NO_PICTURES, seed=7, samples=3))
    assert words[words.index("--seed") + 1] == "7"
    assert words[words.index("--samples") + 1] == "3"
    assert words[-5:] == ["--workers", "2", "--max-calls", "50", "--yes"]


def test_only_the_model_at_fault_is_changed() -> None:
    words = command(advised(NO_PICTURES, models=("vllm/tiny", "vllm/other", "bot/random")))
    models = [words[n + 1] for n, word in enumerate(words) if word == "--model"]
    assert models == ["vllm/tiny?modality=text", "vllm/other", "bot/random"]
    assert "--modality" not in words


def test_a_player_of_a_seat_is_changed() -> None:
    text = advised(
        NO_PICTURES, models=("bot/random",), suite=QUICK, tasks=("talk",), seated={"expert": "vllm/tiny"}
    )
    words = command(text)
    assert words[words.index("--seat") + 1] == "expert=vllm/tiny?modality=text"
    assert words[words.index("--tasks") + 1] == "talk"


def test_tasks_without_a_text_twin_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from ludens.core.view import View

    monkeypatch.setattr(View, "has_text", property(lambda view: view.game.name != "perceive"))
    words = command(advised(NO_PICTURES, suite=QUICK))
    assert words[words.index("--tasks") + 1] == "turns,together,talk"
    monkeypatch.setattr(View, "has_text", property(lambda view: False))
    none = advised(NO_PICTURES, suite=QUICK)
    assert "ludens eval" not in none
    assert "use another model" in none


@pytest.mark.parametrize(
    ("spec", "error", "changed"),
    [
        ("vllm/tiny?memory=all&frames=4&style=cot", CONTEXT.format("too long"), "vllm/tiny?style=cot"),
        (
            "vllm/tiny?max_tokens=4000",
            CONTEXT.format("max_tokens is too large: maximum context length is 2048"),
            "vllm/tiny?max_tokens=512",
        ),
        (
            "vllm/tiny?frames=4",
            "vllm/tiny does not accept so many pictures in one prompt (HTTP 400: at most 1 image).",
            "vllm/tiny",
        ),
        (
            "vllm/tiny?reasoning_effort=low&temperature=0",
            "vllm/tiny rejects this request (HTTP 400: unknown reasoning_effort).",
            "vllm/tiny?temperature=0",
        ),
    ],
)
def test_the_setting_at_fault_is_changed(spec: str, error: str, changed: str) -> None:
    words = command(advised(error, models=(spec,)))
    assert words[words.index("--model") + 1] == changed


def test_nothing_is_advised_where_nothing_helps() -> None:
    for spec, error in (
        ("vllm/tiny?modality=text", CONTEXT.format("too long")),
        ("vllm/tiny?temperature=0", "vllm/tiny rejects this request (HTTP 400: no)."),
    ):
        text = advised(error, models=(spec,))
        assert "ludens eval" not in text
        assert "ludens resume" not in text
        assert "use another model" in text


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("This model's maximum context length is 4096 tokens.", "context"),
        ("At most 1 image(s) may be provided in one request.", "many pictures"),
        ("too many images in request: maximum of 20 images", "many pictures"),
        ("messages.0: image exceeds 5 MB maximum", "large pictures"),
        ("Invalid image.", "request"),
    ],
)
def test_faults_are_told_apart(message: str, fault: str) -> None:
    error = classify_error(400, {"error": {"message": message}}, {}, "vllm/tiny", "http://x", Secret())
    assert isinstance(error, RequestRejected)
    assert error.fault == fault


def test_a_fault_is_read_from_the_message() -> None:
    assert fault_of(NO_PICTURES, "vllm/tiny") == "no pictures"
    assert fault_of(NO_PICTURES, "vllm/other") is None
    assert fault_of("vllm/tiny gave no answer in 3 attempts.", "vllm/tiny") is None
