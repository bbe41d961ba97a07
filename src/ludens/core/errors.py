"""Every error Ludens raises on purpose, as one tree.

LudensError
├── UsageError            what a person typed or wrote is wrong: one sentence, exit code 2
│   ├── UnknownName       no such game, seat, theme, agent, option ... (says the nearest right word)
│   ├── BadOption         the name is right, the value is not
│   ├── MissingExtra      an optional dependency is not installed (says how to get it)
│   ├── BadFile           a file cannot be read or written, or does not hold what it should
│   ├── MissingKey        a model needs a key that the environment does not hold
│   ├── ModelRejected     the provider refuses key, model or request: asking again cannot help
│   └── ReplayMismatch    an episode does not replay to what it recorded
├── MoveError             a reply that is data, not a crash: the agent is told why
│   ├── Unreadable        no action can be found in the reply
│   ├── Ambiguous         the reply names more than one action
│   ├── Illegal           the action is not allowed in this state
│   └── Late              no reply within the time allowed
└── AgentFailure          the agent could not answer at all (provider down, bot bug): the episode is void
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ludens.core.agent import Reply


class LudensError(Exception):
    """Root of everything Ludens raises on purpose."""


class UsageError(LudensError):
    """Something a person typed, passed or wrote is wrong; the message is one clear sentence."""


class UnknownName(UsageError):
    """A name that does not exist, with the nearest one that does."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        shown = name if len(name) <= 60 else name[:57] + "..."
        near = _nearest(name, names)
        if near:
            hint = f"did you mean {near!r}?"
        elif len(names) <= 12:
            hint = "known: " + (", ".join(names) or "none") + "."
        else:
            hint = f"there are {len(names)}: {', '.join(names[:10])}, ..."
        super().__init__(f"unknown {kind} {shown!r}; {hint}")
        self.kind, self.name, self.nearest = kind, name, near


def _nearest(name: str, names: list[str]) -> str | None:
    folded = {n.lower(): n for n in names}
    if name.lower() in folded:
        return folded[name.lower()]
    close = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    if close:
        return folded[close[0]]
    holding = [n for n in names if name and (name.lower() in n.lower() or n.lower().endswith(name.lower()))]
    return holding[0] if len(holding) == 1 else None


class BadOption(UsageError):
    """A known option with a value it cannot take."""


class MissingExtra(UsageError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'ludens[{extra}]'.")
        self.extra = extra


class BadFile(UsageError):
    """A file that cannot be read or written, or that does not hold what it should."""


class MissingKey(UsageError):
    """A model needs a key, and no environment variable holds it."""

    def __init__(self, model: str, *variables: str) -> None:
        super().__init__(f"{model} needs a key: set the environment variable {' or '.join(variables)}.")


class ModelRejected(UsageError):
    """The provider refuses the key, the model's name or the request itself: asking again cannot help."""


class ReplayMismatch(UsageError):
    """Replaying an episode does not lead to what the episode recorded."""


class MoveError(LudensError):
    """A reply that does not become a move. Subclasses name the ways; `verdict` is what gets recorded."""

    verdict: Literal["unreadable", "illegal", "late"] = "unreadable"
    reply: Reply | None = None
    """What was said, where an agent refuses its own reply."""


class Unreadable(MoveError):
    """No action can be found in the reply."""


class Ambiguous(MoveError):
    """The reply names more than one action where one is asked for."""


class Illegal(MoveError):
    """The action is understood and not allowed now."""

    verdict = "illegal"


class Late(MoveError):
    """No reply came within the time allowed for a move."""

    verdict = "late"


class AgentFailure(LudensError):
    """An agent could not answer at all. Never a move: the episode is void and may run again."""
