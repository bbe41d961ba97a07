"""The network in onnxruntime: as exact as its precision says, and the replies of plain numpy."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra 'fast' is not installed")

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.spec import parse_spec
from ludens.draw.picture import Picture
from ludens.train.nano.inputs import marks_of, shrink
from ludens.train.nano.numpy_player import NumpyNetwork, NumpySampler, NumpySpeaker
from ludens.train.nano.onnx_network import Precision
from ludens.train.nano.onnx_player import OnnxDecoder, OnnxEncoder, OnnxSampler, OnnxSpeaker
from ludens.train.nano.player import nano_model
from ludens.train.nano.weights import WEIGHTS, Array, StoredModel, packed, read_weights
from tests.support.nano import boards, write_random

TEXTS = ["perceive\n2x3\n[[1, 0, -1], [0, 2, 1]]", "spy clue\n08: red cube, 37: blue\n", "tic_tac_toe o\n"]
TOKENS = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights of one byte, as models in packages have them."""
    made = write_random(tmp_path_factory.mktemp("nano"), TEXTS, seed=5, max_tokens=TOKENS)
    (made / WEIGHTS).write_bytes(packed(read_weights(made / WEIGHTS), "int8"))
    return made


@lru_cache
def pictures() -> list[Picture]:
    noise = np.random.default_rng(1).integers(0, 256, (96, 96, 3), np.uint8)
    return [*boards(), Picture(noise)]


@lru_cache
def networks(folder: Path) -> tuple[StoredModel, dict[str, Array], NumpyNetwork]:
    stored = StoredModel.read(folder)
    weights = stored.weights(folder)
    return stored, weights, NumpyNetwork(stored.size, weights, marks_of(stored.vocabulary.pieces))


@pytest.mark.parametrize(
    ("precision", "least", "most"),
    [(Precision.FLOAT, 0, 1e-4), (Precision.TWICE, 1e-7, 3e-3), (Precision.INT8, 1e-3, 0.2)],
)
def test_what_it_sees_is_as_exact_as_its_precision(
    precision: Precision, least: float, most: float, folder: Path
) -> None:
    stored, weights, plain = networks(folder)
    encoder = OnnxEncoder(stored.size, weights, precision)
    for picture in pictures():
        small = shrink(picture, stored.size.side)
        expected, seen = plain.look(small), encoder.look(small)[:, :, 0]
        assert least <= np.sqrt(np.mean((expected - seen) ** 2)) / expected.std() < most


def test_logits_after_every_token_and_after_tokens_were_taken_back(folder: Path) -> None:
    stored, weights, plain = networks(folder)
    marks = marks_of(stored.vocabulary.pieces)
    looks = plain.look(shrink(pictures()[0], stored.size.side))
    ids = [stored.vocabulary.encode(text) for text in TEXTS]
    speaker = OnnxSpeaker(OnnxDecoder(stored.size, weights, marks, Precision.FLOAT), looks[:, :, None])
    plainly = NumpySpeaker(plain, [looks], [ids[0][:3]], len(ids[0]))
    expected = [plainly.logits[0]]
    for token in ids[0][3:]:
        plainly.say([token])
        expected.append(plainly.logits[0])
    first = speaker.take(ids[0][:3], 1)
    speaker.take(ids[1][:5], 5)
    speaker.forget(5)
    rest = speaker.take(ids[0][3:], len(ids[0]) - 3)
    assert np.concatenate([first, rest]) == pytest.approx(np.array(expected), abs=2e-3)


def replies(sampler: NumpySampler | OnnxSampler, shown: list[Picture]) -> list[list[int]]:
    prompts = [sampler.encode(text) for text in TEXTS for _ in shown]
    found = sampler.sample(prompts, [[picture] for _ in TEXTS for picture in shown])
    return [tokens.completion_ids for tokens in found]


def test_replies_are_those_of_numpy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether tokens are guessed or not, and whether it looks again or not."""
    expected = replies(NumpySampler.read(folder, 0.0, TOKENS, 8), pictures())
    assert len(set(map(tuple, expected))) > 3
    fast = OnnxSampler(folder, TOKENS, 8, Precision.TWICE)
    for _ in range(3):
        assert replies(fast, pictures()) == expected
    assert [reply for one in pictures() for reply in replies(fast, [one])[:1]] == expected[: len(pictures())]
    monkeypatch.setattr("ludens.train.nano.onnx_player.MARGIN", 1e9)
    unsure = OnnxSampler(folder, TOKENS, 8, Precision.TWICE)
    assert replies(unsure, pictures()) == expected
    assert unsure.unsure == len(expected)
    never = OnnxSampler(folder, TOKENS, 8, Precision.INT8)
    assert len(replies(never, pictures())) == len(expected)
    assert never.unsure == 0


def test_onnxruntime_where_it_is_installed_and_nothing_is_drawn(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sampler(options: str = "") -> object:
        return nano_model(parse_spec(f"nano/{folder}{options}")).sampler

    assert isinstance(sampler(), OnnxSampler)
    assert isinstance(sampler("?device=int8"), OnnxSampler)
    assert isinstance(sampler("?temperature=0.5"), NumpySampler)
    assert isinstance(sampler("?device=numpy"), NumpySampler)
    assert nano_model(parse_spec(f"nano/{folder}?device=onnx")).spec == f"nano/{folder}"
    assert nano_model(parse_spec(f"nano/{folder}?device=int8")).spec == f"nano/{folder}?device=int8"
    with pytest.raises(BadOption, match="temperature must be 0"):
        sampler("?device=onnx&temperature=0.5")
    monkeypatch.setattr("ludens.train.nano.player.find_spec", lambda name: None)
    assert isinstance(sampler(), NumpySampler)
    with pytest.raises(MissingExtra, match="fast"):
        sampler("?device=onnx")
