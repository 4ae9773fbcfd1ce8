"""Drawing preferences at random: section 3.1 of Sculley, Large Scale Learning to Rank, 2009.

Each kernel fills `winner` and `loser` from number `counter` of the random stream on; pairs do not depend on how many
are drawn at a time. Rankings and members are those of `Preferences`; `draw_rows` needs none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel, uncounted
from .random import ONE, below, random_bits, unit


@kernel
def fill_alias(threshold: Any, alias: Any, stack: Any) -> None:
    """Walker's alias table by Vose's method, O(size): entry k is kept with probability threshold[k], else alias[k].

    `threshold` holds the weights at first. `stack` is work space of the same size: entries below the mean from its
    bottom, the others from its top.
    """
    n = threshold.size
    total = 0.0
    for k in range(n):
        total += threshold[k]
    small, large = 0, n
    for k in range(n):
        threshold[k] = threshold[k] / total * n
        alias[k] = k
        if threshold[k] < 1.0:
            stack[small] = k
            small += 1
        else:
            large -= 1
            stack[large] = k
    while small > 0 and large < n:
        small -= 1
        less, more = stack[small], stack[large]
        alias[less] = more
        threshold[more] -= 1.0 - threshold[less]
        if threshold[more] < 1.0:
            large += 1
            stack[small] = more
            small += 1
    for k in range(n):
        if alias[k] == k:  # the last ones of either kind are 1 but for rounding
            threshold[k] = 1.0


@kernel
def fill_level_weights(
    ranking_levels: Any, level_ptr: Any, u: Any, running: Any, weight: Any, level: Any, base: Any
) -> None:
    """For each level with others below it: the weight of its pairs, its number, the first member of its ranking.

    weight = u_r W_l (W of the levels below l), W being sums of v; `running` holds sums of v over the members from the
    ranking's first on, or is None for v = 1. O(levels).
    """
    n = 0
    for r in range(u.size):
        first = level_ptr[ranking_levels[r]]
        below = 0.0
        for l in range(ranking_levels[r], ranking_levels[r + 1]):  # noqa: E741
            end = level_ptr[l + 1]
            upto = np.float64(end - first) if running is None else running[end - 1]
            if l > ranking_levels[r]:
                weight[n] = u[r] * (upto - below) * below
                level[n] = l
                base[n] = first
                n += 1
            below = upto


@kernel
def fill_running(ranking_ptr: Any, v: Any, running: Any) -> None:
    """running[i] = sum of v over the members of i's ranking up to i. O(members)."""
    for r in range(ranking_ptr.size - 1):
        total = 0.0
        for i in range(ranking_ptr[r], ranking_ptr[r + 1]):
            total += v[i]
            running[i] = total


@inlined
def pick_member(bits: Any, first: Any, start: Any, end: Any, running: Any) -> Any:
    """One of the members start ... end - 1 of the ranking from `first` on, in proportion to v.

    O(1) for v = 1 (`running` is None), or else O(log members) by bisection of the running sums.
    """
    if running is None:
        return start + below(bits, end - start)
    before = running[start - 1] if start > first else 0.0
    target = before + unit(bits) * (running[end - 1] - before)
    low, high = start, end - 1  # the first member whose running sum is above the target
    while low < high:
        middle = (low + high) // 2
        if running[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def pick_entries(threshold: Any, alias: Any, seed: Any, counter: Any, stride: Any, out: Any) -> None:
    """out[n] = an entry of the alias table, by the numbers counter + stride n and the next one. O(1) each."""
    for n in range(out.size):
        k = below(random_bits(seed, counter), threshold.size)
        coin = unit(random_bits(seed, counter + ONE))
        out[n] = k if coin < threshold[k] else np.int64(alias[k])
        counter += stride


@kernel
def to_rows(row: Any, member: Any) -> None:
    """Replace members by their rows. A loop of its own: the processor then waits for many rows at once."""
    for n in range(member.size):
        member[n] = row[member[n]]


@kernel
def draw_uniform(
    level_ptr: Any, running: Any, level: Any, base: Any, seed: Any, counter: Any, winner: Any, loser: Any
) -> None:
    """Members in proportion to c_ij: `winner` holds entries of the table, which name a winner's level.

    Then a winner in the level, and a loser below it in its ranking. O(1) a pair for v = 1, O(log members) otherwise:
    the general algorithm that the paper leaves out. Pair n takes numbers 4 n ... 4 n + 3 of the stream.
    """
    for n in range(winner.size):
        k = winner[n]
        first, start, end = np.int64(base[k]), level_ptr[level[k]], level_ptr[level[k] + 1]
        winner[n] = pick_member(random_bits(seed, counter + np.uint64(2)), first, start, end, running)
        loser[n] = pick_member(random_bits(seed, counter + np.uint64(3)), first, first, start, running)
        counter += np.uint64(4)


@kernel
def draw_balanced(
    ranking_levels: Any, level_ptr: Any, running: Any, seed: Any, counter: Any, winner: Any, loser: Any
) -> None:
    """Members by the paper's index: `winner` holds rankings; two levels of each alike, then a member of each level.

    O(1) a pair for v = 1, O(log members) otherwise. Pair n takes numbers 6 n ... 6 n + 5 of the stream.
    """
    for n in range(winner.size):
        bottom, n_levels = ranking_levels[winner[n]], ranking_levels[winner[n] + 1] - ranking_levels[winner[n]]
        a = below(random_bits(seed, counter + np.uint64(2)), n_levels)
        b = below(random_bits(seed, counter + np.uint64(3)), n_levels - 1)
        b += np.int64(b >= a)  # any level but a
        first, upper, lower = level_ptr[bottom], bottom + max(a, b), bottom + min(a, b)
        bits = random_bits(seed, counter + np.uint64(4))
        winner[n] = pick_member(bits, first, level_ptr[upper], level_ptr[upper + 1], running)
        bits = random_bits(seed, counter + np.uint64(5))
        loser[n] = pick_member(bits, first, level_ptr[lower], level_ptr[lower + 1], running)
        counter += np.uint64(6)


@inlined
def run_of(starts: Any, i: Any) -> Any:
    """The last k with starts[k] <= i, by bisection."""
    low, high = 0, starts.size - 2
    while low < high:
        middle = (low + high + 1) // 2
        if starts[middle] <= i:
            low = middle
        else:
            high = middle - 1
    return low


@uncounted
def draw_rejection(
    ranking_ptr: Any, ranking_levels: Any, level_ptr: Any, u: Any, v: Any, largest: float,
    seed: Any, counter: Any, winner: Any, loser: Any,
) -> int:  # fmt: skip
    """Members in proportion to c_ij without an index: two of a ranking, until they are a pair and are accepted.

    A member i is drawn from all, j from i's ranking r (found by bisection); they are accepted where their levels
    differ, with probability m_r u_r v_i v_j / largest, m_r being the members of r and `largest` a bound on that
    product. With one ranking and unit weights this is the paper's rejection; with several, the paper draws j from
    all members, so its draws fail M / max(m_r) times as often, to the same distribution. Each try takes 3 numbers of
    the stream; returns the next unused one.
    """
    n_members = ranking_ptr[ranking_ptr.size - 1]
    for n in range(winner.size):
        while True:
            i = below(random_bits(seed, counter), n_members)
            r = run_of(ranking_ptr, i)
            first, size = ranking_ptr[r], ranking_ptr[r + 1] - ranking_ptr[r]
            j = first + below(random_bits(seed, counter + ONE), size)
            weight = size * u[r]
            if v is not None:
                weight *= v[i] * v[j]
            coin = unit(random_bits(seed, counter + np.uint64(2)))
            counter += np.uint64(3)
            i, j = max(i, j), min(i, j)
            low, high = ranking_levels[r], ranking_levels[r + 1] - 1
            while low < high:  # the level of i
                middle = (low + high + 1) // 2
                if level_ptr[middle] <= i:
                    low = middle
                else:
                    high = middle - 1
            if j < level_ptr[low] and coin * largest < weight:
                winner[n], loser[n] = i, j
                break
    return counter


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
