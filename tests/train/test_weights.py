"""Weights in files: written and read as safetensors does, rounded as torch does; bad files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest

from ludens.cli import main
from ludens.core.errors import BadFile, UnknownName
from ludens.train.nano.weights import (
    SETTINGS,
    WEIGHTS,
    StoredModel,
    packed,
    read_weights,
    verify_weights,
)
from tests.support.nano import SIZE, write_random

TENSORS = {
    "matrix": np.array([[0.5, -1.27, 0.004], [0.0, 0.0, 0.0], [2.0, 254.0, -1.0]], np.float32),
    # 1 + 1/256 and 1 + 3/256 are as near to one bfloat16 as to another.
    "vector": np.array([1.0, 0.1, 1.00390625, 1.01171875], np.float32),
    "convolution": np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2) - 5,
}


def test_int8_by_hand(tmp_path: Path) -> None:
    """127 steps to the largest of each row; a row of zeros stays so; vectors are not rounded."""
    (tmp_path / "w").write_bytes(packed(TENSORS, "int8"))
    read = read_weights(tmp_path / "w")
    assert read["matrix"] == pytest.approx(np.array([[0.5, -1.27, 0.0], [0, 0, 0], [2.0, 254.0, -2.0 * 0]]))
    assert read["vector"].tolist() == TENSORS["vector"].tolist()
    assert np.abs(read["convolution"] - TENSORS["convolution"]).max() <= 10 / 127 / 2
    assert set(read) == set(TENSORS)


def test_safetensors_reads_what_we_write(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
    from safetensors.torch import load_file

    random = np.random.default_rng(0)
    tensors = {**TENSORS, "random": random.normal(0, 9, (7, 5)).astype(np.float32)}
    (tmp_path / "w").write_bytes(packed(tensors, "float32"))
    for name, tensor in load_file(tmp_path / "w").items():
        assert (tensor.numpy() == tensors[name]).all()
    (tmp_path / "w").write_bytes(packed(tensors, "bfloat16"))
    for name, tensor in load_file(tmp_path / "w").items():
        rounded = torch.tensor(tensors[name]).bfloat16()
        assert (tensor == rounded).all()
        assert (read_weights(tmp_path / "w")[name] == rounded.float().numpy()).all()
    (tmp_path / "w").write_bytes(packed(tensors, "int8"))
    stored = load_file(tmp_path / "w")
    assert stored["matrix"].tolist() == [[50, -127, 0], [0, 0, 0], [1, 127, 0]]
    assert stored["matrix.scale"].tolist() == pytest.approx([0.01, 1, 2])


def test_we_read_what_safetensors_writes(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
    from safetensors.torch import save_file

    written = {name: torch.tensor(array) for name, array in TENSORS.items()}
    written["matrix"] = written["matrix"].bfloat16()
    save_file(written, tmp_path / "w", {"note": "metadata is not a tensor"})
    read = read_weights(tmp_path / "w")
    assert set(read) == set(TENSORS)
    for name, array in read.items():
        assert (array == written[name].float().numpy()).all()


def file(header: object, body: bytes = bytes(16)) -> bytes:
    text = orjson.dumps(header)
    return len(text).to_bytes(8, "little") + text + body


def entry(**changes: object) -> dict[str, object]:
    return {"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16], **changes}}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 8 + b"{}",
        file([]),
        file({"a": 3}),
        file(entry(), bytes(15)),
        file(entry(shape=[3, 2])),
        file(entry(shape=[-2, -2])),
        file(entry(shape=[2.5, 2])),
        file(entry(shape="22")),
        file(entry(data_offsets=[-16, 0])),
        file(entry(data_offsets=[0, 10**18])),
        file(entry(data_offsets=[0])),
        file(entry(data_offsets=["0", "16"])),
        file(entry(dtype="F64")),
        file(entry(dtype=["F32"])),
        file(entry(dtype="I8", shape=[4, 4])),
        file({"a": {"dtype": "F32", "shape": [2, 2], "offset": 0}}),
        file(entry(shape=[2**63, 2])),
        file(entry())[:20],
        (-1).to_bytes(8, "little", signed=True) + file(entry())[8:],
        file("text"),
        file(entry()).replace(b'"a"', b'"a'),
    ],
)
def test_bad_files(data: bytes, tmp_path: Path) -> None:
    assert read_weights_of(file(entry()), tmp_path)["a"].shape == (2, 2)
    with pytest.raises(BadFile, match="weights"):
        read_weights_of(data, tmp_path)


def read_weights_of(data: bytes, folder: Path) -> dict[str, np.ndarray]:
    (folder / "weights").write_bytes(data)
    return read_weights(folder / "weights")


def test_unknown_number_format() -> None:
    with pytest.raises(UnknownName, match="bfloat16"):
        packed(TENSORS, "bfloat61")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"size": {**SIZE, "heads": 0}}, "'heads' of a nano network must be"),
        ({"size": {**SIZE, "heads": 3}}, "multiple of its heads"),
        ({"size": {**SIZE, "side": 100_000}}, "'side' of a nano network must be"),
        ({"size": {**SIZE, "width": "32"}}, "'width' of a nano network must be"),
        ({"size": {**SIZE, "depth": 3}}, "depth"),
        ({"size": {**SIZE, "decoder": 3}}, "no tensor decoder.blocks.2"),
        ({"size": {**SIZE, "longest": 65}}, "decoder.position.weight of shape"),
        ({"size": []}, "does not describe"),
        ({"vocabulary": ["<pad>", "<end>", "<unknown>", 4]}, "not a list of texts"),
        ({"vocabulary": ["a"]}, "vocabulary"),
        ({"vocabulary": {"<pad>": 0}}, "not a list of texts"),
        ({"temperature": "nan"}, "out of range"),
        ({"max_tokens": -3}, "out of range"),
        ({"max_tokens": 64}, "out of range"),
        ({"prompts": 99}, "form 99"),
        ({"max_tokens": None}, "does not describe"),
    ],
)
def test_settings_that_do_not_fit(changes: dict[str, object], words: str, tmp_path: Path) -> None:
    folder = write_random(tmp_path, ["a b"])
    assert StoredModel.read(folder).weights()
    settings = orjson.loads((folder / SETTINGS).read_bytes())
    (folder / SETTINGS).write_bytes(orjson.dumps({**settings, **changes}))
    with pytest.raises(BadFile, match=words):
        StoredModel.read(folder).weights()


def test_missing_files(tmp_path: Path) -> None:
    folder = write_random(tmp_path, ["a b"])
    (folder / WEIGHTS).unlink()
    with pytest.raises(BadFile, match="safetensors"):
        StoredModel.read(folder).weights()
    (folder / SETTINGS).unlink()
    with pytest.raises(BadFile, match=SETTINGS):
        StoredModel.read(folder)


def header_and_body(data: bytes) -> tuple[dict[str, dict[str, list[int]]], bytearray]:
    end = 8 + int.from_bytes(data[:8], "little")
    return orjson.loads(data[8:end]), bytearray(data[end:])


@pytest.mark.parametrize(
    ("dtype", "tensor", "number", "words"),
    [
        ("float32", "encoder.key.weight", np.nan, "numbers in encoder.key.weight that are not finite"),
        ("bfloat16", "decoder.head.weight", np.inf, "numbers in decoder.head.weight that are not finite"),
        ("int8", "decoder.head.weight.scale", np.nan, "scales of decoder.head.weight that are not finite"),
        ("int8", "decoder.line.weight.scale", -np.inf, "scales of decoder.line.weight that are not finite"),
        ("int8", "encoder.stem.0.bias", np.nan, "numbers in encoder.stem.0.bias that are not finite"),
    ],
)
def test_numbers_that_are_not_finite(
    dtype: str,
    tensor: str,
    number: float,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One sentence and exit code 2, also on the command line."""
    folder = write_random(tmp_path / "model", ["a b"])
    (folder / WEIGHTS).write_bytes(packed(read_weights(folder / WEIGHTS), dtype))
    assert StoredModel.read(folder).weights()
    header, body = header_and_body((folder / WEIGHTS).read_bytes())
    begin = header[tensor]["data_offsets"][0]
    stored = np.float32(number).tobytes()
    body[begin : begin + 4] = stored if dtype != "bfloat16" else stored[2:] + body[begin + 2 : begin + 4]
    (folder / WEIGHTS).write_bytes(file(header, bytes(body)))
    with pytest.raises(BadFile, match=words):
        StoredModel.read(folder).weights()
    monkeypatch.chdir(tmp_path)
    for command in (["verify", "nano/model"], ["play", "tic_tac_toe", "--seat", "x=nano/model"]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert words in told
        assert "Traceback" not in told


def test_a_file_that_ends_too_early(tmp_path: Path) -> None:
    folder = write_random(tmp_path, ["a b"])
    whole = (folder / WEIGHTS).read_bytes()
    for length in (0, 7, 8, 100, len(whole) // 2, len(whole) - 1):
        (folder / WEIGHTS).write_bytes(whole[:length])
        with pytest.raises(BadFile, match="not a safetensors file of weights"):
            StoredModel.read(folder).weights()


def test_metadata_that_says_nothing(tmp_path: Path) -> None:
    folder = write_random(tmp_path, ["a b"])
    told = {"recipe": {"play": 3}, "losses": {"a": 1}, "seeds": None, "rounds": "?"}
    (folder / WEIGHTS).write_bytes(packed(read_weights(folder / WEIGHTS), "int8", told))
    checks = {check.name: check.ok for check in verify_weights(folder)}
    assert checks["numbers"]
    assert not checks["losses"]
    assert not checks["seeds"]
    header, body = header_and_body((folder / WEIGHTS).read_bytes())
    (folder / WEIGHTS).write_bytes(file({**header, "__metadata__": []}, bytes(body)))
    with pytest.raises(BadFile, match="metadata is not an object"):
        verify_weights(folder)
