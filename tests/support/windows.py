"""The command line without what Windows lacks: `python -m tests.support.windows report runs/mine`.

Several commands, separated by `+`, run one after another until one fails.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import ModuleType
from typing import Any

from tests.architecture import POSIX_ONLY

FUNCTIONS: dict[ModuleType, tuple[str, ...]] = {
    os: ("fchmod", "geteuid", "getuid", "killpg", "sched_getaffinity"),
    signal: ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "pthread_sigmask"),
}

_import = builtins.__import__


def _import_there(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Any = None,
    names: Sequence[str] = (),
    level: int = 0,
) -> ModuleType:
    importer = str((globals or {}).get("__name__", ""))
    if importer.split(".")[0] == "ludens" and level == 0 and name.split(".")[0] in POSIX_ONLY:
        raise ModuleNotFoundError(f"No module named {name!r}")
    return _import(name, globals, locals, names, level)


def main() -> int:
    builtins.__import__ = _import_there  # type: ignore[assignment]
    for module, names in FUNCTIONS.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    from ludens.cli import main

    for _, words in groupby(sys.argv[1:], "+".__ne__):
        argv = list(words)
        if argv != ["+"] and (code := main(argv)):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
