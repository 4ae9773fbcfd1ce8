"""What a task works with: memory that is used again, as fresh pages cost more than the kernels, and idle threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._threads import Crew

Item = TypeVar("Item")


class Work:
    """Named pieces of memory that grow as needed; what they held before is undefined. One task uses it at a time.

    It lends threads as well, to the parts of a task that is too large for one of them.
    """

    def __init__(self, crew: Crew | None = None) -> None:
        self._arrays: dict[str, NDArray[np.uint8]] = {}
        self._last: dict[str, tuple[int, Any, Any]] = {}  # as it was last taken, which is how it mostly is again
        self._crew = crew

    @property
    def n_threads(self) -> int:
        """How many threads may share a task."""
        return 1 if self._crew is None else self._crew.n_threads

    def share(self, function: Callable[[Item], object], parts: Sequence[Item]) -> None:
        """Call the function with each part, on threads that have nothing else to do; parts must not touch."""
        if self._crew is None or len(parts) == 1:
            for part in parts:
                function(part)
        else:
            self._crew.share(function, parts)

    def take(self, name: str, size: int, dtype: Any) -> Any:
        """An array of that size, uninitialised; the memory of a name serves any type."""
        last = self._last.get(name)
        if last is not None and last[0] == size and last[1] is dtype:
            return last[2]
        n_bytes = size * np.dtype(dtype).itemsize
        held: NDArray[np.uint8] | None = self._arrays.get(name)
        if held is None or held.size < n_bytes:
            last = held = None
            self._forget(name)  # before there is another
            held = self._arrays[name] = np.empty(n_bytes, np.uint8)
        array = held[:n_bytes].view(dtype)
        self._last[name] = size, dtype, array
        return array

    def give(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """An array that was taken by that name, for good; a copy of it where the memory is larger."""
        held = self._arrays.get(name)
        own = array.base is held
        if held is None or not own:  # it was given before
            return array
        if held.size > array.nbytes:
            return array.copy()
        self._forget(name)
        return array

    def zeros(self, name: str, size: int, dtype: Any) -> Any:
        """An array of that size, filled with zeros."""
        array = self.take(name, size, dtype)
        array.fill(0)
        return array

    def _forget(self, name: str) -> None:
        self._last.pop(name, None)
        self._arrays.pop(name, None)


class _Loan:
    """One out of a pool's free ones, and back to them; a class, because a generator takes longer."""

    def __init__(self, free: list[Work], crew: Crew | None) -> None:
        self._free, self._crew = free, crew

    def __enter__(self) -> Work:
        try:
            self._work = self._free.pop()
        except IndexError:
            self._work = Work(self._crew)
        return self._work

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:  # after an interrupt other threads may still write there
            self._free.append(self._work)


class WorkPool:
    """Lends to one task at a time; appending to and popping from a list is atomic."""

    def __init__(self, crew: Crew | None = None) -> None:
        self._free: list[Work] = []
        self._crew = crew

    def lend(self) -> _Loan:
        """Lend to one task: a context manager."""
        return _Loan(self._free, self._crew)
