"""What to type after a run that stopped: `ludens resume`, or another `ludens eval` where that cannot help.

A model that accepts no pictures, or whose context is too small, fails again with the settings of the run. The
command that is printed instead has the suite, models and options of the run, with one setting changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import join, quote

from ludens.agents import agent_paths
from ludens.core.registry import make
from ludens.core.spec import Spec, parse_spec
from ludens.core.view import view_of
from ludens.models.errors import Fault, fault_of
from ludens.models.settings import is_model
from ludens.run.plan import Plan, short_names
from ludens.run.trust import to_confirm

_SMALLEST = 256
_CONTEXT = re.compile(r"context length[^\d]{0,20}(\d{2,7})", re.IGNORECASE)


@dataclass(frozen=True)
class _Settings:
    """What another run changes."""

    spec: Spec
    size: int
    text: bool = False
    """Whether the model is shown text instead of pictures."""


def advice(plan: Plan, folder: Path, flags: str, words: Sequence[str], errors: Sequence[str] = ()) -> str:
    """How to continue after these errors: resume, or a run with other settings, or both.

    `flags` are those of `ludens resume`, `words` the flags of `ludens eval` that are not in the plan.
    """
    faults: dict[str, tuple[Fault, str]] = {}
    resumable = not errors
    for error in errors:
        own_faults = {name: fault for name in _models(plan) if (fault := fault_of(error, name)) is not None}
        faults.update({name: (fault, error) for name, fault in own_faults.items()})
        resumable = resumable or not own_faults
    resume = _resume_hint(plan, folder, flags)
    if not faults:
        return resume
    command = _eval_command(plan, words, faults)
    again = "Finished episodes are saved, but to resume this run would fail in the same way"
    remedy = (
        f"to start a run that avoids this: {command}" if command else "use another model or other options"
    )
    return f"{again}; {remedy}" + (f"\n{resume}" if resumable else "")


def _models(plan: Plan) -> list[str]:
    return sorted({parse_spec(spec).name for spec in (*plan.players, *plan.opponents) if is_model(spec)})


def _resume_hint(plan: Plan, folder: Path, more: str) -> str:
    name = plan.suite.partition("?")[0]
    flags = f" --suite {quote(name)}" if ":" in name else ""
    flags += "".join(f" --agent {quote(path)}" for path in agent_paths(plan.players))
    flags += "".join(f" --allow {quote(value)}" for value in to_confirm(plan)) + more
    return f"Finished episodes are saved; to continue: ludens resume {quote(str(folder))}{flags}"


def _eval_command(plan: Plan, words: Sequence[str], faults: dict[str, tuple[Fault, str]]) -> str:
    """`ludens eval` with the settings of the plan, changed where models are at fault; empty if none helps."""
    size, text, changed = plan.size, set[str](), dict[str, Spec]()
    for old in plan.players:
        spec = parse_spec(old)
        if spec.name in faults and is_model(spec):
            settings = _changed(_Settings(spec, plan.size), *faults[spec.name])
            if settings is None:
                return ""
            changed[old], size = settings.spec, min(size, settings.size)
            text |= {old} if settings.text else set()
    if not changed:
        return ""  # an opponent of the suite
    tasks = plan.tasks
    if text and (able := _with_text(plan)) != list(plan.tasks_by_name):
        if not able:
            return ""
        tasks = tuple(able)
    entrants = {name: spec for name, spec in plan.entrants.items() if name not in plan.controls}
    specs = {name: str(changed.get(old, old)) for name, old in entrants.items()}
    specs = {name: spec for spec, name in {spec: name for name, spec in reversed(specs.items())}.items()}
    names = [name for name in entrants if name in specs]
    flags: list[str] = []
    if short_names([specs[name] for name in names]) != names:
        flags += [word for name in names for word in ("--name", name)]
    if all(old in text for old in entrants.values()):
        specs = {name: str(parse_spec(spec).with_options(modality=None)) for name, spec in specs.items()}
        flags += ["--modality", "text"]
    flags += [w for seat, old in plan.seated.items() for w in ("--seat", f"{seat}={changed.get(old, old)}")]
    flags += ["--no-blind-control"] if not plan.controls and not text else []
    values = {"tasks": ",".join(tasks), "limit": plan.limit, "seed": plan.seed, "templates": plan.templates}
    flags += [word for name, value in values.items() if value for word in (f"--{name}", str(value))]
    usual = {"samples": (plan.samples, 1), "theme": (plan.theme, "classic"), "size": (size, 512)}
    flags += [
        w for name, (value, default) in usual.items() if value != default for w in (f"--{name}", str(value))
    ]
    models = [word for name in names for word in ("--model", specs[name])]
    return join(["ludens", "eval", plan.suite, *models, *flags, *words])


def _changed(settings: _Settings, fault: Fault, error: str) -> _Settings | None:
    """Settings with which a model may answer; None if there are none."""
    spec = settings.spec
    pictures = spec.options.get("modality") != "text"
    if fault == "request":
        names = [name for name in spec.options if re.search(rf"\b{re.escape(name)}\b", error)]
        return replace(settings, spec=spec.with_options(**dict.fromkeys(names))) if names else None
    if fault == "context" and "max_tokens" in spec.options and re.search(r"max_\w*tokens", error):
        context = _CONTEXT.search(error)
        limits = [int(context[1]) // 4] if context else []
        least = min([int(spec.options["max_tokens"]) // 2, *limits])
        return replace(settings, spec=spec.with_options(max_tokens=str(max(1, least))))
    if fault in ("context", "many pictures", "large request") and {"memory", "frames"} & spec.options.keys():
        return replace(settings, spec=spec.with_options(memory=None, frames=None))
    if fault in ("context", "large pictures", "large request") and pictures and settings.size > _SMALLEST:
        return replace(settings, size=_SMALLEST)
    if not pictures:
        return None
    return replace(settings, spec=spec.with_options(modality="text", blind=None), text=True)


def _with_text(plan: Plan) -> list[str]:
    """The tasks that can be played without pictures."""
    tasks = plan.tasks_by_name.items()
    return [name for name, task in tasks if view_of(make(task.game), plan.render, 0).has_text]
