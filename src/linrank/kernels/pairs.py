"""Sums over the pairs of a ranking that do not depend on scores."""

from __future__ import annotations

from typing import Any

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
