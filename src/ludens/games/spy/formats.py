"""Reply formats of the spy game: private reasoning, then a clue or a vote inside \\boxed{}.

Only the box is read, so that reasoning stays private. Boxes may be nested and hold braces; several boxes with
the same contents are one. A reply whose boxes differ names no clue and no vote: readers do not guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ludens.core.errors import Ambiguous, Illegal, Unreadable
from ludens.core.legal import Legal
from ludens.core.reply import DASHES, ReplyFormat, fold, without_reasoning

ABSTAIN = "n/a"
CLUE_LIMIT = 300
"""The most characters of a clue: about three sentences."""

_OPEN = re.compile(r"(?<![A-Za-z])boxed\s*\{|<\|begin_of_box\|>")
_BRACES = re.compile(r"\\?[{}]")
_END_TAG = "<|end_of_box|>"
_STYLE = re.compile(r"\\(?:boxed|(?:text|math)(?:bf|it|rm|sf|tt|normal)?)\{([^{}]*)\}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_PLAYER = re.compile(r"(?:(?:player|seat|no|number)[ .:#_-]{0,3})?#? ?(\d{1,6})", re.ASCII)
_ABSTENTIONS = frozenset(("n/a", "na", "n.a", "n / a", "n\\a", "not applicable"))
_DEEPEST = 8
"""How many boxes inside each other are unwrapped."""
_QUOTES = "'\"`“”‘’«»"


def clean_clue(text: str) -> str:
    """A clue as one line without control characters, which could imitate the moderator's lines."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def quoted(clue: str) -> str:
    """A clue between quotation marks, of which it has none itself."""
    return '"' + clue.translate(dict.fromkeys(map(ord, '"“”„«»'), "'")) + '"'


@dataclass(frozen=True)
class BoxFormat(ReplyFormat):
    """What clue and vote have in common: the box."""

    instruction: str
    styles: Mapping[str, str] = field(default_factory=dict)
    """The wording of each prompt style."""

    def ask(self, legal: Legal) -> str:
        return self.instruction

    def write(self, action: str) -> str:
        return f"\\boxed{{{action.upper() if action == ABSTAIN else action}}}"

    def typed(self, text: str) -> str:
        bare = text.replace("{", "(").replace("}", ")")
        return text if not text or _OPEN.search(text) else self.write(bare)

    def style_instruction(self, style: str) -> str | None:
        return self.styles.get(style)


class ClueFormat(BoxFormat):
    """One sentence in a box."""

    def read(self, text: str, legal: Legal) -> str:
        clues = list(dict.fromkeys(filter(None, (clean_clue(_unstyled(box)) for box in boxes(text)))))
        if not clues:
            raise Unreadable("the reply has no clue in \\boxed{}.")
        if len(clues) > 1:
            raise Ambiguous("the reply has several different boxes; put one clue in one \\boxed{}.")
        if legal.text_limit is not None and len(clues[0]) > legal.text_limit:
            raise Illegal(
                f"the clue has {len(clues[0])} characters; at most {legal.text_limit} are allowed: "
                "one sentence."
            )
        return clues[0]


class VoteFormat(BoxFormat):
    """A player's number or N/A in a box; a reply that is nothing else is accepted too."""

    def read(self, text: str, legal: Legal) -> str:
        found = list(boxes(text))
        said = without_reasoning(text).strip()
        if not found and len(said) <= 20:
            found = [said]
        votes = list(dict.fromkeys(_vote(_unstyled(box)) for box in found))
        if not votes or votes == [None]:
            raise Unreadable("the reply has no vote in \\boxed{}: a player's number or N/A.")
        if len(votes) > 1:
            raise Ambiguous("the reply has several different boxes; put one vote in one \\boxed{}.")
        [vote] = votes
        if vote not in legal:
            raise Illegal(f"there is no player {vote}; vote for {legal[0]} to {legal[-2]} or N/A.")
        assert vote is not None
        return vote


def boxes(text: str) -> Iterator[str]:
    """The contents of the outermost boxes of a reply, without those that are only quoted inside a sentence.

    A box that is not closed is none. Every character is looked at a bounded number of times.
    """
    said = without_reasoning(text)
    place = 0
    while (opened := _OPEN.search(said, place)) is not None:
        if opened[0].startswith("<"):
            end = said.find(_END_TAG, opened.end())
            after = end + len(_END_TAG)
        else:
            end = _closing(said, opened.end())
            after = end + 1
        if end < 0:
            return
        place = after
        if not _mentioned(said, opened.start(), after):
            yield said[opened.end() : end]


def _closing(text: str, start: int) -> int:
    """The place of the brace that closes the one before `start`; -1 where there is none."""
    depth = 1
    for brace in _BRACES.finditer(text, start):
        if len(brace[0]) == 1:
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                return brace.start()
    return -1


def _mentioned(text: str, start: int, end: int) -> bool:
    """Whether a box stands in quotation marks and the sentence goes on: it is talked about, not given."""
    rest = text[end : end + 80].split("\n", 1)[0]
    before = text[max(0, start - 3) : start].rstrip("\\")[-1:]
    return before in tuple(_QUOTES) and rest.strip(_QUOTES + " \t.;,!$*)") != ""


def _unstyled(box: str) -> str:
    """The contents of a box without boxes inside it and without font commands."""
    for _ in range(_DEEPEST):
        bare = box.strip().lstrip("\\")
        inner = _OPEN.match(bare)
        if inner is None or inner[0].startswith("<") or _closing(bare, inner.end()) != len(bare) - 1:
            break
        box = bare[inner.end() : -1]
    return _STYLE.sub(r"\1", box).replace("\\ ", " ")


def _vote(box: str) -> str | None:
    folded = fold(box.translate(DASHES).replace("\\", ""))
    if folded in _ABSTENTIONS:
        return ABSTAIN
    number = _PLAYER.fullmatch(folded)
    return str(int(number[1])) if number else None
