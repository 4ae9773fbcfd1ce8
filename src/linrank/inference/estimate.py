"""infer: from a fitted ranker and its data to an Inference."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError, overflow_ignored
from .._progress import Progress
from .._typing import FloatArray, IntArray
from ..data.checks import check_choice, check_number
from ..data.collections import refuse_collection
from ..data.dataset import unpacked
from ..data.frames import check_frame
from ..data.given import gather
from ..data.ranking_data import RankingData
from ..losses import known_name
from ..rankers.names import check_names, named
from ..solvers import Solution
from .bootstrap import bootstrap, solve
from .distrust import VERY_FEW_UNITS, notes, reasons
from .problem import Fitted, Units
from .result import Inference, find_features
from .sandwich import Estimate, sandwich

METHODS = ("sandwich", "bootstrap")


def infer(
    ranker: Any,
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | Mapping[Any, float] | None = None,
    pairs: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    group: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    method: str = "sandwich",
    features: ArrayLike | str | int | None = None,
    n_resamples: int = 200,
    random_state: int = 0,
    verbose: int | None = None,
) -> Inference:
    """Standard errors, intervals and tests of a fitted ranker's weights.

    Parameters
    ----------
    ranker : LinearRanker, LinearRankerCV or AUCClassifier
        Fitted to the data that follows: anything else is refused.
    X, y, qid, sample_weight, query_weight, pairs, ids, group
        As they were given to `fit`.
    cluster : (m,), optional
        What is independent in the place of queries: a user or a session of each row. Clusters are unions of queries;
        one that cuts a query is for the CPU alone. None: queries are independent, or, of a single query, its rows.
    method : {"sandwich", "bootstrap"}, default="sandwich"
        By the formula, for smooth losses, or by fits to units that are drawn with replacement, for any loss.
    features : names or columns, optional
        The weights wanted; needed above 1,000 features, where the Hessian is not built.
    n_resamples, random_state : int, default=200 and 0
        Fits of the bootstrap, and the seed of its draws.
    verbose : int or None
        Progress on standard error; None: as the ranker's.

    Returns
    -------
    Inference
        `print(it.summary())`; `interval`, `compare`, `test`, `covariance`. Scale and alpha are taken as given: what is
        not known of them is not in the intervals. docs/inference.md says when not to believe them.
    """
    check_choice("method", method, METHODS)
    refuse_collection(X, "inference", "give a part of it, X.partitions[:9].compute(), to a ranker fitted to that part")
    fitted = Fitted.of(ranker)
    if method == "sandwich" and not fitted.loss.smooth:
        raise ParameterError(
            f"The loss {fitted.loss.name!r} has no second derivative, which the sandwich needs: use method='bootstrap'."
        )
    check_number("n_resamples", n_resamples, above=1)
    told, (X, y, qid, sample_weight) = X, unpacked(X, y, qid, sample_weight)
    rows = gather(X, qid, group=group, pairs=pairs, ids=ids)
    weights = {"sample_weight": sample_weight, "query_weight": query_weight}
    features_of = check_frame(rows.X)
    check_names(ranker, named(told, features_of))
    data = fitted.data(features_of, y, rows.qid, cluster, **weights, pairs=rows.pairs)
    units = Units.of(data)
    units.check()
    _warn_of_few(units)
    columns = np.arange(data.n_features)
    chosen = None if features is None else find_features(features, fitted.names, columns)
    shown = int(fitted.ranker.verbose if verbose is None else verbose)
    draws = (int(n_resamples), random_state) if method == "bootstrap" else None
    return _Run(fitted, data, units, chosen, shown).inference(draws)


def _warn_of_few(units: Units) -> None:
    if units.n < VERY_FEW_UNITS:
        warnings.warn(
            f"Only {units.n} {units.kind} are independent: standard errors from fewer than {VERY_FEW_UNITS} are rough, "
            "and mostly too small.",
            UserWarning,
            stacklevel=3,
        )


class _Run:
    """One inference, step by step."""

    def __init__(self, fitted: Fitted, data: RankingData, units: Units, chosen: IntArray | None, verbose: int) -> None:
        self.fitted, self.data, self.units, self.verbose = fitted, data, units, verbose
        self.asked = chosen
        self.chosen = np.arange(data.n_features) if chosen is None else chosen

    def inference(self, draws: tuple[int, int] | None) -> Inference:
        """By the sandwich, or by so many draws from a seed."""
        fitted, engine = self.fitted, self.fitted.engine(self.data)
        name = known_name(fitted.loss)
        with engine, overflow_ignored(), Progress(self.verbose, engine.facts, name) as progress:
            objective = fitted.objective(engine)
            before = objective.at(fitted.start)
            fitted.check(engine.facts, before)
            deviations = engine.columns().deviation
            if draws is None:
                estimate = sandwich(objective, fitted.start, self.units.kind, self.asked, progress)
                resamples = None
            else:
                solution = solve(objective, fitted.start, progress)
            f0, facts = objective.value_at_zero, engine.facts
        if draws is not None:
            resamples = bootstrap(fitted, self.data, self.units, solution.w, *draws, self.verbose)[:, self.chosen]
            estimate = self._resampled(solution, resamples)
        fitted.check_gain(before.value, estimate.solution.value, f0)
        told = {"rows": facts.rows, "queries": facts.queries, "pairs": facts.pairs}
        return self._result(estimate, deviations, told, resamples)

    def _resampled(self, solution: Solution, resamples: FloatArray) -> Estimate:
        """What resamples say; they say nothing of the information."""
        k = self.chosen.size
        free = self.fitted.penalty.free(solution.w)[self.chosen]
        covariance = np.atleast_2d(np.cov(resamples, rowvar=False))
        return Estimate(solution, covariance, np.full(k, np.nan), free, self.units.n, np.nan, None)

    def _result(
        self, found: Estimate, deviations: FloatArray, told: dict[str, Any], resamples: FloatArray | None
    ) -> Inference:
        """In the units of the data."""
        fitted, k = self.fitted, self.chosen
        unit, names = fitted.scale[k], [fitted.names[j] for j in k]
        why = reasons(found.free, found.information, np.diag(found.covariance))
        without = np.array([bool(reason) for reason in why])
        covariance = found.covariance / np.outer(unit, unit)
        covariance[without], covariance[:, without] = np.nan, np.nan
        hessian = None if found.data_hessian is None else found.data_hessian[np.ix_(k, k)]
        solution = found.solution
        told |= {"loss": fitted.loss.name, "alpha": float(fitted.ranker.alpha_), "objective": solution.value}
        told |= {"gap": solution.gap, "status": str(solution.status)}
        said = notes(self.units.kind, found.units, found.largest, found.information, hessian, names)
        return Inference(
            tuple(names), k, solution.w[k] / unit, covariance, found.information, deviations[k], why, said,
            self.units.kind, found.units, "sandwich" if resamples is None else "bootstrap", told,
            None if resamples is None else resamples / unit, self.data.n_features, fitted.loss, fitted.ranker.fill_,
        )  # fmt: skip
