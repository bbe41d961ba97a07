"""The run that all report tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.run.results import Results, SuiteResults, load_results
from tests.support.reported import make_run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("reported") / "run")


@pytest.fixture(scope="session")
def results(folder: Path) -> Results:
    return load_results([folder])


@pytest.fixture(scope="session")
def suite(results: Results) -> SuiteResults:
    [only] = results.suites
    return only
