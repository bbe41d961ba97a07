"""Trackers: results of evaluations arrive in trackio and TensorBoard as they are in the tables."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ludens.cli import main
from ludens.run.results import load_results

WORDS = ["eval", "demo", "--model", "bot/best", "--tasks", "tic_tac_toe", "--limit", "4"]


def expected(run: Path) -> dict[str, float]:
    [row] = load_results([run]).suites[0].rows
    cell = row.cells["tic_tac_toe"]
    return {metric.name: cell.table_estimate(metric).mean for metric in cell.task.metrics}


def test_weights_and_biases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs an account: the interface is a stand-in."""
    logged: list[Any] = []

    def init(**settings: Any) -> Any:
        logged.append(settings)
        return SimpleNamespace(
            log=lambda values, step: logged.append(values), finish=lambda: logged.append("end")
        )

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    assert main([*WORDS, "--out", str(tmp_path / "run"), "--track", "wandb:games"]) == 0
    settings, values, end = logged
    assert (settings["project"], settings["config"]["spec"], end) == ("games", "bot/best", "end")
    for name, value in expected(tmp_path / "run").items():
        assert values[f"tic_tac_toe/{name}"] == value
        assert values[f"tic_tac_toe/{name}/low"] <= value


@pytest.mark.parametrize(
    ("spec", "words"),
    [("mlflow:x", "unknown tracker"), ("wandb", "wandb:PROJECT"), ("trackio:", "trackio:PROJECT")],
)
def test_wrong_trackers(spec: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--out", str(tmp_path / "run"), "--track", spec]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard: runs with `make adapters`")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert (
        main([*WORDS, "--out", str(tmp_path / "run"), "--track", f"tensorboard:{tmp_path / 'events'}"]) == 0
    )
    [folder] = (tmp_path / "events").iterdir()
    events = EventAccumulator(str(folder))
    events.Reload()
    for name, value in expected(tmp_path / "run").items():
        assert events.Scalars(f"tic_tac_toe/{name}")[0].value == pytest.approx(value)


@pytest.mark.filterwarnings("ignore")
def test_trackio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))  # read when it is imported
    trackio = pytest.importorskip("trackio", reason="trackio: runs with `make adapters`")
    assert trackio.__version__ >= "0.43"
    from trackio.sqlite_storage import SQLiteStorage

    assert main([*WORDS, "--out", str(tmp_path / "run"), "--track", "trackio:games"]) == 0
    [run] = SQLiteStorage.get_runs("games")
    [logged] = SQLiteStorage.get_logs("games", run)
    for name, value in expected(tmp_path / "run").items():
        assert logged[f"tic_tac_toe/{name}"] == value
