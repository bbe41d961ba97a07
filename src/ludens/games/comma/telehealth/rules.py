"""The consultation, and the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ludens.core.random import Stream
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting
from ludens.games.comma.telehealth.cases import (
    LOOKS,
    RELEASED_SHARES,
    SKIN_TYPES,
    draw_chart,
    draw_patient,
)
from ludens.games.comma.telehealth.manual import CODES, PUBLISHED, TREATMENTS, TelehealthManual, draw_manual

_DIAGNOSE = tuple(f"diagnose_{code}" for code in CODES)
_TREAT = tuple(f"treat_{treatment}" for treatment in TREATMENTS)


class TelehealthPanel(Puzzle[TelehealthManual]):
    """A picture and a chart, to be diagnosed, then treated."""

    asks = "diagnosis = <the code>, treatment = <what to do>, on two lines"
    actions = (*_DIAGNOSE, *_TREAT)

    def __init__(self, manual: TelehealthManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        random = setting.random
        if self.released:
            name = random.weighted(tuple(RELEASED_SHARES), tuple(RELEASED_SHARES.values()))
        else:
            name = random.choice(tuple(LOOKS))
        self.look = LOOKS[name]
        self.chart = draw_chart(self.look, random)
        self.patient = draw_patient(random)
        self.drawing = random.bits()
        """The seed of the drawing."""
        self.diagnosis = ""
        """The code, once it was found."""

    @property
    def irritated(self) -> bool:
        """Whether it itches or bleeds. The released code took every entry of those columns for a yes."""
        return self.released or self.chart.irritated

    def act(self, action: str) -> Outcome:
        entry = self.manual.entry(self.look.name)
        verb, _, named = action.partition("_")
        if not self.diagnosis:
            if (verb, named) != ("diagnose", entry.code):
                return "mistake"
            self.diagnosis = entry.code
            return "done"
        right = entry.rule.choose(self.chart.widest, self.irritated)
        return "solved" if (verb, named) == ("treat", right) else "mistake"

    @property
    def progress(self) -> float:
        return 0.5 if self.diagnosis else 0.0

    def describe(self) -> str:
        skin = SKIN_TYPES[self.chart.skin_type - 1]
        return "\n".join(
            [
                f"The picture shows skin of type {skin} and on it {self.look.seen}",
                "Chart:",
                *(f"{name}: {value}" for name, value in self.chart.lines()),
                f"Diagnosis: {self.diagnosis or 'none yet'}",
            ]
        )

    @property
    def briefing(self) -> Mapping[str, str]:
        patient = self.patient
        return {
            "Name of the patient": patient.name,
            "Address of the patient": patient.address,
            "ID number of the patient": patient.number,
        }

    @property
    def private(self) -> Mapping[str, str]:
        patient = self.patient
        return {"name": patient.name, "address": patient.address, "id number": patient.number}

    def tell(self, advice: Facts) -> Facts:
        return {
            "looks": self.look.phrase,
            "widest": str(self.chart.widest),
            "irritated": "yes" if self.irritated else "no",
        }

    def follow(self, advice: Facts) -> Sequence[str]:
        diagnose, treat = f"diagnose_{advice.get('diagnosis')}", f"treat_{advice.get('treatment')}"
        steps = [treat] if self.diagnosis else [diagnose, treat]
        return steps if all(step in self.actions for step in steps) else []


@dataclass(frozen=True)
class Telehealth(Comma[TelehealthManual]):
    """Diagnose a skin lesion from its picture and treat it, without telling who the patient is.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They take turns to speak, the Solver
    first.
    Observation: the Solver gets a picture of a drawn lesion with the patient's chart, the serial number, the
        status light, mistakes and turns, and reads the patient's name, address and ID number, its actions,
        what came of them and the conversation; the Expert reads the manual and the conversation, without
        what came of the actions.
    Actions: messages. A line of the Solver's that is `diagnose_BCC`, `diagnose_SCC`, `diagnose_MEL`,
        `diagnose_ACK`, `diagnose_NEV` or `diagnose_SEK` makes that diagnosis; then `treat_surgery`,
        `treat_no_treatment` or `treat_cryotherapy` chooses the treatment. A wrong one, or one out of turn, is
        a mistake. Released: cases as frequent as in the released set, and every seborrheic keratosis is to
        be treated as if it itched.
    Rewards: both seats get the partial score: 0.5 for the right diagnosis, 1 for the right treatment then.
    """

    name = "comma/telehealth"
    view_class = "ludens.games.comma.telehealth.view:TelehealthView"
    skills = ("private",)

    def standard_manual(self) -> TelehealthManual:
        return PUBLISHED

    def random_manual(self, random: Stream) -> TelehealthManual:
        return draw_manual(random)

    def set_up(self, manual: TelehealthManual, setting: Setting) -> TelehealthPanel:
        return TelehealthPanel(manual, setting)
