"""What `run.json` may not decide alone: where keys are sent, which programs are started, which files written.

`ludens eval` takes these from the command line. `ludens resume` reads them from a file that may come from
somebody else, so the user must name each of them again with `--allow`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from ludens.core.errors import BadOption
from ludens.core.spec import parse_spec
from ludens.run.plan import Plan
from ludens.run.task import MODEL

_OPTIONS = {
    "key_env": "takes an API key from the environment variable",
    "engine": "starts the program",
    "cache": "writes the file",
    "pictures": "writes into the folder",
}
"""Options of specs that must be confirmed, and what they do."""
_SAFE_ENGINES = ("stockfish",)
"""Looked up in PATH, like the default of the option `engine`."""


@dataclass(frozen=True)
class Access:
    """Something outside of the run that a player uses."""

    player: str
    """`entrant NAME`, `player of SEAT` or `opponent SPEC`."""
    verb: str
    value: str


def accesses(plan: Plan) -> Iterator[Access]:
    """What the players of a plan use that must be confirmed on resume: entrants, players of given seats, and
    opponents, which an option of the suite may name."""
    entrants = {f"entrant {name!r}": spec for name, spec in plan.entrants.items()}
    seated = {f"player of {seat!r}": spec for seat, spec in plan.seated.items()}
    seatings = [seating for task in plan.chosen.values() for seating in task.seatings]
    specs = sorted({who for seating in seatings for who in seating.values()} - {MODEL, *seated.values()})
    opponents = {f"opponent {spec!r}": spec for spec in specs}
    for name, text in (*entrants.items(), *seated.items(), *opponents.items()):
        spec = parse_spec(text)
        if spec.address and not _is_local(spec.address):
            yield Access(name, "sends prompts and API key to", spec.address)
        for option, verb in _OPTIONS.items():
            value = spec.options.get(option, "")
            if value and not (option == "engine" and value in _SAFE_ENGINES):
                yield Access(name, verb, value)


def check_allowed(plan: Plan, allowed: Collection[str]) -> None:
    """Raise `BadOption` for an access of the plan that the user has not allowed."""
    for access in accesses(plan):
        if access.value not in allowed:
            raise BadOption(
                f"the {access.player} in run.json {access.verb} {access.value}: "
                f"if that is intended, add --allow {access.value}"
            )


def _is_local(address: str) -> bool:
    """Whether an address is on this machine."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
