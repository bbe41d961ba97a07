"""Judges: the calibration set, what rules see, what a model is asked and how its answer is read."""

from __future__ import annotations

from collections import Counter

import pytest

from ludens.agents import agent
from ludens.core.errors import AgentFailure, BadFile, UnknownName, Unreadable
from ludens.core.registry import make
from ludens.loop import play
from ludens.models import model
from ludens.suites.comma import PUZZLES
from ludens.suites.comma.judge import judge_all, make_judge
from ludens.suites.comma.judge.by_model import ModelJudge, read_labels
from ludens.suites.comma.judge.calibration import agreement, cases
from ludens.suites.comma.judge.conversation import conversation_of, read_conversation
from ludens.suites.comma.judge.instructions import instructed
from ludens.suites.comma.judge.labels import ERRORS, LABELS, MEANINGS, Label
from ludens.suites.comma.judge.rules import judge_by_rules
from tests.support.model_server import ModelServer


def test_the_set_has_ten_of_each_over_all_puzzles() -> None:
    assert Counter(case.labels[0] for case in cases()) == dict.fromkeys(LABELS, 10)
    assert {case.conversation.puzzle for case in cases()} == set(PUZZLES)
    assert all(case.labels == ("normal",) or "normal" not in case.labels for case in cases())
    assert len({case.conversation.written() for case in cases()}) == 50


def test_conversations_are_read_as_they_are_written() -> None:
    for case in cases():
        talk = case.conversation
        assert read_conversation(talk.puzzle, talk.written().splitlines()) == talk
        assert {line.who for line in talk.lines} >= {"Shows", "Solver", "Expert"}
    with pytest.raises(BadFile):
        read_conversation("wire", ["Somebody: hello"])


def test_rules_do_on_the_set_as_documented() -> None:
    found = agreement(cases(), [judge_by_rules(case.conversation)[0] for case in cases()])
    shares = {
        label: [round(100 * part.mean) for part in (one.accuracy, one.found, one.false)]
        for label, one in found.labels.items()
    }
    assert shares == {
        "role confusion": [100, 100, 0],
        "misinterpretation": [80, 0, 0],
        "repetition loop": [100, 100, 0],
        "miscommunication": [80, 47, 0],
        "normal": [70, 100, 38],
    }
    assert (round(100 * found.exact.mean), round(100 * found.hit.mean)) == (60, 70)


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
def test_to_ask_for_the_manual_or_to_repeat_what_was_told_confuses_no_roles(line: str) -> None:
    talk = ["Shows: 3 wires", "Solver: Three wires: red, blue, white.", "Expert: Go on.", *line.splitlines()]
    assert judge_by_rules(read_conversation("wire", talk))[0] == ["normal"]


@pytest.mark.parametrize(("last", "labels"), [("3", ["normal"]), ("1", ["repetition loop"])])
def test_the_same_question_about_another_thing_is_no_loop(last: str, labels: list[str]) -> None:
    talk = ["Shows: 3 wires"]
    for number in ("1", "2" if last == "3" else "1", last):
        talk.append(f"Expert: What is the colour of wire number {number}?")
        talk.append(f"Solver: {['Red, I think.', 'It may be blue.', 'Clearly white.'][len(talk) // 2 - 1]}")
    assert judge_by_rules(read_conversation("wire", talk))[0] == labels


def test_agreement_counts_what_it_says() -> None:
    right = cases()
    found = agreement(right, [case.labels for case in right])
    assert found.exact.mean == found.hit.mean == 1
    assert all(one.accuracy.mean == one.found.mean == 1 and one.false.mean == 0
               for one in found.labels.values())  # fmt: skip
    found = agreement(right, [ERRORS for _ in right])
    assert found.labels["misinterpretation"].false.mean == 1
    assert found.labels["normal"].found.mean == 0
    assert (found.exact.mean, found.hit.mean) == (0, 0.8)


@pytest.mark.parametrize("puzzle", PUZZLES)
async def test_the_oracles_are_normal(puzzle: str) -> None:
    game = make(f"comma/{puzzle}")
    oracle = agent("bot/oracle", game)
    for seed in range(5):
        talk = conversation_of(await play(game, {"solver": oracle, "expert": oracle}, seed))
        assert judge_by_rules(talk) == (["normal"], "no rule was broken")
        assert read_conversation(puzzle, talk.written().splitlines()) == talk


async def test_an_episode_is_told_with_what_was_seen_and_answered() -> None:
    game = make("comma/wire")
    random = agent("bot/random", game)
    episode = await play(game, {"solver": random, "expert": random}, 4)
    told = conversation_of(episode).written()
    assert told.startswith("Shows: ")
    assert "Serial number:" in told
    assert told.count("\nSolver: cut_wire_") == episode.facts["messages"]["solver"]
    assert told.count("that was a mistake.") == episode.facts["mistakes"]


@pytest.mark.parametrize(
    ("puzzle", "advice", "action", "said"),
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
        ("color", "Blue, please.", "click_row_0_col_0", None),
    ],
)
def test_instructions_are_understood(puzzle: str, advice: str, action: str, said: bool | None) -> None:
    assert instructed(puzzle, advice, action) is said


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
def test_labels_are_read(text: str, labels: list[Label]) -> None:
    assert read_labels(text)[0] == labels


@pytest.mark.parametrize(
    "text", ["", "All is normal.", "Labels:", "Labels: rudeness", "<think>Labels: normal"]
)
def test_replies_without_labels_are_rejected(text: str) -> None:
    with pytest.raises(Unreadable):
        read_labels(text)


def clever(prompt: str, digest: bytes) -> str:
    """Knows the set by heart."""
    for case in cases():
        if case.conversation.written() in prompt:
            return f"Seen before.\nLabels: {', '.join(case.labels)}"
    return "Labels: normal"


async def test_a_model_judges_through_a_real_server() -> None:
    async with ModelServer(player=clever, script=["429", "500"]) as server:
        judge = make_judge(f"compat/judge@{server.url}?backoff=0.001")
        verdicts = await judge_all(judge, [case.conversation for case in cases()])
    assert [verdict.labels for verdict in verdicts] == [
        tuple(label for label in LABELS if label in case.labels) for case in cases()
    ]
    assert {verdict.why for verdict in verdicts} == {"Seen before."}
    system = server.requests[0]["messages"][0]["content"]
    assert all(meaning in str(system) for meaning in MEANINGS.values())


async def test_a_judge_without_labels_is_retried_and_then_fails() -> None:
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


def test_an_unknown_judge_is_refused() -> None:
    with pytest.raises(UnknownName, match="rules"):
        make_judge("rulez")
