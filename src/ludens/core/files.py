"""Writes files, at once or line by line, and turns errors of the system into messages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, Self

from ludens.core.errors import BadFile, BadOption


def file_error(action: str, path: Path, error: OSError) -> BadFile:
    """`cannot write 'runs/a': no space left on device.`"""
    return BadFile(f"cannot {action} {str(path)!r}: {(error.strerror or str(error)).lower()}.")


def check_empty(folder: Path) -> None:
    """Raise `BadOption` unless a folder for output is empty or does not exist."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(f"{str(folder)!r} is not an empty folder; choose another --out.")


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that readers, even after a crash, see the old contents or the new, never a part.

    The data goes to a temporary file next to it, which then replaces it. What is not a regular file, such as
    /dev/stdout, is written directly.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    partial = target.with_name(f"{target.name}.part")
    try:
        partial.write_bytes(data)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def save_file(path: Path, data: bytes) -> None:
    """Write a file atomically, in a folder that need not exist yet."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    except OSError as error:
        raise file_error("write", path, error) from None


class LineFile:
    """A file to which one process appends lines. Lines are written whole or not at all.

    A last line that a crash left incomplete is removed when the file is opened.

    Args:
        path: The file; created if it does not exist.
        durable: Whether `append` returns only when the lines are on the disk, so that they survive a crash
            of the machine too.
        new: Whether the file must not exist yet: nobody else writes to it, and it needs no lock.
        lock: Whether to lock it.
    """

    def __init__(self, path: Path, durable: bool = False, *, new: bool = False, lock: bool = True) -> None:
        self.path, self._durable = path, durable
        self._torn = False
        """Whether a failed write has left something after `_end`."""
        try:
            self._file = path.open("xb" if new else "ab", buffering=0)
        except OSError as error:
            raise file_error("write", path, error) from None
        try:
            if lock and not new:
                lock_file(self._file, path)
            _remove_incomplete_line(path)
            self._end = os.fstat(self._file.fileno()).st_size
        except BaseException:
            self._file.close()
            raise

    def append(self, lines: bytes) -> int:
        """Write complete lines and return their offset.

        Raises `OSError` and leaves the file as it was if that is not possible.
        """
        handle = self._file.fileno()
        if self._torn:
            os.ftruncate(handle, self._end)
            self._torn = False
        try:
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(handle, rest) :]
            if self._durable:
                os.fsync(handle)
        except BaseException:
            self._torn = True
            try:
                os.ftruncate(handle, self._end)
                self._torn = False
            except OSError:
                pass  # tried again before the next line
            raise
        self._end += len(lines)
        return self._end - len(lines)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lock_file(file: IO[Any], path: Path) -> None:
    try:
        import fcntl
    except ImportError:
        raise BadOption("runs can be read, but not written, on this system: it has no file locks.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadOption(f"another process is writing to {str(path.parent)!r}.") from None
    except OSError as error:  # some network drives have no locks
        raise file_error("lock", path, error) from None


def _remove_incomplete_line(path: Path) -> None:
    with path.open("rb+") as file:
        end = position = file.seek(0, 2)
        while position > 0:
            start = max(0, position - 65536)
            file.seek(start)
            newline = file.read(position - start).rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position != end:
            file.truncate(position)
