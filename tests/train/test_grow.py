"""A trained model that goes on with other games learns their words."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.train.nano.inputs import Vocabulary  # noqa: E402
from ludens.train.nano.network import TokenBatch  # noqa: E402
from ludens.train.nano.policy import NanoPolicy, with_pieces  # noqa: E402
from ludens.train.nano.weights import NanoSize, StoredModel  # noqa: E402
from ludens.train.recipe import Recipe  # noqa: E402
from ludens.train.session import train  # noqa: E402

SIZE = {"width": 32, "heads": 2, "encoder": 1, "decoder": 1, "side": 64, "longest": 64}


def test_what_is_known_stays() -> None:
    policy = NanoPolicy(
        NanoSize(**SIZE), Vocabulary.of(["red blue 37:"]), max_tokens=8, batch=5, device="cpu"
    )
    grown = with_pieces(policy, Vocabulary.of(["blue green"]), seed=1)
    known = len(policy.vocabulary)
    assert grown.vocabulary.pieces == [*policy.vocabulary.pieces, " green", "blue"]
    assert (grown.max_tokens, grown.batch, grown.temperature) == (8, 5, 1.0)
    ids, padding = torch.tensor([[3, 4, 5], [0, 5, 3]]), torch.tensor([0, 1])
    seen = policy.see(torch.randint(0, 255, (2, 3, 64, 64), dtype=torch.uint8))
    with torch.no_grad():
        before, after = (
            one.network.logits(seen, TokenBatch.of(ids, padding, one._marks), 2) for one in (policy, grown)
        )
    assert torch.equal(before, after[..., :known])
    assert after[..., known:].abs().min() > 0
    assert with_pieces(policy, policy.vocabulary) is policy


def test_imitation_goes_on_with_another_game(tmp_path: Path) -> None:
    def learn(game: str, name: str, path: str = "") -> Vocabulary:
        recipe = Recipe.of(
            {
                "run": {"name": name, "algorithm": "sft", "iterations": 0},
                "model": {"kind": "nano", "path": path, "max_tokens": 24, "device": "cpu", **SIZE},
                "play": {"game": "tic_tac_toe"},
                "supervised": {"workers": 1, "batch": 4},
                "demonstrations": [{"game": game, "episodes": 3}],
            }
        )
        train(recipe, tmp_path / name, lambda line: None)
        return StoredModel.read(tmp_path / name / "supervised").vocabulary

    boards = learn("perceive?board=tic_tac_toe", "boards")
    both = learn("tic_tac_toe", "both", str(tmp_path / "boards" / "supervised"))
    assert both.pieces[: len(boards)] == boards.pieces
    assert "Action" in both.ids
    assert "Action" not in boards.ids
