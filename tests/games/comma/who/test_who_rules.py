"""The published who tables against the same tables written down again; random manuals; random play."""

from __future__ import annotations

from collections import Counter

import pytest

from ludens.core.random import stream
from ludens.games.comma.dialogue import advise
from ludens.games.comma.who import PUBLISHED, Who, WhoManual, WhoPanel, draw_manual
from tests.games.comma.common import random_play

PLACES = ("top left", "top right", "middle left", "middle right", "bottom left", "bottom right")

# By place, the displays that point to it; `-` is the empty one.
DISPLAYS = {
    "top left": "UR",
    "top right": "FIRST; OKAY; C",
    "middle left": "YES; NOTHING; LED; THEY ARE",
    "middle right": "BLANK; READ; RED; YOU; YOUR; YOU'RE; THEIR",
    "bottom left": "-; REED; LEED; THEY'RE",
    "bottom right": "DISPLAY; SAYS; NO; LEAD; HOLD ON; YOU ARE; THERE; SEE; CEE",
}

LISTS = """
READY: YES, OKAY, WHAT, MIDDLE, LEFT, PRESS, RIGHT, BLANK, READY, NO, FIRST, UHHH, NOTHING, WAIT
FIRST: LEFT, OKAY, YES, MIDDLE, NO, RIGHT, NOTHING, UHHH, WAIT, READY, BLANK, WHAT, PRESS, FIRST
NO: BLANK, UHHH, WAIT, FIRST, WHAT, READY, RIGHT, YES, NOTHING, LEFT, PRESS, OKAY, NO, MIDDLE
BLANK: WAIT, RIGHT, OKAY, MIDDLE, BLANK, PRESS, READY, NOTHING, NO, WHAT, LEFT, UHHH, YES, FIRST
NOTHING: UHHH, RIGHT, OKAY, MIDDLE, YES, BLANK, NO, PRESS, LEFT, WHAT, WAIT, FIRST, NOTHING, READY
YES: OKAY, RIGHT, UHHH, MIDDLE, FIRST, WHAT, PRESS, READY, NOTHING, YES, LEFT, BLANK, NO, WAIT
WHAT: UHHH, WHAT, LEFT, NOTHING, READY, BLANK, MIDDLE, NO, OKAY, FIRST, WAIT, YES, PRESS, RIGHT
UHHH: READY, NOTHING, LEFT, WHAT, OKAY, YES, RIGHT, NO, PRESS, BLANK, UHHH, MIDDLE, WAIT, FIRST
LEFT: RIGHT, LEFT, FIRST, NO, MIDDLE, YES, BLANK, WHAT, UHHH, WAIT, PRESS, READY, OKAY, NOTHING
RIGHT: YES, NOTHING, READY, PRESS, NO, WAIT, WHAT, RIGHT, MIDDLE, LEFT, UHHH, BLANK, OKAY, FIRST
MIDDLE: BLANK, READY, OKAY, WHAT, NOTHING, PRESS, NO, WAIT, LEFT, MIDDLE, RIGHT, FIRST, UHHH, YES
OKAY: MIDDLE, NO, FIRST, YES, UHHH, NOTHING, WAIT, OKAY, LEFT, READY, BLANK, PRESS, WHAT, RIGHT
WAIT: UHHH, NO, BLANK, OKAY, YES, LEFT, FIRST, PRESS, WHAT, WAIT, NOTHING, READY, RIGHT, MIDDLE
PRESS: RIGHT, MIDDLE, YES, READY, PRESS, OKAY, NOTHING, UHHH, BLANK, LEFT, FIRST, WHAT, NO, WAIT
YOU: SURE, YOU ARE, YOUR, YOU'RE, NEXT, UH HUH, UR, HOLD, WHAT?, YOU, UH UH, LIKE, DONE, U
YOU ARE: YOUR, NEXT, LIKE, UH HUH, WHAT?, DONE, UH UH, HOLD, YOU, U, YOU'RE, SURE, UR, YOU ARE
YOUR: UH UH, YOU ARE, UH HUH, YOUR, NEXT, UR, SURE, U, YOU'RE, YOU, WHAT?, HOLD, LIKE, DONE
YOU'RE: YOU, YOU'RE, UR, NEXT, UH UH, YOU ARE, U, YOUR, WHAT?, UH HUH, SURE, DONE, LIKE, HOLD
UR: DONE, U, UR, UH HUH, WHAT?, SURE, YOUR, HOLD, YOU'RE, LIKE, NEXT, UH UH, YOU ARE, YOU
U: UH HUH, SURE, NEXT, WHAT?, YOU'RE, UR, UH UH, DONE, U, YOU, LIKE, HOLD, YOU ARE, YOUR
UH HUH: UH HUH, YOUR, YOU ARE, YOU, DONE, HOLD, UH UH, NEXT, SURE, LIKE, YOU'RE, UR, U, WHAT?
UH UH: UR, U, YOU ARE, YOU'RE, NEXT, UH UH, DONE, YOU, UH HUH, LIKE, YOUR, SURE, HOLD, WHAT?
WHAT?: YOU, HOLD, YOU'RE, YOUR, U, DONE, UH UH, LIKE, YOU ARE, UH HUH, UR, NEXT, WHAT?, SURE
DONE: SURE, UH HUH, NEXT, WHAT?, YOUR, UR, YOU'RE, HOLD, LIKE, YOU, U, YOU ARE, UH UH, DONE
NEXT: WHAT?, UH HUH, UH UH, YOUR, HOLD, SURE, NEXT, LIKE, DONE, YOU ARE, UR, YOU'RE, U, YOU
HOLD: YOU ARE, U, DONE, UH UH, YOU, UR, SURE, WHAT?, YOU'RE, NEXT, HOLD, UH HUH, YOUR, LIKE
SURE: YOU ARE, DONE, LIKE, YOU'RE, YOU, HOLD, UH HUH, UR, SURE, U, WHAT?, NEXT, YOUR, UH UH
LIKE: YOU'RE, NEXT, U, UR, HOLD, DONE, UH UH, WHAT?, UH HUH, YOU, LIKE, SURE, YOU ARE, YOUR
"""


def lists() -> dict[str, list[str]]:
    lines = [line.split(": ", 1) for line in LISTS.strip().splitlines()]
    return {label: words.split(", ") for label, words in lines}


def test_every_display_leads_to_its_button() -> None:
    written = {
        "" if text == "-" else text: place for place, row in DISPLAYS.items() for text in row.split("; ")
    }
    assert len(written) == 28
    assert dict(PUBLISHED.read) == written


def cases(manual: WhoManual, label: str) -> list[tuple[list[str], str]]:
    """Six labels with this one first, for every word of its list that can be the answer, and the answer."""
    words = dict(manual.press)[label]
    strangers = [other for other, _ in manual.press if other not in words]
    found = []
    for index in range(words.index(label) + 1):
        rest = [word for word in words[index:] if word != label]
        found.append(([label, *rest, *strangers][:6], words[index]))
    return found


@pytest.mark.parametrize("label", lists())
def test_every_list_is_gone_through_in_order(label: str) -> None:
    assert list(dict(PUBLISHED.press)[label]) == lists()[label]
    for display, place in PUBLISHED.read:
        for labels, word in cases(PUBLISHED, label):
            at = PLACES.index(place)
            turned = labels[-at:] + labels[:-at] if at else labels
            assert turned[at] == label
            assert PUBLISHED.right(display, turned) == PLACES[turned.index(word)]


def test_a_label_is_always_on_its_own_list() -> None:
    for label, words in PUBLISHED.press:
        assert label in words
        assert len(set(words)) == 14


@pytest.mark.parametrize("seed", range(20))
def test_random_manuals_answer_every_panel(seed: int) -> None:
    manual = draw_manual(stream(seed, "manual"))
    labels = [label for label, _ in manual.press]
    displays = [display for display, _ in manual.read]
    assert len(set(labels)) == len(labels) == len(set(displays)) == 28
    assert "" in displays
    for label, words in manual.press:
        assert label in words
        assert set(words) <= set(labels)
        assert len(set(words)) == 14
    random = stream(seed, "panels")
    for _ in range(50):
        assert manual.right(random.choice(displays), random.sample(labels, 6)) in PLACES


def test_an_imagined_manual_fits_the_panel() -> None:
    game = Who(manual="random")
    for seed in range(30):
        panel = game.start(seed).puzzle
        assert isinstance(panel, WhoPanel)
        other = game.imagined_manual(panel, stream(seed, "imagined"))
        assert other != panel.manual
        assert other.right(panel.display, panel.labels) in PLACES


def test_one_button_is_right_and_the_others_are_mistakes() -> None:
    for seed in range(40):
        panel = Who().start(seed).puzzle
        assert isinstance(panel, WhoPanel)
        outcomes = {action: panel.clone().act(action) for action in panel.actions}
        assert Counter(outcomes.values()) == {"solved": 1, "mistake": 5}
        assert (
            outcomes[f"press_{panel.manual.right(panel.display, panel.labels).replace(' ', '_')}_button"]
            == "solved"
        )


def told(display: str, *labels: str) -> str:
    buttons = [f"{place} = {label}" for place, label in zip(PLACES, labels, strict=False)]
    return "\n".join([f"display = {display}", *buttons])


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (told("UR", "YOU", "U", "SURE", "YES", "NO", "LIKE"), "press = middle left"),
        (told("(no text)", "YOU", "U", "SURE", "YES", "NO", "WAIT"), "press = bottom right"),
        (told("UR", "YOU", "U", "SURE", "YES", "NO", "BANANA"), "I know six different labels"),
        (told("UR", "YOU", "YOU", "SURE", "YES", "NO", "LIKE"), "I know six different labels"),
        (told("BANANA", "YOU", "U", "SURE", "YES", "NO", "LIKE"), "My manual has no display 'BANANA'"),
        (told("UR", "YOU"), "bottom right = <the label of the bottom right button>"),
    ],
)
def test_the_oracle_expert_answers_or_says_what_is_wrong(message: str, answer: str) -> None:
    assert answer in advise(PUBLISHED, [message])


def test_panels_show_every_display_and_label() -> None:
    panels = [Who().start(seed).puzzle for seed in range(600)]
    displays = {panel.display for panel in panels if isinstance(panel, WhoPanel)}
    labels = Counter(label for panel in panels if isinstance(panel, WhoPanel) for label in panel.labels)
    assert len(displays) == len(labels) == 28
    assert min(labels.values()) > 80


def test_random_play_agrees_with_the_paper() -> None:
    """2,000 released episodes: the exact odds of six buttons, and the paper's 44, 2.02 and 1.46."""
    mean = random_play(Who(variant="released"), 2000)
    wrong = 5 / 6
    assert abs(mean["solved"] - (1 - wrong**3)) < 3.3 * 0.5 / 2000**0.5
    assert abs(mean["mistakes"] - (wrong + wrong**2 + wrong**3)) < 3.3 * 1.2 / 2000**0.5
    assert mean["partial"] == mean["solved"]
    assert abs(mean["solved"] - 0.44) < 2 * 0.05
    assert abs(mean["mistakes"] - 2.02) < 2 * 0.1
    assert abs(mean["turns"] - 1.46) < 2 * 0.1
