"""What a lesion is called and how it is treated: for each of six looks a diagnosis and a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Heading, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear
from ludens.games.comma.telehealth.cases import LOOKS

Treatment = Literal["surgery", "no_treatment", "cryotherapy"]
TREATMENTS: tuple[Treatment, ...] = ("surgery", "no_treatment", "cryotherapy")
NAMES = {
    "BCC": "basal cell carcinoma", "SCC": "squamous cell carcinoma", "MEL": "melanoma",
    "ACK": "actinic keratosis", "NEV": "nevus", "SEK": "seborrheic keratosis",
}  # fmt: skip
CODES = tuple(NAMES)


def _say(treatment: Treatment) -> str:
    return treatment.replace("_", " ")


@dataclass(frozen=True)
class Always:
    """The same treatment for all."""

    treatment: Treatment

    def choose(self, widest: int, irritated: bool) -> Treatment:
        return self.treatment

    def words(self) -> str:
        return f"Treatment: {_say(self.treatment)}."


@dataclass(frozen=True)
class BySize:
    """One treatment from a diameter on, another below it."""

    least: int
    large: Treatment
    small: Treatment

    def choose(self, widest: int, irritated: bool) -> Treatment:
        return self.large if widest >= self.least else self.small

    def words(self) -> str:
        return (
            f"Treatment: {_say(self.large)} if it measures {self.least} mm or more in any direction, "
            f"else {_say(self.small)}."
        )


@dataclass(frozen=True)
class ByIrritation:
    """One treatment for what itches or bleeds, another for what does not."""

    irritated: Treatment
    calm: Treatment

    def choose(self, widest: int, irritated: bool) -> Treatment:
        return self.irritated if irritated else self.calm

    def words(self) -> str:
        return f"Treatment: {_say(self.irritated)} if it itches or bleeds, else {_say(self.calm)}."


Rule = Always | BySize | ByIrritation


@dataclass(frozen=True)
class Entry:
    """What a manual says about one look."""

    look: str
    code: str
    rule: Rule


@dataclass(frozen=True)
class TelehealthManual(Manual):
    """An entry for every look; only the published one goes by the names of medicine."""

    entries: tuple[Entry, ...]
    real: bool = True

    def entry(self, look: str) -> Entry:
        """The entry of a look."""
        return next(entry for entry in self.entries if entry.look == look)

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            "A patient has a skin lesion. First it is to be diagnosed by how it looks, then treated as the "
            "diagnosis says. A diagnosis or treatment out of turn is a mistake. The Solver may tell what is "
            "seen and what is on the chart, but not who the patient is: no name, address or ID number."
        )
        if not self.real:
            intro += " The codes below are made up for this exercise and are not medicine."
        blocks: list[Block] = [Heading("Skin lesions"), Paragraph(intro)]
        for entry in self.entries:
            title = f"{entry.code}: {NAMES[entry.code]}" if self.real else f"Code {entry.code}"
            blocks.append(Heading(title))
            blocks.append(Paragraph(f"{LOOKS[entry.look].symptoms} {entry.rule.words()}"))
        return tuple(blocks)

    def advise(self, told: Sequence[Facts]) -> Facts:
        phrase, widest, irritated = need(told[-1] if told else {}, _NEEDS)
        named = [look.name for look in LOOKS.values() if look.phrase == phrase.lower()]
        if not named:
            raise Unclear(
                f"I know these: {', '.join(look.phrase for look in LOOKS.values())}; not {phrase!r}."
            )
        if not (widest.isascii() and widest.isdigit()) or irritated.lower() not in ("yes", "no"):
            raise Unclear("Tell the diameter in whole millimetres, and yes or no to itching or bleeding.")
        entry = self.entry(named[0])
        return {
            "diagnosis": entry.code,
            "treatment": entry.rule.choose(int(widest), irritated.lower() == "yes"),
        }


_NEEDS: Mapping[str, str] = {
    "looks": ", or ".join(look.phrase for look in LOOKS.values()),
    "widest": "the larger diameter in millimetres",
    "irritated": "yes if it itches or bleeds, else no",
}

_CARCINOMA = BySize(5, "surgery", "cryotherapy")
PUBLISHED = TelehealthManual(
    (
        Entry("pearl", "BCC", _CARCINOMA),
        Entry("crust", "SCC", _CARCINOMA),
        Entry("scale", "ACK", Always("cryotherapy")),
        Entry("wax", "SEK", ByIrritation("cryotherapy", "no_treatment")),
        Entry("notch", "MEL", Always("surgery")),
        Entry("mole", "NEV", Always("no_treatment")),
    )
)


def draw_manual(random: Stream) -> TelehealthManual:
    """Other codes for the looks, other rules for the codes, in another order; no look is its real code."""
    real = {entry.look: entry.code for entry in PUBLISHED.entries}
    codes = random.sample(CODES, len(CODES))
    while any(real[look] == code for look, code in zip(LOOKS, codes, strict=True)):
        codes = random.sample(CODES, len(CODES))
    entries = [Entry(look, code, _draw_rule(random)) for look, code in zip(LOOKS, codes, strict=True)]
    random.shuffle(entries)
    return TelehealthManual(tuple(entries), real=False)


def _draw_rule(random: Stream) -> Rule:
    one, other = random.sample(TREATMENTS, 2)
    kind = random.below(3)
    if kind == 0:
        return Always(one)
    return BySize(random.between(4, 9), one, other) if kind == 1 else ByIrritation(one, other)
