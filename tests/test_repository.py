"""Files that only the code host reads: workflows, forms, citation. Checked by schema, without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
OWN = sorted(ROOT.glob(".github/workflows/*.yml"))
WORKFLOWS = OWN + sorted(ROOT.glob("examples/*/.github/workflows/*.yml"))
FORMS = [file for file in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if file.name != "config.yml"]


def validate(schema: str, *files: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed: run `make test`")
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        f"vendor.{schema}",
        *map(str, files),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-issue-forms", FORMS),
        ("github-issue-config", [ROOT / ".github/ISSUE_TEMPLATE/config.yml"]),
        ("dependabot", [ROOT / ".github/dependabot.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_files_keep_their_schema(schema: str, files: list[Path]) -> None:
    assert files
    done = validate(schema, *files)
    assert done.returncode == 0, done.stdout


def test_a_wrong_workflow_is_found(tmp_path: Path) -> None:
    wrong = tmp_path / "tests.yml"
    wrong.write_text((OWN[0]).read_text(encoding="utf-8").replace("runs-on:", "run-on:"), encoding="utf-8")
    assert validate("github-workflows", wrong).returncode == 1


def read(file: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: str(file.relative_to(ROOT)))
def test_workflows_have_few_rights_and_pinned_actions(file: Path) -> None:
    workflow = read(file)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] < 360
        if name != "publish":
            assert "permissions" not in job
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+(\.\d+)*", step["uses"]), step["uses"]


def commands(file: Path) -> list[str]:
    steps = [step for job in read(file)["jobs"].values() for step in job["steps"]]
    return [line.strip() for step in steps for line in step.get("run", "").splitlines()]


def test_workflows_call_what_exists() -> None:
    called = [line for file in OWN for line in commands(file)]
    targets = set(
        re.findall(r"^([a-z]+)(?: [a-z]+)*:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    made = {line.split()[1] for line in called if line.startswith("make ") and "${{" not in line.split()[1]}
    assert {"adapters", "docs", "slow"} <= made <= targets
    assert ".ci/run" in called
    adapters = read(ROOT / ".github/workflows/adapters.yml")["jobs"]["adapters"]["strategy"]["matrix"][
        "adapter"
    ]
    [listed] = re.findall(
        r"^ADAPTERS \?= (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert adapters == listed.split()
    [versions] = [
        job["strategy"]["matrix"]["target"]
        for job in read(ROOT / ".github/workflows/nightly.yml")["jobs"].values()
        if "strategy" in job
    ]
    assert set(versions) <= targets
