"""Which button to press: the display says whose label to read, and the label says which word to look for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear
from ludens.games.comma.who.tables import PLACES, POOL, PRESS, READ

NO_TEXT = "(no text)"
"""How an empty display is named in words."""

_NEEDS = {
    "display": f"what the display shows, or {NO_TEXT}",
    **{place: f"the label of the {place} button" for place in PLACES},
}


@dataclass(frozen=True)
class WhoManual(Manual):
    """Two steps: displays with the place of the button to read, and labels with words in order."""

    read: tuple[tuple[str, str], ...]
    press: tuple[tuple[str, tuple[str, ...]], ...]

    def right(self, display: str, labels: Sequence[str]) -> str:
        """The place of the button to press; labels stand in the order of `PLACES`."""
        label = labels[PLACES.index(dict(self.read)[display])]
        word = next(word for word in dict(self.press)[label] if word in labels)
        return PLACES[labels.index(word)]

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            "A panel has a display above six labelled buttons in three rows of two. One of them must be "
            "pressed. Many words sound alike: have them spelt out."
        )
        first = "The text on the display tells which button's label matters."
        second = (
            "Look up that label. Go through the words beside it from the start: the first of them that is "
            "the label of any of the six buttons is the one to press."
        )
        shown = [(display or NO_TEXT, place) for display, place in self.read]
        half = (len(shown) + 1) // 2
        pairs = [
            (*left, *right) for left, right in zip(shown[:half], [*shown[half:], ("", "")], strict=False)
        ]
        return (
            Heading("Words"),
            Paragraph(intro),
            Heading("Step 1: which label to read"),
            Paragraph(first),
            Grid((("Display", "Button", "Display", "Button"), *pairs)),
            Heading("Step 2: which button to press"),
            Paragraph(second),
            Grid(
                (("Label", "Words to look for"), *((label, ", ".join(words)) for label, words in self.press))
            ),
        )

    def advise(self, told: Sequence[Facts]) -> Facts:
        display, *labels = need(told[-1] if told else {}, _NEEDS)
        display = "" if display == NO_TEXT else display
        known = dict(self.press)
        if display not in dict(self.read):
            raise Unclear(f"My manual has no display {display!r}.")
        if len(set(labels)) < len(labels) or any(label not in known for label in labels):
            raise Unclear(f"I know six different labels out of {', '.join(known)}; not {', '.join(labels)}.")
        return {"press": self.right(display, labels)}


PUBLISHED = WhoManual(
    tuple(READ.items()), tuple((label, tuple(words.split(", "))) for label, words in PRESS.items())
)


def draw_manual(random: Stream, display: str = "", labels: Sequence[str] = ()) -> WhoManual:
    """New words, places and orders; the display and labels given are sure to be among them."""
    shown = [display] if display else []
    shown += random.sample([word for word in POOL if word != display], len(READ) - 1 - len(shown))
    shown.append("")
    random.shuffle(shown)
    words = [*labels, *random.sample([word for word in POOL if word not in labels], len(PRESS) - len(labels))]
    random.shuffle(words)
    half = len(words) // 2
    press = [
        (label, tuple(random.sample(family, half)))
        for family in (words[:half], words[half:])
        for label in family
    ]
    return WhoManual(tuple((text, random.choice(PLACES)) for text in shown), tuple(press))
