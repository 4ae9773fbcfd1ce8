"""Does a column look like the id of queries? Asked only where no query column is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A flag, or two files one after the other, has two values and is no query.
FEWEST_QUERIES = 3
#: Runs that a random order of the same values would give by a chance of more than this are taken for chance.
CHANCE = 0.01


#: Runs that are kept of a column before it is asked whether they are long enough.
MANY_RUNS = 1 << 16


class Runs:
    """Runs of equal values in a column that is read part by part, until it is clear that it is no id of queries.

    The equal values of an id stand in one run each, and most rows have a neighbour of the same query. A count, a
    category or a flag in any other order returns to its values and has more runs than values; a sorted measurement has
    fractions, or hardly any ties; in a table of a few rows, runs are no evidence. Of k values with counts n_i among n
    rows, a share of k! prod(n_i!) / n! of all orders has one run each.

    A whole number by which the table is sorted (a year, say) cannot be told from an id and is taken for one: an id used
    as a feature does more harm than an error that asks which it is. O(n), and O(n log n) for columns that consist of
    runs.
    """

    def __init__(self) -> None:
        self._values: list[NDArray[Any]] = []
        self._sizes: list[NDArray[Any]] = []
        self.clear = False  # whether it is no id

    def append(self, values: NDArray[Any]) -> None:
        """Some rows more of the column."""
        if self.clear or not len(values):
            return
        if values.dtype.kind == "f" and not bool(np.all(values == np.floor(values))):  # NaN is no id, either
            self.clear = True
            return
        starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        sizes, found = np.diff(np.append(starts, len(values))), values[starts]
        if self._values and self._values[-1][-1] == found[0]:  # the last run goes on
            self._sizes[-1][-1] += sizes[0]
            sizes, found = sizes[1:], found[1:]
        if len(found):
            self._values.append(found)
            self._sizes.append(sizes)
        if sum(map(len, self._sizes)) > MANY_RUNS:
            self.clear = not self._are_long(np.concatenate(self._sizes))

    def _are_long(self, sizes: NDArray[Any]) -> bool:
        return 2 * int(sizes[sizes > 1].sum()) >= int(sizes.sum())

    def look_like_queries(self) -> bool:
        """Whether whole numbers or texts are constant over runs of rows, as a file sorted by its queries has them."""
        if self.clear or not self._values:
            return False
        values, sizes = np.concatenate(self._values), np.concatenate(self._sizes)
        if sizes.size < FEWEST_QUERIES or not self._are_long(sizes) or np.unique(values).size < sizes.size:
            return False
        log_share = math.lgamma(sizes.size + 1) - math.lgamma(int(sizes.sum()) + 1)
        return log_share + sum(map(math.lgamma, (sizes + 1).tolist())) < math.log(CHANCE)


def looks_like_queries(values: NDArray[Any]) -> bool:
    """Whether a whole column looks like the id of queries."""
    runs = Runs()
    runs.append(values)
    return runs.look_like_queries()
