"""Reply formats: the instruction for a seat and the reader of its replies.

Readers are strict: they take an action only from where it was asked for, never from prose that mentions one,
and explain in one sentence what was wrong. Common decoration (emphasis, code, boxes, JSON) is accepted.
Reasoning between <think> tags is ignored. Readers run in linear time on any input.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ludens.core.errors import Ambiguous, Illegal, Unreadable
from ludens.core.legal import Legal

_WRAPPERS = " \t\r\n\"'`*_.,;:!<>[](){}“”‘’"
_TAG = re.compile(r"<(/?)(?ai:think|thinking|thought|reasoning)>|◁(/?)(?ai:think)▷|\[(/?)THINK\]")
_FRAME = re.compile(r"</?(?ai:answer)>|<\|(?:begin|end)_of_box\|>|\\(?:boxed|(?:text|math)(?:bf|rm|tt)?)\{")
"""Tags and LaTeX that models put around an answer."""
_SPACES = re.compile(r"\s+")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")


class ReplyFormat(ABC):
    """A way to reply: its instruction, its reader and its writer."""

    @abstractmethod
    def ask(self, legal: Legal) -> str:
        """The instruction that goes into a prompt."""

    @abstractmethod
    def read(self, text: str, legal: Legal) -> str:
        """The canonical action in a reply; raises a `MoveError` when there is none."""

    @abstractmethod
    def write(self, action: str) -> str:
        """A reply in this format with this action."""

    def style_instruction(self, style: str) -> str | None:
        """The game's own wording of a prompt style (`direct`, `cot`, `explain`); None for the default."""
        return None


@dataclass(frozen=True)
class ActionFormat(ReplyFormat):
    """A last line `Action: NAME`. A reply that is only the name is accepted too."""

    label: str = "Action"
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Alternative spellings of canonical actions."""

    def ask(self, legal: Legal) -> str:
        return f"End your reply with one line: {self.label}: <one legal action, spelt as the game spells it>"

    def write(self, action: str) -> str:
        return f"{self.label}: {action}"

    def read(self, text: str, legal: Legal) -> str:
        said = without_reasoning(text).strip()
        if not said:
            raise Unreadable(f"the reply is empty; expected a line '{self.label}: ...'.")
        named = list(dict.fromkeys(filter(None, labelled(said, self.label))))
        if not named:
            bare = self._matches([unwrap(said)], legal)[0] if len(said) <= 200 else None
            if bare is None:
                raise Unreadable(f"the reply has no line '{self.label}: ...'.")
            return bare
        actions = dict(zip(self._matches(named, legal), named, strict=True))
        if len(actions) > 1:
            listed = ", ".join(repr(_short(name)) for name in named[:4])
            raise Ambiguous(f"the reply names several actions ({listed}); name exactly one.")
        [(action, name)] = actions.items()
        if action is None:
            raise Illegal(f"{_short(name)!r} is not a legal action now.")
        return action

    def _matches(self, names: Sequence[str], legal: Legal) -> Sequence[str | None]:
        """The legal action for each name; None where there is none or more than one."""
        if legal.is_text:
            return names
        exact = frozenset(legal)
        meant = [self.aliases.get(name, name) for name in names]
        if exact.issuperset(meant):
            return meant
        spelt: dict[str, set[str]] = {}
        for spelling, action in [*((action, action) for action in legal), *self.aliases.items()]:
            if action in exact:
                spelt.setdefault(fold(spelling), set()).add(action)
        hits = ({name} if name in exact else spelt.get(fold(name), set()) for name in meant)
        return [next(iter(hit)) if len(hit) == 1 else None for hit in hits]


@dataclass(frozen=True)
class MessageFormat(ReplyFormat):
    """The whole reply except reasoning is the message."""

    instruction: str = "Reply with your message."
    styles: Mapping[str, str] = field(default_factory=dict)
    """The game's own wording of prompt styles."""

    def ask(self, legal: Legal) -> str:
        return self.instruction

    def write(self, action: str) -> str:
        return action

    def style_instruction(self, style: str) -> str | None:
        return self.styles.get(style)

    def read(self, text: str, legal: Legal) -> str:
        said = without_reasoning(text).strip()
        if not said:
            raise Unreadable("the reply has no message.")
        if legal.text_limit is not None and len(said) > legal.text_limit:
            raise Illegal(f"the message has {len(said)} characters; at most {legal.text_limit} are allowed.")
        return said


def without_reasoning(text: str) -> str:
    """The reply without its <think> parts.

    Unclosed reasoning extends to the end of the reply; text before a closing tag without an opening one is
    reasoning too, which also handles tags inside reasoning.
    """
    kept: list[str] = []
    start, inside = 0, False
    for tag in _TAG.finditer(text):
        if any(tag.groups()):
            if not inside:
                kept.clear()
            start, inside = tag.end(), False
        elif not inside:
            kept.append(text[start : tag.start()])
            inside = True
    return "".join(kept if inside else [*kept, text[start:]])


def labelled(text: str, label: str) -> Sequence[str]:
    """What follows `label:` on lines that start with it (decoration ignored), or as a JSON key."""
    found = [unwrap(value) for value in _in_json(label).findall(text)]
    wanted = label.lower()
    for line in _FRAME.sub(" ", text).splitlines():
        bare = line.strip(_WRAPPERS + "#-•$\\")
        if bare[: len(wanted)].lower() != wanted:
            continue
        rest = bare[len(wanted) :].lstrip(" \t*_`")
        if rest[:1] in (":", "："):
            found.append(unwrap(rest[1:]))
    return found


@lru_cache(maxsize=64)
def _in_json(label: str) -> re.Pattern[str]:
    return re.compile(rf'"{re.escape(label)}"\s*:\s*"([^"\n]*)"', re.IGNORECASE)


def unwrap(name: str) -> str:
    """A name without surrounding quotes, emphasis, tags or \\boxed{}."""
    bare = name.strip()
    return _FRAME.sub(" ", bare).strip(_WRAPPERS + "$\\") or bare


def fold(name: str) -> str:
    """The normal form of a spelling: case, spaces, dashes and decoration do not matter."""
    return _SPACES.sub(" ", name.casefold().translate(_DASHES)).strip(_WRAPPERS)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
