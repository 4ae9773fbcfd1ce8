"""From grades, graphs and explicit pairs to rankings, the one form of preferences.

    grades, full       one ranking per query, with all its levels
    grades, chain      one ranking of two levels for each two consecutive levels of a query
    a graph            one ranking of two levels for each edge of the graph within a query
    explicit pairs     one ranking of two members for each pair

So the cost of a graph is that of the rows on its edges. Members without weight and rankings of a single level are left
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._once import cached_property
from .._typing import FloatArray, IntArray
from ..kernels.pairs import pair_weights
from ..kernels.parts import restrict_rankings
from .ordering import number_distinct, run_starts, stable_order
from .rankings import Preferences, pointers, sizes

#: Members in a block of work: large enough that starting a task costs nothing beside it.
BLOCK_MEMBERS = 1 << 15


@dataclass(frozen=True)
class Graph:
    """A weighted preference graph over levels: rows at `upper` are preferred to rows at `lower`; cycles are allowed."""

    lower: NDArray[np.int64]  # numbers of levels, each edge once, sorted by (lower, upper)
    upper: NDArray[np.int64]
    weight: FloatArray  # above 0

    def joins(self, lower: IntArray, upper: IntArray) -> NDArray[np.bool_]:
        """Whether there is an edge from each lower to each upper level."""
        size = 1 + max(int(level.max(initial=0)) for level in (self.lower, self.upper, lower, upper))
        return np.isin(lower * size + upper, self.lower * size + self.upper)


@dataclass(frozen=True)
class Grades:
    """What preferences are made from, row by row and query by query; all of it already validated."""

    query: NDArray[np.int64]  # (m,) number of the row's query
    values: NDArray[Any] | None  # (m,) utilities, in a type that tells apart all that differ; None without y
    ids: NDArray[Any]  # (Q,) of the queries
    v: FloatArray | None  # (m,) row weights
    u: FloatArray | None  # (Q,) query weights

    @cached_property
    def level(self) -> NDArray[np.int64] | None:
        """(m,) number of the row's level, from the lowest up."""
        return None if self.values is None else number_distinct(self.values)[0]

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.ids.size


@dataclass(frozen=True)
class _Rankings:
    """Rankings from one source, before they are joined with those of another."""

    row: IntArray
    v: FloatArray | None
    u: FloatArray  # without the query's weight
    query: NDArray[np.int64]  # of each ranking
    ranking_ptr: NDArray[np.int64]
    level_ptr: NDArray[np.int64]
    ranking_levels: NDArray[np.int64]
    repeats: NDArray[np.bool_] | None = None  # rankings whose pairs another source holds as well

    def pair_weights(self) -> FloatArray:
        """Sum of v_i v_j over the pairs of each ranking."""
        if self.v is None:
            return self.pair_counts().astype(np.float64)
        out = np.empty(self.u.size)
        if out.size:
            pair_weights(np.add.reduceat(self.v, self.level_ptr[:-1]), self.ranking_levels, out)
        return out

    def pair_counts(self) -> NDArray[np.int64]:
        """Pairs of each ranking."""
        out = np.empty(self.u.size, dtype=np.int64)
        if out.size:
            pair_weights(sizes(self.level_ptr), self.ranking_levels, out)
        return out


def build(
    grades: Grades,
    preferences: str | Graph,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], FloatArray] | None,
    query_weighting: str,
) -> Preferences:
    """Bring grades and explicit pairs (winner, loser, weight; each once) into the form above."""
    sources = []
    if grades.level is not None:
        sources.append(_from_grades(grades, preferences))
    if pairs is not None:
        sources.append(_from_pairs(grades, preferences, *pairs))
    rankings = sources[0] if len(sources) == 1 else _join(sources[0], sources[1])
    if rankings.v is not None and np.all(rankings.v == 1):
        rankings = replace(rankings, v=None)
    return _finish(_weighted(rankings, grades, query_weighting))


def restrict(p: Preferences, rows: IntArray, query: IntArray) -> Preferences:
    """The preferences among some of the rows, which are renumbered in the order given; `query` is each row's."""
    number = np.full(query.size, -1, dtype=np.int32)
    number[rows] = np.arange(rows.size, dtype=np.int32)
    most = int(np.count_nonzero(number[p.row] >= 0))  # members that can be left
    row, v = np.empty(most, dtype=np.int32), np.empty(0 if p.v is None else most)
    level_size, n_levels, which = (np.empty(n, dtype=np.int64) for n in (p.level_ptr.size, p.n_rankings, p.n_rankings))
    left = restrict_rankings(number, p.row, p.v, p.level_ptr, p.ranking_levels, row, v, level_size, n_levels, which)
    n_members, n_level, n_rankings = left
    which, level_ptr = which[:n_rankings], pointers(level_size[:n_level])
    ranking_levels = pointers(n_levels[:n_rankings])
    rankings = _Rankings(
        row=row[:n_members],
        v=None if p.v is None else v[:n_members],
        u=p.u[which],
        query=query[p.row[p.ranking_ptr[which]]],
        ranking_ptr=level_ptr[ranking_levels],
        level_ptr=level_ptr,
        ranking_levels=ranking_levels,
        repeats=None if p.repeats is None else p.repeats[which],
    )
    return _finish(rankings)


def reweight(
    p: Preferences, query: IntArray, by_query: FloatArray | None = None, by_row: FloatArray | None = None
) -> Preferences:
    """The same preferences with c_ij times a weight of their query, and of both rows; some weights may be 0."""
    u, v = p.u, p.v
    if by_query is not None:
        u = u * by_query[query[p.row[p.ranking_ptr[:-1]]]]
    if by_row is not None:
        v = p.member_weights * by_row[p.row]
    changed = replace(p, u=u, v=v)
    return replace(changed, total=changed.weight)


def split(p: Preferences, unit: IntArray) -> Preferences:
    """The preferences between rows of the same unit; `unit` is each row's."""
    ranking, level = np.repeat(np.arange(p.n_rankings), np.diff(p.ranking_ptr)), p.level_numbers()
    order = np.lexsort((level, unit[p.row], ranking))
    ranking, level, own = ranking[order], level[order], unit[p.row[order]]
    new_ranking = run_starts(ranking) | run_starts(own)
    new_level = new_ranking | run_starts(level)
    starts = np.flatnonzero(new_ranking)
    parts = _Rankings(
        row=p.row[order],
        v=None if p.v is None else p.v[order],
        u=p.u[ranking[starts]],
        query=np.zeros(starts.size, dtype=np.int64),  # one block: no two blocks may share a row
        ranking_ptr=np.r_[starts, order.size],
        level_ptr=np.r_[np.flatnonzero(new_level), order.size],
        ranking_levels=np.r_[np.cumsum(new_level)[starts] - 1, np.count_nonzero(new_level)],
    )
    return _finish(parts)


def join(parts: Sequence[Preferences], queries: Sequence[IntArray]) -> Preferences:
    """The preferences of several data sets whose rows follow one another; `queries` are their rows' own."""
    first = pointers(np.array([query.size for query in queries]))[:-1]
    v = None
    if any(p.v is not None for p in parts):
        v = np.concatenate([p.member_weights for p in parts])
    repeats = None
    if any(p.repeats is not None for p in parts):
        repeats = np.concatenate([np.zeros(p.n_rankings, bool) if p.repeats is None else p.repeats for p in parts])
    level_ptr = pointers(np.concatenate([np.diff(p.level_ptr) for p in parts]))
    ranking_levels = pointers(np.concatenate([np.diff(p.ranking_levels) for p in parts]))
    query = [q[p.row[p.ranking_ptr[:-1]]] + k for p, q, k in zip(parts, queries, first, strict=True)]
    rankings = _Rankings(
        row=np.concatenate([p.row + k for p, k in zip(parts, first, strict=True)]),
        v=v,
        u=np.concatenate([p.u for p in parts]),
        query=np.concatenate(query),
        ranking_ptr=level_ptr[ranking_levels],
        level_ptr=level_ptr,
        ranking_levels=ranking_levels,
        repeats=repeats,
    )
    return _finish(rankings)


def _from_grades(grades: Grades, preferences: str | Graph) -> _Rankings:
    assert grades.level is not None
    member = np.arange(grades.query.size)
    n_levels = int(grades.level.max(initial=0)) + 1
    key = grades.query * n_levels + grades.level
    if grades.v is not None or grades.u is not None:
        keep = _positive(grades, member)
        member, key = member[keep], key[keep]
    if bool((key[1:] < key[:-1]).any()):
        order = stable_order(key)
        member, key = member[order], key[order]
    start = np.flatnonzero(run_starts(key))  # of each (query, level)
    end = _ends(start, key.size)
    query = key[start] // n_levels
    if isinstance(preferences, Graph):
        lower, upper, weight = _edges_within_queries(key[start], n_levels, preferences)
        return _from_edges(member, grades.v, start, end, lower, upper, query[lower], weight)
    if preferences == "chain":
        lower = np.flatnonzero(query[1:] == query[:-1])
        return _from_edges(member, grades.v, start, end, lower, lower + 1, query[lower])
    first = np.flatnonzero(run_starts(query))
    n_levels_of = _ends(first, query.size) - first
    return _select(member, grades.v, start, end, query[first], first, n_levels_of)


def _ends(start: IntArray, size: int) -> IntArray:
    """Where each run ends that begins there: where the next one begins."""
    end = np.empty_like(start)
    end[:-1], end[-1:] = start[1:], size
    return end


def _edges_within_queries(key: IntArray, n_levels: int, graph: Graph) -> tuple[IntArray, IntArray, FloatArray]:
    """Edges between the (query, level) groups numbered by their sorted keys query * n_levels + level."""
    level = key % n_levels
    first, last = (np.searchsorted(graph.lower, level, side=side) for side in ("left", "right"))
    lower = np.repeat(np.arange(key.size), last - first)
    edge = _ranges(first, last - first)
    wanted = key[lower] - level[lower] + graph.upper[edge]
    upper = np.minimum(np.searchsorted(key, wanted), key.size - 1)
    found = key[upper] == wanted
    return lower[found], upper[found], graph.weight[edge[found]]


def _positive(grades: Grades, rows: IntArray) -> NDArray[np.bool_]:
    """Which of the rows have weight at all."""
    keep = np.ones(rows.size, dtype=bool)
    if grades.v is not None:
        keep &= grades.v[rows] > 0
    if grades.u is not None:
        keep &= grades.u[grades.query[rows]] > 0
    return keep


def _select(
    member: IntArray,
    v: FloatArray | None,
    start: IntArray,
    end: IntArray,
    query: IntArray,
    first: IntArray,
    n_levels_of: IntArray,
) -> _Rankings:
    """The full rankings of those queries that have more than one level."""
    several = n_levels_of > 1
    level = _ranges(first[several], n_levels_of[several])
    size = end[level] - start[level]
    keep = member[_ranges(start[level], size)]
    level_ptr = pointers(size)
    ranking_levels = pointers(n_levels_of[several])
    return _Rankings(
        row=keep,
        v=None if v is None else v[keep],
        u=np.ones(int(several.sum())),
        query=query[several],
        ranking_ptr=level_ptr[ranking_levels],
        level_ptr=level_ptr,
        ranking_levels=ranking_levels,
    )


def _from_edges(
    member: IntArray,
    v: FloatArray | None,
    start: IntArray,
    end: IntArray,
    lower: IntArray,
    upper: IntArray,
    query: IntArray,
    weight: FloatArray | None = None,
) -> _Rankings:
    """One ranking of two levels for each edge between (query, level) groups `lower` and `upper`."""
    group = np.column_stack([lower, upper]).ravel()
    size = end[group] - start[group]
    keep = member[_ranges(start[group], size)]
    level_ptr = pointers(size)
    return _Rankings(
        row=keep,
        v=None if v is None else v[keep],
        u=np.ones(lower.size) if weight is None else weight,
        query=query,
        ranking_ptr=level_ptr[::2],
        level_ptr=level_ptr,
        ranking_levels=2 * np.arange(lower.size + 1, dtype=np.int64),
    )


def _from_pairs(
    grades: Grades, preferences: str | Graph, winner: IntArray, loser: IntArray, weight: FloatArray
) -> _Rankings:
    keep = weight > 0
    if grades.u is not None:
        keep &= grades.u[grades.query[winner]] > 0
    order = np.flatnonzero(keep)
    order = order[np.argsort(grades.query[winner[order]], kind="stable")]
    winner, loser = winner[order], loser[order]
    ends = np.arange(order.size + 1, dtype=np.int64)
    row = np.column_stack([loser, winner]).ravel()
    return _Rankings(
        row=row,
        v=None,
        u=weight[order],
        query=grades.query[winner],
        ranking_ptr=2 * ends,
        level_ptr=np.arange(row.size + 1, dtype=np.int64),
        ranking_levels=2 * ends,
        repeats=_by_grade_already(grades, preferences, winner, loser),
    )


def _by_grade_already(
    grades: Grades, preferences: str | Graph, winner: IntArray, loser: IntArray
) -> NDArray[np.bool_] | None:
    """Which explicit pairs are preferences by grade already; None: none of them."""
    if grades.level is None or winner.size == 0:
        return None
    graded = grades.level[winner] > grades.level[loser]
    if isinstance(preferences, Graph):
        graded = preferences.joins(grades.level[loser], grades.level[winner])
    elif preferences == "chain":
        graded &= _steps_between(grades, winner, loser) == 1
    if grades.v is not None:
        graded &= (grades.v[winner] > 0) & (grades.v[loser] > 0)
    return graded if np.any(graded) else None


def _steps_between(grades: Grades, winner: IntArray, loser: IntArray) -> IntArray:
    """How many of the query's own levels (with weight) lie from the loser up to the winner."""
    assert grades.level is not None
    n_levels = int(grades.level.max()) + 1
    key = grades.query * n_levels + grades.level
    present = np.unique(key[_positive(grades, np.arange(key.size))])
    steps: IntArray = np.searchsorted(present, key[winner]) - np.searchsorted(present, key[loser])
    return steps


def _join(a: _Rankings, b: _Rankings) -> _Rankings:
    """The rankings of both sources, sorted by query so that blocks of queries can be cut."""
    v = None
    if a.v is not None or b.v is not None:
        v = np.concatenate([np.ones(x.row.size) if x.v is None else x.v for x in (a, b)])
    row = np.concatenate([a.row, b.row])
    query = np.concatenate([a.query, b.query])
    size = np.concatenate([np.diff(a.ranking_ptr), np.diff(b.ranking_ptr)])
    n_levels = np.concatenate([np.diff(a.ranking_levels), np.diff(b.ranking_levels)])
    level_size = np.concatenate([np.diff(a.level_ptr), np.diff(b.level_ptr)])
    repeats = None if b.repeats is None else np.r_[np.zeros(a.u.size, bool), b.repeats]
    order = np.argsort(query, kind="stable")
    member = _ranges(pointers(size)[order], size[order])
    level = _ranges(pointers(n_levels)[order], n_levels[order])
    return _Rankings(
        row=row[member],
        v=None if v is None else v[member],
        u=np.concatenate([a.u, b.u])[order],
        query=query[order],
        ranking_ptr=pointers(size[order]),
        level_ptr=pointers(level_size[level]),
        ranking_levels=pointers(n_levels[order]),
        repeats=None if repeats is None else repeats[order],
    )


def _weighted(rankings: _Rankings, grades: Grades, query_weighting: str) -> _Rankings:
    """The rankings with their queries' weights multiplied in."""
    u = rankings.u
    if query_weighting == "queries":
        per_query = np.bincount(rankings.query, u * rankings.pair_weights(), minlength=grades.n_queries)
        u = u / per_query[rankings.query]
    if grades.u is not None:
        u = u * grades.u[rankings.query]
    return rankings if u is rankings.u else replace(rankings, u=u)


def _finish(rankings: _Rankings) -> Preferences:
    v, pairs, repeats = rankings.v, rankings.pair_counts(), rankings.repeats
    weights = pairs.astype(np.float64) if v is None else rankings.pair_weights()
    return Preferences(
        row=np.ascontiguousarray(rankings.row, dtype=np.int32),
        ranking_ptr=np.ascontiguousarray(rankings.ranking_ptr),
        level_ptr=rankings.level_ptr,
        ranking_levels=rankings.ranking_levels,
        pairs=pairs,
        u=np.ascontiguousarray(rankings.u),
        v=None if v is None else np.ascontiguousarray(v),
        blocks=_blocks(rankings),
        total=float(np.sum(rankings.u * weights)),
        n_pairs=int(pairs.sum() if repeats is None else pairs[~repeats].sum()),
        repeats=repeats,
    )


def _blocks(rankings: _Rankings) -> NDArray[np.int64]:
    """Cuts between queries, about BLOCK_MEMBERS members apart."""
    first = np.flatnonzero(run_starts(rankings.query))
    number = rankings.ranking_ptr[first] // BLOCK_MEMBERS
    cuts = first[run_starts(number)]
    return np.append(cuts, rankings.u.size).astype(np.int64)


def _ranges(start: IntArray, size: IntArray) -> NDArray[np.int64]:
    """Concatenation of start[i], start[i] + 1, ..., start[i] + size[i] - 1."""
    if start.size and bool((start[1:] == start[:-1] + size[:-1]).all()):
        return np.arange(start[0], start[-1] + size[-1], dtype=np.int64)
    offset = np.repeat(start - pointers(size)[:-1], size)
    return offset + np.arange(offset.size, dtype=np.int64)
