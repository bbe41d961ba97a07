"""What is published: the wheel, the page of the package index, and Ludens as a stranger installs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from email import message_from_string
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

import ludens

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=[\"']([^\"']+)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
REPOSITORY = PROJECT["urls"]["Source"]
FILES = REPOSITORY.replace("github.com", "raw.githubusercontent.com")

CLIENT = """\
import ludens


class Fixed(ludens.Agent):
    kind = "client:Fixed"
    sees = "nothing"

    async def act(self, ask: ludens.Ask) -> ludens.Reply:
        return ludens.Reply(ask.legal.first)


game = ludens.make("tic_tac_toe")
episode = ludens.play_sync(game, {seat: Fixed() for seat in game.seats}, seed=7)
reveal_type(game)
reveal_type(episode.returns)
ludens.play_sync(game, seed="seven")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source archive."""
    pytest.importorskip("hatch_fancy_pypi_readme", reason="hatchling is not installed: run `make test`")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and, for this test only, the dependencies of this one."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    python = folder / "bin" / "python"
    pip = ("-m", "pip", "--disable-pip-version-check", "--python", str(python))
    run(sys.executable, *pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel))
    here = [path for path in sys.path if path.endswith("-packages")]
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "dependencies.pth").write_text("\n".join(here), encoding="utf-8")
    return folder


def run(*command: str, cwd: Path | None = None, code: int = 0) -> str:
    """What a command prints, in an environment without the checkout."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_string(archive.read(name).decode())


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        nano = json.loads(archive.read("ludens/train/nano/weights/nano.json"))
    source = ROOT / "src"
    files = (file.relative_to(source) for file in source.rglob("*") if file.is_file())
    wanted = {file.as_posix() for file in files if "__pycache__" not in file.parts}
    assert names == {name for name in wanted if ".egg-info/" not in name}
    assert {"ludens/py.typed", "ludens/train/nano/weights/model.safetensors"} <= names
    assert nano["trained_on"]


def test_the_page_of_the_package_index_has_no_relative_link(wheel: Path) -> None:
    page = CODE.sub("", str(metadata(wheel).get_payload()))
    links = [link or attribute for link, attribute in LINK.findall(page)]
    assert len(links) > 10
    tag = f"v{ludens.__version__}"
    lost = []
    for link in links:
        path = re.sub(rf"^({REPOSITORY}/blob|{FILES})/{tag}/", "", link).partition("#")[0]
        if path == link or not (ROOT / path).is_file():
            lost.append(link)
    assert [link for link in lost if not link.startswith("https://")] == []
    assert [link for link in lost if link.startswith((REPOSITORY, FILES))] == []


def test_the_metadata_names_project_and_systems(wheel: Path) -> None:
    known = metadata(wheel)
    urls = dict(url.split(", ", 1) for url in known.get_all("Project-URL", []))
    assert {"Documentation", "Issues", "Source"} <= set(urls)
    assert known["Version"] == ludens.__version__
    assert known["Description-Content-Type"] == "text/markdown"
    classifiers = known.get_all("Classifier", [])
    tested = re.findall(r'"(3\.\d+)"', (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert {f"Programming Language :: Python :: {version}" for version in tested} == {
        name for name in classifiers if name.startswith("Programming Language :: Python :: 3.")
    }


def test_every_file_names_the_same_version() -> None:
    version = re.escape(ludens.__version__)
    assert PROJECT["version"] == ludens.__version__
    for file, pattern in {
        "CITATION.cff": rf"^version: {version}$",
        "examples/leaderboard/requirements.txt": rf"^ludens\[sign\]=={version}$",
        "examples/my-game/pyproject.toml": rf'"ludens>={version}"',
    }.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(pattern, text, re.MULTILINE), file


def test_an_installed_wheel_has_its_data(environment: Path, tmp_path: Path) -> None:
    """Weights, templates, fonts and picture sets: in an empty folder."""
    command = str(environment / "bin" / "ludens")
    assert ludens.__version__ in run(command, "--version", cwd=tmp_path)
    run(command, "play", "tic_tac_toe", "--seat", "x=nano", "--seat", "o=bot/random", cwd=tmp_path)
    run(command, "show", "viki/activate?look=camera", "--out", "kitchen.png", cwd=tmp_path)
    assert (tmp_path / "kitchen.png").stat().st_size > 1_000


@pytest.mark.slow
def test_clients_are_type_checked(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    mypy = (
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        str(environment / "bin" / "python"),
    )
    said = run(*mypy, "--cache-dir", str(tmp_path / "cache"), "client.py", cwd=tmp_path, code=1)
    messages = [line.partition(": ")[2] for line in said.splitlines()]
    assert messages[0] == 'note: Revealed type is "ludens.core.game.Game"'
    assert messages[1] == 'note: Revealed type is "dict[str, float]"'
    assert [message for message in messages if message.startswith("error")] == messages[2:-1]
    assert all("play_sync" in message for message in messages[2:-1])


@pytest.mark.slow
def test_the_demo_runs_in_an_empty_folder(environment: Path, tmp_path: Path) -> None:
    said = run(str(environment / "bin" / "ludens"), "demo", "--limit", "1", cwd=tmp_path)
    [report] = tmp_path.glob("runs/*/report.html")
    assert f"Open {report.relative_to(tmp_path)}" in said
