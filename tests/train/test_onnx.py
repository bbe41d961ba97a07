"""The network in onnxruntime: as exact as its precision says, and the replies of plain numpy."""

from __future__ import annotations

import shutil
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra 'fast' is not installed")

from ludens.core.errors import BadFile, BadOption, MissingExtra
from ludens.core.spec import parse_spec
from ludens.draw.picture import Picture
from ludens.train.nano.inputs import END, PAD, UNKNOWN, NanoQuestion, Offer, Vocabulary, marks_of, shrink
from ludens.train.nano.margins import FILE, read_margins, write_margins
from ludens.train.nano.numpy_player import NumpyNetwork, NumpySampler, NumpySpeaker
from ludens.train.nano.onnx_network import Precision, signs_are_exact
from ludens.train.nano.onnx_player import EQUAL, FAST, OnnxDecoder, OnnxEncoder, OnnxSampler, OnnxSpeaker
from ludens.train.nano.player import nano_model
from ludens.train.nano.weights import WEIGHTS, Array, StoredModel, packed, read_weights
from tests.support.nano import boards, questions, write_random

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
    weights = stored.weights()
    return stored, weights, NumpyNetwork(stored.size, weights, marks_of(stored.vocabulary.pieces))


@pytest.mark.parametrize(
    ("precision", "least", "most"),
    [(Precision.THRICE, 0, 1e-5), (Precision.TWICE, 1e-6, 3e-3), (Precision.ONCE, 1e-3, 0.2)],
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


@pytest.mark.parametrize(
    ("precision", "least", "most"),
    [(Precision.THRICE, 0, 1e-3), (Precision.TWICE, 1e-5, 0.03), (Precision.ONCE, 1e-3, 3.0)],
)
def test_logits_after_every_token_and_after_tokens_were_taken_back(
    precision: Precision, least: float, most: float, folder: Path
) -> None:
    stored, weights, plain = networks(folder)
    marks = marks_of(stored.vocabulary.pieces)
    looks = plain.look(shrink(pictures()[0], stored.size.side))
    ids = [stored.vocabulary.encode(text) for text in TEXTS]
    speaker = OnnxSpeaker(OnnxDecoder(stored.size, weights, marks, precision), looks[:, :, None])
    plainly = NumpySpeaker(plain, [looks], [ids[0][:3]], len(ids[0]))
    expected = [plainly.logits[0]]
    for token in ids[0][3:]:
        plainly.say([token])
        expected.append(plainly.logits[0])
    first = speaker.take(ids[0][:3], 1)
    speaker.take(ids[1][:5], 5)
    speaker.forget(5)
    rest = speaker.take(ids[0][3:], len(ids[0]) - 3)
    errors = np.abs(np.concatenate([first, rest]) - np.array(expected))
    assert least <= errors.max() < most


def replies(sampler: NumpySampler | OnnxSampler, shown: list[Picture]) -> list[list[int]]:
    prompts = [sampler.encode(text) for text in TEXTS for _ in shown]
    found = sampler.sample(questions(prompts, [[picture] for _ in TEXTS for picture in shown]))
    return [tokens.completion_ids for tokens in found]


def test_replies_are_those_of_numpy(folder: Path) -> None:
    """Whether tokens are guessed or not, and whichever network replies."""
    expected = replies(NumpySampler(folder, 0.0, TOKENS, 8), pictures())
    assert len(set(map(tuple, expected))) > 3
    fast = OnnxSampler(folder, TOKENS, 8, EQUAL, {})
    for _ in range(3):
        assert replies(fast, pictures()) == expected
        fast._latest.clear()
    assert [reply for one in pictures() for reply in replies(fast, [one])[:1]] == expected[: len(pictures())]
    coarse, finer, finest = EQUAL
    kinds = {fast.kind(fast.encode(text)) for text in TEXTS}
    unsure = OnnxSampler(folder, TOKENS, 8, EQUAL, dict.fromkeys(kinds, (1e9, 1e9)))
    assert replies(unsure, pictures()) == expected
    assert unsure.doubts == {coarse: len(expected), finer: len(expected), finest: 0}
    sure = OnnxSampler(folder, TOKENS, 8, EQUAL, dict.fromkeys(kinds, (0.0, 0.0)))
    assert len(replies(sure, pictures())) == len(expected)
    assert sure.doubts == {coarse: 0}
    never = OnnxSampler(folder, TOKENS, 8, FAST, {})
    assert len(replies(never, pictures())) == len(expected)
    assert never.doubts == {FAST[0]: 0}


@pytest.mark.parametrize("rests", [[[4, 5, 6]], [[4, 5, 6], [4, 6, 5]]])
def test_the_rest_of_the_only_answer_left_is_that_of_numpy(
    rests: list[list[int]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its log-probabilities, without asking the network for it."""
    plain, fast = NumpySampler(folder, 0.0, TOKENS, 8), OnnxSampler(folder, TOKENS, 8, EQUAL, {})
    prompt, shown = fast.encode(TEXTS[1]), [[pictures()[0]]]
    # Random weights do not say the label of an answer: it is what they say first.
    [free] = plain.sample(questions([prompt], shown))
    label, offer = free.completion_ids[:1], Offer(plain.vocabulary, ["red"])
    offer._label, offer._answers = label, [(*label, *rest, plain.vocabulary.end) for rest in rests]
    monkeypatch.setattr(NanoQuestion, "offer", lambda *_: offer)
    [expected], [found] = (
        each.sample(questions([prompt], shown, answers=[["red"]])) for each in (plain, fast)
    )
    assert tuple(found.completion_ids) in offer._answers
    assert found.completion_ids == expected.completion_ids
    assert found.logprobs == pytest.approx(expected.logprobs, abs=0.01)


def test_an_offer_forces_what_all_its_answers_share() -> None:
    vocabulary = Vocabulary([PAD, END, UNKNOWN, "Action", ":", " a", " b", " c", "\n"])
    offer = Offer(vocabulary, ["Action: a b", "Action: a c\n"])
    action, colon, a, b, c, d = range(3, 9)
    assert offer.forced([action]) == []
    assert offer.forced([d, action, colon]) == [a]
    assert offer.forced([action, colon, a]) == []
    assert offer.forced([action, colon, a, c]) == [d, vocabulary.end]
    assert offer.forced([action, colon, a, b, vocabulary.end]) == []


def test_a_question_that_was_asked_before_is_not_computed_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = OnnxSampler(folder, TOKENS, 8, EQUAL, {})
    prompts, shown = [sampler.encode(TEXTS[2])] * 2, [[pictures()[0]], [pictures()[0]]]
    taken: list[int] = []
    take = OnnxSpeaker.take

    def counted(speaker: OnnxSpeaker, tokens: list[int], asked: int) -> Array:
        taken.append(len(tokens))
        return take(speaker, tokens, asked)

    monkeypatch.setattr(OnnxSpeaker, "take", counted)
    one, other = sampler.sample(questions(prompts, shown))
    assert one.completion_ids == other.completion_ids
    assert [tokens for tokens in taken if tokens >= len(prompts[0])] == taken[:1]
    before = len(taken)
    [again] = sampler.sample(questions(prompts[:1], shown[:1]))
    assert (again.completion_ids, len(taken)) == (one.completion_ids, before)
    sampler.sample(questions(prompts[:1], [[pictures()[-1]]]))
    assert len(taken) > before


@pytest.mark.parametrize("precision", Precision)
def test_weights_with_and_without_a_sign_give_the_same(
    precision: Precision, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, weights, _ = networks(folder)
    small, found = shrink(pictures()[0], stored.size.side), []
    monkeypatch.setattr("ludens.train.nano.onnx_network.dots_of_x86", lambda: False)
    for exact in (False, True):
        monkeypatch.setattr("ludens.train.nano.onnx_network.signs_are_exact", lambda exact=exact: exact)
        found.append(OnnxEncoder(stored.size, weights, precision).look(small))
    # Where pairs saturate, weights with a sign are not used.
    if signs_are_exact():
        np.testing.assert_array_equal(*found)


def test_logits_of_a_whole_reply(folder: Path) -> None:
    sampler = OnnxSampler(folder, TOKENS, 8, EQUAL, {})
    prompt, picture = sampler.encode(TEXTS[1]), pictures()[0]
    [tokens] = sampler.sample(questions([prompt], [[picture]]))
    logits = sampler.logits(EQUAL[-1], prompt, tokens.completion_ids, picture)
    assert logits.argmax(-1).tolist() == tokens.completion_ids


def test_margins_belong_to_the_weights_that_they_were_measured_with(folder: Path, tmp_path: Path) -> None:
    model = shutil.copytree(folder, tmp_path / "model")
    assert read_margins(model) == {}
    write_margins(model, {"tic_tac_toe o": (None, 0.01)})
    assert read_margins(model) == {"tic_tac_toe o": (None, 0.01)}
    (model / FILE).write_text((model / FILE).read_text().replace("0.01", '"near"'))
    with pytest.raises(BadFile, match="near is not a margin"):
        read_margins(model)
    write_random(model, TEXTS, seed=6, max_tokens=TOKENS)
    assert read_margins(model) == {}


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


def test_weights_of_four_bytes_are_not_rounded_unasked(tmp_path: Path) -> None:
    folder = write_random(tmp_path, TEXTS, max_tokens=TOKENS)
    assert isinstance(nano_model(parse_spec(f"nano/{folder}")).sampler, NumpySampler)
    with pytest.raises(BadOption, match="weights of one byte"):
        _ = nano_model(parse_spec(f"nano/{folder}?device=onnx")).sampler
    assert isinstance(nano_model(parse_spec(f"nano/{folder}?device=int8")).sampler, OnnxSampler)
