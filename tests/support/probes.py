"""Detects whether a value that names a file, a program, an address or a variable is used as one.

Probes are values with a word in them that nothing else contains. While they are watched, every audit event
of Python (files opened, folders listed, programs started, hosts looked up, ...) is searched for the word, and
so is what raises none: looks at a path (`os.stat`), at the environment, for a module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any
from unittest.mock import patch

WORD = "ludens-probe"
VARIABLE = "LUDENS_PROBE"
ADDRESS = f"http://{WORD}.invalid:1/v1"
_SILENT = ("stat", "lstat", "access", "readlink")
_watching: list[set[str]] = []


def make_probes(folder: Path) -> tuple[str, ...]:
    """Values that name something in the folder, a host, a variable or a module, also inside of specs."""
    place, program = folder / WORD, folder / f"{WORD}.sh"
    place.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return (
        str(place), str(program), str(place / "new"), f"../{folder.name}/{WORD}", WORD, ADDRESS, VARIABLE,
        f"{VARIABLE.lower()}:attribute", f"spy?source={place}", f"viki/plan?data={place}",
        f"bot/uci?engine={program}", f"nano/{place}", f"compat/x@{ADDRESS}",
    )  # fmt: skip


@contextmanager
def watched() -> Iterator[set[str]]:
    """The names of events in which a probe occurs."""
    _install()
    events: set[str] = set()
    with patch.multiple(os, **{name: _recorded(name) for name in _SILENT}), patch.object(
        type(os.environ), "__getitem__", _looked_up
    ), patch.object(sys, "meta_path", [_Finder(), *sys.meta_path]):  # fmt: skip
        _watching.append(events)
        try:
            yield events
        finally:
            _watching.remove(events)


def _note(event: str, args: Any) -> None:
    if _watching and _mentioned(args):
        for events in _watching:
            events.add(event)


def _mentioned(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_mentioned, value))
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, os.PathLike):
        value = str(value)
    return isinstance(value, str) and WORD in value.lower().replace("_", "-")


def _recorded(name: str) -> Any:
    original = getattr(os, name)

    def recorded(*args: Any, **more: Any) -> Any:
        _note(f"os.{name}", args[:1])
        return original(*args, **more)

    return recorded


_lookup = type(os.environ).__getitem__


def _looked_up(environment: Any, name: str) -> Any:
    _note("os.environ", (name,))
    return _lookup(environment, name)


class _Finder(MetaPathFinder):
    """Finds nothing, and notes what is looked for."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        _note("import", (fullname,))


_installed = False


def _install() -> None:
    """An audit hook stays for the rest of the process."""
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(lambda event, args: _note(event, args) if _watching else None)
