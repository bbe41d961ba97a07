"""Presets: the sampling settings of a paper, added to the specs of models."""

from __future__ import annotations

from ludens.core.errors import UnknownName
from ludens.core.spec import Spec
from ludens.models.settings import ALIASES

_BUDGETED = ("anthropic", "google")
"""Kinds of models whose `reasoning_effort` may be a number of tokens."""

PRESETS: dict[str, dict[str, str]] = {
    "vs-bench": {"temperature": "1", "max_tokens": "8192"},
    # Providers count reasoning as output: 8,192 tokens of answer and 16,384 of reasoning.
    "vs-bench-reasoning": {"temperature": "1", "max_tokens": "24576", "reasoning_effort": "16384"},
}
"""Name to options of a model. Answers that are cut off are asked for again with more tokens (`extend`), as
in VS-Bench."""


def with_preset(spec: Spec, preset: str) -> Spec:
    """The spec of a model with the options of a preset; its own options have precedence."""
    if preset not in PRESETS:
        raise UnknownName("preset", preset, PRESETS)
    given = {ALIASES.get(name, name) for name in spec.options}
    added = {
        name: value
        for name, value in PRESETS[preset].items()
        if name not in given and (name != "reasoning_effort" or spec.kind in _BUDGETED)
    }
    return Spec(spec.name, spec.address, {**added, **spec.options})
