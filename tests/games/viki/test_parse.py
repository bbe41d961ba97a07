"""Plans are read from JSON and Python literals, with usual decoration; all else is refused with a reason."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.core.errors import Unreadable
from ludens.games.viki.checker import check
from ludens.games.viki.replies import read_plan
from tests.games.viki.kitchens import kitchen

PLAN = [{"R1": ("Move", "apple"), "R2": ("Reach", "plate")}, {"R1": ("Reach", "apple")}]
STEPS = [{"step": i, "actions": {r: list(a) for r, a in step.items()}} for i, step in enumerate(PLAN, 1)]
JSON = json.dumps(STEPS)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"```json\n{JSON}\n```",
        f"Here it is:\n```\n{JSON}```",
        JSON.replace("}]", "},]").replace('"apple"]', '"apple",]'),
        repr(STEPS),
        repr(STEPS).replace("R1", "r1"),
        repr(STEPS).replace("['Move', 'apple']", "('Move', 'apple')"),
        JSON.replace('"R1": ["Reach", "apple"]', '"R1": ["Reach", "apple"], "R2": null'),
        repr(STEPS).replace("'R1': ['Reach', 'apple']", "'R1': ['Reach', 'apple'], 'R2': null"),
        JSON.replace('"step": 1', '"why": "near", "step": 1'),
        JSON[:-1] + ', {"step": 3, "actions": {}}, {"actions": {"R1": null}}]',
    ],
)
def test_variants_are_the_same_plan(text: str) -> None:
    assert read_plan(text) == PLAN


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I would move.", "neither JSON"),
        ("__import__('os').getcwd()", "neither JSON"),
        ("[1]", "step 1"),
        ('{"a": NaN}', "neither JSON"),
        ('"text"', "not a list"),
        ('[{"actions": {"R1": "Move apple"}}]', "list of texts"),
        ('[{"actions": {"R1": []}}]', "list of texts"),
        ('[{"actions": {"R1": ["Move", 3]}}]', "list of texts"),
        ('[{"actions": {"R1": ["Move", "a"], "R1": ["Move", "b"]}}]', "twice"),
        ("[{'actions': {'R1': ['Move', 'a'], 'R1': ['Move', 'b']}}]", "twice"),
        ('[{"actions": {"R1": ["Move", "a"], "r1": ["Move", "b"]}}]', "two actions for R1"),
        (f"```\n{JSON}\n```\n```\n{JSON}\n```", "2 code blocks"),
        ("[" * 1_000 + "]" * 1_000, "1000 levels"),
        (json.dumps([STEPS[0]] * 1_001), "1001 steps"),
        (json.dumps([{"actions": {"R1": ["Move", "a"]}}] * 10_000), "characters"),
        (" " * 10_000_000, "10000000 characters"),
    ],
)
def test_everything_else_is_refused_with_a_reason(text: str, reason: str) -> None:
    started = time.process_time()
    with pytest.raises(Unreadable, match=reason) as caught:
        read_plan(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert time.process_time() - started < 2


def test_released_rules_read_as_their_scorer_does() -> None:
    assert read_plan('[{"actions": {"R1": ["Move", "a"], "R1": ["Move", "b"]}}]', "released") == [
        {"R1": ("Move", "b")}
    ]
    assert read_plan(f"[1, {{}}, {JSON[1:]}", "released") == PLAN
    assert read_plan('[{"actions": {"r1": ["Move", "a"]}}]', "released") == [{"r1": ("Move", "a")}]
    for text in ('[{"actions": {"R1": ["Move", 3]}}]', "{}", "[]"):
        with pytest.raises(Unreadable):
            read_plan(text, "released")


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["default", "released"]))
def test_any_text_is_a_plan_or_refused(text: str, variant: str) -> None:
    for said in (text, f"[{text}]", f'[{{"actions": {{"R1": {text}}}}}]'):
        try:
            plan = read_plan(said, variant)  # type: ignore[arg-type]
        except Unreadable:
            continue
        check(kitchen({"apple": "table"}, [("fetch", "table")]), plan, variant)  # type: ignore[arg-type]


def test_unknown_robots_and_things_are_refused_in_one_sentence() -> None:
    scene = kitchen({"apple": "table"}, [("fetch", "table")])
    for variant in ("default", "released"):
        for plan in ([{"R9": ("Grasp", "apple")}], [{"R1": ("Grasp", "x" * 100_000)}]):
            said = check(scene, plan, variant)  # type: ignore[arg-type]
            assert said.code == "entity"
            assert len(said.message) < 300
