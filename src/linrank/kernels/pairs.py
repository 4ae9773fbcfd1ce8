"""Sums over the pairs of a ranking that do not depend on scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import kernel


@kernel
def pair_weights(level_weight: Any, ranking_levels: Any, out: Any) -> None:
    """out[r] = sum over levels a < b of ranking r of W_a W_b, W_l being the weight of level l.

    O(levels). With level sizes as integers this counts the pairs, exactly.
    """
    for r in range(ranking_levels.size - 1):
        lower = level_weight[0] * 0
        total = lower
        for level in range(ranking_levels[r], ranking_levels[r + 1]):
            total += lower * level_weight[level]
            lower += level_weight[level]
        out[r] = total


@kernel
def work_sums(
    ranking_ptr: Any, ranking_levels: Any, pairs: Any, limit: int, count_limit: int, few_levels: int, held: float
) -> tuple[float, float, float, float, float, float, float]:
    """What the cost of products and Hessians depends on, summed over rankings of n members and k levels. O(rankings).

    Pairs of those with at most `limit` pairs a member; members of the others, with up to `few_levels` levels and with
    more; pairs of those with at most `count_limit` pairs a member; n log2 n; n (1 + log2 k); n log2(k / held), where
    that is above 0: the levels of a tree that a cache does not hold.
    """
    short, few, many, counted, doubled, asked, missed = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(pairs.size):
        n, k = ranking_ptr[r + 1] - ranking_ptr[r], ranking_levels[r + 1] - ranking_levels[r]
        if pairs[r] <= limit * n:
            short += pairs[r]
        elif k <= few_levels:
            few += n
        else:
            many += n
        if pairs[r] <= count_limit * n:
            counted += pairs[r]
        doubled += n * np.log2(n)
        asked += n * (1.0 + np.log2(k))
        missed += n * max(np.log2(k / held), 0.0)
    return short, few, many, counted, doubled, asked, missed
