"""Arrays that grow at their end and are never copied where the system can move their pages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from ..data.dataset import Comments

ROOM = 1.02  # times the size that the first part lets expect; pages that are never written take no memory
GROWTH = 8  # by an eighth, where nobody knows how much is still to come: what is added is filled with zeros


class Growing:
    """An array that grows at its end, of rows of `width` entries where that is given.

    The first part makes room for all, by the share of the source that it was read from. Where that is too little the
    memory is reallocated, which moves pages and not bytes on Linux.
    """

    def __init__(self, dtype: Any, width: int | None = None) -> None:
        self._array, self.size, self._width = np.empty(0, dtype=dtype), 0, 1 if width is None else width
        self._shape = (-1,) if width is None else (-1, width)

    def room(self, n: int, share: float = 1.0) -> NDArray[Any]:
        """Room for n more, to be filled; with the parts before, they are a share of all that is expected."""
        start, end = self.size * self._width, (self.size + n) * self._width
        share = max(share, 1e-6)
        if self._array.size == 0:
            self._array = self._empty(max(end, int(ROOM * end / share)), end)
        elif end > self._array.size:
            expected = int(ROOM * end / share) if share < 1 else end + end // GROWTH
            self._array.resize(expected, refcheck=False)
        self.size += n
        return self._array[start:end].reshape(self._shape if self._width else (n, 0))

    def _empty(self, expected: int, needed: int) -> NDArray[Any]:
        """Room for what is expected, or, where that cannot be had, for what is needed."""
        try:
            return np.empty(expected, dtype=self._array.dtype)
        except MemoryError:
            return np.empty(needed, dtype=self._array.dtype)

    def append(self, part: NDArray[Any], share: float = 1.0) -> None:
        """Add at the end."""
        self.room(len(part), share)[...] = part

    def done(self) -> NDArray[Any]:
        """The array, and no more room than it needs."""
        self._array.resize(self.size * self._width, refcheck=False)
        return self._array.reshape(self._shape) if self._width else self._array.reshape(self.size, 0)

    def so_far(self) -> NDArray[Any]:
        """What is there; not to be kept, as it may move."""
        return self._array[: self.size * self._width].reshape(self._shape)


class GrowingColumn:
    """Numbers that a part of the rows may lack: a weight that is not given is 1."""

    def __init__(self) -> None:
        self._values, self._given, self._rows = Growing(np.float64), False, 0

    def append(self, part: FloatArray | None, n_rows: int, share: float = 1.0) -> None:
        """The numbers of so many rows, or None."""
        if part is not None and not self._given:
            self._values.append(np.ones(self._rows), share)
            self._given = True
        if self._given:
            self._values.append(np.ones(n_rows) if part is None else part, share)
        self._rows += n_rows

    def done(self) -> FloatArray | None:
        """The numbers, None if no part had any."""
        return self._values.done() if self._given else None


class GrowingTexts:
    """Comments: bytes, and where each row's end."""

    def __init__(self) -> None:
        self._text, self._ends = Growing(np.uint8), Growing(np.int64)

    def append(self, text: NDArray[np.uint8], ends: NDArray[np.int64], share: float = 1.0) -> None:
        """The texts of some rows."""
        before = self._text.size
        if text.size or self._text.size:  # no room for what may never come
            self._text.append(text, share)
        self._ends.append(ends + before, share)

    def done(self, empty: bool = False) -> Comments | None:
        """The texts; None if all of them are empty, unless that is wanted."""
        return Comments(self._text.done(), self._ends.done()) if self._text.size or empty else None


class GrowingIds:
    """Ids: integers, unless a part has strings; then all of them are."""

    def __init__(self) -> None:
        self._numbers: Growing | None = None
        self._texts: list[NDArray[Any]] = []

    def append(self, part: NDArray[Any] | None, share: float = 1.0) -> None:
        """The ids of some rows, or None."""
        if part is None:
            return
        if part.dtype == object and not self._texts:
            self._texts = [] if self._numbers is None else [_spelled(self._numbers.so_far())]
            self._texts.append(part)
        elif self._texts:
            self._texts.append(part if part.dtype == object else _spelled(part))
        else:
            self._numbers = self._numbers or Growing(part.dtype)
            self._numbers.append(part, share)

    def done(self) -> NDArray[Any] | None:
        """The ids."""
        if self._texts:
            return np.concatenate(self._texts)
        return None if self._numbers is None else self._numbers.done()


def _spelled(numbers: NDArray[Any]) -> NDArray[Any]:
    """Integers as they were read: in their shortest form."""
    return numbers.astype(str).astype(object)
