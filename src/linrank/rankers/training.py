"""One fit, and a path of fits: what LinearRanker, LinearRankerCV and AUCClassifier share."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .._errors import ConvergenceWarning, DataError, ParameterError, overflow_ignored, warn_caller
from .._progress import Progress
from .._typing import FloatArray
from ..data.checks import check_number, check_own
from ..data.ranking_data import RankingData
from ..defaults import (
    ALL_IN_ORDER,
    PARTS,
    all_in_order,
    check_alpha,
    check_scale,
    choose_alpha,
    choose_scale,
    strongest_alpha,
)
from ..engines import Engine, Facts, open_engine
from ..engines.open import check_device
from ..engines.place import check_tolerance
from ..losses import Loss, as_loss, known_name
from ..objective import Objective
from ..solvers import NEED_SMOOTH, SOLVERS, Callback, Newton, Solution, Solver, Status
from ..solvers._base import checked, plain_history
from ..solvers.choose import choose
from ..solvers.iterate import ONLY_RIDGE
from .limits import Asked, Limits, is_on_fold

logger = logging.getLogger("linrank")


#: What alpha="auto" means with an l1 part.
AUTO_L1 = (
    "alpha='auto' is %.3g, a twentieth of the alpha at which all weights are 0: LinearRankerCV (linrank tune) chooses "
    "it by held-out queries"
)


class Start(NamedTuple):
    """Where a fit begins: weights in the units of the data, and the solution they came from, if there is one."""

    coef: FloatArray
    solution: Solution | None = None
    key: Any = None  # of the mean loss that it is a solution for

    @classmethod
    def at(cls, start: Any) -> Start:
        """At weights, or at those of a fitted ranker."""
        try:
            given = np.asarray(getattr(start, "coef_", start))
            coef = np.empty(0) if given.dtype.kind == "c" else given.astype(np.float64)
        except (ValueError, TypeError):
            raise ParameterError("start must be weights, one a feature, or a fitted linear ranker.") from None
        if not np.all(np.isfinite(coef)):
            raise ParameterError("start holds NaN or infinity: give finite weights.")
        return cls(coef[0] if coef.ndim == 2 and len(coef) == 1 else coef)

    def scaled(self, facts: Facts, scale: FloatArray | None, key: Any) -> Solution | FloatArray:
        """For a solver; what a solution knows beyond its weights serves the same mean loss alone."""
        if self.coef.shape != (facts.features,):
            raise DataError(
                f"X has {facts.features} features, the weights to start from have shape {self.coef.shape}: give start= "
                "one a feature, or set warm_start=False."
            )
        w: FloatArray = self.coef if scale is None else self.coef * scale
        return replace(self.solution, w=w) if self.solution is not None and self.key == key else w


class Trained(NamedTuple):
    """What a fit found."""

    facts: Facts
    scale: FloatArray | None
    alpha: float
    solution: Solution
    key: Any = None
    limits: Limits = Limits()
    deviation: FloatArray | None = None  # of the columns, where it was measured

    def attributes(self) -> dict[str, Any]:
        """As fitted rankers have them."""
        scale = np.ones(self.facts.features) if self.scale is None else self.scale
        return {
            "coef_": self.limits.coef(self.solution.w, scale),
            "alpha_": self.alpha,
            "scale_": scale,
            "objective_": self.solution.value,
            "gap_": self.solution.gap,
            "status_": str(self.solution.status),
            "n_iter_": self.solution.n_iter,
            "history_": plain_history(self.solution.history),
            "_deviation": self.deviation,
            "n_pairs_": self.facts.pairs,
            "n_rows_": self.facts.rows,
            "n_queries_": self.facts.queries,
        }

    def warn(self) -> None:
        """Warn where the solver did not converge."""
        status = self.solution.status
        if status is Status.CONVERGED:
            return
        gap = "no certificate" if np.isnan(self.solution.gap) else f"a certified gap of {self.solution.gap:.2g}"
        warn_caller(
            f"The solver ended as {status.value!r} after {self.solution.n_iter} iterations with {gap}. {status.advice}",
            ConvergenceWarning,
        )


@dataclass(frozen=True)
class Training:
    """What rankers are told about a fit, checked."""

    loss: Loss
    alpha: float | str
    solver: str | Solver
    scale: bool | str
    tol: float
    max_iter: int
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0
    device: Any = None
    asked: Asked = field(default_factory=Asked)
    limits: Limits = field(default_factory=Limits)
    names: Any = None  # of the features, where they are known
    limited: bool = False  # whether limits are what was asked for, over these features

    @classmethod
    def of(cls, ranker: Any, **others: Any) -> Training:
        """The parameters of a ranker; `others` are those that it does not have, or not under their own names."""
        names = ("alpha", "solver", "scale", "tol", "max_iter", "n_jobs", "verbose")
        told = {name: getattr(ranker, name) for name in names if name not in others}
        training = cls(as_loss(ranker.loss), **told, asked=Asked.of(ranker), **others)
        training.check()
        return training

    def check(self) -> None:
        """Refuse what cannot be meant, before any work begins."""
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
        self._check_device()
        if not self.loss.smooth and self._needs_smooth():
            fits = "'auto', 'newton' or 'bundle'" if self.loss.smoothed(1.0) is not None else "'auto' or 'bundle'"
            raise ParameterError(
                f"solver={self.solver!r} needs a smooth loss, loss={self.loss.name!r} is not: use solver={fits}, or "
                "loss='squared_hinge'."
            )

        if self.asked.kinks:
            self._check_kinks()
        if not self.loss.smooth and getattr(self.solver, "gradient_tol", None) is not None:
            raise ParameterError(f"gradient_tol needs a smooth loss, {self.loss.name!r} is not: leave it out.")

    def _check_kinks(self) -> None:
        """An l1 part and bounds are for Newton's method, which smooths the hinge, or for somebody's own solver."""
        kind = SOLVERS.get(self.solver) if isinstance(self.solver, str) else type(self.solver)
        if kind is not None and kind is not Newton and issubclass(kind, tuple(SOLVERS.values())):
            raise ParameterError(ONLY_RIDGE)
        if not self.loss.smooth and self.loss.smoothed(1.0) is None and kind in (None, Newton):
            raise ParameterError(
                f"l1_ratio, monotonic_cst and bounds need a loss that is smooth or can be smoothed, {self.loss.name!r} "
                "is not: choose another loss."
            )
        if getattr(self.solver, "gradient_tol", None) is not None:
            raise ParameterError("gradient_tol needs a penalty without l1_ratio and bounds: leave it out.")

    def over(self, n_features: int, names: Any = None) -> Training:
        """With the limits of these features, as far as any were asked for."""
        if not self.asked.kinks:
            return self
        return replace(self, limits=self.asked.over(n_features, names), names=names, limited=True)

    def _check_device(self) -> None:
        """Refuse devices that are not there, and tolerances that their scores cannot certify."""
        check_device(self.device)
        by_gradient = getattr(self.solver, "gradient_tol", None)
        if by_gradient is not None:
            check_tolerance(self.device, "gradient_tol", by_gradient)
        else:
            check_tolerance(self.device, "tol", getattr(self.solver, "tol", self.tol))

    def _needs_smooth(self) -> bool:
        """Whether the solver asked for cannot cope with a loss that is not smooth."""
        kind = SOLVERS.get(self.solver, object) if isinstance(self.solver, str) else type(self.solver)
        smoothable = self.loss.smoothed(1.0) is not None
        return issubclass(kind, NEED_SMOOTH) or (issubclass(kind, Newton) and not smoothable)

    def fit(
        self, data: RankingData, start: Start | None = None, advise: bool = False, on_fold: bool = False
    ) -> Trained:
        """Train on data; `advise`: say so where the fit looks under-regularised; `on_fold`: the data is a part."""
        engine = open_engine(data, self.n_jobs, self.device)
        return self.fit_with(engine, engine.facts, start, advise, on_fold)

    def fit_with(
        self,
        engine: Engine,
        described: Facts | str,
        start: Start | None = None,
        advise: bool = False,
        on_fold: bool = False,
    ) -> Trained:
        """The same on an engine that is open already; `described` is shown before work begins."""
        with engine, overflow_ignored(), Progress(self.verbose, described, known_name(self.loss)) as progress:
            scale, alpha = self.from_data(engine, on_fold)
            if self.limits.l1_ratio > 0.0 and isinstance(self.alpha, str) and not on_fold:
                logger.warning(AUTO_L1, alpha)
            deviation = engine.columns().deviation if self.measures else None
            objective = self.objective(engine, alpha, scale)
            progress.goal = getattr(self.solver, "tol", self.tol) * objective.value_at_zero
            key = self._key(engine) if self.warm_start else None
            begun = None if start is None else start.scaled(engine.facts, scale, key)
            solution = _minimise(self._solver(objective), objective, begun, progress)
            if advise and self.verbose > 0 and all_in_order(engine, objective.scores(solution.w)):
                progress.say(ALL_IN_ORDER)
        if not np.all(np.isfinite(solution.w)) or not np.isfinite(solution.value):
            raise DataError("The objective overflows: scale the features to sizes around 1, or use scale=True.")
        return Trained(engine.facts, scale, alpha, solution, key, self.limits, deviation)

    def objective(self, engine: Engine, alpha: float, scale: FloatArray | None) -> Objective:
        """The objective, in scaled units."""
        assert self.limited or not self.asked.kinks, "a fit that forgot over() would lose l1_ratio, signs and bounds"
        return Objective(engine, self.loss, self.limits.penalty(alpha, scale), scale)

    def path(self, data: RankingData, alphas: FloatArray, done: Callable[[Solution], None]) -> list[Trained]:
        """Fits for several alphas, each started from the one before; `done` is told of each."""
        engine = open_engine(data, self.n_jobs, self.device)
        with engine, overflow_ignored():
            scale, _ = replace(self, alpha=1.0).from_data(engine, on_fold=True)
            solver = self._solver(self.objective(engine, 1.0, scale))  # chosen by the rows, not by alpha
            found: list[Trained] = []
            for alpha in alphas.tolist():
                objective = self.objective(engine, alpha, scale)
                solution = _minimise(solver, objective, found[-1].solution if found else None)
                if found:  # what a solution leaves may be large, and is of no further use
                    found[-1] = found[-1]._replace(solution=replace(found[-1].solution, state=None))
                found.append(Trained(engine.facts, scale, alpha, solution, limits=self.limits))
                done(solution)
        return found

    def default_alpha(self, data: RankingData) -> float:
        """What alpha="auto" stands for."""
        with open_engine(data, self.n_jobs, self.device) as engine, overflow_ignored():
            return replace(self, alpha="auto").from_data(engine)[1]

    def from_data(self, engine: Engine, on_fold: bool = False) -> tuple[FloatArray | None, float]:
        """What the columns are divided by, and alpha; a column may be constant on a fold, though it is bounded."""
        bounded = self.limits.told is not None and not on_fold and not is_on_fold()
        columns = engine.columns() if self.measures or bounded else None
        if bounded and columns is not None:
            self.limits.check_columns(columns.deviation, self.names)
        scale = None if columns is None else choose_scale(self.scale, columns)
        if self.limits.l1_ratio > 0.0 and isinstance(self.alpha, str):
            strongest = strongest_alpha(self.objective(engine, 1.0, scale))
            if strongest > 0.0:
                return scale, strongest / PARTS
        n_rows = engine.facts.row_weights.effective if isinstance(self.alpha, str) else 1.0
        return scale, choose_alpha(self.alpha, known_name(self.loss), columns, scale, n_rows)

    @property
    def measures(self) -> bool:
        """Whether a fit must know the columns."""
        return bool(self.scale) or isinstance(self.alpha, str)

    def _solver(self, objective: Objective) -> Solver:
        """The solver given, or a new one by its name."""
        if not isinstance(self.solver, str):
            return self.solver
        if self.solver == "auto":
            return choose(objective, self.tol, int(self.max_iter))
        return SOLVERS[self.solver](tol=self.tol, max_iter=int(self.max_iter))

    def _key(self, engine: Engine) -> Any:
        """By which the mean loss is known again; nothing is equal to that of a loss which cannot be pickled.

        Not by the loss itself: somebody's own may have been changed since the last fit.
        """
        try:
            loss: tuple[object, bytes] = type(self.loss), pickle.dumps(self.loss)
        except Exception:
            loss = object(), b""
        return engine.fingerprint(), loss, str(self.scale)


def _minimise(
    solver: Solver, objective: Objective, start: FloatArray | Solution | None, callback: Callback | None = None
) -> Solution:
    """The solver's answer, looked at: it may be anybody's."""
    return checked(solver.minimise(objective, start, callback), objective.n_features)
