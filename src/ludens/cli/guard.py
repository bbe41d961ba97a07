"""What stands between a command and the shell: every ending becomes an exit code and at most one sentence.

0    done
1    the command says so (its message is on stderr), or a bug: then with its traceback
2    asked wrongly: one sentence with the nearest right word, no traceback
130  interrupted
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from ludens.core.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.exceptions import CycloptsError

DONE, FAILED, ASKED_WRONGLY, READER_LEFT, INTERRUPTED = 0, 1, 2, 141, 130


def guarded(app: App, argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` names and return the exit code."""
    from cyclopts.exceptions import CycloptsError

    tokens = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:  # closed by the shell, as in `>&-`: nobody listens, and that is no error
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")  # a screen without some character shows a question mark
    try:
        code = app(tokens)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except CycloptsError as error:
        return refuse(_sentence(error))
    except UsageError as error:
        return refuse(str(error))
    except KeyboardInterrupt:
        print("\nludens: stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_what_is_buffered()  # the reader (`head`, a pager) has seen enough
        return READER_LEFT
    except OSError as error:
        if error.errno not in _FULL:
            return _bug()
        _drop_what_is_buffered()
        print(f"ludens: cannot write: {(error.strerror or str(error)).lower()}.", file=sys.stderr)
        return FAILED
    except Exception:
        return _bug()


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _drop_what_is_buffered() -> None:
    """What standard output does not take must not be tried again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug() -> int:
    import traceback

    traceback.print_exc()
    print("ludens: this is a bug in Ludens or in a plugin; please report it.", file=sys.stderr)
    return FAILED


def refuse(sentence: str) -> int:
    """Say on stderr what is wrong with the request."""
    print(f"ludens: {sentence}", file=sys.stderr)
    return ASKED_WRONGLY


_KINDS: dict[type, str] = {float: "a number", bool: "true or false"}


def _sentence(error: CycloptsError) -> str:
    """What the parser found wrong, in one sentence with the nearest right word."""
    from cyclopts import exceptions as wrong

    if isinstance(error, wrong.UnknownCommandError) and error.app is not None and error.unused_tokens:
        word = error.unused_tokens[0]
        dashed = word.startswith("-")
        known = [name for name in error.app if name.startswith("-") == dashed]
        return str(UnknownName("flag" if dashed else "command", word, known))
    if isinstance(error, wrong.UnknownOptionError):
        flags = [name for argument in error.argument_collection for name in argument.names]
        asked = (error.token.keyword or error.token.value or "").split("=")[0]
        return str(UnknownName("flag", asked, ["--help", *flags]))
    if isinstance(error, wrong.UnusedCliTokensError) and error.unused_tokens:
        return f"nothing takes the word {error.unused_tokens[0]!r}; see --help."
    if isinstance(error, wrong.MissingArgumentError) and error.argument is not None:
        name = error.keyword or error.argument.name
        return f"{name} is missing; see --help." if error.keyword is None else f"{name} needs a value."
    if isinstance(error, wrong.RepeatArgumentError):
        return f"{error.token.keyword} stands twice."
    if isinstance(error, wrong.CoercionError) and error.token is not None:
        name = error.token.keyword or (error.argument.name if error.argument else "")
        if kind := _KINDS.get(error.target_type or object):
            return f"{name} must be {kind}, not {error.token.value!r}."
        if get_origin(error.target_type) is Literal:
            return str(UnknownName(f"value of {name}", error.token.value, get_args(error.target_type)))
    text = " ".join(str(error).split())
    return text[:1].lower() + text[1:]
