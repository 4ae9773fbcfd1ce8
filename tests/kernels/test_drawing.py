"""Which rows a sample draws, and what is left of rankings among some rows, against their definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linrank._errors import NoPairsError
from linrank.data.ranking_data import make_preferences
from linrank.kernels import parts
from strategies import problems

pytestmark = pytest.mark.kernels

BITS = 2**64 - 1


def naive_chance(number: int) -> float:
    """SplitMix64 in Python's whole numbers."""
    z = (number + 1) * 0x9E3779B97F4A7C15 & BITS
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & BITS
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & BITS
    return ((z ^ (z >> 31)) >> 11) / 2**53


def naive_places(sizes: list[int], first: int, share: float, whole: int, run: int) -> list[int]:
    """Query by query, run by run."""
    places, begin = [], 0
    for size in sizes:
        wanted = min(size, max(share * size, whole))
        if naive_chance(first + begin) * wanted < share * size:
            n_runs, length = (1, size) if wanted == size else (math.ceil(wanted / run), run)
            stretch = size / n_runs
            length = min(length, math.floor(stretch))
            for k in range(n_runs):
                start = begin + math.floor(k * stretch)
                start += math.floor(naive_chance(first + start) * (stretch - length))
                places += range(start, start + length)
        begin += size
    return places


@given(
    sizes=st.lists(st.integers(0, 90), min_size=1, max_size=20),
    first=st.integers(0, 2**40),
    share=st.floats(1e-3, 0.34),
    whole=st.integers(1, 40),
    run=st.integers(1, 9),
)
def test_places_by_their_definition(sizes, first, share, whole, run):
    ptr = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    expected = naive_places(sizes, first, share, whole, run)
    n = parts.draw_places(ptr, first, share, whole, run, False, ptr)
    assert n == len(expected)
    places = np.full(n, -1, dtype=np.int64)
    assert parts.draw_places(ptr, first, share, whole, run, True, places) == n
    assert places.tolist() == expected
    assert np.all(np.diff(places) > 0)  # each once, in order
    assert n == 0 or 0 <= places[0] <= places[-1] < ptr[-1]


def test_chance_is_spread_evenly():
    numbers = [naive_chance(k) for k in range(4000)]
    counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200)
    ptr = np.arange(4001, dtype=np.int64)  # queries of one row: drawn by chance alone
    drawn = np.empty(4000, dtype=np.int64)
    n = parts.draw_places(ptr, 0, 0.25, 1, 1, True, drawn)
    assert drawn[:n].tolist() == [k for k, chance in enumerate(numbers) if chance < 0.25]


@given(problem=problems(max_rows=30), seed=st.integers(0, 99))
def test_what_is_left_of_rankings(problem, seed):
    try:
        p = make_preferences(problem.y.size, problem.y, problem.qid, **problem.options)[2]
    except NoPairsError:
        return
    rng = np.random.default_rng(seed)
    rows = rng.permutation(problem.y.size)[: rng.integers(0, problem.y.size + 1)]
    number = np.full(problem.y.size, -1, dtype=np.int32)
    number[rows] = np.arange(rows.size)
    expected = []
    for r in range(p.n_rankings):
        ends = p.levels(r)
        levels = [[i for i in range(a, b) if number[p.row[i]] >= 0] for a, b in itertools.pairwise(ends)]
        levels = [level for level in levels if level]
        if len(levels) > 1:
            expected.append((r, levels))
    members = [i for _, levels in expected for level in levels for i in level]
    most = int(np.count_nonzero(number[p.row] >= 0))
    row, v = np.empty(most, dtype=np.int32), np.empty(0 if p.v is None else most)
    size, n_levels, which = (np.empty(n, dtype=np.int64) for n in (p.level_ptr.size, p.n_rankings, p.n_rankings))
    left = parts.restrict_rankings(number, p.row, p.v, p.level_ptr, p.ranking_levels, row, v, size, n_levels, which)
    assert left == (len(members), sum(len(levels) for _, levels in expected), len(expected))
    assert row[: left[0]].tolist() == number[p.row[members]].tolist()
    if p.v is not None:
        assert v[: left[0]].tolist() == p.v[members].tolist()
    assert size[: left[1]].tolist() == [len(level) for _, levels in expected for level in levels]
    assert n_levels[: left[2]].tolist() == [len(levels) for _, levels in expected]
    assert which[: left[2]].tolist() == [r for r, _ in expected]
