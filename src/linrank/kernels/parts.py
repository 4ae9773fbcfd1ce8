"""Parts of a data set: which rows a sample draws, and which preferences are left among some of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import inlined, kernel


@inlined
def chance(number: int) -> float:
    """A number from 0 up to 1 that looks random, always the same: SplitMix64's."""
    z = (np.uint64(number) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@kernel
def draw_places(ptr: Any, first: int, share: float, whole: int, run: int, fill: bool, out: Any) -> int:
    """How many places are drawn from queries ptr; with `fill`, `out` becomes their list. O(queries + places).

    Of a query of n rows, min(n, max(share n, whole)) are wanted if it is drawn, which it is with the chance at which
    that makes share n on average. They are all its rows, or runs of `run` rows, one at random in each of as many equal
    stretches of the query. Chance depends on where a query or a stretch begins, `first` added, and on that alone.
    """
    n_out = 0
    for q in range(ptr.size - 1):
        begin, size = ptr[q], ptr[q + 1] - ptr[q]
        wanted = min(float(size), max(share * size, float(whole)))
        if not chance(first + begin) * wanted < share * size:
            continue
        n_runs = 1 if wanted >= size else int(np.ceil(wanted / run))
        stretch = size / n_runs
        length = min(size if n_runs == 1 and wanted >= size else run, int(stretch))
        for k in range(n_runs):
            start = begin + int(k * stretch)
            start += int(chance(first + start) * (stretch - length))
            if fill:
                for i in range(length):
                    out[n_out + i] = start + i
            n_out += length
    return n_out


@kernel
def restrict_rankings(
    number: Any, row: Any, v: Any, level_ptr: Any, ranking_levels: Any, rows: Any, weights: Any, level_size: Any,
    n_levels: Any, which: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """What is left of rankings among the rows with number >= 0: how many members, levels and rankings. O(members).

    rows and weights (where v is not None) become those of the members left, level_size the sizes of the levels left,
    n_levels and which the levels and the numbers of the rankings left: those with two levels or more.
    """
    n_members, n_level, n_rankings = 0, 0, 0
    for r in range(ranking_levels.size - 1):
        member, level = n_members, n_level
        for k in range(ranking_levels[r], ranking_levels[r + 1]):
            start = member
            for i in range(level_ptr[k], level_ptr[k + 1]):
                if number[row[i]] >= 0:
                    rows[member] = number[row[i]]
                    if v is not None:
                        weights[member] = v[i]
                    member += 1
            if member > start:
                level_size[level] = member - start
                level += 1
        if level - n_level > 1:
            n_levels[n_rankings], which[n_rankings] = level - n_level, r
            n_rankings += 1
            n_members, n_level = member, level
    return n_members, n_level, n_rankings
