"""Scratch memory that is used again: fresh pages cost more than the kernels that fill them."""

from __future__ import annotations

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


class _Loan:
    """One scratch out of a pool's free ones, and back to them; a class, because a generator takes longer."""

    def __init__(self, free: list[Scratch]) -> None:
        self._free = free

    def __enter__(self) -> Scratch:
        try:
            self._scratch = self._free.pop()
        except IndexError:
            self._scratch = Scratch()
        return self._scratch

    def __exit__(self, *_: object) -> None:
        self._free.append(self._scratch)


class ScratchPool:
    """Scratches that are lent to one task at a time; appending to and popping from a list is atomic."""

    def __init__(self) -> None:
        self._free: list[Scratch] = []

    def lend(self) -> _Loan:
        """Lend a scratch to one task: a context manager."""
        return _Loan(self._free)

    def clear(self) -> None:
        """Give back what is not lent."""
        self._free.clear()
