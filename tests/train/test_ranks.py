"""Training on several processes, by the user's own command: all have the same weights, those of one process.
Only slow tests start them with `torchrun`.

The processes wait for random times before collectives (`tests/support/ranks_site`).

Whatever the number of processes, the same episodes are played with the same draws, so that weights differ
from those of one process by rounding alone: sums of gradients have another order, and batches other shapes.
That is 1e-6 on average (`NEAR`); measured were 9e-8. Adam divides a gradient by its own size, and so turns a
rounding error in one that is nearly zero into a share of the learning rate: single weights may be a tenth of
a step apart (`FAR`); measured were 3e-5, and 19 of 159,648 weights of nano above 1e-6.

A ReLU whose input is zero but for rounding is open in one run and closed in the other, and the weights of
its neuron alone learn something else: in runs of nano with any number of processes, those of one may. (On one
processor, one of nano's 1,590 rows of weights had 96% of all squared differences; the others were 4e-7 apart
on average.)
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("trl", reason="the extra 'train' is not installed")

from safetensors.torch import load_file  # noqa: E402

from ludens.cli import main  # noqa: E402
from ludens.core.random import Stream  # noqa: E402
from ludens.models.generation import Draws, uniform  # noqa: E402
from ludens.train.demonstrations import Shares  # noqa: E402
from tests.support.nano import questions  # noqa: E402
from tests.support.tiny_training import policy  # noqa: E402
from tests.support.tiny_vlm import build  # noqa: E402

ROOT = Path(__file__).parents[2]
SITE = ROOT / "tests" / "support" / "ranks_site"
LIMIT = 600
"""Seconds until a run counts as hung."""
RATE = 1e-3
NEAR, FAR = 1e-6, RATE / 10
RELU = re.compile(r"\.stem\.[01]\.weight|\.mlp\.up\.weight")
"""Weights of nano in front of a ReLU."""
RECIPE = f"""
[run]
iterations = 3
seed = 5
[play]
game = "kuhn_poker"
episodes = 5
samples = 2
held_out = 3
[supervised]
workers = 1
batch = 5
epochs = 2
lr = {RATE}
jitter = 0.1
blank = 0.1
[optimizer]
lr = {RATE}
micro = 4
minibatches = 2
[monitor]
checkpoint = 1
blind = 2
[[opponents]]
players = {{first = "previous"}}
[[opponents]]
players = {{}}
"""
NANO = "width = 32\nheads = 2\nencoder = 1\ndecoder = 1\nside = 64\nmax_tokens = 6"
IMITATION = '[[demonstrations]]\nbot = "bot/random"\nepisodes = 3\n'


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tiny"))


class Runs:
    """Runs of one recipe in folders of their own."""

    def __init__(self, folder: Path, model: str, tiny_model: Path, more: str) -> None:
        self.folder, self.file = folder, folder / "recipe.toml"
        hf = f'kind = "hf"\npath = "{tiny_model}"\nmax_tokens = 6\nlora = {4 if model == "lora" else 0}'
        section = NANO if model == "nano" else hf
        text = f'{RECIPE}{more}\n[model]\ndevice = "cpu"\n{section}\n'
        # With one minibatch, log-probabilities are those drawn: a reply of another adapter would be seen.
        self.file.write_text(text if model == "nano" else text.replace("minibatches = 2", "minibatches = 1"))

    def alone(self) -> dict[str, Any]:
        """The weights of one process."""
        out = self.folder / "one"
        assert main(["train", str(self.file), "--out", str(out)]) == 0
        return weights(out)

    def start(
        self, ranks: int, out: Path, torchrun: bool = True, **settings: object
    ) -> subprocess.Popen[str]:
        record = self.record(out)
        record.mkdir(exist_ok=True)
        given = {f"LUDENS_TEST_{name.upper()}": str(value) for name, value in settings.items()}
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(SITE), str(ROOT / "src"), str(ROOT)]),
            "OMP_NUM_THREADS": "1",
            "LUDENS_TEST_RANKS": str(record),
            "LUDENS_TEST_DELAY": "0.1",
            **given,
        }
        command = [sys.executable, "-m"]
        if torchrun:
            command += ["torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        else:
            command += ["tests.support.launch", str(ranks)]
        command += ["-m", "ludens", "train", str(self.file), "--out", str(out)]
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def record(self, out: Path) -> Path:
        return out.with_suffix(".record")

    def finish(self, run: subprocess.Popen[str], out: Path) -> str:
        """Wait for a run; returns what it said."""
        try:
            said, _ = run.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.kill(out)
            run.communicate()
            raise
        return said

    def kill(self, out: Path) -> None:
        """Kill every process of a run."""
        for file in self.record(out).glob("pid-*"):
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text()), signal.SIGKILL)

    def together(self, ranks: int, name: str = "many", **settings: Any) -> dict[str, Any]:
        """The weights of several processes, which were equal after every step."""
        out = self.folder / name
        run = self.start(ranks, out, **settings)
        said = self.finish(run, out)
        assert run.returncode == 0, said[-3000:]
        steps = [file.read_text().split() for file in sorted(self.record(out).glob("weights-*"))]
        assert len(steps) == ranks
        assert steps[0]
        assert all(step == steps[0] for step in steps)
        return weights(out)


def weights(out: Path) -> dict[str, Any]:
    """All weights of the last checkpoint of a run, or of its imitation."""
    folder = max(out.glob("step-*"), default=out / "supervised")
    files = sorted(folder.rglob("*.safetensors"))
    assert files
    return {f"{file.stem} {name}": value for file in files for name, value in load_file(file).items()}


def rows_apart(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, Any]]:
    """What the rows of all weights differ by, with the names of the weights."""
    assert first.keys() == second.keys()
    return [
        (name, row) for name in first for row in (first[name] - second[name]).reshape(len(first[name]), -1)
    ]


def differences(first: dict[str, Any], second: dict[str, Any]) -> Any:
    return torch.cat([row for _, row in rows_apart(first, second)])


def near(first: dict[str, Any], second: dict[str, Any], neurons: int = 0) -> bool:
    """Whether the weights are the same, but for so many neurons with a ReLU."""
    rows = rows_apart(first, second)
    of_neurons = [place for place, (name, _) in enumerate(rows) if RELU.search(name)]
    of_neurons.sort(key=lambda place: -float(rows[place][1].square().sum()))
    left_out = {*of_neurons[:neurons]}
    apart = torch.cat([row for place, (_, row) in enumerate(rows) if place not in left_out])
    return float(apart.square().mean().sqrt()) < NEAR and float(apart.abs().max()) < FAR


def test_one_neuron_may_differ_but_not_two() -> None:
    weights = {"model encoder.stem.1.weight": torch.zeros(8, 4), "model decoder.embedding": torch.zeros(8, 4)}
    for name, allowed in zip(weights, (1, 0), strict=True):
        for changed in range(3):
            other = {key: value.clone() for key, value in weights.items()}
            other[name][:changed] = 2 * FAR
            assert near(weights, other, neurons=1) == (changed <= allowed)
            assert near(weights, other) == (changed == 0)


def state(out: Path) -> dict[str, Any]:
    stored: dict[str, Any] = orjson.loads((max(out.glob("step-*")) / "training.json").read_bytes())
    return stored


def check(runs: Runs, one: dict[str, Any], many: dict[str, Any], out: str = "many", neurons: int = 0) -> None:
    """The runs played the same games and ended at the same weights."""
    expected, found = state(runs.folder / "one"), state(runs.folder / out)
    assert found["algorithm"] == expected["algorithm"]
    for a, b in zip(expected["history"], found["history"], strict=True):
        assert a["reward"] == b["reward"]
        assert a["samples"] == b["samples"]
        assert b["gap"] == pytest.approx(a["gap"], abs=1e-4)
        assert b["gap"] < 1e-4 or expected["recipe"]["optimizer"]["minibatches"] > 1
    assert near(one, many, neurons)


def advantage(kind: str) -> str:
    return f'[advantage]\nkind = "{kind}"'


SMALL = [("nano", "role"), pytest.param("lora", "group", marks=pytest.mark.slow)]


@pytest.mark.parametrize(("model", "kind"), SMALL)
def test_two_processes_learn_what_one_does(
    model: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tiny: Path = tmp_path if model == "nano" else request.getfixturevalue("tiny_model")
    runs = Runs(tmp_path, model, tiny, advantage(kind))
    # With this seed the second process is almost a second late at first.
    check(runs, runs.alone(), runs.together(2, torchrun=False, seed=9))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["group", "role"])
@pytest.mark.parametrize("model", ["nano", "full", "lora"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_any_number_of_processes(ranks: int, model: str, kind: str, tmp_path: Path, tiny_model: Path) -> None:
    runs = Runs(tmp_path, model, tiny_model, advantage(kind))
    one, many = runs.alone(), runs.together(ranks)
    neurons = 1 if model == "nano" else 0
    check(runs, one, many, neurons=neurons)

    # Killed in the third iteration, and started again.
    out, second = tmp_path / "killed", tmp_path / "killed" / "step-000002"
    run = runs.start(ranks, out, hold=second)
    while not second.exists() and run.poll() is None:
        time.sleep(0.1)
    time.sleep(1)
    runs.kill(out)
    runs.finish(run, out)
    assert run.returncode != 0
    for file in runs.record(out).iterdir():
        file.unlink()
    # Batches differ where a process was late.
    assert near(runs.together(ranks, "killed"), many, neurons)
    check(runs, one, weights(out), "killed", neurons)


@pytest.mark.slow
def test_processes_that_play_during_updates(tmp_path: Path, tiny_model: Path) -> None:
    runs = Runs(tmp_path, "nano", tiny_model, advantage("role"))
    text = runs.file.read_text().replace("checkpoint = 1", "checkpoint = 3")
    runs.file.write_text(text.replace("held_out = 3", "held_out = 3\nahead = 1\nworkers = 1"))
    check(runs, runs.alone(), runs.together(2))
    assert [measured["staleness"] for measured in state(tmp_path / "many")["history"]] == [0, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["nano", "full", "lora"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_imitation(ranks: int, model: str, tmp_path: Path, tiny_model: Path) -> None:
    runs = Runs(tmp_path, model, tiny_model, IMITATION)
    runs.file.write_text(runs.file.read_text().replace("[run]", '[run]\nalgorithm = "sft"'))
    assert near(runs.alone(), runs.together(ranks))


@pytest.mark.slow
def test_weights_that_differ_are_not_stored(tmp_path: Path, tiny_model: Path) -> None:
    runs, out = Runs(tmp_path, "nano", tiny_model, ""), tmp_path / "many"
    run = runs.start(2, out, disturb=1)
    said = runs.finish(run, out)
    assert run.returncode != 0
    assert "the weights differ between the processes" in said
    assert not list(out.glob("step-*"))


def test_numbers_of_many_seeds_are_those_of_streams() -> None:
    seeds = [0, 7, 2**62 - 1]
    for seed, row in zip(seeds, uniform(seeds, 5), strict=True):
        numbers = Stream(seed)
        assert row.tolist() == [numbers.random() for _ in range(5)]


def test_draws_follow_the_distribution() -> None:
    shares = torch.tensor([0.5, 0.0, 0.2, 0.3, 0.0])
    tokens = Draws(range(20_000), 1)(shares.log().repeat(20_000, 1))
    counts = np.bincount(tokens.numpy(), minlength=5) / 20_000
    assert counts[1] == counts[4] == 0
    assert np.abs(counts - shares.numpy()).max() < 0.015


def test_a_reply_depends_on_its_seed_and_not_on_its_batch() -> None:
    learner, prompts = policy(), [[5, 6, 7], [8, 9], [5, 5, 5, 5]]
    together = learner.sample(questions(prompts, [()] * 3, [1, 2, 3]))
    for place in (2, 0, 1):
        [alone] = learner.sample(questions([prompts[place]], [()], [place + 1]))
        assert alone.completion_ids == together[place].completion_ids
    again = learner.sample(questions([prompts[0]] * 8, [()] * 8, range(8)))
    assert len({tuple(tokens.completion_ids) for tokens in again}) > 1


def epochs(shares: list[Shares], count: int) -> Iterator[list[set[int]]]:
    """The rows of all ranks in each update, epoch by epoch."""
    for _ in range(count):
        passes = [list(share) for share in shares]
        lengths = {len(share) for share in shares}
        assert {len(each) for each in passes} == lengths
        assert len(lengths) == 1
        step = shares[0].passes
        updates = []
        for at in range(0, lengths.pop(), step):
            rows = [row for each in passes for part in each[at : at + step] for row in part]
            counted = [row for row in rows if row < shares[0].rows]
            assert len(set(counted)) == len(counted)
            updates.append(set(counted))
        yield updates


@pytest.mark.parametrize("rows", [1, 14, 16, 17])
@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize(("batch", "micro"), [(4, 2), (6, 4), (5, 1), (3, 8), (100, 8)])
def test_updates_have_the_same_rows_for_any_number_of_ranks(
    rows: int, size: int, batch: int, micro: int
) -> None:
    alone = [Shares(rows, batch, micro, seed=3)]
    shared = [Shares(rows, batch, micro, 3, rank, size) for rank in range(size)]
    assert list(epochs(alone, 2)) == list(epochs(shared, 2))
    assert all(len(part) <= micro for share in shared for part in share)
