"""LinearRanker: an exact fit to a certified gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import metadata_routing

from .._errors import ParameterError
from ..data.collections import any_collection
from ..data.dataset import unpacked
from ..data.weights import Weights, named_weights
from ..engines import Torch
from ..losses import AnyLoss
from ..solvers import Solution, Solver
from .cluster import Beside, fit_on_cluster
from .names import feature_names, named
from .predictor import LinearPredictor
from .refusals import refuses
from .training import Start, Training


class LinearRanker(LinearPredictor):
    """Linear ranking function trained on pairwise preferences, without enumerating the pairs.

    Minimises ``alpha/2 |w|^2 + (1/N) sum of c_ij phi(w.x_i - w.x_j)`` over all preferences (i over j) within
    queries, to a certified gap.

    Parameters
    ----------
    loss : str or Loss, default="squared_hinge"
        phi: "squared_hinge" is max(0, 1 - z)^2, smooth and fastest to train; "hinge" is max(0, 1 - z), the loss of
        RankSVM and TreeRSVM; "logistic" is log(1 + e^-z), which makes `predict_pair` a probability; "logistic_erfc" is
        RankNCG's stand-in for it. Or a loss of your own: an instance of `linrank.losses.Loss`, or of any class with
        `name`, `smooth` and `at` (`docs/extending.md`).
    alpha : float or "auto", default="auto"
        Strength of the regulariser, > 0. The mean loss has weight 1, so alpha does not grow with the data. "auto": in
        proportion to the columns' variances over the rows, by a factor for each loss (`docs/how-to-choose.md`); often
        as good as tuning, which is `LinearRankerCV`.
    solver : str or Solver, default="auto"
        How to minimise: "newton" for smooth losses and for the hinge smoothed, "bundle" for any, "cg" (nonlinear
        conjugate gradients) and "tron" (trust-region Newton) for smooth ones, to compare with. "auto" takes Newton's
        method where a Hessian is cheap; else the bundle method, for a smooth loss only once Newton's directions turn
        out to be dear. An instance, of `linrank.solvers` or your own, brings its own tol and max_iter.
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
    device : {"cuda", "cuda:1", ..., "torch:cpu"}, `linrank.engines.Torch`, list of them or None, default=None
        Where to train: on a torch device (``pip install "linrank[torch]"``), or on several, each with a share of the
        queries; `Torch("cuda", scores="float32")` compares scores in float32. None: where X lies, which is this process
        but for a tensor on a device. It plays no part in `predict` and is not saved. docs/gpu.md says when it pays.
    l1_ratio : float, default=0.0
        Share of the l1 norm in the penalty, from 0 to 1 as in scikit-learn's elastic net:
        ``alpha (1 - l1_ratio)/2 |w|^2 + alpha l1_ratio |w|_1`` in scaled units. Above 0, weights of features that are
        not needed are exactly 0, and alpha="auto" is a twentieth of the alpha at which all are (docs/penalties.md).
    monotonic_cst : (d,) array or mapping from feature names, default=None
        The sign of each weight, as in scikit-learn's trees: 1, it is not negative; -1, not positive; 0, either.
    bounds : (lower, upper), one such pair a feature, or mapping from names to pairs, default=None
        Bounds of every weight, or of each, in the units of the data; None is no bound. A weight on its bound is exactly
        that. With an l1 part, signs or bounds, the solver is Newton's method, and the hinge is smoothed.

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
    status_ : {"converged", "max_iter", "stalled", "limited"}
        How the solver ended; "limited": an approximate loss allows no smaller gap.
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

    __metadata_request__fit = {"start": metadata_routing.UNUSED, "client": metadata_routing.UNUSED}  # noqa: RUF012

    _solution: Solution | None = None  # kept by warm_start, not by a model file
    _key: Any = None
    _trains_on_devices = True
    _advises = True  # on alpha, where nobody else chooses it
    _names: Sequence[str] | None = None  # of features, where X does not tell them
    _on_fold = False  # whether X is a part of the data, in which more columns may be constant

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
        device: str | Torch | Sequence[str | Torch] | None = None,
        l1_ratio: float = 0.0,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        bounds: Any = None,
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
        self.device = device
        self.l1_ratio = l1_ratio
        self.monotonic_cst = monotonic_cst
        self.bounds = bounds

    @classmethod
    def from_weights(cls, weights: Weights, **parameters: Any) -> Self:
        """A ranker with weights set by hand, to be judged, compared and exported as a fitted one.

        Parameters
        ----------
        weights : mapping or sequence of numbers
            ``{"bm25": 0.7, "clicks": 0.3}`` by the names of columns, ``{1: 0.7, 46: 0.3}`` by the numbers of features
            as SVMlight counts them (from 1; others weigh 0), or a weight for each column.
        parameters
            Of the ranker; missing="zero" lets NaN count 0.
        """
        ranker = cls(**parameters)
        names, coef = named_weights(weights)
        if ranker.missing not in ("error", "zero"):
            raise ParameterError(f"missing={ranker.missing!r} needs rows to learn from: use 'zero' or 'error'.")
        ranker.coef_, ranker.scale_, ranker.n_features_in_ = coef, np.ones(coef.size), coef.size
        ranker.fill_ = np.zeros(coef.size) if ranker.missing == "zero" else None
        ranker.objective_, ranker.gap_, ranker.fitted_with_qid_ = np.nan, np.nan, False
        if names is not None:
            ranker.feature_names_in_ = np.array(names, dtype=object)
        return ranker

    @refuses
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        group: ArrayLike | None = None,
        start: Any = None,
        client: Any = None,
    ) -> Self:
        """Train on graded rows, explicit pairs, or both.

        Parameters
        ----------
        X : array, dataframe, sparse matrix, tensor, dask collection, (m, d), or Dataset
            Features; CSR, and float32 or float64 in C or F order, are used without a copy. So is what lies on a device:
            a tensor, or anything with ``__dlpack__``. A dataframe's columns hold numbers, or lists of as many numbers
            in every row (embeddings). A Dataset, read or scanned (`linrank.scan`), brings labels, queries and weights
            along.
        y : (m,) or None
            Utilities, any real numbers; None if only `pairs` count. `labels(y, qid)` brings the queries along.
        qid : (m,), name of a column, or None
            Query of each row, in any order: integers or strings; or the column of a dataframe X that holds it, which is
            then no feature. None: all rows are one query. scikit-learn's tools hand it on only with metadata routing,
            and `groups` never: give them ``labels(y, qid)`` as y.
        sample_weight : (m,), optional
            Row weights v; a pair weighs v_i v_j.
        query_weight : (m,) or mapping, optional
            Query weights, per row or by qid.
        pairs : (n, 2) or (n, 3), optional
            Explicit preferences (winner row, loser row[, weight]), rows counted from 0; or, with `ids`, of winner and
            loser by their ids. A list may mix pairs with and without a weight.
        ids : (m,) or name of a column, optional
            What `pairs` call the rows.
        group : (queries,), optional
            Sizes of queries whose rows follow one another, instead of `qid`, as in LightGBM and XGBoost.
        start : (d,) or fitted ranker, optional
            Weights to start from, in the units of the data.
        client : dask.distributed.Client or linrank.engines.Dask, optional
            The cluster to train on (``pip install "linrank[dask]"``); of dask collections by default the one that holds
            them. Rows stay on its workers, each query whole on one of them. docs/cluster.md says what travels.
        """
        if client is not None or any_collection(X, y, qid):
            beside = Beside(y, qid, sample_weight, query_weight, pairs, ids, group)
            return fit_on_cluster(self, client, X, beside, self._start(start))
        training = Training.of(self, warm_start=self.warm_start, device=self.device)
        data_of, (X, y, qid, sample_weight) = X, unpacked(X, y, qid, sample_weight)
        given = self._given(X, qid, group=group, pairs=pairs, ids=ids)
        weights: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight}
        data, fill = self._data(given.X, y, given.qid, **weights, pairs=given.pairs)
        names = feature_names(named(data_of, given.X))
        training = training.over(data.n_features, names.get("feature_names_in_", self._names))
        trained = training.fit(data, self._start(start), self._advises, self._on_fold)
        kept = (trained.solution, trained.key) if self.warm_start else (None, None)
        found = {**trained.attributes(), **names, "fill_": fill, "_aside": given.aside}
        self._adopt(data, {**found, "_solution": kept[0], "_key": kept[1]})
        trained.warn()
        return self

    def _start(self, start: Any) -> Start | None:
        """The weights given, or, with warm_start, those of the last fit and what is known beside them."""
        if start is not None:
            return Start.at(start)
        if not self.warm_start or getattr(self, "coef_", None) is None:
            return None
        return Start(self.coef_, self._solution, self._key)
