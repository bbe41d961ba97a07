"""Whether edits of photographs leave traces: a linear classifier of patch statistics is near chance."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from ludens.games.spy.sources.photos import Photos
from ludens.pictures.writer import EntryContents, Skip
from tests.support.photographs import save_photographs

Array = npt.NDArray[np.float64]
RIM = 8


def made_pairs(folder: Path, count: int, seed: int) -> list[EntryContents]:
    """So many pairs of edited pictures; those in which nothing can be edited are left out."""
    save_photographs(folder, 3 * count, seed)
    generator, pairs = Photos(folder=str(folder), seed=seed), list[EntryContents]()
    for number in range(3 * count):
        try:
            pairs.append(generator.make(number))
        except Skip:
            continue
        if len(pairs) == count:
            break
    return pairs


def statistics(pixels: Array, box: Sequence[int]) -> list[float]:
    """What is seen of tampering without knowing what is shown: noise, edges, colours, breaks at the rim."""
    x, y, w, h = box
    top, left = max(0, y - RIM), max(0, x - RIM)
    whole = pixels[top : y + h + RIM, left : x + w + RIM]
    grey = whole.mean(-1)
    inner = np.zeros(grey.shape, bool)
    inner[y - top : y - top + h, x - left : x - left + w] = True
    across, down = np.diff(grey, axis=1), np.diff(grey, axis=0)
    smooth = (grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]) / 4
    noise, centre = grey[1:-1, 1:-1] - smooth, inner[1:-1, 1:-1]
    spread = whole.max(-1) - whole.min(-1)
    return [
        grey.mean(), grey.std(), grey[inner].std(), grey[~inner].std(), spread.mean(), spread.std(),
        np.abs(across).mean(), np.abs(down).mean(), np.abs(noise).mean(),
        np.median(np.abs(noise[centre])), np.median(np.abs(noise[~centre])),
        np.log1p(np.median(np.abs(noise[centre]))) - np.log1p(np.median(np.abs(noise[~centre]))),
        abs(grey[inner].mean() - grey[~inner].mean()), float(np.percentile(np.abs(noise), 95)),
        float((noise**4).mean() / max(1e-9, (noise**2).mean() ** 2)),
    ]  # fmt: skip


def patches(pairs: Sequence[EntryContents]) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Statistics of every edited place and of the same place in the other picture; 1 where it is edited; the
    number of the pair."""
    rows, labels, groups = list[list[float]](), list[float](), list[int]()
    for number, pair in enumerate(pairs):
        pictures = {
            role: np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), float)
            for role, data in pair.pictures.items()
        }
        for change in pair.changes:
            for box in (change["box"], *([change["to"]] if "to" in change else [])):
                for role, pixels in pictures.items():
                    rows.append(statistics(pixels, box))
                    labels.append(float(role == change["in"]))
                    groups.append(number)
    return np.array(rows), np.array(labels), np.array(groups)


def accuracy(rows: Array, labels: Array, groups: npt.NDArray[np.int64], folds: int = 5) -> float:
    """The accuracy of a linear classifier (ridge regression) on pairs that it was not fitted to."""
    right = 0
    for fold in range(folds):
        test = groups % folds == fold
        mean, spread = rows[~test].mean(0), rows[~test].std(0) + 1e-9
        known, unknown = ((part - mean) / spread for part in (rows[~test], rows[test]))
        square = known.T @ known + 3.0 * np.eye(rows.shape[1])
        weights = np.linalg.solve(square, known.T @ (labels[~test] - 0.5))
        right += int(((unknown @ weights > 0) == (labels[test] > 0.5)).sum())
    return right / len(labels)


def test_the_classifier_finds_crude_edits() -> None:
    """Discs and smears, as edits without blending leave them."""
    dice = np.random.default_rng(0)
    rows, labels, groups = [], [], []
    for number in range(40):
        ground = dice.normal(130, 12, (60, 60, 3)) + np.linspace(0, 40, 60)[None, :, None]
        smeared = ground.copy()
        smeared[20:40, 20:40] = ground[20:40, 20:40].mean((0, 1))
        for label, picture in enumerate((ground, smeared)):
            rows.append(statistics(picture, (20, 20, 20, 20)))
            labels.append(float(label))
            groups.append(number)
    assert accuracy(np.array(rows), np.array(labels), np.array(groups)) > 0.9


def test_each_picture_has_one_edit_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    pairs = made_pairs(tmp_path / "in", 4, 1)
    assert len(pairs) == 4
    for pair in pairs:
        assert sorted(change["in"] for change in pair.changes) == ["modified", "original"]
    # Few patches cannot show much: far from what the classifier reaches on crude edits.
    assert accuracy(*patches(pairs)) < 0.85


@pytest.mark.slow
def test_edits_leave_no_traces(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    pairs = made_pairs(tmp_path / "in", 200, 0)
    assert len(pairs) == 200
    kinds = [change["edit"] for pair in pairs for change in pair.changes]
    assert min(kinds.count(kind) for kind in ("add", "move", "recolor", "remove")) > 20
    rows, labels, groups = patches(pairs)
    assert len(labels) >= 800
    assert accuracy(rows, labels, groups) < 0.6
