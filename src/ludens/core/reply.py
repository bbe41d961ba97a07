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

from ludens.core.errors import Ambiguous, Illegal, MoveError, Unreadable
from ludens.core.plain import shorten, storable
from ludens.core.state import Legal

_BLANKS = (
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
"""Unicode white space, zero-width characters included."""
_WRAPPERS = _BLANKS + "\"'`*_.,;:!<>[](){}“”‘’"
_DECORATION = _WRAPPERS + "#-•$\\"
_TAGS = r"<%s(?ai:think|thinking|thought|reasoning)>|◁%s(?ai:think)▷|\[%sTHINK\]"
"""Around reasoning, with what comes before each name."""
_TAG, _CLOSING_TAG = (re.compile(_TAGS.replace("%s", slash)) for slash in ("(/?)", "/"))
_FRAME = re.compile(r"</?(?ai:answer)>|<\|(?:begin|end)_of_box\|>|\\(?:boxed|(?:text|math)(?:bf|rm|tt)?)\{")
"""Tags and LaTeX that models put around an answer."""
_SPACES = re.compile(r"\s+")
DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
"""A translation table: every dash and minus sign becomes a hyphen."""
_LONGEST_NAME = 80
_MOST_WORDS = 8


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

    def typed(self, text: str) -> str:
        """What a person typed, as a reply: people need not write frames such as \\boxed{}."""
        return text

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
        reply = without_reasoning(text).strip(_BLANKS)
        if not reply:
            raise Unreadable(f"the reply is empty; expected a line '{self.label}: ...'.")
        reply = _FRAME.sub(" ", reply)
        places = _labelled(reply, (self.label, f"Final {self.label}"))
        names = list(dict.fromkeys(name for _, name in places if name))
        if not names:
            bare = self._matches([unwrap(reply)], legal)[0] if len(reply) <= 200 else None
            if not bare:
                raise Unreadable(f"the reply has no line '{self.label}: ...'.")
            return bare
        actions = dict(zip(self._matches(names, legal), names, strict=True))
        if not legal.is_text:
            actions |= self._restated(reply, min(place for place, _ in places), legal)
        if len(actions) > 1:
            listed = ", ".join(repr(shorten(name)) for name in dict.fromkeys([*names, *actions.values()][:4]))
            raise Ambiguous(f"the reply names several actions ({listed}); name exactly one.")
        [(action, name)] = actions.items()
        if action is None:
            raise Illegal(f"{shorten(name)!r} is not a legal action now.")
        return action

    def _restated(self, text: str, start: int, legal: Legal) -> dict[str | None, str]:
        """The actions named by labels inside lines, from `start`: a model that changes its mind.

        More text may follow the name; None stands for every name that is not legal.
        """
        phrases: dict[str, list[str]] = {}
        for hit in _inline(self.label).finditer(text, start):
            [phrase, *_] = text[hit.end() : hit.end() + _LONGEST_NAME].splitlines() or [""]
            words = phrase.split()[:_MOST_WORDS] if phrase not in phrases else ()
            if words:
                phrases[phrase] = [unwrap(" ".join(words[:n])) for n in range(len(words), 0, -1)]
        names = list(dict.fromkeys(name for prefixes in phrases.values() for name in prefixes))
        matched = dict(zip(names, self._matches(names, legal), strict=True)) if names else {}
        actions = (
            (next(filter(None, map(matched.get, texts)), None), texts[-1]) for texts in phrases.values()
        )
        return dict(actions)

    def normal_form(self, name: str) -> str:
        """The form in which spellings are compared."""
        return fold(name)

    def _matches(self, names: Sequence[str], legal: Legal) -> Sequence[str | None]:
        """The legal action for each name; None where there is none or more than one."""
        if legal.is_text:
            return names
        exact = frozenset(legal)
        canonical = [self.aliases.get(name, name) for name in names]
        if exact.issuperset(canonical):
            return canonical
        spelt: dict[str, set[str]] = {}
        for spelling, action in [*((action, action) for action in legal), *self.aliases.items()]:
            if action in exact:
                spelt.setdefault(self.normal_form(spelling), set()).add(action)
        hits = ({name} if name in exact else spelt.get(self.normal_form(name), set()) for name in canonical)
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
        message = without_reasoning(text).strip()
        if not message:
            raise Unreadable("the reply has no message.")
        if legal.text_limit is not None and len(message) > legal.text_limit:
            raise Illegal(
                f"the message has {len(message)} characters; at most {legal.text_limit} are allowed."
            )
        return message


def read_action(format: ReplyFormat, text: str, legal: Legal) -> str:
    """The action in a reply, or a `MoveError`: also where the reader fails, or the action cannot be stored.

    JSON can spell half of a surrogate pair in plain letters, so that a reader makes what the text has not.
    """
    try:
        action = format.read(text, legal)
    except MoveError:
        raise
    except Exception as error:
        raise Unreadable("the reply cannot be read.") from error
    if action != storable(action):
        raise Unreadable("the answer has half of a surrogate pair, such as \\ud800, which is no character.")
    return action


def without_reasoning(text: str) -> str:
    """The reply without its <think> parts.

    Unclosed reasoning extends to the end of the reply; text before a closing tag without an opening one is
    reasoning too, which also handles tags inside reasoning.
    """
    parts: list[str] = []
    start = 0
    while tag := _TAG.search(text, start):
        if any(tag.groups()):
            parts.clear()
        else:
            parts.append(text[start : tag.start()])
            tag = _CLOSING_TAG.search(text, tag.end())
            if tag is None:
                return "".join(parts)
        start = tag.end()
    return "".join([*parts, text[start:]])


def labelled(text: str, *labels: str) -> Sequence[str]:
    """What follows `label:` on lines that start with it (decoration ignored), or as a JSON key."""
    return [name for _, name in _labelled(_FRAME.sub(" ", text), labels)]


def _labelled(text: str, labels: Sequence[str]) -> list[tuple[int, str]]:
    """The names that follow a label at the start of a line or as a JSON key, each with the label's end."""
    names = [(hit.end(), unwrap(hit[1])) for hit in _in_json(labels).finditer(text)]
    small = text.lower()
    # Lower case of a character depends on others only where it is not ASCII.
    labels = [label for label in labels if not label.isascii() or label.lower() in small]
    start = 0
    for line in text.splitlines(keepends=True) if labels else ():
        bare = line.lstrip(_DECORATION)
        indent = len(line) - len(bare)
        for label in labels:
            if bare[: len(label)].lower() != label.lower():
                continue
            rest = bare[len(label) :].lstrip(_BLANKS + "*_`").rstrip(_DECORATION)
            if rest[:1] in (":", "："):
                names.append((start + indent + len(label), unwrap(rest[1:])))
        start += len(line)
    return names


@lru_cache(maxsize=64)
def _in_json(labels: Sequence[str]) -> re.Pattern[str]:
    key = "|".join(map(re.escape, labels))
    return re.compile(rf'"(?:{key})"\s*:\s*"([^"\n]*)"', re.IGNORECASE)


@lru_cache(maxsize=64)
def _inline(label: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(label)}[ \t*_`]{{0,9}}[:：]", re.IGNORECASE)


def unwrap(name: str) -> str:
    """A name without surrounding quotes, emphasis, tags or \\boxed{}."""
    bare = name.strip(_BLANKS)
    return _FRAME.sub(" ", bare).strip(_WRAPPERS + "$\\") or bare


def fold(name: str) -> str:
    """The normal form of a spelling: case, spaces, dashes and decoration do not matter."""
    return _SPACES.sub(" ", name.casefold().translate(DASHES)).strip(_WRAPPERS)
