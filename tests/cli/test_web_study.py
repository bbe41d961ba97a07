"""`ludens web --study`: the real command."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_web import start

STUDY = Path(__file__).parents[2] / "docs" / "studies" / "comma-pairs.toml"


def test_it_prints_links_that_work_without_a_token(tmp_path: Path) -> None:
    process = start(str(tmp_path), "--study", str(STUDY), "--host", "0.0.0.0")
    try:
        assert process.stdout is not None
        told = "".join(process.stdout.readline() for _ in range(4))
        [(port, path)] = re.findall(r"participants of the study: http://[^:]+:(\d+)(/study/\S+)", told)
        root = f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(root + path, timeout=60) as reply:
            assert "You are invited" in reply.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{root}{path}/progress", timeout=60)
        [token] = re.findall(r"/progress\?token=(\S+)", told)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(f"{root}{path}/progress?token={token}", timeout=60) as reply:
            assert "0 of 20" in reply.read().decode()
    finally:
        process.kill()
        process.communicate()


def test_wrong_study_is_refused(ludens: Run, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('name = "x"\n')
    done = ludens("web", str(tmp_path), "--study", str(file), "--no-open")
    assert done.code == 2
    assert "not valid at task" in done.err


def test_study_with_a_paid_model_needs_a_limit(
    ludens: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-some-length")
    done = ludens("web", str(tmp_path), "--study", str(STUDY.with_name("comma-model.toml")), "--no-open")
    assert done.code == 2
    assert "costs money: start ludens web with --max-cost or --max-calls" in done.err
    assert not list(tmp_path.iterdir())
