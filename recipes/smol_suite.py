"""What a model trained by the recipes in `recipes/smol/` is asked: to read boards, to follow the numbers of a
prompt, to play.

    PYTHONPATH=recipes ludens eval smol_suite:SUITE --model hf/training/smol-imitate/supervised --size 256
"""

from __future__ import annotations

from ludens.core.config import PlayConfig
from ludens.run.task import MODEL, Suite, Task, fact, rate_of, won
from ludens.suites.playground import SEEING
from ludens.suites.playground.metrics import unbeaten
from ludens.suites.vision_zero import METRICS

EPISODES = 400
SPY = "spy?civilians=3&rounds=1"
CIVILIANS = ("civilian_1", "civilian_2", "civilian_3")
REFERENCE = "bot/blunt?reason=true"

SUITE = Suite(
    name="smol",
    about="For small models: boards, rules and questions in words, the spy game, VIKI level 1, tic-tac-toe.",
    tasks=(
        Task("perceive", "perceive", ({"viewer": MODEL},), EPISODES, SEEING),
        Task("perceive/codes", "perceive?codes=random", ({"viewer": MODEL},), EPISODES, SEEING),
        Task(
            "tic_tac_toe",
            "tic_tac_toe",
            ({"x": MODEL, "o": "bot/random"}, {"x": "bot/random", "o": MODEL}),
            EPISODES // 2,
            (rate_of("won", won), rate_of("unbeaten", unbeaten)),
            PlayConfig(listed=False),
        ),
        Task(
            "spy",
            SPY,
            (
                {"spy": REFERENCE, **dict.fromkeys(CIVILIANS, MODEL)},
                {"spy": MODEL, **dict.fromkeys(CIVILIANS, REFERENCE)},
            ),
            EPISODES // 2,
            METRICS,
        ),
        Task(
            "viki",
            "viki/activate",
            ({"planner": MODEL},),
            EPISODES,
            (rate_of("right", fact("right")),),
        ),
    ),
)
