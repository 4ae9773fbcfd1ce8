"""The one writer of files: each is replaced whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

from ._bars import Bar

PathLike = str | os.PathLike[str]

_Announced = tuple[str, Path, os.stat_result]  # the name asked for, the place, and what `os.stat` will say of it there

#: Files that are about to take their places; None: nobody wants to know.
_watched: ContextVar[list[_Announced] | None] = ContextVar("_watched", default=None)


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` at the end, and only if nothing failed.

    The bytes go to a new file beside it, of a name that nobody can guess, reach the disk, then the name is moved:
    whoever reads `path` finds the old file or the new one, whole, even after a power cut, ``kill -9`` or a full disk.
    Links are followed, permissions kept; a new file gets those of any other. Pipes and devices are written to directly.
    An OSError of the file itself names `path`, whatever else is read or written meanwhile.
    """
    target = Path(os.path.realpath(path))
    old = _mode(path)
    if old is not None and stat.S_ISDIR(old):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder: name a file in it.")
    if old is not None and not stat.S_ISREG(old):
        with _open(path, path, old, new=False) as file:
            yield file
        return
    temporary = target.with_name(f".{target.name[:32]}.{secrets.token_hex(8)}.part")
    try:
        with (
            Bar(f"writing {target.name}", unit="bytes") as bar,
            _open(temporary, path, old, new=True, bar=bar) as file,
        ):
            yield file
            with _named(path):
                file.flush()
                os.fsync(file.fileno())
                _announce(path, target, os.fstat(file.fileno()))
        with _named(path):
            os.replace(temporary, target)
    except BaseException:  # Ctrl-C as well
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


@contextmanager
def watching() -> Iterator[Callable[[], list[str]]]:
    """A function that tells which files have been replaced since, by the names they were asked for.

    It looks at the files themselves, so an interrupt in the middle of a replacement does not make it lie.
    """
    announced: list[_Announced] = []
    token = _watched.set(announced)
    try:
        yield lambda: [name for name, target, new in announced if _is(target, new)]
    finally:
        _watched.reset(token)


def _announce(path: PathLike, target: Path, new: os.stat_result) -> None:
    """Note a file before it is moved: whether it was moved can be looked up at any time."""
    announced = _watched.get()
    if announced is not None:
        announced[:] = [entry for entry in announced if entry[1] != target]  # a checkpoint is written again and again
        announced.append((os.fspath(path), target, new))


def _is(path: Path, which: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), which)
    except OSError:
        return False


class _Raw(io.FileIO):
    """A file whose errors speak of the file that the user named: that a disk is full comes without any name."""

    path: PathLike = ""
    bar: Bar | None = None

    def write(self, data: Any, /) -> int:
        """Write some of the bytes."""
        with _named(self.path):
            size = super().write(data)
        if self.bar is not None:
            self.bar.advance(size)
        return size

    def close(self) -> None:
        """Close the file; some file systems find out only now that they are full."""
        with _named(self.path):
            super().close()


def _open(where: PathLike, path: PathLike, mode: int | None, new: bool, bar: Bar | None = None) -> BinaryIO:
    """Open the file `where`, called `path` in errors; a new one must not exist yet, not even as a link."""
    flags = os.O_WRONLY | getattr(os, "O_BINARY", 0) | (os.O_CREAT | os.O_EXCL if new else 0)
    allowed = 0o666 if mode is None else stat.S_IMODE(mode)  # at first as in the end: nobody opens it in between
    with _named(path):
        raw = _Raw(where, "wb", opener=lambda name, _: os.open(name, flags, allowed))
        raw.path, raw.bar = path, bar
        if new and mode is not None:  # the process's mask may have taken some away
            os.chmod(raw.fileno() if os.chmod in os.supports_fd else where, allowed)
    return io.BufferedWriter(raw)


@contextmanager
def _named(path: PathLike) -> Iterator[None]:
    """Errors of the system speak of `path`, not of a file beside it, nor of none at all."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = os.fspath(path)
            del error.filename2
        raise


def _mode(path: PathLike) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def sync_folder(folder: Path) -> None:
    """Bring the new name to the disk as well, where the system lets a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
