"""What an engine tells of its rows and columns, and how that of several parts becomes that of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray
from ..data.ranking_data import RankingData

EPS = float(np.finfo(np.float64).eps)


class RowWeights(NamedTuple):
    """The weights of the rows that have a pair."""

    smallest: float
    largest: float
    whole: bool  # whether all of them are whole numbers
    total: float
    scaled: float  # sum of v / largest: neither this
    squares: float  # nor the sum of its squares overflows

    @staticmethod
    def of(data: RankingData) -> RowWeights:
        """The weights of a data set's rows; explicit pairs weigh what they are given, whatever their rows do."""
        used = np.zeros(data.n_rows, dtype=bool)
        used[data.preferences.row] = True
        n = float(np.count_nonzero(used))
        if n == 0:
            return RowWeights(np.inf, 0.0, True, 0.0, 0.0, 0.0)
        if data.sample_weight is None or data.preferences.v is None:
            return RowWeights(1.0, 1.0, True, n, n, n)
        v = data.sample_weight[used & (data.sample_weight > 0)]
        if v.size == 0:  # a part that has explicit pairs alone, between rows without weight
            return RowWeights(np.inf, 0.0, True, 0.0, 0.0, 0.0)
        largest = float(v.max())
        share = v / largest
        whole = bool(np.all(v == np.floor(v)))
        return RowWeights(float(v.min()), largest, whole, float(v.sum()), float(share.sum()), float(share @ share))

    def joined(self, other: RowWeights) -> RowWeights:
        """Those of both."""
        largest = max(self.largest, other.largest)
        a, b = (part.largest / largest if largest > 0 else 0.0 for part in (self, other))
        return RowWeights(
            min(self.smallest, other.smallest),
            largest,
            self.whole and other.whole,
            self.total + other.total,
            a * self.scaled + b * other.scaled,
            a * a * self.squares + b * b * other.squares,
        )

    @property
    def effective(self) -> float:
        """How many rows there are to learn from.

        Whole weights of which the smallest is 1 count how often a row is repeated. Other weights say how much a row
        matters: then it is Kish's effective number, (sum v)^2 / (sum v^2), which does not depend on their unit.
        """
        return self.total if self.smallest == 1.0 and self.whole else self.scaled**2 / self.squares


@dataclass(frozen=True)
class Facts:
    """Counts that are known from the start."""

    rows: int
    features: int
    queries: int
    queries_without_pairs: int
    pairs: int  # with c_ij > 0; N, the sum of c_ij, comes with each evaluation
    row_weights: RowWeights
    entries: int  # of X that are stored: all of a dense one

    @staticmethod
    def of(data: RankingData) -> Facts:
        """The facts of a data set."""
        without, pairs, X = data.n_queries_without_pairs, data.preferences.n_pairs, data.X
        entries = int(X.nnz) if sp.issparse(X) else data.n_rows * data.n_features
        return Facts(data.n_rows, data.n_features, data.n_queries, without, pairs, RowWeights.of(data), entries)

    def joined(self, other: Facts) -> Facts:
        """Those of both; no query is in two parts."""
        return Facts(
            self.rows + other.rows,
            self.features,
            self.queries + other.queries,
            self.queries_without_pairs + other.queries_without_pairs,
            self.pairs + other.pairs,
            self.row_weights.joined(other.row_weights),
            self.entries + other.entries,
        )


@dataclass(frozen=True)
class Columns:
    """The columns of X, rows counting by their weight.

    Attributes
    ----------
    rows : int
        Number of rows.
    weight : float
        Sum of their weights; 0 where all of them are 0, and then each counts 1 in what follows.
    mean, deviation : (d,)
        Mean and standard deviation; the deviation is 0 for columns that are constant to rounding.
    nonzero : (d,)
        Weight of the rows whose value is not 0.
    """

    rows: int
    weight: float
    mean: FloatArray
    deviation: FloatArray
    nonzero: FloatArray

    @property
    def total(self) -> float:
        """What the rows count together."""
        return self.weight if self.weight > 0 else float(self.rows)

    @property
    def share(self) -> FloatArray:
        """Share of the rows whose value is not 0."""
        return np.minimum(self.nonzero / self.total, 1.0)

    @property
    def size(self) -> FloatArray:
        """Root mean square of a column's values other than 0; 0 where there are none."""
        square = np.hypot(self.deviation, self.mean)
        size = np.divide(square, np.sqrt(self.share), out=np.zeros_like(square), where=self.share > 0)
        return np.minimum(size, np.finfo(np.float64).max)  # no mean is larger than the largest value

    @staticmethod
    def joined(parts: Sequence[Columns]) -> Columns:
        """The columns over the rows of all parts. Those without weight count only where no part has any."""
        rows = sum(part.rows for part in parts)
        used = [part for part in parts if part.weight > 0] or list(parts)
        if len(used) == 1:
            return Columns(rows, used[0].weight, used[0].mean, used[0].deviation, used[0].nonzero)
        share = np.array([part.total for part in used]) / sum(part.total for part in used)
        mean: FloatArray = np.sum([a * part.mean for a, part in zip(share, used, strict=True)], axis=0)
        away = np.array([np.hypot(part.deviation, part.mean - mean) for part in used])
        unit = np.where(away.max(axis=0) > 0, away.max(axis=0), 1.0)  # squares neither over- nor underflow
        deviation = unit * np.sqrt(share @ np.square(away / unit))
        return Columns(
            rows,
            sum(part.weight for part in used),
            mean,
            without_rounding(deviation, mean, rows),
            np.sum([part.nonzero for part in used], axis=0),
        )


def without_rounding(deviation: FloatArray, mean: FloatArray, n_rows: int) -> FloatArray:
    """Deviations, 0 where a column is constant: it deviates from its mean by the mean's rounding.

    That grows like the root of the number of rows.
    """
    rounding = EPS * (64 + 8 * np.sqrt(n_rows)) * np.abs(mean)
    return np.where(deviation > rounding, deviation, 0.0)
