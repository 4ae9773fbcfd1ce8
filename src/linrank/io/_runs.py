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


def looks_like_queries(values: NDArray[Any]) -> bool:
    """Whether whole numbers or texts are constant over runs of rows, as a file sorted by its queries has them.

    The equal values of an id stand in one run each, and most rows have a neighbour of the same query. A count, a
    category or a flag in any other order returns to its values and has more runs than values; a sorted measurement has
    fractions, or hardly any ties; in a table of a few rows, runs are no evidence. Of k values with counts n_i among n
    rows, a share of k! prod(n_i!) / n! of all orders has one run each.

    A whole number by which the table is sorted (a year, say) cannot be told from an id and is taken for one: an id used
    as a feature does more harm than an error that asks which it is. O(n), and O(n log n) for columns that consist of
    runs.
    """
    n = len(values)
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    sizes = np.diff(np.append(starts, n))
    if starts.size < FEWEST_QUERIES or 2 * int(sizes[sizes > 1].sum()) < n:
        return False
    if values.dtype.kind == "f" and not bool(np.all(values == np.floor(values))):  # NaN is no id, either
        return False
    if np.unique(values[starts]).size < starts.size:
        return False
    log_share = math.lgamma(starts.size + 1) - math.lgamma(n + 1) + sum(map(math.lgamma, (sizes + 1).tolist()))
    return log_share < math.log(CHANCE)
