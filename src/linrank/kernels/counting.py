"""Order statistics: how many partners of each member are active at given scores.

A preference (i over j) is active when s_i - s_j < margin, one subtraction for both of its ends. For each member

    c_i = sum of v_j over active preferences (j over i)        the paper's (5)
    d_i = sum of v_j over active preferences (i over j)        the paper's (6)

(v = 1 unless weights are given). TreeRSVM, section 4, counts them with a red-black tree over labels that is
swept in score order. These kernels sweep in label order, which never changes, or not at all:

    count_direct    short rankings: no sort, every member against the contiguous members at lower levels
    count_levels    few levels: a bitmap of score positions, filled level by level and counted anew each time
    count_tree      any number of levels: the same bitmap with a tree of counts that follow each insertion

Sums of weights, or of any other values, are taken in the same ways (`sums.py`, `tables.py`).

All but the first work on one ranking whose scores have been sorted; its window of active positions comes from
`windows`. Scores are finite. c and d are float64: exact for integers below 2^53.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel
from ._vector import add_after


@kernel
def count_direct(
    s: Any, v: Any, level_ptr: Any, ranking_levels: Any, rankings: Any, margin: float, c: Any, d: Any
) -> None:
    """Count c and d of the rankings listed, pair by pair; v is None for unit weights. O(n^2 / 2), vectorised."""
    for t in range(rankings.size):
        first_level, last_level = ranking_levels[rankings[t]], ranking_levels[rankings[t] + 1]
        start, end = level_ptr[first_level], level_ptr[last_level]
        for j in range(start, end):
            c[j] = 0.0
            d[j] = 0.0
        for level in range(first_level, last_level):
            here, above = level_ptr[level], level_ptr[level + 1]
            if v is None:
                _count_losers(s, start, here, above, margin, c, d)
            else:
                _weigh_partners(s, v, start, here, above, end, margin, c, d)


@inlined
def _count_losers(s: Any, start: int, here: int, above: int, margin: float, c: Any, d: Any) -> None:
    """One pass over the losers: in rankings the lower levels hold most members, and long loops are fast ones."""
    losers, lost = s[start:here], c[start:here]
    for i in range(here, above):
        s_i = s[i]
        active = 0
        for j in range(losers.size):
            hit = s_i - losers[j] < margin
            lost[j] += 1.0 if hit else 0.0
            active += 1 if hit else 0
        d[i] = active


@inlined
def _weigh_partners(s: Any, v: Any, start: int, here: int, above: int, end: int, margin: float, c: Any, d: Any) -> None:
    """One pass over the winners and one over the losers: a float sum would not be vectorised."""
    winners, found = s[above:end], d[above:end]
    losers, lost = s[start:here], c[start:here]
    for i in range(here, above):
        s_i, v_i = s[i], v[i]
        for j in range(winners.size):
            found[j] += v_i if winners[j] - s_i < margin else 0.0
        for j in range(losers.size):
            lost[j] += v_i if s_i - losers[j] < margin else 0.0


@kernel
def crossings(padded: Any, margin: float, cuts: Any, p: Any) -> None:
    """p[j] = where the merge of `windows` is after cuts[j] steps: at (p, cuts[j] - p). O(log n) a cut."""
    n = padded.size - 2
    for j in range(cuts.size):
        t = cuts[j]
        low, high = max(0, t - n), min(t, n)
        while low < high:
            middle = (low + high) >> 1
            if padded[t - middle] - padded[middle + 1] < margin:  # position i stands at i + 1
                high = middle
            else:
                low = middle + 1
        p[j] = low


@kernel
def windows(padded: Any, margin: float, first: int, last: int, p: int, p_end: int, bounds: Any) -> None:
    """Active positions of each sorted score: winners before right = bounds[:n], losers from left = bounds[n:] on.

    right[p] = first q with s_q - s_p >= margin; left[q] = first p with s_q - s_p < margin. Both come from one
    merge of the scores with themselves shifted: 2 n steps, each of which settles one entry without a branch. It
    runs from both ends at once, because each step waits for the one before. Steps first ... last - 1 are gone, an even
    number, from (p, first - p) to (p_end, last - p_end); `padded` are the scores between -inf and inf, so that neither
    end needs a bound check.
    """
    n = padded.size - 2
    q, q_end = first - p, last - p_end
    for _ in range((last - first) // 2):
        active = padded[q + 1] - padded[p + 1] < margin
        bounds[n + q if active else p] = p if active else q
        q += 1 if active else 0
        p += 0 if active else 1
        active = padded[q_end] - padded[p_end] < margin
        bounds[p_end - 1 if active else n + q_end - 1] = q_end if active else p_end
        p_end -= 1 if active else 0
        q_end -= 0 if active else 1


@inlined
def popcount(x: Any) -> Any:
    """Number of bits set; LLVM turns this into one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def bits_below(word: Any, position: Any) -> Any:
    """How many of the bits before position % 64 are set."""
    return popcount(word & ((np.uint64(1) << np.uint64(position & 63)) - np.uint64(1)))


@kernel
def to_members(order: Any, right: Any, left: Any, first: int, where: Any) -> None:
    """Bring windows, from position `first` on, into the members' order: where[i] = (position, left, right)."""
    for p in range(order.size):
        i = order[p]
        where[i, 0] = first + p
        where[i, 1] = left[p]
        where[i, 2] = right[p]


@kernel
def count_levels(
    level_ptr: Any, base: int, where: Any, first: int, last: int, bitmap: Any, running: Any, c: Any, d: Any
) -> None:
    """Count c and d of members first ... last - 1 of one sorted ranking of few levels k, in O(n + n k / 64).

    Levels enter a bitmap of score positions from the lowest up. Before level l enters, the bitmap holds the
    lower levels, so d_i = held - held before left_i; after it has entered, c_i = right_i - held before right_i.
    running[w], the number held before word w, is counted anew after each level. `bitmap` (uint64) and `running`
    (int32) hold n // 64 + 1 zeros at the start; `base` is the number of the ranking's first member.
    """
    held = 0
    for level in range(level_ptr.size - 1):
        start, end = level_ptr[level] - base, level_ptr[level + 1] - base
        if start >= last:
            break
        for i in range(max(start, first), min(end, last)):
            p = where[i, 1]
            word = p >> 6
            d[i] = held - (running[word] + bits_below(bitmap[word], p))
        for i in range(start, end):
            p = where[i, 0]
            bitmap[p >> 6] |= np.uint64(1) << np.uint64(p & 63)
        if level + 2 < level_ptr.size and level_ptr[level + 2] - base <= first:  # nobody of the next level asks
            continue
        held = 0
        for word in range(bitmap.size):
            running[word] = held
            held += popcount(bitmap[word])
        for i in range(max(start, first), min(end, last)):
            p = where[i, 2]
            word = p >> 6
            c[i] = p - (running[word] + bits_below(bitmap[word], p))


@kernel
def count_tree(
    level_ptr: Any, base: int, where: Any, level: int, last_level: int, bitmap: Any, counts: Any, c: Any, d: Any
) -> None:
    """Count c and d of levels level ... last_level - 1 of one sorted ranking with any number of levels.

    The sweep of `count_levels`, with counts that follow each insertion. The bitmap is topped by the number held
    before each word among 32 words (count1, uint16), before each of 32 of those (count2, uint16), of those
    (count3, int32), and in all before (top, int64): an insertion is a few vector additions, a query five loads.
    O(n), but for n / 2^21 additions an insertion in the last. At the start they hold the levels before (`fill_counts`).

    The query stands here twice because a helper that takes arrays costs more than the query itself.
    """
    count1, count2, count3, top = counts
    lower, end = level_ptr[level] - base, level_ptr[level + 1] - base  # of members at lower levels; where this one ends
    for i in range(lower, level_ptr[last_level] - base):
        if i == end:
            level, lower, end = level + 1, i, level_ptr[level + 2] - base
        p = where[i, 1]
        word = p >> 6
        before = np.int64(count1[word]) + np.int64(count2[word >> 5]) + np.int64(count3[word >> 10])
        d[i] = lower - (before + top[word >> 15] + bits_below(bitmap[word], p))
        if i < end - 1:
            continue
        for j in range(lower, end):  # the level is complete: it enters as a whole
            p = where[j, 0]
            word = p >> 6
            bitmap[word] |= np.uint64(1) << np.uint64(p & 63)
            add_after(count1, word >> 5, word & 31)
            add_after(count2, word >> 10, (word >> 5) & 31)
            add_after(count3, word >> 15, (word >> 10) & 31)
            for t in range((word >> 15) + 1, top.size):
                top[t] += 1
        for j in range(lower, end):
            p = where[j, 2]
            word = p >> 6
            before = np.int64(count1[word]) + np.int64(count2[word >> 5]) + np.int64(count3[word >> 10])
            c[j] = p - (before + top[word >> 15] + bits_below(bitmap[word], p))


@kernel
def fill_counts(where: Any, last: int, bitmap: Any, counts: Any) -> None:
    """Have the first members, before `last`, enter the bitmap of `count_tree` and its counts, zeros at first. O(n)."""
    count1, count2, count3, top = counts
    for i in range(last):
        p = where[i, 0]
        bitmap[p >> 6] |= np.uint64(1) << np.uint64(p & 63)
    in1, in2, in3, held = 0, 0, 0, 0  # held before this word in its node of each height, and in all
    for word in range(bitmap.size):
        in1 = 0 if word % 32 == 0 else in1
        in2 = 0 if word % 1024 == 0 else in2
        in3 = 0 if word % 32768 == 0 else in3
        count1[word] = in1
        if word % 32 == 0:
            count2[word >> 5] = in2
        if word % 1024 == 0:
            count3[word >> 10] = in3
        if word % 32768 == 0:
            top[word >> 15] = held
        here = popcount(bitmap[word])
        in1, in2, in3, held = in1 + here, in2 + here, in3 + here, held + here
