"""Where weights come from: kept with them, and checked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copyfile, copytree, move

import numpy as np
import orjson
import pytest

from ludens.cli import main
from ludens.core.errors import BadFile
from ludens.train.nano.inputs import Vocabulary
from ludens.train.nano.provenance import (
    COMMIT,
    PROVENANCE,
    commit,
    means,
    of_checkpoint,
    origin_of_imitation,
    origin_of_run,
)
from ludens.train.nano.weights import (
    NUMBERS,
    ROLES,
    SETTINGS,
    WEIGHTS,
    NanoSize,
    StoredModel,
    export,
    metadata_of,
    origin,
    packed,
    read_weights,
    verify_model,
    verify_weights,
    write_roles,
)

SIZE = NanoSize(width=32, heads=1, encoder=1, decoder=1, side=64, longest=16)
RECIPE = {"run": {"name": "small"}, "play": {"game": "tic_tac_toe"}, "demonstrations": [{"game": "perceive"}]}


def model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    pieces = Vocabulary.of(["Action"]).pieces
    random = np.random.default_rng(0)
    shapes = SIZE.shapes(len(pieces))
    weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    (folder / WEIGHTS).write_bytes(packed(weights, "float32"))
    size = {name: getattr(SIZE, name) for name in NanoSize.__dataclass_fields__}
    settings = {"size": size, "vocabulary": pieces, "temperature": 0.0, "max_tokens": 8}
    (folder / SETTINGS).write_bytes(orjson.dumps(settings))
    return folder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was stopped after two rounds."""
    monkeypatch.setenv(COMMIT, "abc123")
    checkpoint = model(tmp_path / "run" / ".supervised" / "step-000002")
    began = origin_of_run(RECIPE, None, {"demonstrations": range(5, 9)})
    (tmp_path / "run" / PROVENANCE).write_bytes(orjson.dumps(began))
    state = {"done": 2, "losses": [3.0, 1.0], "spent": 61.2, "waited": 0.0, "digest": "d1"}
    (checkpoint / "training.json").write_bytes(orjson.dumps(state))
    return checkpoint


def test_a_checkpoint_on_the_way_says_where_it_comes_from(run: Path) -> None:
    known = of_checkpoint(run)
    assert (known["commit"], known["rounds"], known["updates"], known["seconds"]) == ("abc123", 2, 2, 61)
    assert known["data_sha256"] == "d1"
    assert known["seeds"] == {"demonstrations": [5, 9]}
    assert known["recipe"] == RECIPE


def test_exported_weights_carry_it(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path / "out", "int8")
    told, numbers = metadata_of(tmp_path / "out" / WEIGHTS)
    assert told[NUMBERS] == numbers
    assert orjson.loads(told["recipe"]) == RECIPE
    assert orjson.loads(told["losses"]) == [3.0, 1.0]
    assert orjson.loads((tmp_path / "out" / SETTINGS).read_bytes())["trained_on"] == [
        "perceive",
        "tic_tac_toe",
    ]
    assert all(isinstance(text, str) for text in told.values())
    StoredModel.read(tmp_path / "out").weights()


def test_weights_of_unknown_origin_say_nothing(tmp_path: Path) -> None:
    folder = model(tmp_path / "a" / "b" / "c")
    assert of_checkpoint(folder) == {}
    export(folder, tmp_path / "out", "float32")
    assert NUMBERS not in metadata_of(tmp_path / "out" / WEIGHTS)[0]


def test_losses_are_summed_up() -> None:
    assert means([4.0, 2.0, 3.0, 1.0], 2) == [3.0, 2.0]
    assert means([1.0], 2) == [1.0]
    assert means([]) == []
    assert origin_of_imitation(1, [2.0], 3.0, "x")["losses"] == [2.0]


def test_the_commit_is_that_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(COMMIT, raising=False)
    assert commit() == "" or len(commit()) == 40


def bytes_of(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else orjson.dumps(header)
    return len(text).to_bytes(8, "little") + text + body


TENSOR = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"abc", "too short"),
        (bytes_of([1, 2]), "not an object"),
        (bytes_of(b"nan"), "is not a safetensors file"),
        (bytes_of({"a": [1]}), "is not a tensor"),
        (bytes_of({"a": {"dtype": "F32"}}), "is not a tensor"),
        (bytes_of({"a": TENSOR | {"dtype": ["F32"]}}, b"0000"), "which is not one of"),
        (bytes_of({"a": TENSOR | {"dtype": "F8"}}, b"0000"), "which is not one of"),
        (bytes_of({"a": TENSOR | {"shape": [-1]}}, b"0000"), "no valid shape"),
        (bytes_of({"a": TENSOR | {"shape": "x"}}, b"0000"), "no valid shape"),
        (bytes_of({"a": TENSOR | {"data_offsets": [-4, 0]}}, b"0000"), "no valid shape"),
        (bytes_of({"a": TENSOR | {"data_offsets": [0.0, 4.0]}}, b"0000"), "no valid shape"),
        (bytes_of({"a": TENSOR | {"data_offsets": [0, 8]}}, b"0000"), "outside the file"),
        (bytes_of({"a": TENSOR | {"data_offsets": [0, 3]}}, b"0000"), "is not a safetensors file"),
        (bytes_of({"a": TENSOR | {"shape": [2]}}, b"0000"), "is not a safetensors file"),
        (bytes_of({"a": TENSOR | {"shape": [10**18, 10**3]}}, b"0000"), "is not a safetensors file"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path: Path, data: bytes, said: str) -> None:
    file = tmp_path / WEIGHTS
    file.write_bytes(data)
    with pytest.raises(BadFile, match="is not a safetensors file of weights") as error:
        read_weights(file)
    assert said.lower() in str(error.value).lower()
    assert "\n" not in str(error.value)


def test_numbers_must_be_finite(tmp_path: Path) -> None:
    folder = model(tmp_path / "model")
    weights = dict(read_weights(folder / WEIGHTS))
    weights["decoder.head.weight"] = np.full_like(weights["decoder.head.weight"], np.nan)
    (folder / WEIGHTS).write_bytes(packed(weights, "float32"))
    with pytest.raises(BadFile, match="not finite"):
        StoredModel.read(folder).weights()


def test_a_model_is_checked_against_what_it_says(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    export(run, tmp_path / "out", "int8")
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "nano/out"]) == 0
    assert main(["verify", f"nano/{Path.cwd() / 'out'}"]) == 0
    assert "abc123" in capsys.readouterr().out
    weights = tmp_path / "out" / WEIGHTS
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert main(["verify", "nano/out"]) == 1
    assert "FAILED numbers" in capsys.readouterr().out


MEAN_OF_TWO = Path(__file__).parents[2] / "recipes" / "nano_mean.py"


def mean_of_two(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, MEAN_OF_TWO, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def longer(run: Path, folder: Path) -> Path:
    """The checkpoint with one more word and other numbers, which says where it comes from."""
    longer = folder / ".supervised" / "step-000003"
    copytree(run, longer)
    copyfile(run.parents[1] / PROVENANCE, folder / PROVENANCE)
    settings = orjson.loads((longer / SETTINGS).read_bytes())
    settings["vocabulary"].append("more")
    (longer / SETTINGS).write_bytes(orjson.dumps(settings))
    weights = {name: 3 * tensor for name, tensor in read_weights(longer / WEIGHTS).items()}
    for name in ("decoder.embedding.weight", "decoder.head.weight"):
        weights[name] = np.vstack([weights[name], np.ones_like(weights[name][:1])])
    (longer / WEIGHTS).write_bytes(packed(weights, "float32"))
    return longer


def test_a_mean_is_between_two_models_and_says_where_both_come_from(run: Path, tmp_path: Path) -> None:
    first, second, out = tmp_path / "first", tmp_path / "second", tmp_path / "out"
    export(run, first, "float32")
    export(longer(run, tmp_path / "on"), second, "float32")
    done = mean_of_two(first, second, "--share", 0.25, "--out", out)
    assert done.returncode == 0, done.stderr
    ours, mean = read_weights(first / WEIGHTS), read_weights(out / WEIGHTS)
    for name, tensor in ours.items():
        near = np.abs(tensor).max() / 40
        assert np.allclose(mean[name][: len(tensor)], 1.5 * tensor, atol=near), name
    assert np.allclose(mean["decoder.head.weight"][-1], 1.0, atol=0.1)
    checks = {check.name: check for check in verify_weights(out)}
    assert all(check.ok for check in checks.values())
    assert checks["mean"].detail == "0.25 of a run of 2 updates from abc123"
    told = orjson.loads(metadata_of(out / WEIGHTS)[0]["mean"])
    told["with"]["recipe"]["run"]["name"] = "another"
    rewritten = packed(mean, "int8", origin(out) | {"mean": told})
    (out / WEIGHTS).write_bytes(rewritten)
    assert {check.name for check in verify_weights(out) if not check.ok} == {"mean"}


def test_models_that_have_no_mean(run: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    export(run, first, "float32")
    export(longer(run, tmp_path / "on"), second, "float32")
    for words, said in (
        ((second, first, "--out", "x"), "does not continue from"),
        ((first, tmp_path / "none", "--out", "x"), "nano.json"),
        ((first, second, "--share", 2, "--out", "x"), "--share must be between 0 and 1"),
    ):
        done = mean_of_two(*words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
        assert "Traceback" not in done.stderr


def test_other_settings_are_noticed(run: Path, tmp_path: Path) -> None:
    export(run, tmp_path / "out", "int8")
    settings = tmp_path / "out" / SETTINGS
    settings.write_bytes(settings.read_bytes().replace(b"tic_tac_toe", b"chess"))
    failed = {check.name for check in verify_weights(tmp_path / "out") if not check.ok}
    assert failed == {"settings and vocabulary", "games"}


def test_a_model_that_says_nothing_is_not_verified(tmp_path: Path) -> None:
    export(model(tmp_path / "a" / "b" / "c"), tmp_path / "out", "int8")
    assert [check.ok for check in verify_weights(tmp_path / "out")] == [False]


@pytest.fixture
def roles(run: Path, tmp_path: Path) -> Path:
    """An exported model whose roles have weights of their own."""
    for role in ("o", "x"):
        model(run / role)
    write_roles(run, "tic_tac_toe", ("o", "x"))
    export(run, tmp_path / "out", "int8")
    return tmp_path / "out"


def test_every_role_of_a_model_is_checked(
    roles: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(roles.parent)
    assert main(["verify", "nano/out"]) == 0
    assert {"ok     o: numbers", "ok     x: numbers"} <= {
        " ".join(line.rsplit(" ", 1)[:1]) for line in capsys.readouterr().out.splitlines()
    }
    weights = roles / "x" / WEIGHTS
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert main(["verify", "nano/out"]) == 1
    failed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("FAILED")]
    assert [line.rsplit(" ", 1)[0] for line in failed] == ["FAILED x: numbers"]
    weights.unlink()
    assert main(["verify", "nano/out"]) == 2
    assert str(Path("x") / WEIGHTS) in capsys.readouterr().err


def test_roles_that_were_exchanged_added_or_renamed_are_noticed(run: Path, roles: Path) -> None:
    def failed() -> set[str]:
        return {check.name for check in verify_model(roles) if not check.ok}

    assert failed() == set()
    state = run / "training.json"
    state.write_bytes(state.read_bytes().replace(b"d1", b"d2"))
    export(run, roles.parent / "later", "int8")
    copytree(roles.parent / "later" / "x", roles / "x", dirs_exist_ok=True)
    assert failed() == {"all roles come from one run"}
    copytree(roles.parent / "later", roles, dirs_exist_ok=True)
    assert failed() == set()
    move(roles / "o", roles / "other")
    move(roles / "x", roles / "o")
    move(roles / "other", roles / "x")
    assert failed() == {"o: role", "x: role"}
    copytree(roles / "x", roles / "y")
    assert failed() == {"roles of tic_tac_toe", "o: role", "x: role"}
    write_roles(roles, "chess", ("o", "x", "y"))
    assert failed() == {f"{role}: {what}" for role in "oxy" for what in ("role", "game")}


@pytest.mark.parametrize("roles", [["../o"], [".."], ["/o"], [""], [], "o", [1]])
def test_roles_are_no_paths(tmp_path: Path, roles: object) -> None:
    (tmp_path / ROLES).write_bytes(orjson.dumps({"game": "tic_tac_toe", "roles": roles}))
    with pytest.raises(BadFile, match=ROLES):
        verify_model(tmp_path)
