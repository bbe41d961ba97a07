"""The network in numpy says what the one in torch says: cursors, logits, tokens."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.draw.picture import Picture  # noqa: E402
from ludens.train.nano.inputs import (  # noqa: E402
    TextCursor,
    Vocabulary,
    marks_of,
)
from ludens.train.nano.network import Cursor, Marks, Network, Speaker, TokenBatch  # noqa: E402
from ludens.train.nano.numpy_player import (  # noqa: E402
    NumpyNetwork,
    NumpySampler,
    NumpySpeaker,
    alike,
)
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.nano.weights import NanoSize, StoredModel  # noqa: E402
from ludens.train.policy import TokenSample  # noqa: E402
from tests.support.nano import SIZE, boards, disturb, questions  # noqa: E402

MATRIX = "perceive\n2x3\n[[1, 0, -1], [0, 2, 1]]"
OBJECTS = "spy clue\n08: red cube, 37: blue\n then 12: red \\boxed{cube}"
SHORT = "tic_tac_toe o\n"
VOCABULARY = Vocabulary.of([MATRIX, OBJECTS, SHORT, "3x2", "],["])
PROMPTS = [VOCABULARY.encode(text) for text in (SHORT, OBJECTS, MATRIX[:16], MATRIX, SHORT + OBJECTS[:20])]


@lru_cache
def pictures() -> list[list[Picture]]:
    """Of each prompt: a board, none, noise of another size, the board again, and a blank one."""
    noise = np.random.default_rng(1).integers(0, 256, (96, 96, 3), np.uint8)
    board, blank = boards()
    return [[board], [], [Picture(noise)], [blank, board], [blank]]


@pytest.fixture
def policy() -> NanoPolicy:
    made = NanoPolicy(NanoSize(**SIZE), VOCABULARY, temperature=0, max_tokens=20, device="cpu")
    disturb(made, 0.2)
    return made


def sampler(policy: NanoPolicy, folder: Path, temperature: float = 0, max_tokens: int = 20) -> NumpySampler:
    policy.save(folder)
    return NumpySampler(folder, temperature, max_tokens, 8)


def test_cursor_of_any_text() -> None:
    marks, tables = marks_of(VOCABULARY.pieces), Marks.of(VOCABULARY.pieces, torch.device("cpu"))
    choose = random.Random(0)
    moving = [n for n, mark in enumerate(marks) if any(mark[:2]) or mark.shape[0]]
    texts = [choose.choices([*moving, *range(len(marks))], k=60) for _ in range(40)]
    cursors = Cursor.of(torch.tensor(texts), tables)
    lines, columns, places = (x.tolist() for x in (cursors.line, cursors.column, cursors.place))
    shown = Counter[tuple[float, ...]]()
    for row, text in enumerate(texts):
        cursor = TextCursor()
        for place, token in enumerate(text):
            cursor.move(marks[token])
            assert (cursor.line, cursor.column) == (lines[row][place], columns[row][place])
            assert np.allclose(cursor.place, places[row][place])
            shown[cursor.place] += 1
    assert len(shown) > 12, "cells of matrices, named places, nowhere"


def test_a_shape_without_columns_says_nothing() -> None:
    """Also where it is the next token: all at once and one by one are the same."""
    pieces = ["3x2", "5x0", "[["]
    tables = Marks.of(pieces, torch.device("cpu"))
    whole = Cursor.of(torch.tensor([[0, 1, 2]]), tables)
    stepped = Cursor.of(torch.tensor([[0]]), tables)
    for token in (1, 2):
        stepped = stepped.after(torch.tensor([[token]]), tables)
    assert whole.place[0, -1].tolist() == stepped.place[0, -1].tolist() == pytest.approx([0.25, 1 / 6])


def test_logits_at_every_token() -> None:
    torch.manual_seed(0)
    network = Network(NanoSize(**{**SIZE, "encoder": 2, "side": 96}), len(VOCABULARY))
    for parameter in network.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.1)
    size = NanoSize(**{**SIZE, "encoder": 2, "side": 96})
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    ours = NumpyNetwork(size, weights, marks_of(VOCABULARY.pieces))
    shown = np.random.default_rng(0).integers(0, 256, (3, 3, 96, 96), np.uint8)
    prompts, said = PROMPTS[:3], [PROMPTS[3], PROMPTS[1][::-1], PROMPTS[3][::-1]]
    length, width = min(map(len, said)), max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])
    padding = torch.tensor([width - len(prompt) for prompt in prompts])
    marks = Marks.of(VOCABULARY.pieces, torch.device("cpu"))
    with torch.no_grad():
        centred = torch.from_numpy(shown).float() / 127.5 - 1
        theirs = Speaker(network, network.encoder(centred), TokenBatch.of(ids, padding, marks), marks, length)
        speaker = NumpySpeaker(ours, [ours.look(picture) for picture in shown], prompts, length)
        for number in range(length):
            assert np.abs(speaker.logits - theirs.logits.numpy()).max() < 1e-3, number
            tokens = [text[number] for text in said]
            theirs.say(torch.tensor(tokens))
            speaker.say(tokens)
    assert np.abs(speaker.logits).max() > 1
    assert np.abs(speaker.logits - speaker.logits[0]).max() > 0.1, "rows differ"


def test_tokens_of_a_batch(policy: NanoPolicy, tmp_path: Path) -> None:
    wanted = policy.sample(questions(PROMPTS, pictures()))
    found = sampler(policy, tmp_path).sample(questions(PROMPTS, pictures()))
    assert [t.completion_ids for t in found] == [t.completion_ids for t in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.logprobs == pytest.approx(theirs.logprobs, abs=1e-3)
        assert (ours.prompt_ids, ours.temperature) == (theirs.prompt_ids, theirs.temperature)
        assert (ours.suppressed, len(ours.pictures)) == (theirs.suppressed, len(theirs.pictures))
    assert len({tuple(t.completion_ids) for t in found}) == len(PROMPTS)


def test_rows_that_end_early_are_dropped(policy: NanoPolicy, tmp_path: Path) -> None:
    """Replies of unlike lengths are those that each prompt gets alone."""
    disturb(policy, 0.1)
    with torch.no_grad():
        policy.network.decoder.head.weight[VOCABULARY.end] *= -1
    prompts, shown = PROMPTS * 2, pictures() + pictures()[::-1]
    own = sampler(policy, tmp_path)
    together = [t.completion_ids for t in own.sample(questions(prompts, shown))]
    assert len(set(map(len, together))) > 4
    assert together == [t.completion_ids for t in policy.sample(questions(prompts, shown))]
    alone = [
        own.sample(questions([prompt], [seen]))[0] for prompt, seen in zip(PROMPTS, pictures(), strict=True)
    ]
    assert together[:5] == [t.completion_ids for t in alone]


def test_draws_follow_the_distribution(policy: NanoPolicy, tmp_path: Path) -> None:
    own = sampler(policy, tmp_path, temperature=1.5, max_tokens=1)
    drawn = own.sample(questions([PROMPTS[0]] * 3000, [pictures()[0]] * 3000))
    counts = Counter(t.completion_ids[0] for t in drawn)
    policy.temperature = 1.5
    completions = [[token] for token in range(len(VOCABULARY))]
    samples = [TokenSample(PROMPTS[0], c, [0.0], pictures()[0], temperature=1.5) for c in completions]
    with torch.no_grad():
        chances = policy.logprobs(samples)[0][:, 0].exp().tolist()
    assert max(chances) < 0.9
    for token, chance in enumerate(chances):
        # Five standard deviations.
        assert abs(counts[token] / 3000 - chance) <= 5 * (chance / 3000) ** 0.5, token
    assert [t.logprobs[0] for t in drawn] == pytest.approx(
        [np.log(chances[t.completion_ids[0]]) for t in drawn], abs=1e-3
    )


def test_equal_pictures_are_seen_once(
    policy: NanoPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, seen, look = sampler(policy, tmp_path), list[int](), NumpyNetwork.look
    monkeypatch.setattr(
        own.network, "look", lambda picture: seen.append(1) or look(own.network, picture), raising=True
    )
    for _ in range(2):
        own.sample(questions(PROMPTS, pictures()))
    assert len(seen) == 4, "board, none, noise, blank"
    monkeypatch.setattr("ludens.train.nano.numpy_player.LOOKS", 1)
    own.sample(questions(PROMPTS[:1], pictures()[2:3]))
    own.sample(questions(PROMPTS[:1], pictures()[:1]))
    assert len(seen) == 5, "only the last is kept"


def test_long_prompts_keep_their_end(policy: NanoPolicy, tmp_path: Path) -> None:
    own, text = sampler(policy, tmp_path), OBJECTS * 9
    assert own.encode(text) == policy.encode(text)
    assert len(own.encode(text)) == SIZE["longest"] - 20


def test_sizes_are_those_of_the_network(policy: NanoPolicy, tmp_path: Path) -> None:
    policy.save(tmp_path)
    stored = StoredModel.read(tmp_path)
    shapes = {name: tuple(tensor.shape) for name, tensor in policy.network.state_dict().items()}
    assert stored.size.shapes(len(VOCABULARY)) == shapes


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_prompts_of_similar_length_are_answered_together(threads: int) -> None:
    lengths = [3, 200, 2, 9, 150, 2, 2, 3]
    groups = alike([[0] * length for length in lengths], threads)
    assert sorted(number for group in groups for number in group) == list(range(len(lengths)))
    assert len(groups) >= min(threads, len(lengths))
    for group in groups:
        assert max(lengths[n] for n in group) < 2 * min(lengths[n] for n in group)
