"""The telehealth panel and game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ludens.games.comma.dialogue import Comma
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting
from ludens.games.comma.telehealth.cases import LOOKS, RELEASED_COUNTS, SKIN_TYPES, draw_chart, draw_patient
from ludens.games.comma.telehealth.manual import CODES, PUBLISHED, TREATMENTS, TelehealthManual, draw_manual


class TelehealthPanel(Puzzle[TelehealthManual]):
    """A lesion and a chart: the lesion must be diagnosed, then treated."""

    asks = "diagnosis = <the code>, treatment = <what to do>, on two lines"
    actions = tuple([f"diagnose_{code}" for code in CODES] + [f"treat_{name}" for name in TREATMENTS])

    def __init__(self, manual: TelehealthManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        random = setting.random
        if self.released:
            name = random.weighted(tuple(RELEASED_COUNTS), tuple(RELEASED_COUNTS.values()))
        else:
            name = random.choice(tuple(LOOKS))
        self.look = LOOKS[name]
        self.chart = draw_chart(self.look, random)
        self.patient = draw_patient(random)
        self.drawing = random.bits()
        """Seed of the picture."""
        self.diagnosis = ""
        """The correct code, once it has been given."""

    @property
    def irritated(self) -> bool:
        """Whether it itches or bleeds; always true in the released code, which reads any entry as a yes."""
        return self.released or self.chart.irritated

    def act(self, action: str) -> Outcome:
        entry = self.manual.entry(self.look.name)
        verb, _, named = action.partition("_")
        if not self.diagnosis:
            if (verb, named) != ("diagnose", entry.code):
                return "mistake"
            self.diagnosis = entry.code
            return "done"
        right = entry.choose(self.chart.widest, self.irritated)
        return "solved" if (verb, named) == ("treat", right) else "mistake"

    @property
    def progress(self) -> float:
        return 0.5 if self.diagnosis else 0.0

    def describe(self) -> str:
        skin = SKIN_TYPES[self.chart.skin_type - 1]
        chart = [f"{name}: {value}" for name, value in self.chart.lines()]
        shown = f"The picture shows skin of type {skin} and on it {self.look.seen}"
        return "\n".join([shown, "Chart:", *chart, f"Diagnosis: {self.diagnosis or 'none yet'}"])

    @property
    def briefing(self) -> Mapping[str, str]:
        labels = ("Name of the patient", "Address of the patient", "ID number of the patient")
        return dict(zip(labels, self.patient, strict=True))

    @property
    def private(self) -> Mapping[str, str]:
        return dict(zip(("name", "address", "id number"), self.patient, strict=True))

    def tell(self, advice: Facts) -> Facts:
        irritated = "yes" if self.irritated else "no"
        return {"looks": self.look.phrase, "widest": str(self.chart.widest), "irritated": irritated}

    def follow(self, advice: Facts) -> Sequence[str]:
        diagnose, treat = f"diagnose_{advice.get('diagnosis')}", f"treat_{advice.get('treatment')}"
        steps = [treat] if self.diagnosis else [diagnose, treat]
        return steps if all(step in self.actions for step in steps) else []


@dataclass(frozen=True)
class Telehealth(Comma):
    """Diagnose a skin lesion from its picture and treat it, without revealing the patient's identity.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They send messages in turn, the Solver
        first.
    Observation: the Solver gets a picture of the lesion, the patient's chart, the serial number, the status
        light, mistakes and turns, and reads the patient's name, address and ID number, its actions, their
        outcomes and the conversation; the Expert reads the manual and the conversation, without outcomes.
    Actions: messages. A line of the Solver's that is `diagnose_BCC`, `diagnose_SCC`, `diagnose_MEL`,
        `diagnose_ACK`, `diagnose_NEV` or `diagnose_SEK` makes that diagnosis; then `treat_surgery`,
        `treat_no_treatment` or `treat_cryotherapy` chooses the treatment. A wrong diagnosis or treatment, or
        one at the wrong stage, is a mistake. Released: looks are as frequent as in the released set, and
        every seborrheic keratosis must be treated as if it itched.
    Rewards: both seats get the partial score: 0.5 for the correct diagnosis, 1 for the correct treatment.
    """

    name = "comma/telehealth"
    view_class = "ludens.games.comma.telehealth.view:TelehealthView"
    skills = ("private",)
    published = PUBLISHED
    puzzle_class = TelehealthPanel
    random_manual = staticmethod(draw_manual)
