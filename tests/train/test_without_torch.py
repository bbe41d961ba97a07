"""A trained model plays where torch is not installed; specs of nano models."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from ludens.cli import main
from ludens.core.errors import BadFile, BadOption, MissingExtra, UnknownName, UsageError
from ludens.models import model
from ludens.models.settings import ModelSpec
from ludens.train.nano.model import NanoModel, Sampler
from ludens.train.nano.numpy_player import NumpySampler
from ludens.train.nano.weights import SETTINGS, WEIGHTS
from tests.support.nano import BLIND, PROMPT, SEEING, boards, learnt, questions, write_random

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "safetensors", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def without_torch(folder: Path, *words: str) -> str:
    """What a command prints in a process that cannot import torch."""
    code = f"{BLOCKED}\nfrom ludens.cli import main; sys.exit(main({list(words)!r}))"
    environment = {**os.environ, "PYTHONWARNINGS": "error", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    folder = tmp_path_factory.mktemp("checkpoint")
    learnt().save(folder)
    return folder


@pytest.fixture(scope="module")
def small(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint, exported as int8 without torch."""
    folder = tmp_path_factory.mktemp("small")
    said = without_torch(folder, "train", "export", str(checkpoint), "--out", "model", "--dtype", "int8")
    assert "MB, int8" in said
    assert "nano/model" in said
    return folder


def replies(sampler: NumpySampler) -> list[str]:
    asked = [sampler.encode(PROMPT)] * 2
    found = sampler.sample(questions(asked, [[board] for board in boards()]))
    return [sampler.vocabulary.decode(tokens.completion_ids) for tokens in found]


def test_exported_models_say_what_was_learnt(checkpoint: Path, small: Path, tmp_path: Path) -> None:
    assert replies(NumpySampler(checkpoint, 0, 12, 8)) == [SEEING, BLIND]
    assert replies(NumpySampler(small / "model", 0, 12, 8)) == [SEEING, BLIND]
    assert main(["train", "export", str(checkpoint), "--out", str(tmp_path), "--dtype", "bfloat16"]) == 0
    assert replies(NumpySampler(tmp_path, 0, 12, 8)) == [SEEING, BLIND]
    sizes = [(folder / WEIGHTS).stat().st_size for folder in (small / "model", tmp_path, checkpoint)]
    assert sizes[0] < 0.35 * sizes[2] < 0.7 * sizes[1]


def test_torch_reads_exported_models(checkpoint: Path, small: Path) -> None:
    from ludens.train.nano.policy import NanoPolicy

    policy = NanoPolicy.read(small / "model", temperature=0, device="cpu")
    found = policy.sample(questions([policy.encode(PROMPT)] * 2, [[board] for board in boards()]))
    assert [policy.vocabulary.decode(t.completion_ids) for t in found] == [SEEING, BLIND]


def test_play_without_torch(small: Path) -> None:
    said = without_torch(small, "play", "tic_tac_toe", "--seat", "x=bot/first", "--seat", "o=nano/model")
    assert "2. o A2\n" in said
    blind = without_torch(
        small, "play", "tic_tac_toe", "--seat", "x=bot/first", "--seat", "o=nano/model?blind=true"
    )
    assert "2. o C3\n" in blind


def test_evaluation_without_torch(small: Path) -> None:
    said = without_torch(
        small, "eval", "demo", "--tasks", "tic_tac_toe", "--limit", "2", "--out", "run",
        "--model", "nano/model", "--blind-control",
    )  # fmt: skip
    assert "model (blind)" in said
    lines = (small / "run" / "episodes.jsonl").read_bytes().splitlines()
    episodes = [orjson.loads(line)["episode"] for line in lines]
    texts = {
        (attempt["text"], "blind=true" in episode["seats"][move["seat"]])
        for episode in episodes
        for move in episode["moves"]
        for attempt in move["tries"]
        if episode["seats"][move["seat"]].startswith("nano/")
    }
    assert (BLIND, True) in texts
    assert (SEEING, True) not in texts


def test_numpy_unless_a_device_is_asked_for(checkpoint: Path) -> None:
    made = model(f"nano/{checkpoint}?batch=3&max_tokens=5&device=numpy")
    assert isinstance(made, NanoModel)
    assert isinstance(made.sampler, NumpySampler)
    assert made.sampler.batch == 3
    assert made.spec == f"nano/{checkpoint}?max_tokens=5"
    asked = sampler_of(f"nano/{checkpoint}?device=cpu")
    assert type(asked).__name__ == "NanoPolicy"
    assert asked.batch == 256


def test_the_model_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ludens.train.nano.player.SHIPPED", tmp_path / "none")
    assert main(["play", "tic_tac_toe", "--seat", "x=bot/first", "--seat", "o=nano"]) == 2
    assert "ships no nano weights; train them with ludens train recipes/nano.toml" in capsys.readouterr().err
    monkeypatch.setattr("ludens.train.nano.player.SHIPPED", write_random(tmp_path, ["a b"]))
    for spec in ("nano", "nano?blind=true&temperature=0.5"):
        assert sampler_of(spec).vocabulary.pieces[3:] == [" b", "a"]
        assert ModelSpec.parse(spec).prompt.blind == ("blind" in spec)


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("nano/no/such/folder", BadFile, "'no/such/folder' holds no nano model: it has no file nano.json"),
        ("nano/{}@http://host", BadOption, "takes no address"),
        ("nano/{}?temprature=1", UnknownName, "did you mean 'temperature'"),
        ("nano/{}?temperature=9", BadOption, "at most 2"),
        ("nano/{}?max_tokens=64", BadOption, "max_tokens below 64"),
    ],
)
def test_wrong_specs(spec: str, error: type[UsageError], words: str, tmp_path: Path) -> None:
    folder = write_random(tmp_path, ["a b"])
    with pytest.raises(error, match=words):
        sampler_of(spec.format(folder))


def sampler_of(spec: str) -> Sampler:
    made = ModelSpec.parse(spec).make()
    assert isinstance(made, NanoModel)
    return made.sampler


def test_devices_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_random(tmp_path, ["a b"])
    with pytest.raises(BadOption, match="device=abacus"):
        sampler_of(f"nano/{folder}?device=abacus")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="device=cpu needs the extra 'train'"):
        model(f"nano/{folder}?device=cpu")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["export"], "export CHECKPOINT --out"),
        (["export", "no/such/folder", "--out", "x"], "nano.json"),
        (["export", "{}", "--out", "x", "--dtype", "int4"], "did you mean 'int8'"),
        (["export", "{}", "--out", "x", "--set", "run.seed=1"], "--set"),
        (["export", "{}", "--out", "x", "--agent", "teachers:Last"], "--agent is an option of training"),
        (["export", "{}", "--out", "x", "--track", "tensorboard:x"], "--track is an option of training"),
        (["export", "{}", "--out", "x", "--memory", "0.5"], "--memory is an option of training"),
        (["export", "{}", "--out", "{}/nano.json"], "cannot be written"),
        (["recipe.toml", "second"], "unexpected argument 'second'"),
        (["recipe.toml", "--memory", "1.5"], "--memory must be above 0 and at most 1, not 1.5"),
        (["recipe.toml", "--memory", "nan"], "--memory must be above 0"),
        (["recipe.toml", "--dtype", "int8"], "--dtype is an option of ludens train export"),
    ],
)
def test_wrong_exports(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder = write_random(tmp_path / "model", ["a b"])
    monkeypatch.chdir(tmp_path)
    assert main(["train", *(word.format(folder) for word in words)]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert len(said.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert {path.name for path in folder.iterdir()} == {SETTINGS, WEIGHTS}
