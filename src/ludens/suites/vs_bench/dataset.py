"""The datasets of strategic reasoning: built from the recipes, or cut from a recorded run.

A dataset is checked before it is written: shares of targets, matches and kinds of action, and the number of
samples that look alike. Seed 0 gives the samples of the suite's tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ludens.core.errors import BadOption, UnknownName
from ludens.core.options import configure
from ludens.core.spec import parse_spec
from ludens.core.view import view_of
from ludens.run.dataset import ColumnType, Dataset, Order, Share, count_shares
from ludens.suites.vs_bench.predict import SEAT, Predict, Prediction
from ludens.suites.vs_bench.recipes import RECIPES, RULES, recipe_of
from ludens.suites.vs_bench.samples import PredictionSample, content, game_of, recorded, sample

STRIDE = 3_628_800
"""Sample numbers per seed; 10! is a multiple of every recipe's cycle, so that each seed starts one."""
ROUNDING = 2.0
"""Samples by which a share may miss its target: a match has two targets, and each is rounded."""

_TYPES: dict[str, ColumnType] = {"images": "pictures", "options": "texts", "answers": "texts"}
_TYPES["step"] = "number"
_COLUMNS = "id game observer target images text rules notes options answer answers kind match step"
COLUMNS: dict[str, ColumnType] = {name: _TYPES.get(name, "text") for name in _COLUMNS.split()}


def build(order: Order) -> Dataset:
    what = parse_spec(order.what)
    name = {"kuhn": "kuhn_poker"}.get(what.name, what.name)
    if name not in RECIPES:
        raise UnknownName("game of vs-bench", what.name, RECIPES)
    # Recorded players may do anything, as often as in the paper's data.
    usual = RULES[0] if order.run is None else "paper"
    rule = configure(Predict, {"rule": usual, **what.options, "game": name}, f"vs-bench/{name}").rule
    if not 0 <= order.seed < 2**40 or order.n > STRIDE:
        raise BadOption(f"a dataset has at most {STRIDE:,} samples and a seed from 0 to 2**40 - 1.")
    if order.run is None:
        start = order.seed * STRIDE
        numbers: Sequence[int] = range(start, start + order.n)
        samples = [sample(name, number, rule) for number in numbers]
        source: dict[str, Any] = {
            "rule": rule,
            "recipe": [[m.share, str(m), list(m.targets)] for m in recipe_of(name, rule).matches],
        }
    else:
        numbers = range(order.n)
        samples, source = recorded(name, order.run, order.n, order.seed)
    shares = distribution(name, samples, rule, built=order.run is None)
    check(name, samples, shares)
    game = game_of(name)
    return Dataset(
        f"vs-bench/{name}",
        f"Strategic reasoning in {name}: what does the other do next? VS-Bench's task, made by Ludens.",
        COLUMNS,
        _rows(name, rule, numbers, samples, order),
        shares,
        {
            "game": game.name,
            "version": game.version,
            "options": game.options,
            "seed": order.seed,
            "theme": order.render.theme,
            "size": order.render.size,
            **source,
        },
    )


def _rows(
    name: str, rule: str, numbers: Sequence[int], samples: Sequence[PredictionSample], order: Order
) -> Iterator[dict[str, Any]]:
    game = Predict(game=name, rule=rule)
    for number, question in zip(numbers, samples, strict=True):
        view, state = view_of(game, order.render, number), Prediction(question)
        yield {
            "id": f"{name}-{'recorded-' if order.run else ''}{order.seed}-{number % STRIDE}",
            "game": name,
            **{name: getattr(question, name) for name in ("observer", "target", "kind", "match", "step")},
            "images": view.images(state, SEAT),
            "text": view.text(state, SEAT),
            "rules": view.rules(SEAT),
            "notes": view.notes(state, SEAT),
            "options": list(question.options),
            "answer": question.done,
            "answers": sorted(question.truth),
        }


def distribution(
    name: str, samples: Sequence[PredictionSample], rule: str = RULES[0], built: bool = True
) -> list[Share]:
    """Shares of targets, matches and kinds of action, with the recipe's shares where it has some."""
    recipe, n = recipe_of(name, rule), len(samples)
    targets = sorted({recipe.seat_names.get(seat, seat) for seat in game_of(name).seats})
    wanted = {target: n / len(targets) for target in targets}
    shares = count_shares("target", (question.target for question in samples), wanted)
    total = sum(match.share for match in recipe.matches)
    matches = {str(match): n * match.share / total for match in recipe.matches} if built else None
    shares += count_shares("match", (question.match for question in samples), matches)
    weight = sum(recipe.classes.values())
    kinds = {kind: n * share / weight for kind, share in recipe.classes.items()}
    if kinds:
        shares += count_shares("kind", (question.kind for question in samples), kinds)
    shares += count_shares("answer", (question.done for question in samples))
    return shares


def check(name: str, samples: Sequence[PredictionSample], shares: Sequence[Share]) -> None:
    """Reject a dataset that misses its targets."""
    for share in shares:
        if share.wanted is not None and abs(share.count - share.wanted) > ROUNDING:
            raise BadOption(
                f"the dataset misses its target: {share.count} of {len(samples)} samples have the {share.of} "
                f"{share.value!r}, and {share.wanted:.1f} are wanted."
            )
    alike = repeats(name, samples)
    most = max(1, RECIPES[name].repeats * len(samples))
    if alike > most:
        raise BadOption(
            f"{alike} of {len(samples)} samples look like an earlier one; at most {most:.0f} are allowed."
        )


def repeats(name: str, samples: Sequence[PredictionSample]) -> int:
    """The number of samples that show the same observer the same as an earlier one, step numbers aside."""
    return len(samples) - len({content(question.state, question.observer) for question in samples})


def chance(samples: Sequence[PredictionSample]) -> float:
    return sum(len(question.truth) / len(question.options) for question in samples) / len(samples)
