"""`ludens web`: the real command."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from ludens.core.files import lock_file
from tests.cli.conftest import Run


def start(*argv: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ludens", "web", *argv, "--no-open", "--port", "0"]
    clean = {**os.environ, "no_proxy": "127.0.0.1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean)


def test_it_serves_until_it_is_stopped(tmp_path: Path) -> None:
    process = start(str(tmp_path))
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        [address] = re.findall(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        with urllib.request.urlopen(address.partition("?")[0] + "runs", timeout=60) as reply:
            assert "There are no runs" in reply.read().decode()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, "")
    assert "Stopped." in out


def test_another_address_needs_the_token(tmp_path: Path) -> None:
    process = start(str(tmp_path), "--host", "0.0.0.0")
    try:
        assert process.stdout is not None
        mine, visitors = process.stdout.readline(), process.stdout.readline()
        assert socket.gethostname() in mine
        [port, token] = re.findall(r":(\d+)/\?token=(\S+)", visitors)[0]
        assert token not in mine
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/runs", timeout=60)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(f"http://127.0.0.1:{port}/runs?token={token}", timeout=60) as reply:
            assert reply.status == 200
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--port", "70000"), "0 to 65535"),
        ((__file__,), "is not a folder of runs"),
        (("--token", "short"), "at least 16"),
        (("--host", "256.256.256.256"), "cannot listen"),
        (("--suite", "no_such_module:SUITE"), "cannot be loaded"),
        (("--url", "games.example.org"), "--url must be http:// or https://"),
        (("--url", "https://games.example.org/play"), "no path"),
        (("--trusted-proxy", "proxy.example.org"), "--trusted-proxy must be an address"),
        (("--trusted-proxy", "0.0.0.0/0"), "would believe everybody"),
        (("--max-calls", "0"), "--max-calls must be above 0"),
        (("--max-calls", "many"), "--max-calls must be an integer"),
        (("--max-cost", "-1"), "--max-cost must be above 0"),
        (("--max-cost", "nan"), "--max-cost must be above 0"),
    ],
)
def test_wrong_arguments(argv: tuple[str, ...], message: str, ludens: Run) -> None:
    ran = ludens("web", "--no-open", *argv)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_port_in_use(ludens: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = ludens("web", "--no-open", "--port", str(taken.getsockname()[1]))
    assert ran.code == 2
    assert "address already in use" in ran.err


def test_a_server_that_cannot_start_lets_go_of_kept_games(tmp_path: Path, ludens: Run) -> None:
    (tmp_path / ".games").mkdir()
    for _ in range(2):  # else the second one would say that another server keeps them
        ran = ludens("web", str(tmp_path), "--host", "a" * 100, "--no-open")
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 1
        with (tmp_path / ".games" / "lock").open("ab") as lock:
            lock_file(lock, tmp_path)
