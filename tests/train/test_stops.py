"""What stops a run: interruptions, full disks, divergence, folders of other runs. Nothing is lost."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.cli import main  # noqa: E402
from ludens.core.errors import BadFile, BadOption, UsageError  # noqa: E402
from ludens.games.tic_tac_toe import TicTacToe  # noqa: E402
from ludens.models.torchvision_ops import import_torchvision  # noqa: E402
from ludens.train import ranks, session  # noqa: E402
from ludens.train.checkpoint import Checkpoints, save_whole  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.nano import dataset  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.recipe import OptimizerOptions  # noqa: E402
from ludens.train.session import train  # noqa: E402
from ludens.train.update import Diverged  # noqa: E402
from tests.support.tiny_training import policy, recipe  # noqa: E402


@pytest.fixture(autouse=True)
def _few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "VOCABULARY_EPISODES", 8)


@pytest.fixture
def tiny() -> Any:
    return recipe(
        play={"held_out": 0, "samples": 1}, advantage={"kind": "role"}, monitor={"blind": 0, "checkpoint": 2}
    )


def limited(size: int) -> None:
    """Let writes beyond this size fail; the operating system reports them as it does a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def weights(trainer: Trainer) -> list[Any]:
    return [parameter.detach() for parameter in trainer.policy.parameters()]


def test_an_interrupted_run_goes_on_from_its_last_checkpoint(tmp_path: Path, tiny: Any) -> None:
    def interrupt(line: str) -> None:
        if line.startswith("3/4"):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(tiny, tmp_path / "parts", interrupt)
    said: list[str] = []
    again = train(tiny, tmp_path / "parts", said.append)
    assert said[0] == f"going on from {tmp_path / 'parts' / 'step-000002'}"
    assert [line[:3] for line in said[1:]] == ["3/4", "4/4"]
    whole = train(tiny, tmp_path / "whole", said.append)
    assert all(torch.equal(a, b) for a, b in zip(weights(again), weights(whole), strict=True))
    assert all(measured["grad"] > 0 for measured in whole.history)
    lines = (tmp_path / "parts" / "measurements.jsonl").read_text().splitlines()
    assert len(lines) == 4


def test_a_stopped_run_keeps_its_vocabulary(
    tmp_path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(session, "save_whole", stop)
        with pytest.raises(KeyboardInterrupt):
            train(tiny, tmp_path)
    pieces = orjson.loads((tmp_path / session.PIECES).read_bytes())
    monkeypatch.setattr(session, "vocabulary_of", stop)
    policy = session._supervised(tiny, tmp_path, lambda line: None)
    assert isinstance(policy, NanoPolicy)
    assert policy.vocabulary.pieces == pieces


@pytest.mark.parametrize("damage", [b"", b"[1, 2]", b"{}", b'["a", "a"]'])
def test_a_damaged_vocabulary_is_named(tmp_path: Path, tiny: Any, damage: bytes) -> None:
    (tmp_path / session.PIECES).write_bytes(damage)
    with pytest.raises(BadFile, match=r"pieces\.json does not hold a vocabulary: delete it"):
        session._supervised(tiny, tmp_path, lambda line: None)


def test_the_command_line_says_how_an_interrupted_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "train", interrupted)
    file = tmp_path / "recipe.toml"
    file.write_text('[run]\nname = "one"\n[play]\nsamples = 2')
    assert main(["train", str(file), "--out", str(tmp_path / "out")]) == 130
    assert f"goes on from the last checkpoint in {tmp_path / 'out'}." in capsys.readouterr().err


def test_a_full_disk_leaves_the_old_checkpoint_whole(tmp_path: Path) -> None:
    checkpoints, learner = Checkpoints(tmp_path), policy()
    first = checkpoints.write(1, learner, None, {}, {"iteration": 1})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    try:
        for size in (2_000, 60_000):  # too small for the settings, and for the weights
            limited(size)
            with pytest.raises(UsageError, match=r"cannot be written: .*; earlier ones are whole"):
                checkpoints.write(2, learner, None, {}, {"iteration": 2})
            with pytest.raises(UsageError, match="supervised cannot be written"):
                save_whole(learner, tmp_path / "supervised")
    finally:
        limited(before)
    assert checkpoints.all() == [first]
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    NanoPolicy.read(first)


def test_a_full_disk_for_the_optimiser_leaves_the_old_checkpoint_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints, learner = Checkpoints(tmp_path), policy()
    first = checkpoints.write(1, learner, None, {}, {"iteration": 1})

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(UsageError, match="No space left"):
        checkpoints.write(2, learner, None, {}, {"iteration": 2})
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def after_two(change: Callable[[], None]) -> Callable[[str], None]:
    """Changes something after the second iteration, which ends with a checkpoint."""
    return lambda line: change() if line.startswith("2/4") else None


def test_divergence_keeps_the_last_good_checkpoint(
    tmp_path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def huge() -> None:
        monkeypatch.setattr(OptimizerOptions, "rate", lambda self, step, steps: 1e30)

    with pytest.raises(Diverged, match="is not finite; start again with a lower"):
        train(tiny, tmp_path, after_two(huge))
    assert [path.name for path in Checkpoints(tmp_path).all()] == ["step-000002"]
    assert len((tmp_path / "measurements.jsonl").read_text().splitlines()) == 2


def test_rewards_that_are_not_finite_are_one_sentence(
    tmp_path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        monkeypatch.setattr(TicTacToe, "rewards", lambda self, state, moves: [float("nan")] * len(moves))

    with pytest.raises(BadOption, match="does not reward every move with a finite number"):
        train(tiny, tmp_path, after_two(broken))
    with pytest.raises(BadOption, match="does not reward every move with a finite number"):
        train(tiny, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_seat_without_rewards_is_one_sentence(
    tmp_path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TicTacToe, "rewards", lambda self, state, moves: [{"x": 1.0}[m.seat] for m in moves])
    with pytest.raises(BadOption, match="tic_tac_toe has no rewards for o and cannot be trained on"):
        train(tiny, tmp_path, lambda line: None)


def test_rewards_that_never_differ_are_said(tmp_path: Path) -> None:
    said: list[str] = []
    one = recipe(
        run={"iterations": 1},
        play={"game": "kuhn_poker?infoset=Qpb", "held_out": 0, "samples": 2},
        monitor={"blind": 0},
    )
    train(one, tmp_path, said.append)
    assert "nothing to learn: all rewards were as expected" in said[-1]


def test_a_folder_belongs_to_one_recipe(tmp_path: Path) -> None:
    first = recipe(run={"iterations": 0})
    train(first, tmp_path, lambda line: None)
    train(first, tmp_path, lambda line: None)
    stored = orjson.loads((tmp_path / "recipe.json").read_bytes())
    del stored["play"]["ahead"]  # an option that did not exist when the run began
    (tmp_path / "recipe.json").write_bytes(orjson.dumps(stored))
    train(first, tmp_path, lambda line: None)
    with pytest.raises(BadOption, match=r"other loss\.kl\): choose another folder"):
        train(recipe(run={"iterations": 0}, loss={"kl": 0.5}), tmp_path, lambda line: None)
    with pytest.raises(BadOption, match="other opponents"):
        train(recipe(run={"iterations": 0}, opponents=[{"players": {"x": "frozen"}}]), tmp_path)
    (tmp_path / "recipe.json").write_text("{")
    with pytest.raises(BadFile, match="cannot be read"):
        train(first, tmp_path)


def test_a_checkpoint_without_its_weights_is_one_sentence(tmp_path: Path, tiny: Any) -> None:
    train(tiny, tmp_path, lambda line: None)
    (tmp_path / "step-000004" / "training.json").write_text("{")
    with pytest.raises(BadFile, match="step-000004 cannot be read"):
        train(tiny, tmp_path, lambda line: None)


def test_a_model_without_pictures_is_one_sentence(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra 'train' is not installed")
    import_torchvision()
    from ludens.train.recipe import ModelOptions
    from ludens.train.transformers_policy import TransformersPolicy
    from tests.support.tiny_vlm import SHAPE, tokenizer

    words = tokenizer()
    config = transformers.LlamaConfig(vocab_size=len(words), **SHAPE)
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    with pytest.raises(BadOption, match="does not take pictures"):
        TransformersPolicy.read(str(tmp_path), ModelOptions(kind="hf", device="cpu"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[loss]\nkll = 1", "did you mean 'kl'?"),
        ("[optimizer]\nlr = -1", "at least 0"),
        ('[[opponents]]\nplayers = {z = "frozen"}', "has the seats and roles o, x"),
        ('[model]\npath = "none"', "is not a folder"),
    ],
)
def test_wrong_recipes_exit_with_2_and_one_sentence(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text(text)
    assert main(["train", str(file), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("ludens: ")
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_full_memory_of_a_gpu_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB.")

    monkeypatch.setattr(session, "train", full)
    assert main(["train", "recipes/tic-tac-toe.toml", "--out", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("ludens: the GPU's memory is full: ")
    assert error.count("\n") == 1
    assert str(tmp_path / "run") in error

    def fails(*_: Any) -> None:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(session, "train", fails)
    assert main(["train", "recipes/tic-tac-toe.toml", "--out", str(tmp_path / "run")]) == 1
    assert "shapes do not fit" in capsys.readouterr().err


def test_a_share_of_the_memory_of_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "recipes/tic-tac-toe.toml", "--out", str(tmp_path / "run"), "--memory", "0.25"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(words) == 2
    assert "--memory limits the memory of a GPU" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()

    shares: list[float] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", shares.append)
    monkeypatch.setattr(session, "train", lambda *_: None)
    assert main(words) == 0
    assert main([*words, "--set", "play.workers=3"]) == 0
    assert shares == [0.25, 0.125]


def test_processes_that_play_divide_the_memory_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    for share, expected in ((0.12, 0.04), (1.0, 1.0)):
        monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda share=share: share)
        assert ranks.memory_of_worker(3) == pytest.approx(expected)
