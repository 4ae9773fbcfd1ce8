"""The scikit-learn face: parameters and validation, nothing numerical."""

from __future__ import annotations

import logging
import pickle
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from .._errors import ConvergenceWarning, DataError, ParameterError
from .._progress import Progress
from .._typing import FloatArray
from ..data.checks import check_number, check_own
from ..data.labels import are_labels, split_labels
from ..data.missing import learn_missing
from ..data.ranking_data import RankingData
from ..defaults import ALL_IN_ORDER, all_in_order, check_alpha, check_scale, choose_alpha, choose_scale
from ..engines import Engine, Facts, open_engine
from ..engines.local import overflow_ignored
from ..losses import AnyLoss, Loss, as_loss, known_name
from ..objective import Objective
from ..penalties import Ridge
from ..solvers import (
    SOLVERS,
    Callback,
    ConjugateGradients,
    Newton,
    Solution,
    Solver,
    Status,
    Tron,
)
from ..solvers._base import checked
from .predictor import LinearPredictor

logger = logging.getLogger("linrank")


class LinearRanker(LinearPredictor):
    """Linear ranking function trained on pairwise preferences, without enumerating the pairs.

    Minimises ``alpha/2 |w|^2 + (1/N) sum of c_ij phi(w.x_i - w.x_j)`` over all preferences (i over j) within
    queries, to a certified gap.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge", "logistic", "logistic_erfc"} or Loss, default="squared_hinge"
        phi: "squared_hinge" is max(0, 1 - z)^2, smooth and fastest to train; "hinge" is max(0, 1 - z), the loss of
        RankSVM and TreeRSVM; "logistic" is log(1 + e^-z), which makes `predict_pair` a probability; "logistic_erfc" is
        RankNCG's stand-in for it. Or a loss of your own: an instance of `linrank.losses.Loss`, or of any class with
        `name`, `smooth` and `at` (`docs/extending.md`).
    alpha : float or "auto", default="auto"
        Strength of the regulariser, > 0. The mean loss has weight 1, so alpha does not grow with the data. "auto": in
        proportion to the columns' variances over the rows, by a factor for each loss (`docs/how-to-choose.md`); often
        as good as tuning, which is `LinearRankerCV`.
    solver : {"auto", "newton", "bundle", "cg", "tron"} or Solver, default="auto"
        How to minimise: "newton" for smooth losses and for the hinge smoothed, "bundle" for any, "cg" (nonlinear
        conjugate gradients) and "tron" (trust-region Newton) for smooth ones, to compare with. "auto" takes Newton's
        method, but the bundle method for the hinge with few features or large sparse X, and for losses of your own that
        are not smooth. An instance, of `linrank.solvers` or your own, brings its own tol and max_iter.
    preferences : {"full", "chain"} or edges, default="full"
        Compare all levels within a query, or consecutive levels only, or those joined by a graph: a list or array of
        edges (lower level, higher level[, weight]) between values of y. Cycles are allowed, levels that do not occur
        are ignored, weights of repeated edges add up.
    query_weighting : {"pairs", "queries"}, default="pairs"
        Whether each pair or each query counts the same.
    scale : bool or "auto", default="auto"
        Divide each column by its standard deviation during training (True), or not (False). "auto" does so with columns
        that are mostly non-zero, and divides the others by one number, their typical size, so that rare words are not
        blown up. `coef_` is in the units of the data given; alpha, `objective_` and `gap_` are those of the scaled
        problem.
    tol : float, default=1e-3
        Stop when the certified gap is at most tol times the objective at w = 0.
    max_iter : int, default=1000
        Give up after so many iterations, with a ConvergenceWarning.
    warm_start : bool, default=False
        Start from the weights of the last fit; on the same data (and scale, loss, weights) its planes are kept
        as well, whatever alpha is.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 is all. The result does not depend on it, to the last bit.
    verbose : int, default=0
        Show iteration, objective, gap and time on standard error.
    missing : {"error", "zero", "mean"}, default="error"
        What to do with NaN in X, when fitting and when predicting: refuse it, or put zero or the mean of the column's
        other values (of the rows fitted to) in its place.

    Attributes
    ----------
    coef_ : (d,)
        Weights: `predict` is X @ coef_.
    alpha_ : float
        The strength of the regulariser that was used.
    scale_ : (d,)
        What the columns were divided by (1 with scale=False).
    objective_, gap_ : float
        The objective reached, and a proven bound on how far it is above the minimum.
    fill_ : (d,) or None
        What NaN is replaced by in each column; None with missing="error".
    status_ : {"converged", "max_iter", "stalled"}
        How the solver ended.
    n_iter_ : int
        Iterations made.
    n_rows_, n_queries_, n_pairs_ : int
        Rows, queries and preferences with positive weight that it was fitted to.
    history_ : list of (iteration, objective, gap, seconds)
        One entry per iteration.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from linrank import LinearRanker
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ranker = LinearRanker().fit(X, y)
    >>> round(ranker.score(X, y), 2)
    0.76
    """

    _solution: Solution | None = None  # kept by warm_start, not by a model file
    _risk_key: Any = None
    _advises = True  # on alpha, where nobody else chooses it

    def __init__(
        self,
        loss: str | AnyLoss = "squared_hinge",
        alpha: float | str = "auto",
        *,
        solver: str | Solver = "auto",
        preferences: str | ArrayLike = "full",
        query_weighting: str = "pairs",
        scale: bool | str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        missing: str = "error",
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.solver = solver
        self.preferences = preferences
        self.query_weighting = query_weighting
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.missing = missing

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
    ) -> Self:
        """Train on graded rows, explicit pairs, or both.

        Parameters
        ----------
        X : array, dataframe or sparse matrix, (m, d)
            Features; CSR, and float32 or float64 in C or F order, are used without a copy.
        y : (m,) or None
            Utilities, any real numbers; None if only `pairs` count. `labels(y, qid)` brings the queries along.
        qid : (m,) or None
            Query of each row, in any order: integers or strings. None: all rows are one query. scikit-learn's tools
            hand it on only with metadata routing, and `groups` never: give them ``labels(y, qid)`` as y.
        sample_weight : (m,), optional
            Row weights v; a pair weighs v_i v_j.
        query_weight : (m,) or mapping, optional
            Query weights, per row or by qid.
        pairs : (n, 2) or (n, 3), optional
            Explicit preferences (winner row, loser row[, weight]).
        """
        self._check_parameters()
        plain_qid = qid is not None and not are_labels(y)
        y, qid = split_labels(y, qid)
        complete, fill = learn_missing(X, self.missing)
        data = RankingData(
            complete,
            y,
            qid,
            sample_weight=sample_weight,
            query_weight=query_weight,
            pairs=pairs,
            preferences=self.preferences,
            query_weighting=self.query_weighting,
        )
        loss, engine = self._loss(), open_engine(data, self.n_jobs)
        with engine, overflow_ignored(), Progress(self.verbose, engine.facts, known_name(loss)) as progress:
            scale, alpha = self._from_data(engine)
            objective = Objective(engine, loss, Ridge(alpha), scale)
            progress.goal = getattr(self.solver, "tol", self.tol) * objective.value_at_zero
            risk_key = (engine.fingerprint(), _state(self.loss), str(self.scale)) if self.warm_start else None
            start = self._start(engine.facts, risk_key, scale)
            solution = _minimise(self._solver(engine), objective, start, progress)
            if self._advises and self.verbose > 0 and all_in_order(engine, objective.scores(solution.w)):
                progress.say(ALL_IN_ORDER)
        if not np.all(np.isfinite(solution.w)) or not np.isfinite(solution.value):
            raise DataError("The objective overflows: scale the features to sizes around 1, or use scale=True.")
        validate_data(self, X, skip_check_array=True)  # feature names and their number, once nothing can fail any more
        self._keep(engine.facts, solution, scale, risk_key, with_qid=qid is not None)
        self.alpha_ = alpha
        self._remember(data.query, data.query_ids, plain_qid=plain_qid)
        self.fill_ = fill
        return self

    def _solve_path(
        self, data: RankingData, alphas: FloatArray, done: Callable[[Solution], None] = lambda _: None
    ) -> tuple[list[Solution], FloatArray | None]:
        """Solutions for several alphas, each started from the one before, and the scale they are in."""
        loss, engine = self._loss(), open_engine(data, self.n_jobs)
        with engine, overflow_ignored():
            scale = choose_scale(self.scale, engine.columns()) if self.scale else None
            solver = self._solver(engine)
            solutions: list[Solution] = []
            for alpha in alphas:
                objective = Objective(engine, loss, Ridge(float(alpha)), scale)
                solutions.append(_minimise(solver, objective, solutions[-1] if solutions else None))
                done(solutions[-1])
        return solutions, scale

    def _from_data(self, engine: Engine) -> tuple[FloatArray | None, float]:
        """What the columns are divided by, and alpha."""
        columns = engine.columns() if self.scale or isinstance(self.alpha, str) else None
        scale = None if columns is None else choose_scale(self.scale, columns)
        n_rows = engine.facts.row_weights.effective
        return scale, choose_alpha(self.alpha, known_name(self._loss()), columns, scale, n_rows)

    def _check_parameters(self) -> None:
        loss = self._loss()
        check_alpha(self.alpha)
        check_scale(self.scale)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, above=0)
        if int(self.max_iter) != self.max_iter:
            raise ParameterError(f"max_iter={self.max_iter!r} must be a whole number.")
        if not isinstance(self.warm_start, (bool, np.bool_)):
            raise ParameterError(f"warm_start={self.warm_start!r} must be True or False.")
        if not isinstance(self.verbose, (bool, int, np.integer)):
            raise ParameterError(f"verbose={self.verbose!r} must be a whole number, 0 for silence.")
        check_own("solver", self.solver, ("auto", *SOLVERS), ("minimise",))
        if not loss.smooth and self._needs_smooth(loss):
            fits = "'auto', 'newton' or 'bundle'" if loss.smoothed(1.0) is not None else "'auto' or 'bundle'"
            raise ParameterError(
                f"solver={self.solver!r} needs a smooth loss, loss={loss.name!r} is not: use solver={fits}, or "
                "loss='squared_hinge'."
            )

    def _loss(self) -> Loss:
        """The loss by its name, or the one given."""
        return as_loss(self.loss)

    def _needs_smooth(self, loss: Loss) -> bool:
        """Whether the solver asked for cannot cope with a loss that is not smooth."""
        kind = SOLVERS.get(self.solver, object) if isinstance(self.solver, str) else type(self.solver)
        return issubclass(kind, (ConjugateGradients, Tron)) or (issubclass(kind, Newton) and loss.smoothed(1.0) is None)

    def _solver(self, engine: Engine) -> Solver:
        if not isinstance(self.solver, str):
            return self.solver
        name = self.solver
        if name == "auto":
            # Smoothing the hinge for Newton's method pays where exact Hessians can be had.
            loss = self._loss()
            smooth = loss if loss.smooth else loss.smoothed(1.0)
            pays = loss.smooth or (smooth is not None and engine.hessian_cost(smooth) is not None)
            name = "newton" if pays else "bundle"
        return SOLVERS[name](tol=self.tol, max_iter=int(self.max_iter))

    def _start(self, facts: Facts, risk_key: Any, scale: FloatArray | None) -> Solution | FloatArray | None:
        if not self.warm_start or getattr(self, "coef_", None) is None:
            return None
        if self.coef_.size != facts.features:
            raise DataError(
                f"warm_start: X has {facts.features} features, the last fit had {self.coef_.size}: "
                "set warm_start=False or give the same features."
            )
        w: FloatArray = self.coef_ if scale is None else self.coef_ * scale
        if self._solution is not None and self._risk_key == risk_key:
            return replace(self._solution, w=w)
        return w

    def _keep(self, facts: Facts, solution: Solution, scale: FloatArray | None, risk_key: Any, with_qid: bool) -> None:
        self.scale_ = np.ones(facts.features) if scale is None else scale
        self.coef_ = solution.w / self.scale_
        self.objective_ = solution.value
        self.gap_ = solution.gap
        self.status_ = str(solution.status)
        self.n_iter_ = solution.n_iter
        self.history_ = solution.history
        self.n_pairs_ = facts.pairs
        self.n_rows_ = facts.rows
        self.n_queries_ = facts.queries
        self.fitted_with_qid_ = with_qid
        self._solution = solution if self.warm_start else None
        self._risk_key = risk_key
        if solution.status is not Status.CONVERGED:
            gap = "no certificate" if np.isnan(solution.gap) else f"a certified gap of {solution.gap:.2g}"
            warnings.warn(
                f"The solver ended as {solution.status.value!r} after {solution.n_iter} iterations with {gap}. "
                f"{solution.status.advice}",
                ConvergenceWarning,
                stacklevel=3,
            )


def _minimise(
    solver: Solver, objective: Objective, start: FloatArray | Solution | None, callback: Callback | None = None
) -> Solution:
    """The solver's answer, looked at: it may be anybody's."""
    return checked(solver.minimise(objective, start, callback), objective.n_features)


def _state(loss: Any) -> Any:
    """By which a loss is known again; nothing is equal to that of one which cannot be pickled.

    Not the loss itself: somebody's own may have been changed since the last fit.
    """
    try:
        return type(loss), pickle.dumps(loss)
    except Exception:
        return object()
