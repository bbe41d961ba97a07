"""The oracles' small language, one fact per line as `name = value`, and the oracles' messages.

`name = <meaning>` is a blank for the other to fill in, not a fact; all other lines are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ludens.games.comma.puzzle import Facts, Manual, Puzzle, Unclear

LONGEST = 400


def write(facts: Mapping[str, str]) -> str:
    """Write facts as lines."""
    return "\n".join(f"{name} = {value}" for name, value in facts.items())


def read(message: str) -> Facts:
    """The facts in a message; of two with one name the later one counts. Names are lower case."""
    facts: Facts = {}
    for line in message.splitlines():
        name, equals, value = line.partition("=")
        name, value = " ".join(name.lower().split()), " ".join(value.split())
        if equals and name and value and not value.startswith("<") and len(line) <= LONGEST:
            facts[name] = value
    return facts


def need(facts: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """The values of the wanted facts, in order.

    Args:
        facts: What was told.
        wanted: Name of each fact and what to put as its value.

    Raises:
        Unclear: Some are missing; it says all of them and how to tell them.
    """
    if any(name not in facts for name in wanted):
        lines = "\n".join(f"{name} = <{meaning}>" for name, meaning in wanted.items())
        raise Unclear(f"Tell me, one a line:\n{lines}")
    return [facts[name] for name in wanted]


def solve(puzzle: Puzzle[Manual], advice: str) -> str:
    """The perfect Solver's message: the actions that follow from the latest advice, then what it sees."""
    said = read(advice)
    actions = list(puzzle.clone().follow(said))
    for action in actions:
        if puzzle.act(action) == "solved":
            return "\n".join(actions)
    return "\n".join([*actions, told(puzzle, said)])


def told(puzzle: Puzzle[Manual], advice: Facts) -> str:
    """What the Solver sees on the panel and what it asks for."""
    return f"{write(puzzle.tell(advice))}\nPlease answer: {puzzle.asks}"


def advise(manual: Manual, messages: Sequence[str]) -> str:
    """The perfect Expert's message, from the manual and what it was told; it does not see the panel."""
    try:
        return write(manual.advise([read(message) for message in messages]))
    except Unclear as gap:
        return str(gap)
