"""Sums of outer products psi psi^T over independent units, which standard errors are made of.

    psi_u = (gradient of the pairs of unit u) + (their weight) * shift

`shift` is the penalty's gradient, so that at the optimum the psi_u sum to 0. Queries, and clusters that are unions of
queries, share no pair: their psi are sums of g_i x_i over their rows, added up some units at a time. Rows share pairs.
With a_ij = c_ij phi'(s_i - s_j) for a winner i over j, and A_ij = a_ij = -A_ji, what the pairs of row i contribute is

    sum over its pairs of a_ij (x_i - x_j)  =  g_i x_i - (A X)_i,      g = A 1,

so with M = diag(g) - A the sum is X^T M^T M X: column by column, two products with A each (`losses/_curvature.py`) and
O(m) memory. Clusters that cut queries are sums of rows, less the pairs within a cluster, which would count twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError, ParameterError
from .._typing import FloatArray, IntArray
from ..data.checks import check_choice
from ..data.ordering import group_rows
from ..data.preferences import split
from ..data.ranking_data import RankingData
from ..losses._base import Loss, OwnLoss

if TYPE_CHECKING:
    from .evaluation import LocalEvaluation

#: The kinds of units.
UNITS = ("queries", "rows", "clusters")
#: Entries of the units' psi, or of X, at a time.
ENTRIES = 1 << 19
#: Tasks at most: each holds a matrix.
TASKS = 16


class Outer(NamedTuple):
    """Sums over units; those of parts add up, as no unit is in two parts."""

    units: int  # that have a pair
    total: FloatArray  # sum of psi psi^T
    largest: float  # of |psi|^2
    clusters: NDArray[np.int64] | None = None  # the numbers of clusters that have a pair: 8 bytes each leave an engine

    def joined(self, other: Outer) -> Outer:
        """Those of both; a cluster in two of them is refused: its psi would have to be added before it is squared."""
        clusters = None
        if self.clusters is not None and other.clusters is not None:
            clusters = np.union1d(self.clusters, other.clusters)
            if clusters.size < self.clusters.size + other.clusters.size:
                raise DataError(
                    "A cluster has queries in two parts of the data: give parts that hold whole clusters, or one part."
                )
        largest = max(self.largest, other.largest)
        return Outer(self.units + other.units, self.total + other.total, largest, clusters)

    @staticmethod
    def of_parts(parts: Sequence[Outer]) -> Outer:
        """Those of all parts, added in their order."""
        return reduce(Outer.joined, parts)


class Ask(NamedTuple):
    """What is asked: which units, what columns are divided by, the shift, and onto which vectors psi is projected."""

    units: str
    scale: FloatArray
    shift: FloatArray
    along: FloatArray | None = None  # (d, k): along^T psi in the place of psi

    @staticmethod
    def of(
        data: RankingData,
        loss: Loss,
        units: str,
        scale: FloatArray | None,
        shift: FloatArray | None,
        along: FloatArray | None,
    ) -> Ask:
        """Refuse what cannot be answered; scale and shift become vectors."""
        check_choice("units", units, UNITS)
        if units == "clusters" and data.cluster is None:
            raise ParameterError("units='clusters' needs a cluster for each row: give them to RankingData.clustered.")
        for name, given in (("scale", scale), ("shift", shift), ("along", along)):
            if given is not None and np.shape(given)[:1] != (data.n_features,):
                raise DataError(f"{name} has shape {np.shape(given)} for {data.n_features} features: give one each.")
        d = data.n_features
        ask = Ask(units, np.ones(d) if scale is None else scale, np.zeros(d) if shift is None else shift, along)
        if not ask.whole(data) and (isinstance(loss, OwnLoss) or not loss.smooth):
            raise ParameterError(
                f"The loss {loss.name!r} is not known to be a smooth sum over pairs, which rows as units need: use "
                "method='bootstrap'."
            )
        return ask

    def whole(self, data: RankingData) -> bool:
        """Whether units share no pair."""
        return self.units == "queries" or (self.units == "clusters" and data.clusters_are_whole)

    def projected(self, psi: FloatArray) -> FloatArray:
        """Psi, or along^T psi, for rows of psi."""
        return psi if self.along is None else psi @ self.along

    @property
    def size(self) -> int:
        """Entries of what comes out for a unit."""
        return self.scale.size if self.along is None else self.along.shape[1]


def query_weights(data: RankingData) -> FloatArray:
    """Sum of c_ij over the pairs of each query."""
    p = data.preferences
    query = data.query[p.row[p.ranking_ptr[:-1]]]
    return np.bincount(query, p.u * p.pair_weights(), minlength=data.n_queries).astype(np.float64)


def row_weights(data: RankingData) -> FloatArray:
    """Sum of c_ij over the pairs of each row."""
    p = data.preferences
    return np.bincount(p.row, p.member_pair_weights(), minlength=data.n_rows).astype(np.float64)


def unit_weights(data: RankingData, clusters: bool) -> tuple[IntArray, FloatArray]:
    """Number of each row's unit, and the weight of each unit's pairs, for queries or for clusters of whole ones."""
    c = query_weights(data)
    if not clusters:
        return data.query, c
    assert data.cluster is not None
    of_query = np.zeros(data.n_queries, dtype=np.int64)
    of_query[data.query] = data.cluster
    return data.cluster, np.bincount(of_query, c, int(data.cluster.max(initial=0)) + 1).astype(np.float64)


def known_clusters(ask: Ask, c: FloatArray) -> NDArray[np.int64] | None:
    """Numbers of the clusters with pairs, where units are clusters."""
    return np.flatnonzero(c > 0) if ask.units == "clusters" else None


def outer(evaluation: LocalEvaluation, ask: Ask) -> Outer:
    """Sums over the units of a local engine."""
    data, engine = evaluation.engine.data, evaluation.engine
    if data.preferences.n_rankings == 0:
        none = np.empty(0, dtype=np.int64) if ask.units == "clusters" else None
        return Outer(0, np.zeros((ask.size, ask.size)), 0.0, none)
    if ask.whole(data):
        unit, c = unit_weights(data, ask.units == "clusters")
        g = evaluation.row_gradient()
        total, largest = sums_of_whole(data.X, g, unit, c, ask, engine.map)
        return Outer(int(np.count_nonzero(c > 0)), total, largest, known_clusters(ask, c))
    return PairedUnits(evaluation, ask).sums()


def sums_of_whole(
    X: Any, g: FloatArray, unit: IntArray, c: FloatArray, ask: Ask, over: Callable[..., list[Any]]
) -> tuple[FloatArray, float]:
    """Sum of psi psi^T and largest |psi|^2 for units that share no pair: O(m d + units d^2)."""
    row, ptr = group_rows(unit, c.size)
    cuts = np.unique(np.searchsorted(ptr, np.linspace(0, g.size, TASKS + 1)))
    cuts[0], cuts[-1] = 0, c.size
    step = max(1, ENTRIES // max(1, X.shape[1]))

    def task(k: int) -> tuple[FloatArray, float]:
        total, largest, first = np.zeros((ask.size, ask.size)), 0.0, int(cuts[k])
        while first < cuts[k + 1]:
            last = int(np.searchsorted(ptr, ptr[first] + step, side="right")) - 1
            last = min(max(last, first + 1), first + step, int(cuts[k + 1]))
            a = _sums_of_rows(X, g, row, ptr[first : last + 1], step)
            psi = ask.projected(a / ask.scale + np.multiply.outer(c[first:last], ask.shift))
            total += psi.T @ psi
            largest = max(largest, float(np.einsum("ij,ij->i", psi, psi).max(initial=0.0)))
            first = last
        return total, largest

    found = over(task, range(cuts.size - 1))
    return sum((part for part, _ in found[1:]), found[0][0]), max(largest for _, largest in found)


def _sums_of_rows(X: Any, g: FloatArray, row: IntArray | None, ptr: IntArray, step: int) -> FloatArray:
    """Sum of g_i x_i over the rows of each unit, `step` rows at a time: a unit may have more of them."""
    a = np.zeros((ptr.size - 1, X.shape[1]))
    for begin in range(int(ptr[0]), int(ptr[-1]), step):
        end = min(begin + step, int(ptr[-1]))
        here: Any = slice(begin, end) if row is None else row[begin:end]
        ends = np.clip(ptr, begin, end) - begin
        select = sp.csr_array((g[here], np.arange(end - begin), ends), shape=(a.shape[0], end - begin))
        part = select @ X[here]
        a += part.toarray() if sp.issparse(part) else part
    return a


class PairedUnits:
    """Units that share pairs: rows, or clusters that cut queries."""

    def __init__(self, evaluation: LocalEvaluation, ask: Ask) -> None:
        self.evaluation, self.ask, self.data = evaluation, ask, evaluation.engine.data
        self.g = evaluation.row_gradient()
        self.unit: IntArray | None = None
        self.within = np.zeros(0)
        self.c = row_weights(self.data)
        if ask.units == "clusters":
            assert self.data.cluster is not None
            self.unit = self.data.cluster
            self.n_units = int(self.unit.max(initial=0)) + 1
            inner = split(self.data.preferences, self.unit)
            self.within = evaluation.gradient_of(inner)
            twice = np.bincount(inner.row, inner.member_pair_weights(), minlength=self.data.n_rows)
            self.c = self._by_unit(self.c - 0.5 * twice)

    def sums(self) -> Outer:
        """Columns in tasks, each a thread's, of O(m) memory."""
        k = self.ask.size
        cuts = np.unique(np.linspace(0, k, min(TASKS, k) + 1).astype(np.int64))
        parts = self.evaluation.engine.map(lambda t: self._columns(*cuts[t : t + 2]), range(cuts.size - 1))
        total = np.concatenate([rows for rows, _ in parts])
        squares = sum((part for _, part in parts[1:]), parts[0][1])
        known = known_clusters(self.ask, self.c)
        n_units, largest = int(np.count_nonzero(self.c > 0)), float(squares.max(initial=0.0))
        return Outer(n_units, 0.5 * (total + total.T), largest, known)

    def _columns(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """Columns first ... last - 1 of the sum, as rows, and of each unit the sum of their entries of psi, squared."""
        rows, squares = np.empty((last - first, self.ask.size)), np.zeros(self.c.size)
        for j in range(first, last):
            psi = self._entries(j)
            rows[j - first] = self._products(psi)
            squares += np.square(psi)
        return rows, squares

    def _entries(self, j: int) -> FloatArray:
        """Entry j of each unit's psi."""
        ask, matrix = self.ask, self.evaluation.engine.matrix
        if ask.along is None and not sp.issparse(self.data.X):
            x, shift = np.divide(self.data.X[:, j], ask.scale[j], dtype=np.float64), ask.shift[j]
        else:
            direction = np.eye(1, ask.scale.size, j)[0] if ask.along is None else ask.along[:, j]
            x, shift = np.empty(self.data.n_rows), float(ask.shift @ direction)
            for block in range(matrix.n_blocks):
                matrix.dot(np.ascontiguousarray(direction / ask.scale), block, x)
        y = self._over_rankings(x, -1.0)
        return self._by_unit(y - self.within * x if self.unit is not None else y) + self.c * shift

    def _products(self, y: FloatArray) -> FloatArray:
        """Sum of y psi over the units."""
        ask, matrix = self.ask, self.evaluation.engine.matrix
        of_rows = y if self.unit is None else y[self.unit]
        z = self._over_rankings(of_rows, 1.0)
        if self.unit is not None:
            z -= self.within * of_rows
        product = sum((matrix.transpose_dot(z, k) for k in range(1, matrix.n_blocks)), matrix.transpose_dot(z, 0))
        return ask.projected(product / ask.scale + ask.shift * float(self.c @ y))

    def _by_unit(self, rows: FloatArray) -> FloatArray:
        if self.unit is None:
            return rows
        return np.bincount(self.unit, rows, minlength=self.n_units).astype(np.float64)

    def _over_rankings(self, x: FloatArray, sign: float) -> FloatArray:
        """The products g x - A x (sign -1), or the transpose's g x + A x, for a vector over the rows."""
        low = float(x.min())
        r = (float(x.max()) - low) or 1.0
        return self.g * (x + sign * low) + sign * r * self.evaluation.turn((x - low) / r)  # A 1 = g
