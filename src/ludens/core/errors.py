"""The exceptions that Ludens raises, as one tree.

LudensError
├── UsageError            wrong input from the user: one sentence, exit code 2
│   ├── UnknownName       no such game, seat, theme, agent, option ... (suggests the nearest name)
│   ├── BadOption         a known option with a wrong value
│   ├── MissingExtra      an optional dependency is not installed (says how to install it)
│   ├── MissingPackage    a required package is missing or broken: only what needs it does not work
│   ├── BadFile           a file that cannot be read or written, or has wrong contents
│   │   └── MissingPictures   the picture set of an episode is not here
│   ├── MissingKey        no environment variable holds the API key of a model
│   ├── ModelRejected     the provider rejects key, model or request: retrying cannot help
│   └── ReplayMismatch    a replayed episode differs from the recorded one
├── MoveError             a reply that is not a legal action; the agent is told why and may retry
│   ├── Unreadable        no action found in the reply
│   ├── Ambiguous         more than one action in the reply
│   ├── Illegal           an action that is not allowed in this state
│   └── Late              no reply within the time limit
└── AgentFailure          the agent could not answer (provider down): the episode is void
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from ludens.core.plain import shorten, shorten_values

if TYPE_CHECKING:
    from ludens.core.agent import Reply


class LudensError(Exception):
    """Base class of all exceptions that Ludens raises. Very long values lose their middle in the message."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(shorten_values(arg) if isinstance(arg, str) else arg for arg in args))


class UsageError(LudensError):
    """Wrong input from the user; the message is one clear sentence."""


class UnknownName(UsageError):
    """A name that does not exist; the message suggests the nearest one that does."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        names = sorted(choices)
        near = _nearest(name, names)
        if near:
            hint = f"did you mean {near!r}?"
        elif len(names) <= 12:
            hint = "known: " + (", ".join(names) or "none") + "."
        else:
            hint = f"{len(names)} known names: {', '.join(names[:10])}, ..."
        super().__init__(f"unknown {kind} {shorten(name)!r}; {hint}")
        self.kind, self.name, self.nearest = kind, name, near


def _nearest(name: str, names: list[str]) -> str | None:
    folded = {n.lower(): n for n in names}
    if name.lower() in folded:
        return folded[name.lower()]
    prefix = name.lower()[: len(name) - len(name.lstrip("-"))] or name.lower()[: name.rfind("/") + 1]
    if not any(each.startswith(prefix) for each in folded):
        prefix = ""
    # Names that share `--` or `bot/` are close if the rest of them is.
    rests = {each.removeprefix(prefix): each for each in folded}
    close = get_close_matches(name.lower().removeprefix(prefix), rests, n=1, cutoff=0.6)
    if close:
        return folded[rests[close[0]]]
    holding = [n for n in names if name and (name.lower() in n.lower() or n.lower().endswith(name.lower()))]
    return holding[0] if len(holding) == 1 else None


class BadOption(UsageError):
    """A known option with a wrong value."""


class MissingExtra(UsageError):
    """An optional dependency that is needed is not installed."""

    def __init__(self, subject: str, extra: str) -> None:
        super().__init__(f"{subject} needs the extra '{extra}': pip install 'ludens[{extra}]'.")
        self.extra = extra


class MissingPackage(UsageError):
    """A required package that cannot be imported: only what needs it does not work."""

    def __init__(self, subject: str, package: str, error: ImportError) -> None:
        reason = shorten(" ".join(str(error).split()).rstrip("."), 200)
        super().__init__(
            f"{subject} needs {package}, which cannot be imported ({reason}): "
            f"pip install --force-reinstall {package}."
        )


class BadFile(UsageError):
    """A file that cannot be read or written, or has wrong contents."""


class MissingPictures(BadFile):
    """The picture set of an episode is not here: everything but its pictures can be shown."""


class MissingKey(UsageError):
    """No environment variable holds the API key of a model."""

    def __init__(self, model: str, *variables: str) -> None:
        names = " or ".join(variables)
        super().__init__(f"{shorten(model)} needs an API key: set the environment variable {names}.")


class ModelRejected(UsageError):
    """The provider rejects the key, the model name or the request: retrying cannot help."""


class ReplayMismatch(UsageError):
    """A replayed episode differs from the recorded one."""


class MoveError(LudensError):
    """A reply that is not a legal action. `verdict` is what is recorded."""

    verdict: Literal["unreadable", "illegal", "late"] = "unreadable"
    kind = "the reply is not a legal action."
    """What the agent is told where reasons are not given (`PlayConfig.reasons`): nothing about the state."""
    reply: Reply | None = None
    """The reply, where the agent itself rejects it."""


class Unreadable(MoveError):
    """No action was found in the reply."""

    kind = "no action can be read from the reply; reply in the form asked for."


class Ambiguous(MoveError):
    """The reply names more than one action."""

    kind = "the reply names more than one action; name exactly one."


class Illegal(MoveError):
    """The action is not allowed in this state."""

    verdict = "illegal"
    kind = "the action is not legal now."


class Late(MoveError):
    """No reply within the time limit."""

    verdict = "late"
    kind = "the reply came too late."


class AgentFailure(LudensError):
    """The agent could not answer. Never a move: the episode is void and can be played again."""
