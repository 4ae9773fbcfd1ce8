"""Drawing pairs of rows by trial, from labels and queries as they are given: section 3.1 of Sculley, 2009.

As in `kernels/sampling.py`, pairs do not depend on how many are drawn at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, uncounted
from .random import ONE, below, random_bits, unit
from .sampling import run_of


@inlined
def propose(y: Any, query: Any, starts: Any, v: Any, largest: Any, seed: Any, counter: Any) -> Any:
    """Two rows by three numbers of the stream, the one with the larger y first; (-1, -1) where they are rejected.

    Where the rows of a query stand together, `starts` tells where each begins: i is drawn from all rows, j from i's
    query, and they are accepted with probability m_q v_i v_j / largest where y differs. Else `starts` is None, j is
    drawn from all rows, as in the paper, and accepted if it is of the same query.
    """
    i = below(random_bits(seed, counter), y.size)
    weight = 1.0
    if starts is None:
        j = below(random_bits(seed, counter + ONE), y.size)
        if query[i] != query[j]:
            return -1, -1
    else:
        k = run_of(starts, i)
        size = starts[k + 1] - starts[k]
        j = starts[k] + below(random_bits(seed, counter + ONE), size)
        weight = np.float64(size)
    if y[i] == y[j]:
        return -1, -1
    if v is not None:
        weight *= v[i] * v[j]
    if unit(random_bits(seed, counter + np.uint64(2))) * largest >= weight:
        return -1, -1
    return (i, j) if y[i] > y[j] else (j, i)


@uncounted
def count_accepted(
    y: Any, query: Any, starts: Any, v: Any, largest: float, seed: Any, counter: Any, n_tries: int
) -> int:
    """How many of so many proposals are accepted."""
    n = 0
    for _ in range(n_tries):
        i, _j = propose(y, query, starts, v, largest, seed, counter)
        n += i >= 0
        counter += np.uint64(3)
    return n


@uncounted
def draw_rows(
    y: Any, query: Any, starts: Any, v: Any, largest: float, seed: Any, counter: Any, winner: Any, loser: Any
) -> int:
    """Rows in proportion to v_i v_j from bare labels and queries: proposals until they are accepted.

    Each try takes 3 numbers of the stream; returns the next unused one.
    """
    for n in range(winner.size):
        i, j = -1, -1
        while i < 0:
            i, j = propose(y, query, starts, v, largest, seed, counter)
            counter += np.uint64(3)
        winner[n], loser[n] = i, j
    return counter


@uncounted
def draw_fresh(
    threshold: Any, alias: Any, new_ptr: Any, new_row: Any, old_ptr: Any, old_row: Any, old_share: Any, y: Any, v: Any,
    heaviest: float, seed: Any, counter: Any, winner: Any, loser: Any, most: int,
) -> int:  # fmt: skip
    """Pairs with at least one new row: a query by the alias table, a new row of it, and any other row until y differs.

    The other row is an old one with probability old_share[q], all old rows of a query standing for equally many.
    Accepted with probability v_i v_j / heaviest. Each try takes 5 numbers of the stream, whose next unused one is
    returned. Gives up where `most` tries are made, which a count of what is accepted asks for: winner ends with -1.
    """
    n, tries = 0, 0
    while n < winner.size and tries < most:
        tries += 1
        q = below(random_bits(seed, counter), threshold.size)
        if unit(random_bits(seed, counter + ONE)) >= threshold[q]:
            q = np.int64(alias[q])
        i = new_row[new_ptr[q] + below(random_bits(seed, counter + np.uint64(2)), new_ptr[q + 1] - new_ptr[q])]
        bits, coin = random_bits(seed, counter + np.uint64(3)), unit(random_bits(seed, counter + np.uint64(4)))
        counter += np.uint64(5)
        if coin < old_share[q]:
            j = old_row[old_ptr[q] + below(bits, old_ptr[q + 1] - old_ptr[q])]
            coin /= old_share[q]
        else:
            j = new_row[new_ptr[q] + below(bits, new_ptr[q + 1] - new_ptr[q])]
            coin = (coin - old_share[q]) / (1.0 - old_share[q])
        if y[i] == y[j] or (v is not None and coin * heaviest >= v[i] * v[j]):
            continue
        winner[n], loser[n] = (i, j) if y[i] > y[j] else (j, i)
        n += 1
    if n < winner.size:
        winner[n] = -1
    return counter
