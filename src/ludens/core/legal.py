"""What a seat may do now: named actions, or a text of limited length."""

from __future__ import annotations

from ludens.core.random import Stream


class Legal(tuple[str, ...]):
    """The canonical names of a seat's legal actions; empty when the seat is not to act.

    `Legal.text(limit)` is the other case: the action is a text. It holds no names and sets `text_limit`.
    """

    text_limit: int | None = None
    """The most characters a text may have; None where actions have names."""

    @classmethod
    def text(cls, limit: int = 4000) -> Legal:
        """Any text of at most `limit` characters. The empty text is always allowed."""
        legal = cls()
        legal.text_limit = limit
        return legal

    @property
    def is_text(self) -> bool:
        """Whether the action is a text."""
        return self.text_limit is not None

    @property
    def first(self) -> str:
        """The first action; the empty text where the action is a text."""
        return "" if self.text_limit is not None else self[0]

    def sample(self, random: Stream) -> str:
        """A random action; the empty text where the action is a text."""
        return random.choice(self) if self or self.text_limit is None else ""

    def refusal(self, action: str, seat: str) -> str | None:
        """Why the seat may not do this, as one sentence, or None when it may."""
        if action in self:
            return None
        if self.text_limit is not None:
            if len(action) > self.text_limit:
                return f"the text has {len(action)} characters; at most {self.text_limit} are allowed."
            return None
        shown = action if len(action) <= 60 else action[:57] + "..."
        some = ", ".join(self[:40]) + (", ..." if len(self) > 40 else "")
        return f"{shown!r} is not a legal action for {seat} now; legal: {some or 'none'}."

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and self.text_limit == getattr(other, "text_limit", None)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"Legal{tuple.__repr__(self)}" if self.text_limit is None else f"Legal.text({self.text_limit})"
