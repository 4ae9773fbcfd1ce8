"""A .npy file that grows at its end: how many rows there will be is not known when it is begun."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._errors import LinrankError

HEADER = 128  # bytes: numpy aligns to 64, and any shape fits


class GrowingNpy:
    """Rows of one type and width are appended; `close` writes the header, and until then the file is not valid."""

    def __init__(self, path: Path, dtype: DTypeLike, width: int | None = None) -> None:
        self.path, self.dtype, self.width, self.rows = path, np.dtype(dtype), width, 0
        with writing_to(path):
            self._file = open(path, "xb")
            self._file.write(bytes(HEADER))

    def append(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        if rows.size:
            block = np.ascontiguousarray(rows, dtype=self.dtype)
            with writing_to(self.path):
                self._file.write(block.view(np.uint8).reshape(-1).data)
        self.rows += rows.shape[0]

    def close(self) -> None:
        """Write the header, and all to the disk."""
        shape = (self.rows,) if self.width is None else (self.rows, self.width)
        text = repr({"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape})
        room = HEADER - 10
        with writing_to(self.path):
            self._file.seek(0)
            self._file.write(b"\x93NUMPY\x01\x00" + room.to_bytes(2, "little") + text.ljust(room - 1).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def abandon(self) -> None:
        """Close what will not be used."""
        with suppress(OSError):
            self._file.close()


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """What the system says of a file of the cache, as a sentence on its folder."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = ", as the disk is full" if full else f" ({error.strerror or error})"
        raise LinrankError(
            f"The cache {path.parent.parent} cannot be written{why}: free some space, or name another folder by "
            "LINRANK_CACHE (--cache on the command line)."
        ) from None


def mapped(path: Path) -> NDArray[Any]:
    """An array that stays on disk, to be read only; one without entries has nothing to map."""
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:
        array = np.load(path, allow_pickle=False)
        if array.size:
            raise
    return array
