"""CI fails if a test is skipped for a missing package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest

@pytest.mark.parametrize("reason", {reasons})
def test_skipped(reason):
    pytest.skip(reason)

def test_passes(): ...
"""


def run_pytest(folder: Path, test: str, **environment: str) -> subprocess.CompletedProcess[str]:
    conftest = Path(__file__).with_name("conftest.py")
    (folder / "conftest.py").write_bytes(conftest.read_bytes())
    (folder / "test_it.py").write_text(test)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n    torchvision\n    cuda\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LUDENS_", "PYTEST_"))}
    clean["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *environment.pop("args", "").split()]
    return subprocess.run(
        command, cwd=folder, env={**clean, **environment}, capture_output=True, text=True, check=False
    )


WITHOUT = TEST.format(reasons=["extra 'x' missing"])
WITHOUT_MODULE = "import pytest\npytest.importorskip('no_such_package')"
WORKER = "-p xdist.plugin -n1"


@pytest.mark.parametrize(
    ("test", "args"),
    [
        (WITHOUT, ""),
        pytest.param(WITHOUT_MODULE, WORKER, marks=pytest.mark.slow),
        pytest.param(WITHOUT, WORKER, marks=pytest.mark.slow),
        pytest.param(WITHOUT_MODULE, "", marks=pytest.mark.slow),
    ],
    ids=["test", "module-n1", "test-n1", "module"],
)
def test_missing_package_fails_the_session(test: str, args: str, tmp_path: Path) -> None:
    test += "\ndef test_other(): ...\n"
    done = run_pytest(tmp_path, test, LUDENS_NO_SKIPS="1", args=args)
    assert done.returncode == 1, done.stdout
    assert "LUDENS_NO_SKIPS=1, but tests were skipped" in done.stdout
    done = run_pytest(tmp_path, test, args=args)
    assert done.returncode in (0, 5)
    assert "CI fails where tests are skipped" in done.stdout


ALLOWED = [
    "slow: runs with --slow",
    "LUDENS_OVERCOOKED_PYTHON is not set",
    "Chromium is not installed: apt-get install chromium-headless-shell",
]


def test_allowed_skips(tmp_path: Path) -> None:
    test = TEST.format(reasons=ALLOWED)
    strict = run_pytest(tmp_path, test, LUDENS_NO_SKIPS="1")
    assert strict.returncode == 0
    assert "1 passed, 3 skipped" in strict.stdout
    assert "CI fails" not in run_pytest(tmp_path, test).stdout


def test_torchvision_tests_are_deselected_without_it(tmp_path: Path) -> None:
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "library.py").write_text("class Library:\n    __init__ = define = lambda *_: None")
    test = "import pytest\n@pytest.mark.torchvision\ndef test_qwen(): ...\ndef test_other(): ...\n"
    done = run_pytest(tmp_path, test, LUDENS_NO_SKIPS="1", PYTHONPATH=str(tmp_path))
    assert "1 passed, 1 deselected" in done.stdout
    assert done.returncode == 0


def test_cuda_tests_are_deselected_without_it(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("class cuda:\n    is_available = staticmethod(lambda: False)")
    test = "import pytest\n@pytest.mark.cuda\ndef test_kernel(): ...\ndef test_other(): ...\n"
    done = run_pytest(tmp_path, test, LUDENS_NO_SKIPS="1", PYTHONPATH=str(tmp_path))
    assert "1 passed, 1 deselected" in done.stdout
    assert done.returncode == 0
