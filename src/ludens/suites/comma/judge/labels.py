"""The labels of a conversation: four types of error, and normal; several may apply."""

from __future__ import annotations

from typing import Literal, get_args

Label = Literal["role confusion", "misinterpretation", "repetition loop", "miscommunication", "normal"]
LABELS: tuple[Label, ...] = get_args(Label)
ERRORS: tuple[Label, ...] = LABELS[:-1]
NORMAL: Label = "normal"

MEANINGS: dict[Label, str] = {
    "role confusion": "One takes the other's part. The Expert speaks as if it saw the panel or acted on it; "
    "or the Solver speaks as if it had the manual, or asks its partner to describe a panel.",
    "misinterpretation": "The Solver takes the panel, or the panel's answer to an action, for something it "
    "is not: a wrong colour, count, letter or stage, a mistake taken for a success.",
    "repetition loop": "The conversation goes round in circles: an action that failed is done again though "
    "nothing has changed, or the same words are said again without anything new.",
    "miscommunication": "What one says does not reach the other. An instruction is not followed, a question "
    "is not answered, what was told is asked for again or answered as if something else had been told.",
    "normal": "None of these. Errors that are noticed and corrected, bad luck, or too few turns are normal.",
}
"""Definitions after the paper's section 5.2."""


def label_of(name: str) -> Label | None:
    """The label of a name, ignoring case, hyphens and underscores."""
    plain = " ".join(name.lower().replace("_", " ").replace("-", " ").split())
    known = {"roleplay": "role confusion", "role play": "role confusion", "repetition": "repetition loop"}
    plain = known.get(plain, plain)
    return next((label for label in LABELS if label == plain), None)
