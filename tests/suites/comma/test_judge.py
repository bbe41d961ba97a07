"""Judges: the calibration set, the rules, the prompt of a model judge and how its reply is parsed."""

from __future__ import annotations

from collections import Counter

import pytest

from ludens.agents import agent
from ludens.core.errors import AgentFailure, BadFile, UnknownName, Unreadable
from ludens.core.registry import make
from ludens.games.comma.color import ColorPanel
from ludens.loop import play
from ludens.models import model
from ludens.suites.comma import PUZZLES
from ludens.suites.comma.judge import ModelJudge, agreement, cases, judge_all, make_judge, read_labels
from ludens.suites.comma.judge.conversation import (
    LABELS,
    MEANINGS,
    Label,
    conversation_of,
    read_conversation,
)
from ludens.suites.comma.judge.rules import judge_by_rules, names_action
from tests.support.model_server import ModelServer


def test_calibration_set_has_ten_cases_per_label_and_all_puzzles() -> None:
    assert Counter(case.labels[0] for case in cases()) == dict.fromkeys(LABELS, 10)
    assert {case.conversation.puzzle for case in cases()} == set(PUZZLES)
    assert all(case.labels == ("normal",) or "normal" not in case.labels for case in cases())
    assert len({case.conversation.written() for case in cases()}) == 50


def test_conversations_round_trip_as_text() -> None:
    for case in cases():
        talk = case.conversation
        assert read_conversation(talk.puzzle, talk.written().splitlines()) == talk
        assert {line.source for line in talk.lines} >= {"Shows", "Solver", "Expert"}
    with pytest.raises(BadFile):
        read_conversation("wire", ["Somebody: hello"])


def test_rules_reach_the_documented_accuracy() -> None:
    found = agreement(cases(), [judge_by_rules(case.conversation)[0] for case in cases()])
    shares = {
        label: [round(100 * part.mean) for part in (one.accuracy, one.found, one.false)]
        for label, one in found.labels.items()
    }
    assert shares == {
        "role confusion": [100, 100, 0],
        "misinterpretation": [80, 0, 0],
        "repetition loop": [100, 100, 0],
        "miscommunication": [82, 53, 0],
        "normal": [70, 100, 38],
    }
    assert (round(100 * found.exact.mean), round(100 * found.hit.mean)) == (62, 70)


@pytest.mark.parametrize(
    "line",
    [
        "Solver: Please tell me what the manual says about three wires.",
        "Solver: Which wire should I cut according to the manual?",
        "Solver: I will do as the manual says.",
        "Solver: Can you check the table on your side?",
        "Solver: Could you describe the symbols in your manual?",
        "Expert: I see that the display shows READ, as you said.",
        "Expert: The picture shows, you said, a round spot?",
        "Expert: You wrote: I pressed the top left one. Good.",
        "Expert: Then I turn to the next list, that of four wires.",
        "Expert: Please do this:\n  cut_wire_2",
        "Expert: I cannot see the panel. Please describe it.",
    ],
)
def test_questions_and_quotations_are_no_role_confusion(line: str) -> None:
    talk = ["Shows: 3 wires", "Solver: Three wires: red, blue, white.", "Expert: Go on.", *line.splitlines()]
    assert judge_by_rules(read_conversation("wire", talk))[0] == ["normal"]


@pytest.mark.parametrize(("last", "labels"), [("3", ["normal"]), ("1", ["repetition loop"])])
def test_same_question_about_another_object_is_no_loop(last: str, labels: list[str]) -> None:
    talk = ["Shows: 3 wires"]
    for number in ("1", "2" if last == "3" else "1", last):
        talk.append(f"Expert: What is the colour of wire number {number}?")
        talk.append(f"Solver: {['Red, I think.', 'It may be blue.', 'Clearly white.'][len(talk) // 2 - 1]}")
    assert judge_by_rules(read_conversation("wire", talk))[0] == labels


def test_agreement_shares() -> None:
    right = cases()
    found = agreement(right, [case.labels for case in right])
    assert found.exact.mean == found.hit.mean == 1
    assert all(one.accuracy.mean == one.found.mean == 1 and one.false.mean == 0
               for one in found.labels.values())  # fmt: skip
    found = agreement(right, [LABELS[:-1] for _ in right])
    assert found.labels["misinterpretation"].false.mean == 1
    assert found.labels["normal"].found.mean == 0
    assert (found.exact.mean, found.hit.mean) == (0, 0.8)


@pytest.mark.parametrize("puzzle", PUZZLES)
async def test_oracle_conversations_are_normal(puzzle: str) -> None:
    game = make(f"comma/{puzzle}")
    oracle = agent("bot/oracle", game)
    for seed in range(5):
        talk = conversation_of(await play(game, {"solver": oracle, "expert": oracle}, seed))
        assert judge_by_rules(talk) == (["normal"], "no rule matched")
        assert read_conversation(puzzle, talk.written().splitlines()) == talk


async def test_conversation_of_an_episode_has_panel_messages_and_responses() -> None:
    game = make("comma/wire")
    random = agent("bot/random", game)
    episode = await play(game, {"solver": random, "expert": random}, 4)
    text = conversation_of(episode).written()
    assert text.startswith("Shows: ")
    assert "Serial number:" in text
    assert text.count("\nSolver: cut_wire_") == episode.facts["messages"]["solver"]
    assert text.count("that was a mistake.") == episode.facts["mistakes"]


@pytest.mark.parametrize(
    ("puzzle", "advice", "action", "named"),
    [
        ("wire", "Cut the first one.", "cut_wire_1", True),
        ("wire", "Cut wire 3, please.", "cut_wire_1", False),
        ("wire", "Which colours do you see?", "cut_wire_1", None),
        ("wire", "cut_wire_4", "cut_wire_4", True),
        ("led", "Press the top right button.", "press_top_right_button", True),
        ("led", "Press the top right button.", "press_bottom_right_button", False),
        ("memory", "Press the button labelled 4.", "press_4", True),
        ("telehealth", "Diagnose BCC first.", "treat_surgery", False),
        ("maze", "Go to the blue sphere, and only then check the position.", "check_position", False),
        ("maze", "Check the position.", "check_position", True),
        ("password", "Submit it.", "submit", True),
        ("atm", "Go back to the first screen and choose withdrawal there.", "press_enter", False),
        ("atm", "Move the arrow down first.", "press_enter", False),
        ("atm", "Delete what you typed before.", "press_enter", False),
        ("atm", "Press Enter now.", "press_enter", True),
        ("atm", "Move the arrow up, type 300 and press Enter.", "press_enter", True),
        ("atm", "Enter the amount.", "press_enter", True),
        ("atm", "Less than 500: deposit 100. 500 or more: withdraw 300.", "press_enter", None),
        ("bells", "Ring it.", "ring_1", None),
        ("color", "Blue, please.", "click_row_0_col_0", None),
        ("color", "Click row 2, column 3.", "click_row_2_col_3", True),
        ("color", "Click row 2, column 3.", "click_row_3_col_2", False),
    ],
)
def test_actions_named_in_advice_are_recognised(
    puzzle: str, advice: str, action: str, named: bool | None
) -> None:
    assert names_action(puzzle, advice, action) is named


@pytest.mark.parametrize(
    ("advice", "named"),
    [
        ("Blue, please.", ["click_row_0_col_1"]),
        ("Press the topmost row.", ["click_row_0_col_0", "click_row_0_col_1"]),
        ("press = left column, red", ["click_row_0_col_0", "click_row_2_col_0", "click_row_2_col_3"]),
        ("How many blue squares are there?", None),
        ("How many blue squares are there? Click a red one.", ["click_row_0_col_0", "click_row_2_col_3"]),
    ],
)
def test_squares_named_by_group_are_recognised(advice: str, named: list[str] | None) -> None:
    rows = ["red, blue, white, white", "white, white, white, white", "green, white, white, red"]
    panel = "\n".join(f"Row {number}: {row}" for number, row in enumerate([*rows, rows[1]]))
    for action in ColorPanel.actions:
        expected = None if named is None else action in named
        assert names_action("color", advice, action, panel) is expected


@pytest.mark.parametrize(
    ("actions", "labels"),
    [
        (["cut_wire_2: that was a mistake", "cut_wire_2: that was a mistake"], ["repetition loop"]),
        (["cut_wire_2: that was a mistake", "cut_wire_3: that was a mistake"], ["normal"]),
        (["cut_wire_2: that was a mistake", "x: done", "cut_wire_2: that was a mistake"], ["normal"]),
        (["cut_wire_2: nothing happened", "cut_wire_2: nothing happened"], ["normal"]),
    ],
)
def test_the_same_mistake_twice_in_one_message_is_a_loop(actions: list[str], labels: list[str]) -> None:
    talk = ["Shows: 3 wires", "Solver: I cut.", *(f"Panel: {action}." for action in actions)]
    assert judge_by_rules(read_conversation("wire", talk))[0] == labels


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("It is fine.\nLabels: normal", ["normal"]),
        ("Labels: Repetition Loop, role-confusion", ["role confusion", "repetition loop"]),
        ("<think>Labels: normal</think>Bad.\n**Labels:** miscommunication.", ["miscommunication"]),
        ("Labels: normal\n\nNo, rather:\nLabels: misinterpretation", ["misinterpretation"]),
        ("Label: roleplay", ["role confusion"]),
        ("Labels: [misinterpretation, miscommunication]", ["misinterpretation", "miscommunication"]),
        ("Labels: normal, repetition_loop", ["repetition loop"]),
    ],
)
def test_labels_are_parsed(text: str, labels: list[Label]) -> None:
    assert read_labels(text)[0] == labels


@pytest.mark.parametrize(
    "text", ["", "All is normal.", "Labels:", "Labels: rudeness", "<think>Labels: normal"]
)
def test_replies_without_valid_labels_are_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read_labels(text)


def correct_reply(prompt: str, digest: bytes) -> str:
    """A model that knows the calibration set."""
    for case in cases():
        if case.conversation.written() in prompt:
            return f"Seen before.\nLabels: {', '.join(case.labels)}"
    return "Labels: normal"


async def test_model_judge_with_a_real_server() -> None:
    async with ModelServer(player=correct_reply, script=["429", "500"]) as server:
        judge = make_judge(f"compat/judge@{server.url}?backoff=0.001")
        verdicts = await judge_all(judge, [case.conversation for case in cases()])
    assert [verdict.labels for verdict in verdicts] == [
        tuple(label for label in LABELS if label in case.labels) for case in cases()
    ]
    assert {verdict.reason for verdict in verdicts} == {"Seen before."}
    system = server.requests[0]["messages"][0]["content"]
    assert all(meaning in str(system) for meaning in MEANINGS.values())


async def test_judge_without_labels_is_retried_and_then_fails() -> None:
    talk = cases()[0].conversation
    async with ModelServer(player=lambda prompt, digest: "Hm.") as server:
        judge = make_judge(f"compat/judge@{server.url}")
        [verdict] = await judge_all(judge, [talk])
        assert (verdict.labels, len(server.requests)) == ((), 3)
        assert "named no labels" in verdict.error
        assert "there is no line 'Labels: ...'" in str(server.requests[2]["messages"][-1])
        direct = ModelJudge(model(f"compat/judge@{server.url}"))
        with pytest.raises(AgentFailure):
            await direct.judge(talk)
        await direct.close()


def test_unknown_judge() -> None:
    with pytest.raises(UnknownName, match="rules"):
        make_judge("rulez")
