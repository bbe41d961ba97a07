"""Replies of all levels: reasoning and one answer in tags; plans and trajectories read from the answer,
never evaluated."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ludens.core.errors import Ambiguous, Illegal, MoveError, Unreadable
from ludens.core.reply import ReplyFormat, without_reasoning
from ludens.core.state import Legal
from ludens.games.viki.world import ROBOTS, Action, Plan, Step, short

_ANSWER = re.compile(r"<(/?)answer>", re.IGNORECASE)
_TAGS = re.compile(r"<(/?)(think|answer)>", re.IGNORECASE)
_WANTED = [("", "think"), ("/", "think"), ("", "answer"), ("/", "answer")]

MAX_CHARS = 200_000
"""Of an answer that is parsed."""


@dataclass(frozen=True)
class AnswerFormat(ReplyFormat):
    """Reasoning in `<think>` tags, then the answer in `<answer>` tags; a reply without tags is the answer.

    Args:
        instruction: What the answer looks like.
        parse: The canonical form of an answer; raises a `MoveError` with the reason when there is none.
    """

    instruction: str
    parse: Callable[[str], str]

    def ask(self, legal: Legal) -> str:
        return (
            "First reason between <think> and </think>, then give the answer between <answer> and </answer>. "
            f"{self.instruction}"
        )

    def write(self, action: str) -> str:
        return f"<answer>{action}</answer>"

    def read(self, text: str, legal: Legal) -> str:
        answer = answer_in(text)
        _check_length(answer, MAX_CHARS)
        action = self.parse(answer)
        if legal.text_limit is not None:
            _check_length(action, legal.text_limit)
        return action


def _check_length(answer: str, limit: int) -> None:
    if len(answer) > limit:
        raise Illegal(f"the answer has {len(answer):,} characters; at most {limit:,} are read.")


def answer_in(text: str) -> str:
    """The text between the answer tags, or the reply without its reasoning where it has no such tags."""
    reply = without_reasoning(text)
    tags = list(_ANSWER.finditer(reply))
    if not tags:
        if not reply.strip():
            raise Unreadable("the reply has no answer; give it between <answer> and </answer>.")
        return reply.strip()
    opened = [tag for tag in tags if not tag[1]]
    if len(opened) > 1:
        raise Ambiguous("the reply has several <answer> tags; give exactly one answer.")
    if not opened:
        raise Unreadable("the reply has </answer> without <answer>.")
    closed = [tag for tag in tags if tag[1] and tag.start() >= opened[0].end()]
    answer = reply[opened[0].end() : closed[0].start() if closed else len(reply)].strip()
    if not answer:
        raise Unreadable("there is nothing between <answer> and </answer>.")
    return answer


def well_formed(text: str) -> bool:
    """Whether a reply is exactly one `<think>` part and then one `<answer>` part that is not empty; blanks
    around them are allowed."""
    bare = text.strip()
    tags = list(_TAGS.finditer(bare))
    if [(tag[1], tag[2].lower()) for tag in tags] != _WANTED:
        return False
    answer = bare[tags[2].end() : tags[3].start()]
    return tags[0].start() == 0 and tags[3].end() == len(bare) and bool(answer.strip())


FORMAT_SHARE = 0.1
"""Of the reward, for the form of the reply; the rest is for the answer."""


def combined(text: str, accuracy: float) -> float:
    """The training reward of a reply: its form and its answer, independent of each other."""
    return FORMAT_SHARE * well_formed(text) + (1 - FORMAT_SHARE) * accuracy


Variant = Literal["default", "released"]

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
    depth = _depth(text)
    if depth > MAX_DEPTH:
        raise Unreadable(f"the {what} is nested {depth} levels deep; at most {MAX_DEPTH} are read.")
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


def _depth(text: str) -> int:
    """How deep brackets are nested; those in strings do not count."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[({" else -1 if bracket in "])}" else 0
        deepest = max(deepest, depth)
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _check_keys([key for key, _ in pairs])
    return dict(pairs)


def _check_keys(keys: Sequence[Any]) -> None:
    if len(set(keys)) < len(keys):
        raise _Twice(short(str(next(key for n, key in enumerate(keys) if key in keys[:n]))))


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _literal(text: str, last_key_wins: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, mode="eval")
    if not text.isascii() or any(word in text for word in _WORDS):
        tree = _Constants().visit(tree)
    if not last_key_wins and "{" in text:
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                _check_keys([key.value for key in node.keys if isinstance(key, ast.Constant)])
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
        actions: dict[str, Action] = {}
        for robot, action in (step.get("actions") or {}).items():
            if action is None:
                continue
            if not isinstance(robot, str):
                raise Unreadable(f"step {number} names a robot that is not a text.")
            name = robot.strip().upper()
            if name in actions:
                raise Unreadable(f"step {number} has two actions for {short(name)}.")
            if not action or not _is_texts(action):
                raise Unreadable(f"step {number}, {short(name)}: an action is a list of texts.")
            actions[name] = tuple(action)
        if actions:
            plan.append(actions)
    return plan


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


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
            if not _is_texts(action):
                raise Unreadable("the plan has an action that is not a list of texts.")
            read[robot if isinstance(robot, str) else str(robot)] = tuple(action)
        if read:
            plan.append(read)
    if not plan:
        raise Unreadable("the plan has no action.")
    if len(plan) > MAX_STEPS:
        raise Unreadable(f"the plan has {len(plan)} steps; at most {MAX_STEPS} are read.")
    return plan


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write_plan(plan: Sequence[Mapping[str, Action]]) -> str:
    """The canonical form of a plan: compact JSON."""
    steps = [
        {"step": number, "actions": {robot: list(action) for robot, action in step.items()}}
        for number, step in enumerate(plan, 1)
    ]
    return _compact(steps)


def read_step(answer: str) -> Step:
    """The step in an answer: an object with an action for each robot, or one step of a plan."""
    value = read_value(answer, what="step")
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise Unreadable('the answer is not an object such as {"R1": ["Move", "apple"]}.')
    steps = plan_of([value if "actions" in value else {"actions": value}])
    return steps[0] if steps else {}


def write_step(step: Step) -> str:
    """The canonical form of a step: compact JSON, robots in order."""
    actions = {robot: list(step[robot]) for robot in sorted(step)}
    return _compact(actions)


MESSAGE = 300
"""Characters of a message."""


def read_turn(answer: str) -> tuple[Action | None, str]:
    """The action, or None, and the message in an answer."""
    value = read_value(answer, what="answer")
    if isinstance(value, list | tuple):
        value = {"action": value}
    if not isinstance(value, dict) or not set(value) <= {"action", "message"}:
        raise Unreadable('the answer is not an object with "action" and "message".')
    message = value.get("message") or ""
    if not isinstance(message, str):
        raise Unreadable("the message is not a text.")
    if len(message) > MESSAGE:
        raise Unreadable(f"the message has {len(message)} characters; at most {MESSAGE} are sent.")
    if not value.get("action"):
        return None, message
    try:
        step = read_step(json.dumps({"R1": value["action"]}))
    except (MoveError, TypeError, ValueError):
        raise Unreadable('the action is not a list of texts such as ["Move", "apple"].') from None
    return step["R1"], message


def write_turn(action: Action | None, message: str) -> str:
    """The canonical form of an answer."""
    turn = {"action": list(action) if action else None, "message": message}
    return _compact(turn)


_SPELLINGS = {name.replace("_", " "): name for name in ROBOTS}
_SPELLINGS |= {kind.name.lower(): name for name, kind in ROBOTS.items()}


def read_types(answer: str) -> str:
    """The canonical form of a list of robot types: as JSON, a Python literal, or names with commas."""
    bare = answer.strip()
    names: Any = [part.strip(" '\"`.") for part in bare.split(",")]
    if bare[:1] in tuple("[({`\"'"):
        names = read_value(bare, what="list of robot types")
        names = [names] if isinstance(names, str) else names
    if not isinstance(names, list | tuple | set) or not all(isinstance(name, str) for name in names):
        raise Unreadable('the answer is not a list of robot types such as ["fetch", "panda"].')
    types = {_type(name) for name in names}
    if not types:
        raise Illegal("the list of robot types is empty; every task needs a robot.")
    return json.dumps(sorted(types))


def _type(name: str) -> str:
    folded = name.strip().lower()
    kind = folded if folded in ROBOTS else _SPELLINGS.get(folded.replace("_", " "))
    if kind is None:
        raise Illegal(f"there is no robot type {short(name)!r}; there are {', '.join(ROBOTS)}.")
    return kind


POINTS = 5
PATHS = ("you", "partner")
"""Whose paths level 3 asks for."""

_POINTS_FENCE = re.compile(r"```[a-z]*", re.IGNORECASE)
_TRAILING = re.compile(r",(?=\s*\])")
_ALLOWED = frozenset("0123456789+-.eE,[]() \t\r\n")
_DEEPEST = 4
_LONGEST = 4_000

Trajectories = tuple[tuple[tuple[float, float], ...], ...]


def read_points(text: str, width: int, height: int, variant: Variant = "default") -> str:
    """The canonical form of an answer for a picture of this size: JSON of two lists of five [x, y].

    Raises a `MoveError` that says what is wrong; points outside the picture are wrong too, but not by the
    released rules, which measure how far they are off.
    """
    bare = _POINTS_FENCE.sub("", text).strip()
    if len(bare) > _LONGEST:
        raise Unreadable(f"the answer has {len(bare):,} characters; two lists of {POINTS} points need fewer.")
    if re.search(r"nan|inf", bare, re.IGNORECASE):
        raise Illegal("a coordinate is not a finite number.")
    bad = next((character for character in bare if character not in _ALLOWED), None)
    if bad is not None:
        raise Unreadable(f"the answer is not a list of points: {bad!r} is neither a number nor a bracket.")
    bare = _TRAILING.sub("", bare.replace("(", "[").replace(")", "]"))
    if _depth(bare) > _DEEPEST:
        raise Unreadable("the answer has too many nested brackets; two lists of [x, y] are expected.")
    try:
        value = json.loads(bare)
    except ValueError:
        raise Unreadable(
            "the answer is not a list of points such as [[[10, 20], ...], [[30, 40], ...]]."
        ) from None
    if (count := _length(value)) != len(PATHS):
        raise Illegal(f"two trajectories are expected, yours and your partner's, not {count}.")
    size = None if variant == "released" else (width, height)
    return _compact([_trajectory(path, who, size) for who, path in zip(PATHS, value, strict=True)])


def write_points(paths: Sequence[Sequence[tuple[float, float]]]) -> str:
    return _compact(paths)


def points_of(action: str) -> Trajectories:
    return tuple(tuple((float(x), float(y)) for x, y in trajectory) for trajectory in json.loads(action))


def _trajectory(value: Any, who: str, size: tuple[int, int] | None) -> list[list[float]]:
    if (count := _length(value)) != POINTS:
        raise Illegal(f"the trajectory of {who} has {count} points; {POINTS} are expected.")
    for number, point in enumerate(value, 1):
        if _length(point) != 2 or not all(map(_is_number, point)):
            raise Illegal(f"point {number} of {who} is not a pair of numbers [x, y].")
        if size is not None and not (0 <= point[0] <= size[0] and 0 <= point[1] <= size[1]):
            raise Illegal(f"point {number} of {who} is outside the picture of {size[0]} by {size[1]} pixels.")
    return [[round(float(x), 1), round(float(y), 1)] for x, y in value]


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e9 < value < 1e9
