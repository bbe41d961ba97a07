"""The model of ours: its pieces, its cursor, and that it speaks as it is trained."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

import ludens  # noqa: E402
from ludens.concurrent import play_sync  # noqa: E402
from ludens.core.errors import BadOption  # noqa: E402
from ludens.models.settings import PromptOptions  # noqa: E402
from ludens.train.nano.inputs import NOWHERE, Vocabulary, numbers_like, pieces  # noqa: E402
from ludens.train.nano.model import NanoModel  # noqa: E402
from ludens.train.nano.network import Cursor, Marks, Network, Speaker, TokenBatch  # noqa: E402  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.nano.weights import NanoSize  # noqa: E402
from ludens.train.policy import Player  # noqa: E402
from tests.support.tiny_training import policy  # noqa: E402

MATRIX = "2x3\n[[1, 0, -1], [0, 2, 1]]"
OBJECTS = "spy\n08: red cube, 37: blue\n then 12: red \\boxed{cube}"


def test_pieces() -> None:
    assert pieces(MATRIX) == [
        "2x3", "\n", "[[", "1, ", "0, ", "-1", "], [", "0, ", "2, ", "1", "]]",
    ]  # fmt: skip
    assert pieces("08: red, 37: a 10 B2") == ["08:", " red", ",", " 37:", " a", " 10", " B", "2"]
    assert pieces("K12 -34 a_b 567 4, 89, 1") == [
        "K", "12", " -34", " a_b", " 567", " 4", ",", " 8", "9, ", "1",
    ]  # fmt: skip
    assert pieces("0714: 136 1819: 2345: 4567") == [
        "0714:", " 136", " 1819:", " 2345:", " 4", "5", "6", "7",
    ]  # fmt: skip
    for text in (MATRIX, OBJECTS, "a\\b 3x 4:5 12:30", "1 22 333 4444"):
        assert "".join(pieces(text)) == text


def test_a_vocabulary_without_a_number_or_joined_words_reads_their_parts() -> None:
    fine = Vocabulary.of(["3 4 a b 12", "5 c_d"])
    assert [fine.pieces[number] for number in fine.encode(" 12 43")] == [" 12", " 4", "3"]
    assert [fine.pieces[number] for number in fine.encode(" a_b c_d b_c")] == [
        " a",
        " b",
        " c_d",
        "<unknown>",
    ]
    unknown = fine.encode("é"), fine.encode("?!"), fine.encode("_"), fine.encode(" z")
    assert unknown == ([fine.unknown],) * 4
    assert numbers_like({" 7", "a", "12x3"}) == {f" {number}" for number in range(100)}
    assert numbers_like({"a"}) == set()
    assert numbers_like({"131", "5", " 8"}) == set(map(str, range(132))) | {f" {n}" for n in range(100)}


def cursor_of(text: str) -> list[tuple[int, int, tuple[float, float] | None]]:
    vocabulary = Vocabulary.of([text])
    cursor = Cursor.of(
        torch.tensor([vocabulary.encode(text)]), Marks.of(vocabulary.pieces, torch.device("cpu"))
    )
    places = [tuple(round(v, 4) for v in place) for place in cursor.place[0].tolist()]
    named = [place if place[0] != NOWHERE else None for place in places]
    return list(zip(cursor.line[0].tolist(), cursor.column[0].tolist(), named, strict=True))


def test_cursor_walks_over_a_matrix() -> None:
    found = cursor_of(MATRIX)
    assert found[:2] == [(0, 0, None)] * 2
    # At `[[` the first cell comes next: the left of three columns, the upper of two lines.
    assert found[2:6] == [(1, 0, (0.1667, 0.25)), (1, 1, (0.5, 0.25)), (1, 2, (0.8333, 0.25)), (1, 3, None)]
    assert found[6:] == [
        (2, 0, (0.1667, 0.75)), (2, 1, (0.5, 0.75)), (2, 2, (0.8333, 0.75)), (2, 3, None), (2, 4, None),
    ]  # fmt: skip


def test_named_places_hold_until_the_next_one_or_a_new_line() -> None:
    places = dict(zip(pieces(OBJECTS), (place for _, _, place in cursor_of(OBJECTS)), strict=True))
    assert places["08:"] == (0.05, 0.85)
    assert places[","] == (0.05, 0.85)
    assert places[" 37:"] == places[" blue"] == (0.35, 0.75)
    assert places[" then"] is None
    assert places[" 12:"] == places[" red"] == (0.15, 0.25)
    assert cursor_of("0719: 1")[1] == (0, 0, (0.375, 0.975))
    assert places["\\boxed{"] is None
    assert places["}"] is None


@pytest.mark.parametrize("text", [MATRIX, OBJECTS])
def test_speaking_token_by_token_equals_one_pass(text: str) -> None:
    vocabulary = Vocabulary.of([MATRIX, OBJECTS])
    marks = Marks.of(vocabulary.pieces, torch.device("cpu"))
    torch.manual_seed(0)
    network = Network(NanoSize(width=32, heads=2, encoder=1, decoder=2, side=64, longest=32), len(vocabulary))
    for parameter in network.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.1)
    pictures = torch.randn(2, 3, 64, 64)
    ids = torch.tensor([vocabulary.encode(text)])
    ids = torch.cat([ids, ids.flip(1)])
    padding = torch.zeros(2, dtype=torch.long)
    with torch.no_grad():
        whole = network.logits(network.encoder(pictures), TokenBatch.of(ids, padding, marks), ids.shape[1])
        speaker = Speaker(
            network, network.encoder(pictures), TokenBatch.of(ids[:, :2], padding, marks), marks, ids.shape[1]
        )
        for at in range(2, ids.shape[1]):
            assert torch.allclose(speaker.logits, whole[:, at - 1], atol=1e-4), at
            speaker.say(ids[:, at])


def test_the_first_look_is_at_the_place_of_the_cursor() -> None:
    """Untrained, every layer's cross-attention is strongest at the patch that the text names."""
    vocabulary = Vocabulary.of(["12: 87: x"])
    marks = Marks.of(vocabulary.pieces, torch.device("cpu"))
    torch.manual_seed(1)
    network = Network(
        NanoSize(width=128, heads=2, encoder=1, decoder=2, side=160, longest=16), len(vocabulary)
    )
    with torch.no_grad():
        seen = network.encoder(torch.randn(1, 3, 160, 160))
        for text, (column, row) in (("12: x", (1, 2)), (" 87: x", (8, 7))):
            tokens = TokenBatch.of(torch.tensor([vocabulary.encode(text)]), torch.zeros(1).long(), marks)
            x = network.decoder.embed(tokens.ids, tokens.position, tokens.cursor)
            for block in network.decoder.blocks:
                query = torch.nn.functional.rms_norm(x, (128,))
                keys, _ = block.look.keys(seen)
                asked = block.look.query(query).unflatten(-1, (2, -1)).transpose(1, 2)
                scores = (asked[:, :, -1:] @ keys.transpose(2, 3)).sum(1)[0, 0]
                assert divmod(int(scores.argmax()), 10) == (row, column)


def test_a_reply_leaves_room_for_the_prompt() -> None:
    with pytest.raises(BadOption, match="max_tokens below its longest = 128, not 128"):
        NanoPolicy(NanoSize(longest=128), Vocabulary.of([MATRIX]), max_tokens=128, device="cpu")


def test_a_model_loads_its_policy_once() -> None:
    game, made, loads = ludens.make("tic_tac_toe"), policy(), list[NanoPolicy]()

    def load() -> NanoPolicy:
        loads.append(made)
        return made

    player = Player(NanoModel("nano", load), PromptOptions(), policy=made)
    episode = play_sync(game, {"x": player, "o": player}, 0)
    assert len(episode.moves) > 1
    assert loads == [made]
