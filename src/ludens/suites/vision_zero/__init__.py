"""Vision-Zero: the spy game of a model against a reference, in all civilian seats and as the spy.

    vision-zero            100 games on each source: drawn scenes, rendered scenes, charts (with a reference
                           that can read them)
    vision-zero-mini       10 games on drawn scenes
    vision-zero-ablations  2 to 4 civilians, 1 to 3 rounds of clues

Each takes `?reference=SPEC`, the agent that the model plays against: a bot, a model or a checkpoint. The
paper's reference is the model before training.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ludens.core.errors import BadOption
from ludens.core.options import Touch, option
from ludens.core.registry import make
from ludens.games.spy.game import SPY
from ludens.games.spy.pairs import FLAT, installed_sources, kind_of, with_hash
from ludens.pictures import set_names
from ludens.run.task import MODEL, Published, Seating, Suite, SuiteBuilder, Task, read_deviations
from ludens.suites.vision_zero.metrics import METRICS

PUBLISHED = tuple(
    Published("Vision-Zero, figure 6", model, {"clevr": won})
    for model, won in (("Qwen2.5-VL-7B", 50.0), ("Qwen2.5-VL-7B, trained", 71.0))
)
"""The only win rates in the paper's text; no table has any. They are against the model before training."""
PAPER_REFERENCE = "qwen2.5-vl-7b"

REFERENCES = Path(__file__).with_name("references.toml")
DEVIATIONS = read_deviations(Path(__file__).with_name("deviations.md"))
GAMES, FEW = 100, 10
SOURCES = {"flat": FLAT, "clevr": "clevr-16", "chart": "chart-16"}


@dataclass(frozen=True)
class VisionZero(SuiteBuilder):
    """100 games on each source, half of them as the spy."""

    reference: str = option(
        "",
        help="the agent to play against; bot/clever by default, which cannot read charts",
        touches=Touch.PLAYER,
    )
    source: str = option(
        "",
        help="one picture set, by name or path, instead of the sources that come along",
        touches=Touch.READ,
        installed=installed_sources,
    )

    def build(self) -> Suite:
        sources = {"set": self.source} if self.source else self._installed()
        tasks = tuple(self._task(name, f"source={where}", where) for name, where in sources.items())
        same = PAPER_REFERENCE in self.reference.lower()
        return self._suite("vision-zero", tasks, PUBLISHED if same else ())

    def _suite(self, name: str, tasks: tuple[Task, ...], published: tuple[Published, ...] = ()) -> Suite:
        about = "Vision-Zero: the spy game against a reference, as all civilians and as the spy."
        return Suite(name, about, tasks, published, DEVIATIONS, references=REFERENCES)

    def _task(self, name: str, options: str, source: str = FLAT) -> Task:
        if not self.reference and not _described(source):
            raise BadOption(f"no bot can read the pictures of {source}: name a model with reference=SPEC.")
        game = f"spy?{options}"
        return Task(name, game, _sides(game, self.reference or "bot/clever"), GAMES, METRICS)

    def _installed(self) -> dict[str, str]:
        """The sources that are installed and that the reference can read."""
        names = {FLAT, *set_names()}
        return {
            name: where
            for name, where in SOURCES.items()
            if where in names and (self.reference or _described(where))
        }


class VisionZeroMini(VisionZero):
    """A few games on drawn scenes."""

    def build(self) -> Suite:
        full = VisionZero(self.reference).build()
        return full.limited("vision-zero-mini", full.about, lambda task: FEW if task.name == "flat" else 0)


class VisionZeroAblations(VisionZero):
    """The paper's numbers of civilians and of clue rounds."""

    def build(self) -> Suite:
        source = self.source or FLAT
        varied = [f"civilians={count}" for count in (2, 3, 4)] + [f"rounds={count}" for count in (1, 2, 3)]
        tasks = (self._task(each.replace("=", "-"), f"{each}&source={source}", source) for each in varied)
        return self._suite("vision-zero-ablations", tuple(tasks))


def _described(source: str) -> bool:
    """Whether bots can read the pictures of a source."""
    return kind_of(with_hash(source)) == "scenes"


def _sides(game: str, reference: str) -> tuple[Seating, Seating]:
    """The model in all civilian seats, and the model as the spy."""
    civilians = [seat for seat in make(game).seats if seat != SPY]
    return (
        {SPY: reference, **dict.fromkeys(civilians, MODEL)},
        {SPY: MODEL, **dict.fromkeys(civilians, reference)},
    )
