"""The telehealth manual: a diagnosis and a treatment rule for each of the six looks."""

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


@dataclass(frozen=True)
class Entry:
    """Diagnosis and treatment of a look.

    There is one treatment, or a choice of two: by size (`least` millimetres or more) or by irritation.
    """

    look: str
    code: str
    condition: Literal["always", "size", "irritation"]
    treatment: Treatment
    otherwise: Treatment = "no_treatment"
    least: int = 0

    def choose(self, widest: int, irritated: bool) -> Treatment:
        met = {"always": True, "size": widest >= self.least, "irritation": irritated}[self.condition]
        return self.treatment if met else self.otherwise

    def rule(self) -> str:
        """The treatment as the manual words it."""
        treatment, otherwise = (name.replace("_", " ") for name in (self.treatment, self.otherwise))
        size = f"it measures {self.least} mm or more in any direction"
        condition = size if self.condition == "size" else "it itches or bleeds"
        choice = "" if self.condition == "always" else f" if {condition}, else {otherwise}"
        return f"Treatment: {treatment}{choice}."


@dataclass(frozen=True)
class TelehealthManual(Manual):
    """An entry for every look; only the published manual (`real`) uses the medical names."""

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
            blocks.append(
                Heading(f"{entry.code}: {NAMES[entry.code]}" if self.real else f"Code {entry.code}")
            )
            blocks.append(Paragraph(f"{LOOKS[entry.look].symptoms} {entry.rule()}"))
        return tuple(blocks)

    def advise(self, told: Sequence[Facts]) -> Facts:
        phrase, widest, irritated = need(told[-1] if told else {}, _NEEDS)
        looks = {look.phrase: look.name for look in LOOKS.values()}
        if phrase.lower() not in looks:
            raise Unclear(f"I know these: {', '.join(looks)}; not {phrase!r}.")
        if not (widest.isascii() and widest.isdigit()) or irritated.lower() not in ("yes", "no"):
            raise Unclear("Give the diameter in whole millimetres, and yes or no for itching or bleeding.")
        entry = self.entry(looks[phrase.lower()])
        treatment = entry.choose(int(widest), irritated.lower() == "yes")
        return {"diagnosis": entry.code, "treatment": treatment}


_NEEDS: Mapping[str, str] = {
    "looks": ", or ".join(look.phrase for look in LOOKS.values()),
    "widest": "the larger diameter in millimetres",
    "irritated": "yes if it itches or bleeds, else no",
}

PUBLISHED = TelehealthManual(
    (
        Entry("pearl", "BCC", "size", "surgery", "cryotherapy", least=5),
        Entry("crust", "SCC", "size", "surgery", "cryotherapy", least=5),
        Entry("scale", "ACK", "always", "cryotherapy"),
        Entry("wax", "SEK", "irritation", "cryotherapy", "no_treatment"),
        Entry("notch", "MEL", "always", "surgery"),
        Entry("mole", "NEV", "always", "no_treatment"),
    )
)


def draw_manual(random: Stream) -> TelehealthManual:
    """A manual with random codes, treatments and order of entries; no look has its real code."""
    codes = random.sample(CODES, len(CODES))
    while any(PUBLISHED.entry(look).code == code for look, code in zip(LOOKS, codes, strict=True)):
        codes = random.sample(CODES, len(CODES))
    entries = [_draw_entry(look, code, random) for look, code in zip(LOOKS, codes, strict=True)]
    random.shuffle(entries)
    return TelehealthManual(tuple(entries), real=False)


def _draw_entry(look: str, code: str, random: Stream) -> Entry:
    treatment, otherwise = random.sample(TREATMENTS, 2)
    match random.below(3):
        case 0:
            return Entry(look, code, "always", treatment)
        case 1:
            return Entry(look, code, "size", treatment, otherwise, random.between(4, 9))
        case _:
            return Entry(look, code, "irritation", treatment, otherwise)
