"""`ludens eval` as a real process against a server with scripted faults: nothing is lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from ludens.core.episode import Episode
from ludens.run.lines import read_records
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, TURNS, found, ludens, ludens_here

TRANSIENT = [
    "429", "429_seconds", "500", "501", "502", "503", "504", "reset", "half", "wrong_json", "html", "array",
    "empty_choices", "no_message", "choice_error", "error_200", "hang",
]  # fmt: skip
PERMANENT = {
    "bad_key": "API key",
    "forbidden": "HTTP 403",
    "unknown_model": "model",
    "no_credit": "no credit left",
}


def spec_of(server: ModelServer, options: str = "") -> str:
    return f"vllm/tiny@{server.url}?{HASTE}&{options}".rstrip("&")


async def evaluated(server: ModelServer, run: Path, *more: str, options: str = "") -> tuple[int, str]:
    argv = ("eval", TURNS, "-m", spec_of(server, options), "--name", "tiny", "--out", str(run), *more)
    ran = await ludens_here(*argv)
    return ran.code, ran.err


def episodes(run: Path) -> list[Episode]:
    return [record.episode for record in read_records(run)]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The episodes of a run without faults."""
    run = tmp_path_factory.mktemp("calm") / "run"

    async def play() -> None:
        async with ModelServer() as server:
            assert (await evaluated(server, run))[0] == 0

    asyncio.run(play())
    return _without_address(run)


def _without_address(run: Path) -> dict[str, str]:
    """Episodes by key, without the port of the server, which differs every time."""
    left = {}
    for record in read_records(run):
        if record.episode.status != "void":
            for seat, spec in record.episode.seats.items():
                record.episode.seats[seat] = spec.split("@")[0]
            left[record.key] = record.episode.fingerprint()
    assert left.keys() == found(run).keys()
    return left


async def test_transient_faults_of_every_kind_are_retried(tmp_path: Path, calm: dict[str, str]) -> None:
    # The probe meets two of them; one request that met all would wait longer and longer.
    script = [*TRANSIENT[:2], "ok", *TRANSIENT[2:]]
    async with ModelServer(script=script) as server:
        code, err = await evaluated(server, tmp_path / "run", options="timeout=3")
    assert code == 0, err
    assert _without_address(tmp_path / "run") == calm
    assert server.met == {**Counter(TRANSIENT), "ok": server.met["ok"]}
    kept = episodes(tmp_path / "run")
    assert {episode.status for episode in kept} == {"done"}
    # Every answer but that to the probe is in some episode and was counted once.
    assert 1 + sum(episode.usage().calls for episode in kept) == server.met["ok"]
    assert f"{len(TRANSIENT)} retries" in err


@pytest.mark.slow
async def test_half_of_all_calls_failing_loses_nothing(tmp_path: Path, calm: dict[str, str]) -> None:
    async with ModelServer(chaos=0.5) as server:
        code, err = await evaluated(server, tmp_path / "run", "--workers", "2")
    assert code == 0, err
    assert _without_address(tmp_path / "run") == calm
    assert sum(server.met.values()) > server.met["ok"] * 1.5


@pytest.mark.slow
async def test_unusable_replies_are_recorded(tmp_path: Path) -> None:
    script = ["ok", "length", "length", "filtered", "filtered_400", "refused"]  # the first is the probe
    async with ModelServer(script=script) as server:
        code, err = await evaluated(server, tmp_path / "run", "--concurrency", "1")
    assert code == 0, err
    tries = [t for episode in episodes(tmp_path / "run") for move in episode.moves for t in move.tries]
    assert [(t.verdict, t.finish) for t in tries if t.finish] == [
        ("unreadable", "length"),
        ("unreadable", "filtered"),
        ("unreadable", "filtered"),
        ("unreadable", "refused"),
    ]
    assert sum(t.usage.calls for t in tries if t.usage) == len(server.requests) - 1
    assert any(move.verdict == "fallback" for episode in episodes(tmp_path / "run") for move in episode.moves)
    assert "1 fallbacks" in err


@pytest.mark.parametrize(
    "fault", ["bad_key", *(pytest.param(f, marks=pytest.mark.slow) for f in PERMANENT if f != "bad_key")]
)
async def test_permanent_faults_stop_the_run(fault: str, tmp_path: Path, calm: dict[str, str]) -> None:
    run = tmp_path / "run"
    script = [*["ok"] * 12, *[fault] * 50]
    async with ModelServer(script=script) as server:
        code, err = await evaluated(server, run, "--concurrency", "2")
        assert code == 2
        sentence, hint = err.splitlines()[-2:]
        assert sentence.startswith("ludens: vllm/tiny")
        assert PERMANENT[fault] in sentence
        assert hint.endswith(f"ludens resume {run} --suite {TURNS} --concurrency 2")
        assert server.met[fault] <= 2
        kept = _without_address(run)
        assert 0 < len(kept) < len(calm)
        assert kept.items() <= calm.items()
        server.script = ()
        ran = await ludens_here("resume", str(run), "--suite", TURNS)
    assert ran.code == 0, ran.err
    assert _without_address(run) == calm


@pytest.mark.slow
async def test_server_that_is_down_is_waited_for(tmp_path: Path, calm: dict[str, str]) -> None:
    server = ModelServer()
    await server.start()

    async def away(process: asyncio.subprocess.Process) -> None:
        while len(server.requests) < 10:
            await asyncio.sleep(0.01)
        await server.stop()
        await asyncio.sleep(2)
        assert process.returncode is None
        await server.start()

    argv = ("eval", TURNS, "-m", f"vllm/tiny@{server.url}?backoff=0.1", "--name", "tiny")
    ran = await ludens(*argv, "--out", str(tmp_path / "run"), meanwhile=away)
    await server.stop()
    assert ran.code == 0, ran.err
    assert "no connection to" in ran.err
    assert _without_address(tmp_path / "run") == calm
    assert {episode.status for episode in episodes(tmp_path / "run")} == {"done"}


async def test_option_that_is_left_out_is_in_every_report(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with ModelServer(unwanted=["temperature"]) as server:
        code, err = await evaluated(server, run, "--limit", "1", "--workers", "2", options="temperature=0")
    assert code == 0, err
    said = "vllm/tiny does not support the option 'temperature'; it is not sent."
    version = "vllm/tiny was answered by tiny-2025."
    assert all(episode.remarks == [said, version] for episode in episodes(run))
    for form in ("table", "md", "html"):
        told = await ludens_here("report", str(run), "--suite", TURNS, "--format", form)
        page = Path(run / "report.html").read_text() if form == "html" else told.out
        assert "does not support the option" in page, form


async def test_failed_calls_void_episodes_that_are_played_again(tmp_path: Path, calm: dict[str, str]) -> None:
    async with ModelServer(script=["ok", "refused", "500", "ok", "500"]) as server:
        code, err = await evaluated(server, tmp_path / "run", "--concurrency", "1", options="retries=0")
    assert code == 0, err
    assert "2 void" in err
    kept = episodes(tmp_path / "run")
    assert Counter(episode.status for episode in kept) == {"void": 2, "done": 8}
    # Answers before the failed call are in some episode too; the first was that to the probe.
    assert 1 + sum(episode.usage().calls for episode in kept) == server.met["ok"] + server.met["refused"]
    assert _without_address(tmp_path / "run") == calm


@pytest.mark.slow
async def test_budget_stops_early(tmp_path: Path, calm: dict[str, str]) -> None:
    run = tmp_path / "run"
    async with ModelServer() as server:
        code, err = await evaluated(server, run, "--max-calls", "15")
        assert code == 3
        assert len(server.requests) <= 27
        assert "(--max-calls 15)" in err
        assert f"ludens resume {run}" in err
        ran = await ludens_here("resume", str(run), "--suite", TURNS)
    assert ran.code == 0, ran.err
    assert _without_address(run) == calm


@pytest.mark.slow
async def test_cost_limit(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["vllm/tiny"]\ninput = 350.0\noutput = 0.0\n')
    async with ModelServer() as server:
        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(tmp_path / "run"), "--max-cost", "0.95")
        ran = await ludens_here(*argv, LUDENS_PRICES=str(prices))
    # The server bills 100 tokens a call, which is 0.035 dollars.
    assert ran.code == 3
    assert len(server.requests) <= 27
    assert " spent" in ran.err
    assert "(--max-cost 0.95)" in ran.err


@pytest.mark.slow
async def test_key_is_not_leaked(tmp_path: Path) -> None:
    key = "sk-very-secret-9876"
    async with ModelServer(key=key, script=["echo_500", "ok", "429"]) as server:
        argv = ("eval", TURNS, "-m", spec_of(server), "--limit", "1", "--out", str(tmp_path / "run"))
        ran = await ludens_here(*argv, VLLM_API_KEY=key)
    assert ran.code == 0, ran.err
    assert server.met["ok"] > 4
    said = ran.out + ran.err + "".join(p.read_text() for p in (tmp_path / "run").iterdir())
    assert key not in said


@pytest.mark.slow
async def test_cached_answers_are_not_requested_again(tmp_path: Path) -> None:
    async with ModelServer() as server:
        first, err = await evaluated(server, tmp_path / "one", options=f"cache={tmp_path / 'answers'}")
        assert first == 0, err
        calls = len(server.requests)
        again, err = await evaluated(server, tmp_path / "two", options=f"cache={tmp_path / 'answers'}")
        assert again == 0, err
        assert len(server.requests) == calls
    assert " cached" in err
    assert _without_address(tmp_path / "one") == _without_address(tmp_path / "two")
