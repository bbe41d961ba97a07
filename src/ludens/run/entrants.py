"""Who is measured: specs with their manner of address, short names for tables, and blind controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ludens.core.errors import BadOption
from ludens.core.spec import Spec, parse_spec
from ludens.models import MODELS

CONTROL = " (blind)"
"""What the name of a blind control ends with."""


@dataclass(frozen=True)
class Field:
    """Everybody who takes part."""

    entrants: dict[str, str]
    """Name in tables to spec."""
    controls: dict[str, str] = field(default_factory=dict)
    """Name of a blind control to the name of who it controls."""


def is_model(spec: str) -> bool:
    """Whether a spec names a model, and not a bot or a person."""
    return parse_spec(spec).kind in MODELS.names()


def field_of(
    specs: Sequence[str],
    names: Sequence[str] = (),
    manner: Mapping[str, str] | None = None,
    *,
    templates: str = "",
    blind_control: bool = False,
) -> Field:
    """The entrants of a run.

    Args:
        specs: Who is measured.
        names: What they are called in tables, in the same order; short names of our own by default.
        manner: Options of address added to every spec, all of which must then be models.
        words: Folder with words of the user's own, from which models are addressed.
        blind_control: Whether each model also plays with blank pictures.
    """
    addressed = [_addressed(spec, manner or {}, templates) for spec in specs]
    if names and len(names) != len(specs):
        raise BadOption(f"there are {len(specs)} entrants and {len(names)} names: name all of them or none.")
    called = list(names) if names else short_names(addressed)
    twice = [name for name, times in Counter(called).items() if times > 1]
    if twice:
        raise BadOption(f"two entrants are called {twice[0]!r}.")
    entrants = dict(zip(called, addressed, strict=True))
    if not blind_control:
        return Field(entrants)
    controls = {name + CONTROL: name for name, spec in entrants.items() if is_model(spec)}
    if not controls:
        raise BadOption("--blind-control needs a model: bots see no pictures.")
    sighted = {**entrants, **{twin: _blinded(entrants[name]) for twin, name in controls.items()}}
    if len(sighted) < len(entrants) + len(controls):
        raise BadOption(f"names that end with {CONTROL!r} belong to blind controls.")
    return Field(sighted, controls)


def _addressed(text: str, manner: Mapping[str, str], templates: str) -> str:
    spec = parse_spec(text)
    if is_model(text):
        wanted = {**manner, "templates": templates} if templates else manner
        return str(Spec(spec.name, spec.address, _merged(spec, wanted)))
    if manner:
        flags = " and ".join(f"--{option}" for option in manner)
        raise BadOption(
            f"{spec.name} is no model and takes no {flags}; measure it in a run of its own, "
            "or write the option into the specs of the models (MODEL?style=cot)."
        )
    return str(spec)


def _merged(spec: Spec, manner: Mapping[str, str]) -> dict[str, str]:
    for option, value in manner.items():
        if spec.options.get(option, value) != value:
            raise BadOption(
                f"{spec.name} says {option}={spec.options[option]}, and --{option} says {value}: drop one."
            )
    return {**spec.options, **manner}


def _blinded(text: str) -> str:
    spec = parse_spec(text)
    if "blind" in spec.options:
        raise BadOption(f"{spec.name} has the option blind already; --blind-control adds the blind twin.")
    return str(Spec(spec.name, spec.address, {**spec.options, "blind": "true"}))


def short_names(specs: Sequence[str]) -> list[str]:
    """The shortest unique names: of models what stands after the last slash, of others the whole name.

    Where two would be called the same they get their full names, then their options, then numbers.
    """
    parsed = [parse_spec(spec) for spec in specs]
    tries = (
        [_short(spec) for spec in parsed],
        [spec.name for spec in parsed],
        [str(Spec(spec.name, None, spec.options)) for spec in parsed],
        list(specs),
    )
    counts = [Counter(names) for names in tries]
    named: list[str] = []
    for place, spec in enumerate(specs):
        choices = [(names[place], count) for names, count in zip(tries, counts, strict=True)]
        numbered = f"{spec} #{specs[:place].count(spec) + 1}"
        named.append(next((name for name, count in choices if count[name] == 1), numbered))
    return named


def _short(spec: Spec) -> str:
    return spec.name.rsplit("/", 1)[-1] if spec.kind in MODELS.names() else spec.name
