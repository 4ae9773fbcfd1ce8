"""The papers' systems by their names, with their own parameters, steps and stopping rules.

Thin over the exact training and `SGDRanker`: what is here is how a paper's parameters become ours. Columns are taken
as they are (scale=False). `docs/papers.md` maps each paper line by line, and says what differs.

`max_iter`, `n_jobs` and `verbose` are no parameters of the papers: they are attributes of the classes, which may be set
on an instance.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state, metadata_routing

from ._errors import ParameterError
from .data.checks import check_choice, check_number
from .data.dataset import unpacked
from .engines.open import check_device
from .engines.place import check_tolerance
from .losses import Hinge, LogisticErfc, Loss, SquaredHinge
from .rankers.names import feature_names, named
from .rankers.predictor import LinearPredictor
from .rankers.refusals import refuses
from .rankers.sgd import SGDRanker
from .rankers.training import Start, Training
from .solvers import Bundle, ConjugateGradients, Solver, Tron
from .stochastic.settings import check_whole

__all__ = ["SPD", "DCMRankSVM", "OSTRankSVM", "PSWXRankSVM", "PairRSVM", "RankNCG", "TreeRSVM"]


class _Published(LinearPredictor):
    """What is the same in all papers."""

    preferences = "full"
    query_weighting = "pairs"
    verbose = 0

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted, with what was set beside the parameters."""
        copied = type(self)(**{name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()})
        beside = ("max_iter", "n_jobs", "verbose", "_metadata_request")
        copied.__dict__.update({name: value for name, value in vars(self).items() if name in beside})
        return copied

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")  # not by attributes that end in _: lambda_ is a parameter


class _Exact(_Published):
    """Fits to the end by a paper's method; subclasses say which one that is."""

    __metadata_request__fit = {"start": metadata_routing.UNUSED}  # noqa: RUF012

    max_iter = 1000
    n_jobs: int | None = None
    device: Any = None
    positive: ClassVar[tuple[str, ...]] = ()  # parameters that must be

    @abstractmethod
    def _method(self, n_pairs: float) -> tuple[Loss, float, Solver]:
        """Loss, alpha and solver, once N is known."""

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
    ) -> Self:
        """Train, as `LinearRanker.fit` does; `start`, where it is given, takes the place of the paper's own."""
        self._check()
        data_of, (X, y, qid, sample_weight) = X, unpacked(X, y, qid, sample_weight)
        given = self._given(X, qid, group=group, pairs=pairs, ids=ids)
        weights: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight}
        data, fill = self._data(given.X, y, given.qid, **weights, pairs=given.pairs)
        loss, alpha, solver = self._method(data.preferences.total)
        others = {"n_jobs": self.n_jobs, "verbose": self.verbose, "device": self.device}
        training = Training(loss, alpha, solver, False, 1e-3, self.max_iter, **others)
        training.check()
        begin = self._first(data.n_features) if start is None else Start.at(start)
        trained = training.fit(data, begin)
        names = feature_names(named(data_of, given.X))
        self._adopt(data, {**trained.attributes(), **names, "fill_": fill, "_aside": given.aside})
        trained.warn()
        return self

    def _check(self) -> None:
        """Refuse parameters that cannot be meant, before any work begins."""
        for name in self.positive:
            check_number(name, getattr(self, name), above=0.0)

    def _first(self, n_features: int) -> Start | None:
        """Where the paper's method begins; None: at 0."""
        return None


class _Bundled(_Exact):
    """Algorithm 1 of TreeRSVM over a way of counting."""

    _required_parameters: ClassVar[list[str]] = ["lambda_"]
    positive = ("lambda_", "eps")
    loss = "hinge"
    query_weighting = "queries"
    max_iter = 10_000
    counting: ClassVar[str]

    def __init__(self, lambda_: float, eps: float = 1e-3) -> None:
        self.lambda_ = lambda_
        self.eps = eps

    def _method(self, n_pairs: float) -> tuple[Loss, float, Solver]:
        # The mean hinge at 0 is 1, so eps, a difference of objectives, is tol; planes are kept, not merged.
        solver = Bundle(self.eps, self.max_iter, line_search=False, max_planes=self.max_iter + 2)
        return Hinge(counting=self.counting), 2.0 * self.lambda_, solver


class TreeRSVM(_Bundled):
    """Linear RankSVM by cutting planes and an order-statistic tree: Airola, Pahikkala and Salakoski, 2010 and 2011.

    Minimises ``lambda w.w + R(w)``, R the mean hinge over the pairs of a query, averaged over queries, by Algorithm 1
    from w = 0. It ends where the objective is within eps of the planes' minimum.

    Parameters
    ----------
    lambda_ : float
        Strength of the regulariser, > 0; alpha is twice that.
    eps : float, default=1e-3
        The gap to end at, in the units of the objective.
    """

    counting = "tree"


class PairRSVM(_Bundled):
    """The same method over all pairs, one by one: TreeRSVM's baseline, its section 5.1. Parameters as `TreeRSVM`'s."""

    counting = "pairs"


class _TrustRegion(_Exact):
    """Algorithm 1 of P-SWX over a way of counting."""

    positive = ("C", "eps_s")
    loss = "squared_hinge"
    counting: ClassVar[str]

    def __init__(self, C: float = 1, *, eps_s: float = 1e-5) -> None:
        self.C = C
        self.eps_s = eps_s

    def _method(self, n_pairs: float) -> tuple[Loss, float, Solver]:
        solver = Tron(max_iter=self.max_iter, gradient_tol=self.eps_s, as_published=True)
        return SquaredHinge(counting=self.counting), 1.0 / (self.C * n_pairs), solver


class PSWXRankSVM(_TrustRegion):
    """Linear RankSVM by trust-region Newton steps, pairs counted one by one: Jin and Lin, 2014.

    Minimises ``w.w / 2 + C sum over pairs of max(0, 1 - z)^2``. It ends where |grad f(w)| <= eps_s |grad f(0)|.

    Parameters
    ----------
    C : float, default=1
        Weight of a pair; alpha is 1 / (C N), N the number of pairs.
    eps_s : float, default=1e-5
        The gradient to end at, relative to that at 0: equation 3.
    device : str, `linrank.engines.Torch`, list of them or None, default=None
        Where to train, as `LinearRanker`'s; the paper's is "cuda". None: where X lies. On a device pairs are looked at
        one by one where queries are short (`docs/gpu.md`).
    """

    counting = "pairs"
    _trains_on_devices = True

    def __init__(self, C: float = 1, *, eps_s: float = 1e-5, device: Any = None) -> None:
        super().__init__(C, eps_s=eps_s)
        self.device = device

    def _check(self) -> None:
        super()._check()
        check_device(self.device)
        check_tolerance(self.device, "eps_s", self.eps_s)


class OSTRankSVM(_TrustRegion):
    """The same method with an order-statistic tree, O(l log k): section 2.1. `C` and `eps_s` as `PSWXRankSVM`'s."""

    counting = "tree"


class DCMRankSVM(_TrustRegion):
    """The same method with a pass for each of k levels, O(l k): section 2.1. `C` and `eps_s` as `PSWXRankSVM`'s."""

    counting = "levels"


class RankNCG(_Exact):
    """Logistic ranking by conjugate gradients and fast sums of erfc: Raykar, Duraiswami and Krishnapuram, 2008.

    Minimises ``lambda/2 |w|^2 + sum over pairs of log(1 + e^-z)``, the sigmoid of its gradient replaced by erfc. It
    ends where |g(w)| <= tol |g(w_0)|.

    Parameters
    ----------
    lambda_ : float
        Strength of the regulariser, > 0; alpha is lambda / N, N the number of pairs.
    eps : float, default=1e-6
        Accuracy of the sums, relative to their weights.
    tol : float, default=1e-3
        The gradient to end at, relative to that at the start.
    start : {"random", "zero"}, (d,) or fitted ranker, default="random"
        w_0: drawn from N(0, I), 0, or weights.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random start.
    """

    _required_parameters: ClassVar[list[str]] = ["lambda_"]
    positive = ("lambda_", "eps", "tol")
    loss = "logistic_erfc"

    def __init__(
        self,
        lambda_: float,
        *,
        eps: float = 1e-6,
        tol: float = 1e-3,
        start: str | ArrayLike = "random",
        random_state: Any = None,
    ) -> None:
        self.lambda_ = lambda_
        self.eps = eps
        self.tol = tol
        self.start = start
        self.random_state = random_state

    def _method(self, n_pairs: float) -> tuple[Loss, float, Solver]:
        solver = ConjugateGradients(max_iter=self.max_iter, gradient_tol=self.tol, as_published=True)
        return LogisticErfc(self.eps), self.lambda_ / n_pairs, solver

    def _first(self, n_features: int) -> Start | None:
        if not isinstance(self.start, str):
            return Start.at(self.start)
        check_choice("start", self.start, ("random", "zero"))
        if self.start == "zero":
            return None
        seed = self.random_state
        source = seed if isinstance(seed, np.random.Generator) else check_random_state(seed)
        return Start(source.standard_normal(n_features))


#: What the steps of each rule of SPD know, beside the pair.
KNOWN: dict[str, tuple[str, ...]] = {
    "sgd": ("lambda_",),
    "pegasos": ("lambda_",),
    "passive_aggressive": ("C",),
    "romma": (),
    "passive_aggressive_then_pegasos": ("lambda_", "C"),
    "sgd_svm": ("lambda_",),
    "perceptron": (),
    "perceptron_margin": (),
}
#: What a fitted SGDRanker leaves, some of it only for some data.
LEFT = (
    *("coef_", "alpha_", "scale_", "fill_", "objective_", "gap_", "status_", "n_iter_", "n_pairs_", "history_"),
    *("fitted_with_qid_", "n_features_in_", "feature_names_in_", "n_rows_", "n_queries_"),
    *("_rows_seen", "_queries_without_pairs", "_aside", "_deviation"),
)


class SPD(_Published):
    """Stochastic pairwise descent: Sculley, 2009.

    A step on one drawn pair, `iterations` of them, for ``lambda/2 |w|^2`` and the mean hinge over all pairs; the
    weights are those of the last step.

    Parameters
    ----------
    rule : str, default="pegasos"
        "sgd_svm" (the paper's SGD SVM), "sgd" (which shrinks at every step), "pegasos", "passive_aggressive", "romma",
        "perceptron", "perceptron_margin" or "passive_aggressive_then_pegasos".
    lambda_ : float or None, default=None
        Strength of the regulariser, > 0; "sgd_svm", "sgd" and "pegasos" need it. It is our alpha.
    C : float or None, default=None
        Longest passive-aggressive step, > 0; "passive_aggressive" needs it.
    iterations : int, default=100_000
        Steps.
    sampling : {"uniform", "balanced", "rejection"}, default="uniform"
        How pairs are drawn: uniformly; the paper's indexed sampling; or its sampling without an index.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the pairs drawn.
    """

    loss = "hinge"

    def __init__(
        self,
        rule: str = "pegasos",
        *,
        lambda_: float | None = None,
        C: float | None = None,
        iterations: int = 100_000,
        sampling: str = "uniform",
        random_state: Any = None,
    ) -> None:
        self.rule = rule
        self.lambda_ = lambda_
        self.C = C
        self.iterations = iterations
        self.sampling = sampling
        self.random_state = random_state

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
    ) -> Self:
        """Train, as `SGDRanker.fit` does."""
        ranker = self._ranker()
        weights: dict[str, Any] = {"sample_weight": sample_weight, "query_weight": query_weight}
        ranker.fit(X, y, qid, **weights, pairs=pairs, ids=ids, group=group)
        kept = {name: getattr(ranker, name) for name in LEFT if hasattr(ranker, name)}
        self.__dict__ = {name: value for name, value in vars(self).items() if name != "feature_names_in_"} | kept
        return self

    def _ranker(self) -> SGDRanker:
        self._check_known()
        return SGDRanker(
            alpha="auto" if self.lambda_ is None else self.lambda_,  # of the objective reported, where no step has one
            rule=self.rule,
            C=1.0 if self.C is None else self.C,
            n_steps=self.iterations,
            sampling=self.sampling,
            random_state=self.random_state,
            average=False,
            scale=False,
            verbose=self.verbose,
        )

    def _check_known(self) -> None:
        """Refuse what the steps of the rule do not know, and the lack of what they need."""
        check_whole("iterations", self.iterations, least=1)
        if not isinstance(self.rule, str) or self.rule not in KNOWN:
            return  # SGDRanker says what is wrong with it
        for name in ("lambda_", "C"):
            value, known = getattr(self, name), name in KNOWN[self.rule]
            if known and value is None:
                raise ParameterError(f"rule={self.rule!r} needs {name}: give a number above 0.")
            if not known and value is not None:
                raise ParameterError(f"rule={self.rule!r} has no {name}: leave it out, or choose another rule.")
            if known:
                check_number(name, value, above=0.0)
