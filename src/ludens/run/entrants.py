"""The entrants of a run: specs with prompt options, short names for tables, blind controls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ludens.core.errors import BadOption, UnknownName
from ludens.core.options import configure
from ludens.core.spec import Spec, parse_spec
from ludens.models import provider_spec
from ludens.models.specs import PromptOptions, is_model
from ludens.run.presets import with_preset

CONTROL = " (blind)"
"""Suffix of the name of a blind control."""
SETTINGS = ("modality", "blind", "style", "frames", "memory")
"""Prompt options that change what a result means, and are shown next to the entrant."""


@dataclass(frozen=True)
class Entrants:
    """All entrants of a run."""

    specs: dict[str, str]
    """Name in tables to spec."""
    controls: dict[str, str] = field(default_factory=dict)
    """Name of each blind control to the name of the model it controls."""


def is_blind(spec: str) -> bool:
    """Whether a spec asks for blank pictures."""
    parsed = parse_spec(spec)
    given = parsed.options.get("blind")
    return given is not None and configure(PromptOptions, {"blind": given}, parsed.name).blind


def all_settings(spec: str) -> dict[str, Any]:
    """The prompt settings of a model; empty for bots and people, which are not prompted.

    Own templates are not among them, since their folder says nothing to a reader.
    """
    parsed = parse_spec(spec)
    if not is_model(parsed):
        return {}
    given = {name: value for name, value in parsed.options.items() if name in SETTINGS}
    options = configure(PromptOptions, given, parsed.name)
    return {name: getattr(options, name) for name in SETTINGS}


def prompt_settings(spec: str) -> dict[str, str]:
    """The prompt settings in which a model differs from the suite's, which are the defaults."""
    usual = PromptOptions()
    return {
        name: str(value).lower()
        for name, value in all_settings(spec).items()
        if value != getattr(usual, name)
    }


def settings_text(name: str, spec: str) -> str:
    """The prompt settings of an entrant in words: `modality text, cot`; without those that its name has."""
    words = {
        "modality": "modality {}",
        "blind": "blind",
        "style": "{}",
        "frames": "{} frames",
        "memory": "memory {}",
    }
    named = set(re.split(r"[?&]", name)) | ({"blind=true"} if CONTROL in name else set())
    settings = prompt_settings(spec).items()
    return ", ".join(
        words[option].format(value) for option, value in settings if f"{option}={value}" not in named
    )


def control_key(spec: str) -> tuple[str, str | None, frozenset[tuple[str, str]]]:
    """What a model and its blind control have in common: everything but the option `blind`."""
    parsed = parse_spec(spec)
    rest = frozenset((key, value) for key, value in parsed.options.items() if key != "blind")
    return parsed.name, parsed.address, rest


def entrants_of(
    specs: Sequence[str],
    names: Sequence[str] = (),
    prompt_options: Mapping[str, str] | None = None,
    *,
    templates: str = "",
    preset: str = "",
    blind_control: bool = False,
) -> Entrants:
    """The entrants of a run.

    Args:
        specs: The models, bots or people to measure.
        names: Their names in tables, in the same order; by default short names are chosen.
        prompt_options: Options added to every spec, all of which must then be models.
        templates: Folder with the user's templates, for models.
        preset: Name of sampling settings, for models.
        blind_control: Whether each model also plays with blank pictures.
    """
    full = [_with_options(_with_preset(spec, preset), prompt_options or {}, templates) for spec in specs]
    if names and len(names) != len(specs):
        raise BadOption(f"there are {len(specs)} entrants but {len(names)} names: name all of them or none.")
    chosen = list(names) if names else short_names(full)
    repeated = [name for name, times in Counter(chosen).items() if times > 1]
    if repeated:
        raise BadOption(f"two entrants have the name {repeated[0]!r}.")
    entrants = dict(zip(chosen, full, strict=True))
    if not blind_control:
        return Entrants(entrants)
    controls = {name + CONTROL: name for name, spec in entrants.items() if is_model(spec)}
    if not controls:
        raise BadOption("--blind-control needs a model: bots see no pictures.")
    both = {**entrants, **{control: _blind(entrants[name]) for control, name in controls.items()}}
    if len(both) < len(entrants) + len(controls):
        raise BadOption(f"names that end with {CONTROL!r} are reserved for blind controls.")
    return Entrants(both, controls)


def _with_preset(text: str, preset: str) -> str:
    return str(with_preset(parse_spec(text), preset)) if preset and is_model(text) else text


def _with_options(text: str, prompt_options: Mapping[str, str], templates: str) -> str:
    spec = parse_spec(text)
    if is_model(text):
        added = {**prompt_options, "templates": templates} if templates else prompt_options
        for option, value in added.items():
            if spec.options.get(option, value) != value:
                raise BadOption(
                    f"{spec.name} has {option}={spec.options[option]}, but --{option} is {value}: drop one."
                )
        return str(Spec(spec.name, spec.address, {**spec.options, **added}))
    if near := provider_spec(spec.name):
        raise UnknownName("agent", spec.name, [near])
    if prompt_options:
        flags = " and ".join(f"--{option}" for option in prompt_options)
        raise BadOption(
            f"{spec.name} is not a model and takes no {flags}; measure it in a separate run, "
            "or write the option into the specs of the models (MODEL?style=cot)."
        )
    return str(spec)


def _blind(text: str) -> str:
    spec = parse_spec(text)
    if "blind" in spec.options:
        raise BadOption(f"{spec.name} already has the option blind; --blind-control adds the control itself.")
    return str(Spec(spec.name, spec.address, {**spec.options, "blind": "true"}))


def short_names(specs: Sequence[str]) -> list[str]:
    """The shortest unique names: for models the part after the last slash, for others the whole name.

    Where two would be equal they get their full names, then their options, then numbers.
    """
    parsed = [parse_spec(spec) for spec in specs]
    choices = (
        [spec.name.rsplit("/", 1)[-1] if is_model(spec) else spec.name for spec in parsed],
        [spec.name for spec in parsed],
        [str(Spec(spec.name, None, spec.options)) for spec in parsed],
        list(specs),
    )
    counts = [Counter(names) for names in choices]
    named: list[str] = []
    for place, spec in enumerate(specs):
        unique = (
            names[place] for names, count in zip(choices, counts, strict=True) if count[names[place]] == 1
        )
        named.append(next(unique, f"{spec} #{specs[:place].count(spec) + 1}"))
    return named
