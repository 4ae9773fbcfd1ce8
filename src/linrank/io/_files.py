"""Files as they come and go: written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` at the end, and only if nothing failed.

    The bytes go to a temporary file beside it, reach the disk, then the name is moved: whoever reads `path` finds the
    old file or the new one, whole, even after a power cut, ``kill -9`` or a full disk. Links are followed, permissions
    kept. Pipes and devices are written to directly.
    """
    target = Path(os.path.realpath(path))
    old = _mode(path)
    if old is not None and not stat.S_ISREG(old) and not stat.S_ISDIR(old):
        with open(path, "wb") as file:
            yield file
        return
    if old is not None and stat.S_ISDIR(old):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder: name a file in it.")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        with temporary.open("xb") as file:
            if old is not None:
                os.chmod(temporary, stat.S_IMODE(old))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _mode(path: PathLike) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk as well, where the system lets a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
