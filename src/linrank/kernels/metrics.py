"""Metrics of ranked lists, query by query.

Rows come grouped by query and sorted by falling score (`ordering.order_within`); query q is ptr[q]:ptr[q + 1],
positions within it are counted from 0, and `k` cuts the list (the number of rows: no cut). `ties` says what a run of
equal scores means: IN_ORDER takes the rows as they stand; AVERAGE takes the expectation over all orders of the run, in
closed form; THRESHOLD (average precision only) retrieves the run at once. Each kernel is one pass, O(m), unless it says
otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel

IN_ORDER, AVERAGE, THRESHOLD = 0, 1, 2

#: Chances below this are not followed further.
NEGLIGIBLE = 1e-18


@kernel
def dcg_sums(gain: Any, score: Any, ptr: Any, discount: Any, k: int, ties: int, out: Any) -> None:
    """out[q] = sum over the first k positions of gain * discount; a run counts its mean gain at each position."""
    for q in range(ptr.size - 1):
        start, end = ptr[q], ptr[q + 1]
        last = min(end, start + k)
        total = 0.0
        p = start
        while p < last:
            e = p + 1
            while ties == AVERAGE and e < end and score[e] == score[p]:
                e += 1
            g, d = 0.0, 0.0
            for i in range(p, e):
                g += gain[i]
            for i in range(p, min(e, last)):
                d += discount[i - start]
            total += g / (e - p) * d
            p = e
        out[q] = total


@kernel
def mean_ndcgs(gain: Any, ideal: Any, score: Any, ptr: Any, discount: Any, k: int, ties: int, out: Any) -> None:
    """out[q] = mean over n = 1 ... min(k, length) of NDCG@n; NaN where no gain is positive."""
    for q in range(ptr.size - 1):
        start, end = ptr[q], ptr[q + 1]
        last = min(end, start + k)
        dcg, best, total = 0.0, 0.0, 0.0
        if start == end or not ideal[start] > 0.0:
            out[q] = np.nan
            continue
        p = start
        while p < last:
            e = p + 1
            while ties == AVERAGE and e < end and score[e] == score[p]:
                e += 1
            g = 0.0
            for i in range(p, e):
                g += gain[i]
            g /= e - p
            for i in range(p, min(e, last)):
                dcg += g * discount[i - start]
                best += ideal[i] * discount[i - start]
                total += dcg / best
            p = e
        out[q] = total / (last - start)


@kernel
def fall_by_count(code: Any, row: Any, ptr: Any, place: Any, value: Any, count: Any, out: Any) -> None:
    """Values of each query in falling order, for few distinct ones; no sort. O(m + queries * values).

    Row i has the value number code[i]; value lists the values in falling order, place[c] is where c stands in it, count
    is scratch. row lists the rows by query; None: they stand so.
    """
    for q in range(ptr.size - 1):
        count[:] = 0
        for p in range(ptr[q], ptr[q + 1]):
            count[place[code[p if row is None else row[p]]]] += 1
        p = ptr[q]
        for v in range(value.size):
            for _ in range(count[v]):
                out[p] = value[v]
                p += 1


@kernel
def average_precisions(relevant: Any, score: Any, ptr: Any, k: int, ties: int, cut: bool, out: Any) -> None:
    """out[q] = sum of the precisions at the relevant rows among the first k, over the relevant rows; NaN without any.

    `cut`: over at most k of them. In a run of n rows, r of them relevant, that follows f relevant rows, position t is
    relevant with chance r / n, and then (t - p)(r - 1)/(n - 1) relevant rows of the run are expected before it.
    """
    for q in range(ptr.size - 1):
        start, end = ptr[q], ptr[q + 1]
        last = min(end, start + k)
        total, found, p = 0.0, 0, start
        while p < last:
            e, r = p + 1, int(relevant[p])
            while ties != IN_ORDER and e < end and score[e] == score[p]:
                r += relevant[e]
                e += 1
            if r > 0 and ties == THRESHOLD:
                total += r * (found + r) / (e - start)
            elif r > 0:
                share, more = r / (e - p), (r - 1) / max(e - p - 1, 1)
                for t in range(p, min(e, last)):
                    total += share * (found + 1 + (t - p) * more) / (t - start + 1)
            found += r
            p = e
        for i in range(p, end):
            found += relevant[i]
        out[q] = total / (min(found, k) if cut else found) if found > 0 else np.nan


@kernel
def reciprocal_ranks(relevant: Any, score: Any, ptr: Any, k: int, ties: int, out: Any) -> None:
    """out[q] = 1 / position of the first relevant row, 0 if it is beyond k, NaN if there is none at all."""
    for q in range(ptr.size - 1):
        start, end = ptr[q], ptr[q + 1]
        p, r, e = start, 0, start
        while e < end and r == 0:  # the run that holds the first relevant row
            p, r = e, int(relevant[e])
            e += 1
            while ties == AVERAGE and e < end and score[e] == score[p]:
                r += relevant[e]
                e += 1
        total, none_yet = 0.0, 1.0
        for t in range(p, min(e, start + k)):
            chance = r / (e - t)
            total += none_yet * chance / (t - start + 1)
            none_yet *= 1.0 - chance
            if none_yet <= NEGLIGIBLE:
                break
        out[q] = total if r > 0 else np.nan


@kernel
def count_top(relevant: Any, score: Any, ptr: Any, k: int, ties: int, found: Any, hit: Any, total: Any) -> None:
    """Relevant rows among the first k (found), the chance that there is one (hit), and all relevant rows (total)."""
    for q in range(ptr.size - 1):
        start, end = ptr[q], ptr[q + 1]
        last = min(end, start + k)
        among, miss, p = 0.0, 1.0, start
        all_of_them = 0
        while p < last:
            e, r = p + 1, int(relevant[p])
            while ties == AVERAGE and e < end and score[e] == score[p]:
                r += relevant[e]
                e += 1
            all_of_them += r
            n, drawn = e - p, min(e, last) - p
            among += r * drawn / n
            for t in range(drawn):
                if r == 0 or miss <= NEGLIGIBLE:
                    break
                miss *= max(n - r - t, 0) / (n - t)
            p = e
        for i in range(p, end):
            all_of_them += relevant[i]
        found[q], hit[q], total[q] = among, 1.0 - miss, all_of_them


@kernel
def expected_reciprocal_ranks(stop: Any, score: Any, ptr: Any, k: int, ties: int, on_average: Any, out: Any) -> None:
    """out[q] = sum over positions n of 1/n * stop_n * product of (1 - stop) before n: ERR, Chapelle et al. (2009).

    For a run of n rows, on_average[j] is the mean over all its subsets of j rows of their product of (1 - stop). It is
    at most the j-th power of the mean, so it is followed only as far as that matters: O(n * min(n, k, 40 / mean stop)).
    `on_average` is scratch of min(k, longest query) + 1 numbers.
    """
    for q in range(ptr.size - 1):
        start, end = ptr[q], ptr[q + 1]
        last = min(end, start + k)
        going, total, p = 1.0, 0.0, start
        while p < last and going > 0.0:
            e = p + 1
            while ties == AVERAGE and e < end and score[e] == score[p]:
                e += 1
            n, mean, after = e - p, 0.0, 1.0
            for i in range(p, e):
                mean += (1.0 - stop[i]) / n
                after *= 1.0 - stop[i]
            drawn = min(e, last) - p
            if mean < 1.0 and mean > 0.0:
                drawn = min(drawn, int(np.log(NEGLIGIBLE) / np.log(mean)) + 2)
            if mean < 1.0:
                on_average[0] = 1.0
                on_average[1 : drawn + 1] = 0.0
                for i in range(n):
                    x = 1.0 - stop[p + i]
                    for j in range(min(i + 1, drawn), 0, -1):
                        on_average[j] = ((i + 1 - j) * on_average[j] + j * x * on_average[j - 1]) / (i + 1)
                for j in range(drawn):
                    total += going * (on_average[j] - on_average[j + 1]) / (p - start + j + 1)
            going *= after
            p = e
        out[q] = total


@kernel
def areas(positive: Any, v: Any, score: Any, ptr: Any, out: Any) -> None:
    """out[q] = weighted share of (positive, other) pairs in the right order, ties one half; NaN without such pairs.

    v is None for unit weights.
    """
    for q in range(ptr.size - 1):
        start, end = ptr[q], ptr[q + 1]
        right, above, below, p = 0.0, 0.0, 0.0, start
        while p < end:
            e = p
            won, lost = 0.0, 0.0
            while e < end and score[e] == score[p]:
                weight = 1.0 if v is None else v[e]
                if positive[e]:
                    won += weight
                else:
                    lost += weight
                e += 1
            right += lost * (above + 0.5 * won)
            above += won
            below += lost
            p = e
        out[q] = right / (above * below) if above > 0.0 and below > 0.0 else np.nan


@kernel
def tied_pairs(value: Any, ptr: Any, out: Any) -> None:
    """out[q] = number of pairs with equal value, values being sorted within queries."""
    for q in range(ptr.size - 1):
        run, pairs = 0, 0.0
        for i in range(ptr[q], ptr[q + 1]):
            run = run + 1 if i > ptr[q] and value[i] == value[i - 1] else 0
            pairs += run
        out[q] = pairs


@kernel
def pair_outcomes(
    level: Any, v: Any, score: Any, ptr: Any, above: Any, here: Any, total: Any, wrong: Any, equal: Any
) -> None:
    """Weights of the pairs of each query that differ in level: all, in the wrong order, with equal scores.

    `above` and `here` are scratch, one cell per level: the weights of the rows with higher scores, and of the current
    run of equal scores. v is None for unit weights. O(m * levels).
    """
    here[:] = 0.0
    for q in range(ptr.size - 1):
        above[:] = 0.0
        bad, alike, every, lower = 0.0, 0.0, 0.0, 0.0
        p, end = ptr[q], ptr[q + 1]
        while p < end:
            e, top = p, 0
            while e < end and score[e] == score[p]:
                here[level[e]] += 1.0 if v is None else v[e]
                top = max(top, level[e])
                e += 1
            passed, beside = 0.0, 0.0
            for k in range(top + 1):
                bad += here[k] * passed
                alike += here[k] * beside
                passed += above[k]
                beside += here[k]
                above[k] += here[k]
                here[k] = 0.0
            p = e
        for k in range(above.size):
            every += above[k] * lower
            lower += above[k]
        total[q], wrong[q], equal[q] = every, bad, alike
