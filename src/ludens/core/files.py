"""Writing files."""

from __future__ import annotations

from pathlib import Path


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
