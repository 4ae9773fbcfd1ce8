"""A large ranking of few levels, position by position in the order of its scores; the windows of any ranking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from .._work import Work
from ..kernels import counting as kernels
from ..kernels import tables
from ..kernels._vector import FLOAT_LANES
from .ordering import Parts, Sorted, work_parts


class FewLevels:
    """One ranking of few levels by position, 13 bytes a member: sums over active partners of any values.

    All but the windows lies in the work and is valid until the next ranking is sorted there: `kept` takes it out of it.
    Sums use the room of "keys" and "bounds", and leave others a third one.
    """

    room = "sums"

    def __init__(self, found: Sorted, levels: IntArray, margin: float, work: Work) -> None:
        n = found.order.size
        self.size, self.top, self.order, self.parts = n, levels.size - 1, found.order, work_parts(n)
        self.bounds = np.empty(2 * n, dtype=np.int32)
        of_members, self.level = np.repeat(np.arange(self.top, dtype=np.uint8), np.diff(levels)), np.empty(n, np.uint8)

        def bring(part: tuple[int, int]) -> None:
            here = slice(*part)
            tables.to_positions(found.order[here], of_members, self.level[here])

        fill_windows(found, margin, self.bounds, self.parts, work, bring)
        # Members read their answers in the part where their windows end.
        ends = np.array([last for _, last in self.parts[:-1]], dtype=np.int32)  # of another type, it copies the windows
        right = np.searchsorted(self.bounds[:n], ends, side="right").tolist()
        left = np.searchsorted(self.bounds[n:], ends).tolist()
        self.winners, self.losers = ([*zip([0, *cuts], [*cuts, n], strict=True)] for cuts in (right, left))

    def kept(self, work: Work) -> FewLevels:
        """The same out of the work, which will make room anew."""
        self.order = work.give("order", self.order)
        return self

    def counts(self, c: NDArray[Any], d: NDArray[Any], work: Work) -> None:
        """Numbers of each member's active winners, to c, and active losers, to d."""
        winners, losers = self._both(None, work)
        self._share(lambda here: tables.part_both(self.order[here], winners[here], losers[here], c, d), work)

    def sums(self, values: FloatArray, c: FloatArray, d: FloatArray, work: Work) -> None:
        """Sums of values over each member's active winners, to c, and losers, to d."""
        winners, losers = self._both(values, work)
        self._share(lambda here: tables.part_both(self.order[here], winners[here], losers[here], c, d), work)

    def fill(self, values: FloatArray, out: FloatArray, work: Work) -> None:
        """Sums of values over each member's active partners, winners and losers, to out."""
        winners, losers = self._both(values, work)
        self._share(lambda here: tables.add_both(self.order[here], winners[here], losers[here], None, out), work)

    def add(self, values: FloatArray, factor: float, out: FloatArray, work: Work) -> None:
        """Add factor times the same to out."""
        winners, losers = self._both(values, work)
        self._share(lambda here: tables.add_both(self.order[here], winners[here], losers[here], factor, out), work)

    def _share(self, function: Callable[[slice], None], work: Work) -> None:
        work.share(lambda part: function(slice(*part)), self.parts)

    def _both(self, values: FloatArray | None, work: Work) -> NDArray[Any]:
        """Sums over winners, and over losers, by position; counts without values."""
        n, n_parts = self.size, len(self.parts)
        given: Any = None
        sums = np.empty((n_parts, tables.CHAINS, FLOAT_LANES))
        before, after = np.empty((2, n_parts + 1, FLOAT_LANES))
        rows = np.empty((n_parts, 2, (tables.ROWS + 1) * FLOAT_LANES))
        both = work.take("bounds", 2 * n, np.int32 if values is None else np.float64)
        if values is not None:
            given = work.take("keys", n, np.float64)

        def prepare(j: int) -> None:
            here = slice(*self.parts[j])
            if values is not None:
                tables.to_positions(self.order[here], values, given[here])
            tables.level_sums(self.level[here], None if given is None else given[here], sums[j])

        def sweep(j: int) -> None:
            rows[j, :, :FLOAT_LANES] = before[j], after[j + 1]
            (first, last), ends, (ahead, back) = self.parts[j], (self.winners[j], self.losers[j]), rows[j]
            tables.table_sums(self.level, given, self.bounds, self.top, first, last, *ends, ahead, back, both)

        work.share(prepare, range(n_parts))
        tables.held_sums(sums, self.top, before, after)
        work.share(sweep, range(n_parts))
        return both.reshape(2, n)


def fill_windows(
    found: Sorted,
    margin: float,
    bounds: IntArray,
    parts: Parts,
    work: Work,
    also: Callable[[tuple[int, int]], None] | None = None,
) -> None:
    """Windows of all positions, part by part of the merge; `also` is called with each part on the way."""
    n = found.order.size
    if len(parts) == 1:
        kernels.windows(found.padded, margin, 0, 2 * n, 0, n, bounds)
        if also is not None:
            also(parts[0])
        return
    cuts = np.array([2 * first for first, _ in parts] + [2 * n])
    p = np.empty(cuts.size, dtype=np.int64)
    kernels.crossings(found.padded, margin, cuts, p)
    ends = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), p[:-1].tolist(), p[1:].tolist(), strict=True))

    def one(k: int) -> None:
        kernels.windows(found.padded, margin, *ends[k], bounds)
        if also is not None:
            also(parts[k])

    work.share(one, range(len(parts)))
