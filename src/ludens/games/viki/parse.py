"""Reading plans from answers: JSON first, then Python literals; never evaluated.

Accepted as well: code fences, trailing commas, `true` and `null` next to single quotes, robot ids in lower
case, tuples for lists, one step without a list around it. Everything else is refused with one sentence.
Readers run in linear time.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any, Literal

from ludens.core.errors import Unreadable
from ludens.games.viki.scene import Action, Plan

Variant = Literal["default", "released"]

MAX_CHARS = 200_000
MAX_STEPS = 1_000
MAX_DEPTH = 60
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|,(?=\s*[}\]])', re.DOTALL)
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[\[({]|[\])}]', re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}


class _Twice(Exception):
    """A key that occurs twice in one object."""


def read_plan(text: str, variant: Variant = "default") -> Plan:
    """The plan in an answer; raises `Unreadable` with one sentence.

    Robots without an action (null) are left out, and so are steps in which nobody acts. The released rules
    read keys that occur twice as their scorer does: the last one counts.
    """
    return plan_of(read_value(text, what="plan", last_key_wins=variant == "released"), variant)


def read_value(text: str, *, what: str = "answer", last_key_wins: bool = False) -> Any:
    """JSON or a Python literal in an answer, as plain data."""
    if len(text) > MAX_CHARS:
        raise Unreadable(f"the {what} has {len(text)} characters; at most {MAX_CHARS} are read.")
    fenced = _FENCE.findall(text)
    if len(fenced) > 1:
        raise Unreadable(f"the answer has {len(fenced)} code blocks; give exactly one.")
    text = (fenced[0] if fenced else text).strip()
    if not text:
        raise Unreadable(f"the {what} is empty.")
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[({" else -1 if bracket in "])}" else 0
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise Unreadable(f"the {what} is nested {deepest} levels deep; at most {MAX_DEPTH} are read.")
    try:
        try:
            cleaned = _COMMA.sub(lambda hit: "" if hit[0] == "," else hit[0], text)
            hook = None if last_key_wins else _once
            return json.loads(cleaned, object_pairs_hook=hook, parse_constant=_no_constant)
        except ValueError:
            return _literal(text, last_key_wins)
    except _Twice as error:
        raise Unreadable(f"the key {error} occurs twice in one object of the {what}.") from None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise Unreadable(f"the {what} is neither JSON nor a Python literal.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(_short(next(key for key in keys if keys.count(key) > 1)))
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _literal(text: str, last_key_wins: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = _Constants().visit(ast.parse(text, mode="eval"))
    if not last_key_wins:
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                seen: set[Any] = set()
                for key in keys:
                    if key in seen:
                        raise _Twice(_short(str(key)))
                    seen.add(key)
    return ast.literal_eval(tree)


class _Constants(ast.NodeTransformer):
    """JSON's words for constants inside a Python literal."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in _WORDS:
            return ast.copy_location(ast.Constant(_WORDS[node.id]), node)
        return node


def plan_of(value: Any, variant: Variant = "default") -> Plan:
    """A plan from plain data: a list of steps with `actions`."""
    if variant == "released":
        return _released(value)
    steps = [value] if isinstance(value, dict) else value
    if not isinstance(steps, list | tuple):
        raise Unreadable("the plan is not a list of steps.")
    if len(steps) > MAX_STEPS:
        raise Unreadable(f"the plan has {len(steps)} steps; at most {MAX_STEPS} are read.")
    plan: Plan = []
    for number, step in enumerate(steps, 1):
        if not isinstance(step, dict) or not isinstance(step.get("actions"), dict | None):
            raise Unreadable(f'step {number} is not an object with "actions".')
        read: dict[str, Action] = {}
        for robot, action in (step.get("actions") or {}).items():
            if action is None:
                continue
            if not isinstance(robot, str):
                raise Unreadable(f"step {number} names a robot that is not a text.")
            name = robot.strip().upper()
            if name in read:
                raise Unreadable(f"step {number} has two actions for {_short(name)}.")
            if (
                not isinstance(action, list | tuple)
                or not action
                or not all(isinstance(w, str) for w in action)
            ):
                raise Unreadable(f"step {number}, {_short(name)}: an action is a list of texts.")
            read[name] = tuple(action)
        if read:
            plan.append(read)
    return plan


def _released(value: Any) -> Plan:
    """As the released scorer reads it: what is not a step is skipped; one bad action makes the plan empty."""
    plan: Plan = []
    for step in value if isinstance(value, list) else ():
        actions = step.get("actions", {}) if isinstance(step, dict) else {}
        if not isinstance(actions, dict):
            continue
        read: dict[str, Action] = {}
        for robot, action in actions.items():
            if action is None:
                continue
            if isinstance(action, str | dict):
                action = tuple(action)
            if not isinstance(action, list | tuple) or not all(isinstance(word, str) for word in action):
                raise Unreadable("the plan has an action that is not a list of texts.")
            read[robot if isinstance(robot, str) else str(robot)] = tuple(action)
        if read:
            plan.append(read)
    if not plan:
        raise Unreadable("the plan has no action.")
    if len(plan) > MAX_STEPS:
        raise Unreadable(f"the plan has {len(plan)} steps; at most {MAX_STEPS} are read.")
    return plan


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."
