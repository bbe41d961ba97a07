"""The reply format of all levels: reasoning in `<think>` tags, then one answer in `<answer>` tags."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ludens.core.errors import Ambiguous, Illegal, Unreadable
from ludens.core.legal import Legal
from ludens.core.reply import ReplyFormat, without_reasoning

_ANSWER = re.compile(r"<(/?)answer>", re.IGNORECASE)
_TAGS = re.compile(r"<(/?)(think|answer)>", re.IGNORECASE)
_WANTED = [("", "think"), ("/", "think"), ("", "answer"), ("/", "answer")]

MOST_CHARACTERS = 200_000
"""Of an answer that is parsed."""


@dataclass(frozen=True)
class AnswerFormat(ReplyFormat):
    """Reasoning in `<think>` tags, then the answer in `<answer>` tags; a reply without tags is the answer.

    Args:
        instruction: What the answer looks like.
        parse: The canonical form of an answer; raises a `MoveError` with the reason when there is none.
    """

    instruction: str
    parse: Callable[[str], str]

    def ask(self, legal: Legal) -> str:
        return (
            "First reason between <think> and </think>, then give the answer between <answer> and </answer>. "
            f"{self.instruction}"
        )

    def write(self, action: str) -> str:
        return f"<answer>{action}</answer>"

    def read(self, text: str, legal: Legal) -> str:
        said = answer_in(text)
        if len(said) > MOST_CHARACTERS:
            raise Illegal(f"the answer has {len(said):,} characters; at most {MOST_CHARACTERS:,} are read.")
        action = self.parse(said)
        if legal.text_limit is not None and len(action) > legal.text_limit:
            raise Illegal(
                f"the answer has {len(action):,} characters; at most {legal.text_limit:,} are read."
            )
        return action


def answer_in(text: str) -> str:
    """The text between the answer tags, or the reply without its reasoning where it has no such tags."""
    said = without_reasoning(text)
    tags = list(_ANSWER.finditer(said))
    if not tags:
        if not said.strip():
            raise Unreadable("the reply has no answer; give it between <answer> and </answer>.")
        return said.strip()
    opened = [tag for tag in tags if not tag[1]]
    if len(opened) > 1:
        raise Ambiguous("the reply has several <answer> tags; give exactly one answer.")
    if not opened:
        raise Unreadable("the reply has </answer> without <answer>.")
    closed = [tag for tag in tags if tag[1] and tag.start() >= opened[0].end()]
    found = said[opened[0].end() : closed[0].start() if closed else len(said)].strip()
    if not found:
        raise Unreadable("there is nothing between <answer> and </answer>.")
    return found


def well_formed(text: str) -> bool:
    """Whether a reply is exactly one `<think>` part and then one `<answer>` part, blanks around allowed."""
    bare = text.strip()
    tags = list(_TAGS.finditer(bare))
    if [(tag[1], tag[2].lower()) for tag in tags] != _WANTED:
        return False
    return tags[0].start() == 0 and tags[3].end() == len(bare)


FORMAT_SHARE = 0.1
"""Of the reward, for the form of the reply; the rest is for the answer."""


def combined(text: str, accuracy: float) -> float:
    """The training reward of a reply: its form and its answer, independent of each other."""
    return FORMAT_SHARE * well_formed(text) + (1 - FORMAT_SHARE) * accuracy
