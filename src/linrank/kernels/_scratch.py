"""Scratch memory that is used again: fresh pages cost more than the kernels that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scratch:
    """Named arrays that grow as needed; what they held before is undefined."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def take(self, name: str, size: int, dtype: Any) -> Any:
        """An array of that size, uninitialised."""
        held = self._arrays.get(name)
        if held is None or held.size < size or held.dtype != dtype:
            held = self._arrays[name] = np.empty(size, dtype)
        return held[:size]

    def zeros(self, name: str, size: int, dtype: Any) -> Any:
        """An array of that size, filled with zeros."""
        array = self.take(name, size, dtype)
        array.fill(0)
        return array


class ScratchPool:
    """Scratches that are lent to one task at a time; appending to and popping from a list is atomic."""

    def __init__(self) -> None:
        self._free: list[Scratch] = []

    @contextmanager
    def lend(self) -> Iterator[Scratch]:
        """Lend a scratch to one task."""
        try:
            scratch = self._free.pop()
        except IndexError:
            scratch = Scratch()
        try:
            yield scratch
        finally:
            self._free.append(scratch)

    def clear(self) -> None:
        """Give back what is not lent."""
        self._free.clear()
