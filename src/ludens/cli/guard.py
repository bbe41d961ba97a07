"""Runs a command and turns its outcome into an exit code and an error message.

0    success
1    failure reported by the command on stderr, or a bug (with traceback)
2    usage error: one sentence, with a suggestion where there is one
130  interrupted
141  standard output was closed by its reader
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from ludens.core.errors import UnknownName, UsageError
from ludens.core.plain import one_line, shorten_values, storable

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.exceptions import CycloptsError

DONE, FAILED, USAGE_ERROR, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def run_guarded(app: App, argv: Sequence[str] | None = None) -> int:
    from cyclopts.exceptions import CycloptsError

    tokens = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:  # closed by the shell: `ludens games >&-`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")  # characters that the encoding lacks become "?"
    try:
        for token in tokens:
            if token != storable(token):
                raise UsageError(f"the argument {token!r} is not valid UTF-8.")
        code = app(tokens)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except CycloptsError as error:
        return usage_error(_message(error))
    except UsageError as error:
        return usage_error(str(error))
    except BrokenPipeError:
        _discard_output()  # the reader (`head`, a pager) has exited
        return BROKEN_PIPE
    except OSError as error:
        if error.errno not in _DISK_FULL:
            # Commands check files before; an error that only the system reports is not a bug either.
            reason = (error.strerror or str(error)).lower()
            return usage_error(f"{error.filename!r}: {reason}.") if error.filename is not None else _bug()
        _discard_output()
        print(f"ludens: cannot write: {(error.strerror or str(error)).lower()}.", file=sys.stderr)
        return FAILED
    except Exception:
        return _bug()


_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _discard_output() -> None:
    """Drop buffered output, so that Python does not try to flush it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug() -> int:
    import traceback

    traceback.print_exc()
    print("ludens: this is a bug in Ludens or a plugin; please report it.", file=sys.stderr)
    return FAILED


def usage_error(message: str) -> int:
    print(f"ludens: {one_line(shorten_values(message))}", file=sys.stderr)
    return USAGE_ERROR


_TYPE_NAMES: dict[type, str] = {float: "a number", bool: "true or false"}


def _message(error: CycloptsError) -> str:
    from cyclopts import exceptions

    if isinstance(error, exceptions.UnknownCommandError) and error.app is not None and error.unused_tokens:
        word = error.unused_tokens[0]
        dashed = word.startswith("-")
        names = [name for name in error.app if name.startswith("-") == dashed]
        return str(UnknownName("flag" if dashed else "command", word, names))
    if isinstance(error, exceptions.UnknownOptionError):
        flags = [name for argument in error.argument_collection for name in argument.names]
        flag = (error.token.keyword or error.token.value or "").split("=")[0]
        return str(UnknownName("flag", flag, ["--help", *flags]))
    if isinstance(error, exceptions.UnusedCliTokensError) and error.unused_tokens:
        return f"unexpected argument {error.unused_tokens[0]!r}; see --help."
    if isinstance(error, exceptions.MissingArgumentError) and error.argument is not None:
        if error.keyword is not None:
            return f"missing value for {error.keyword}."
        name = error.argument.name
        return f"missing {'option' if name.startswith('-') else 'argument'} {name}; see --help."
    if isinstance(error, exceptions.RepeatArgumentError):
        return f"{error.token.keyword} given more than once."
    if isinstance(error, exceptions.CoercionError) and error.token is not None:
        name = error.token.keyword or (error.argument.name if error.argument else "")
        if kind := _TYPE_NAMES.get(error.target_type or object):
            return f"{name} must be {kind}, not {error.token.value!r}."
        if get_origin(error.target_type) is Literal:
            return str(UnknownName(f"value of {name}", error.token.value, get_args(error.target_type)))
    text = " ".join(str(error).split())
    return text[:1].lower() + text[1:]
