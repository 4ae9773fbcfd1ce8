"""Inference: what is known of a ranker's weights, as a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy import stats

from .._errors import DataError, ParameterError
from .._text import printable
from .._typing import FloatArray, IntArray
from ..data.missing import fill_missing
from ..losses import Loss
from ..rankers.explanation import as_row
from .summary import Summary

#: With fewer units than this, quantiles are those of Student's t.
MANY_UNITS = 200


@dataclass(frozen=True)
class Comparison:
    """The difference of two scores with its interval; of a likelihood, also the probability that a is preferred."""

    difference: float
    standard_error: float
    low: float
    high: float
    level: float
    probability: float | None = None
    probability_low: float | None = None
    probability_high: float | None = None

    def __str__(self) -> str:
        span = f"{self.level:.0%} from {self.low:+.4g} to {self.high:+.4g}"
        text = f"score of a - score of b: {self.difference:+.4g}, {span}"
        if self.probability is None:
            return text
        span = f"from {self.probability_low:.3f} to {self.probability_high:.3f}"
        return f"{text}\nP(a over b): {self.probability:.3f}, {span}"


@dataclass(frozen=True)
class WaldTest:
    """A test of the hypothesis that several weights are 0."""

    features: tuple[str, ...]
    statistic: float  # w^T V^-1 w
    df: int
    df_units: float  # of the units, infinite where they are many
    p: float

    def __str__(self) -> str:
        return f"Wald test of {self.df} weights: {self.statistic:.4g}, p = {self.p:.3g}"


@dataclass(frozen=True, eq=False)
class Inference:
    """Weights of the penalised optimum, and how sure they are.

    The intervals are of the weights that the same penalty would give on all the data there could be, not of a truth
    without a penalty: `information` tells beside each weight how much of it is the data's.

    Attributes
    ----------
    names, features : (k,)
        The features, and their columns.
    coef : (k,)
        Weights at the optimum: those of the ranker, solved more closely. In the units of the data, as all that follows.
    covariance : (k, k)
        Of the weights.
    information : (k,)
        Which part of a weight's information is the data's, and not the penalty's: 1 - alpha (H^-1)_jj in scaled units.
    deviations : (k,)
        Standard deviations of the columns.
    reasons : (k,) of str
        Why a standard error is NaN; "" where it is not.
    notes : tuple of str
        What to distrust.
    units, n_units : str, int
        What is taken for independent ("queries", "rows", "clusters"), and how many of them have pairs.
    method : {"sandwich", "bootstrap"}
    facts : dict
        rows, queries, pairs, loss, alpha, objective, gap, status.
    resamples : (n, k) or None
        The weights of each resample of the bootstrap.
    """

    names: tuple[str, ...]
    features: IntArray
    coef: FloatArray
    covariance: FloatArray
    information: FloatArray
    deviations: FloatArray
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    units: str
    n_units: int
    method: str
    facts: dict[str, Any]
    resamples: FloatArray | None = None
    n_features: int = 0
    loss: Loss | None = field(default=None, repr=False)
    fill: FloatArray | None = field(default=None, repr=False)

    @property
    def standard_errors(self) -> FloatArray:
        """Of each weight."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def df(self) -> float:
        """Degrees of freedom of quantiles: infinite with 200 units or more."""
        return float(self.n_units - 1) if self.n_units < MANY_UNITS else np.inf

    @property
    def z(self) -> FloatArray:
        """Weights over standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coef / self.standard_errors

    @property
    def p(self) -> FloatArray:
        """Two-sided p-values of the hypothesis that a weight is 0."""
        return np.asarray(2.0 * stats.t.sf(np.abs(self.z), self.df))

    def quantile(self, level: float) -> float:
        """How many standard errors an interval reaches to either side."""
        if not isinstance(level, (int, float)) or not 0 < level < 1:
            raise ParameterError(f"level={level!r} must lie between 0 and 1, such as 0.95.")
        return float(stats.t.ppf(0.5 + 0.5 * level, self.df))

    def interval(self, level: float = 0.95) -> FloatArray:
        """Lower and upper end for each weight, (k, 2)."""
        reach = self.quantile(level) * self.standard_errors
        return np.column_stack([self.coef - reach, self.coef + reach])

    def compare(self, a: Any, b: Any, level: float = 0.95) -> Comparison:
        """The score of row a less that of row b, with an interval; with a logistic loss also P(a over b).

        What is known of weights is known of the difference: where a and b differ in a feature whose weight has no
        standard error, there is none.
        """
        if self.features.size < self.n_features:
            raise ParameterError("compare needs the covariance of all weights: leave features= out.")
        x = self._row(a) - self._row(b)
        used = x != 0
        variance = float(x[used] @ self.covariance[np.ix_(used, used)] @ x[used])
        difference, error = float(x @ self.coef), float(np.sqrt(max(variance, 0.0))) if variance == variance else np.nan
        half = self.quantile(level) * error
        ends = np.array([difference - half, difference, difference + half])
        found = None if self.loss is None else self.loss.probability(ends)
        low, middle, high = (None, None, None) if found is None else found.tolist()
        return Comparison(difference, error, float(ends[0]), float(ends[2]), level, middle, low, high)

    def _row(self, row: Any) -> FloatArray:
        checked = fill_missing(as_row(row), self.fill)
        if checked.shape != (1, self.n_features):
            raise DataError(f"compare takes two rows of {self.n_features} features, but was given {checked.shape}.")
        dense: FloatArray = np.asarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.float64)[0]
        return dense

    def test(self, features: ArrayLike | str | int) -> WaldTest:
        """Wald test of whether the weights of these features, by name or column, are all 0."""
        k = self.places(features)
        w, V = self.coef[k], self.covariance[np.ix_(k, k)]
        if not np.all(np.isfinite(V)):
            bad = next(j for j in k if not np.isfinite(self.covariance[j, j]))
            raise ParameterError(
                f"{printable(self.names[bad])} has no standard error ({self.reasons[bad]}): leave it out."
            )
        if k.size >= self.n_units:
            raise ParameterError(f"{k.size} weights cannot be tested together with {self.n_units} units: test fewer.")
        try:
            statistic = float(w @ np.linalg.solve(V, w))
        except np.linalg.LinAlgError:
            raise ParameterError("The covariance of these weights is singular: test fewer of them.") from None
        p = float(
            stats.chi2.sf(statistic, k.size) if np.isinf(self.df) else stats.f.sf(statistic / k.size, k.size, self.df)
        )
        return WaldTest(tuple(self.names[j] for j in k), statistic, int(k.size), self.df, p)

    def places(self, features: ArrayLike | str | int) -> IntArray:
        """Where features, by name or column, stand among those that were asked for."""
        chosen = find_features(features, self.names, self.features)
        return np.asarray(chosen)

    def summary(self, level: float = 0.95) -> Summary:
        """All of it as a table; `print` it, or show it in a notebook."""
        return Summary.of(self, level)

    def to_frame(self, level: float = 0.95) -> Any:
        """The table as a pandas dataframe."""
        return self.summary(level).to_frame()

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Facts, weights and what to distrust as plain values, for JSON."""
        table = self.summary(level)
        about = {"units": self.units, "n_units": self.n_units, "method": self.method, "level": level}
        return {**self.facts, **about, "df": self.df, "weights": table.rows(), "notes": table.all_notes}

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def find_features(given: Any, names: tuple[str, ...], columns: IntArray) -> IntArray:
    """Places of features in `names`, by name or by column; each once."""
    wanted: Iterable[Any] = [given] if isinstance(given, (str, int, np.integer)) else list(np.asarray(given).tolist())
    by_name = {name: k for k, name in reversed(list(enumerate(names)))}
    by_column = {int(column): k for k, column in enumerate(columns)}
    found = []
    for one in wanted:
        place = by_name.get(one) if isinstance(one, str) else by_column.get(one) if isinstance(one, int) else None
        if place is None:
            raise ParameterError(f"There is no feature {one!r}: give names, or columns from 0.")
        found.append(place)
    if not found or len(set(found)) < len(found):
        raise ParameterError("features= names no feature, or one of them twice: name each once.")
    return np.array(found, dtype=np.int64)
