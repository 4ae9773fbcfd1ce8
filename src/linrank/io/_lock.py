"""A lock between processes, which the system lets go of when its holder dies, however that happens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # on Windows: two processes may then write at once, and the second finds its place taken
    fcntl = None


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of that name; `waiting` is called once if another process holds it."""
    handle = _acquired(path, waiting)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # before it is let go: who waits for it looks whether the name is still its own
        os.close(handle)


def _acquired(path: Path, waiting: Callable[[], None]) -> int:
    told = False
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not _taken(handle):
                if not told:
                    waiting()
                    told = True
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_at(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # another process held it and took the name away


def _taken(handle: int) -> bool:
    """Take the lock, if nobody holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def is_held(path: Path) -> bool:
    """Whether some process holds the lock of that name now."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _taken(handle)
    finally:
        os.close(handle)
