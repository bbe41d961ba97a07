"""Writing files, and what is said when the system does not do it."""

from __future__ import annotations

from pathlib import Path

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
