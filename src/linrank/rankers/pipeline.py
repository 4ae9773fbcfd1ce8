"""A Pipeline of affine steps and a ranker as one ranker: the steps are folded into its weights.

Every step gives column k the value a_k * x_j + b_k of one column j of its input: scalers do, and so does choosing
columns. Then w.x' = sum of (w_k a_k) x_j + sum of w_k b_k, a linear function of the columns that came in.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._errors import ParameterError
from .._typing import FloatArray
from .limits import Asked, as_pairs


class Affine(NamedTuple):
    """Columns as affine functions of columns that came in: x'_k = factor_k * x[source_k] + shift_k."""

    source: NDArray[np.int64]
    factor: FloatArray
    shift: FloatArray
    n_in: int

    @classmethod
    def identity(cls, n: int) -> Affine:
        """Each column as it is."""
        return cls(np.arange(n), np.ones(n), np.zeros(n), n)

    def scaled(self, factor: Any, shift: Any) -> Affine:
        """Each column times `factor`, plus `shift`; None is 1 or 0."""
        times = 1.0 if factor is None else np.asarray(factor, dtype=np.float64)
        plus = 0.0 if shift is None else np.asarray(shift, dtype=np.float64)
        return self._replace(factor=self.factor * times, shift=self.shift * times + plus)

    def chosen(self, columns: Any) -> Affine:
        """Some of the columns, in that order."""
        return self._replace(source=self.source[columns], factor=self.factor[columns], shift=self.shift[columns])

    @staticmethod
    def beside(parts: list[Affine], n_in: int) -> Affine:
        """The columns of several, one after another."""
        joined = [np.concatenate([part[k] for part in parts]) for k in range(3)] if parts else [np.empty(0)] * 3
        return Affine(joined[0].astype(np.int64), joined[1], joined[2], n_in)


def fold(pipeline: Any) -> tuple[Any, float]:
    """The ranker of a fitted Pipeline on the columns that come in, and the constant that all scores lose by that.

    An estimator that is no Pipeline comes back as it is. A ParameterError says which step cannot be folded, and why, to
    be said after what was wanted.
    """
    if not hasattr(pipeline, "steps"):
        return pipeline, 0.0
    *before, (_, last) = pipeline.steps
    last, inner = fold(last)
    ranker = getattr(last, "ranker_", last)
    if getattr(ranker, "coef_", None) is None:
        raise ParameterError(
            "it does not end in a linear ranker, and targets compute linear functions of the features alone. Keep it "
            "with joblib.dump."
        )
    steps = Affine.identity(_width(pipeline, ranker, before))
    for name, step in before:
        steps = _applied(step, steps, name)
    return _on_input(last, steps, getattr(pipeline, "feature_names_in_", None)), inner + float(
        ranker.coef_ @ steps.shift
    )


def _width(pipeline: Any, ranker: Any, before: list[Any]) -> int:
    first = next((step for _, step in before if step is not None and step != "passthrough"), ranker)
    return int(getattr(first, "n_features_in_", ranker.coef_.size))


def _applied(step: Any, columns: Affine, name: str) -> Affine:
    """Columns after one more step."""
    if step is None or isinstance(step, str):
        return columns if step in (None, "passthrough") else _refused(name, step, "it is not known here")
    for kind in type(step).__mro__:
        rule = RULES.get(kind.__name__)
        if rule is not None:
            return rule(step, columns, name)
    if hasattr(step, "steps"):
        for inner, one in step.steps:
            columns = _applied(one, columns, f"{name}/{inner}")
        return columns
    return _refused(name, step, "it is no scaler and no choice of columns")


def _refused(name: str, step: Any, why: str) -> Affine:
    raise ParameterError(
        f"its step {name!r} ({type(step).__name__}) cannot be folded into the weights: {why}, and a model is a linear "
        "function of the columns that come in. Export the ranker alone and compute what comes before it "
        "yourself, or keep the pipeline as it is with joblib.dump."
    )


def _standard(step: Any, columns: Affine, name: str) -> Affine:
    """(x - centre) / scale."""
    centre = step.mean_ if hasattr(step, "mean_") else step.center_
    if not getattr(step, "with_mean", getattr(step, "with_centering", True)):
        centre = None
    factor = None if step.scale_ is None else 1.0 / step.scale_
    return columns.scaled(factor, None if centre is None else -centre * (1.0 if factor is None else factor))


def _minmax(step: Any, columns: Affine, name: str) -> Affine:
    """X * scale + min."""
    if step.clip:
        return _refused(name, step, "clip=True is not linear")
    return columns.scaled(step.scale_, step.min_)


def _maxabs(step: Any, columns: Affine, name: str) -> Affine:
    """X / scale."""
    if getattr(step, "clip", False):
        return _refused(name, step, "clip=True is not linear")
    return columns.scaled(1.0 / step.scale_, None)


def _query(step: Any, columns: Affine, name: str) -> Affine:
    """(x - shift) / scale, where all rows are one query."""
    if step.fitted_with_qid_:
        return _refused(name, step, "it scales each query by its own rows, which a score of one row does not know")
    return columns.scaled(1.0 / step.scale_, -step.shift_ / step.scale_)


def _selector(step: Any, columns: Affine, name: str) -> Affine:
    return columns.chosen(np.flatnonzero(step.get_support()))


def _function(step: Any, columns: Affine, name: str) -> Affine:
    return columns if step.func is None else _refused(name, step, "nobody knows what its function does")


def _by_column(step: Any, columns: Affine, name: str) -> Affine:
    """Each transformer on its columns."""
    if getattr(step, "transformer_weights", None):
        return _refused(name, step, "it has transformer_weights")
    names = [str(one) for one in getattr(step, "feature_names_in_", [])]
    parts: dict[int, Affine] = {}
    for inner, one, chosen in step.transformers_:
        where = step.output_indices_[inner]
        if one == "drop" or where.stop == where.start:
            continue
        parts[where.start] = _applied(
            one, columns.chosen(_places(chosen, names, step.n_features_in_)), f"{name}/{inner}"
        )
    return Affine.beside([parts[start] for start in sorted(parts)], columns.n_in)


def _places(chosen: Any, names: list[str], n: int) -> Any:
    """Numbers of the columns that a ColumnTransformer names in one of its ways."""
    if isinstance(chosen, slice) and (isinstance(chosen.start, str) or isinstance(chosen.stop, str)):
        start = 0 if chosen.start is None else names.index(chosen.start)
        return np.arange(start, n if chosen.stop is None else names.index(chosen.stop) + 1)
    if isinstance(chosen, str):
        return np.array([names.index(chosen)])
    if not isinstance(chosen, slice) and any(isinstance(one, str) for one in np.atleast_1d(chosen).tolist()):
        return np.array([names.index(one) for one in chosen])
    return np.atleast_1d(np.arange(n)[chosen])


#: What is known of steps, by the names of their classes.
RULES: dict[str, Callable[[Any, Affine, str], Affine]] = {
    "StandardScaler": _standard,
    "RobustScaler": _standard,
    "MinMaxScaler": _minmax,
    "MaxAbsScaler": _maxabs,
    "QueryScaler": _query,
    "SelectorMixin": _selector,
    "FunctionTransformer": _function,
    "ColumnTransformer": _by_column,
}


def _on_input(estimator: Any, steps: Affine, names: Any) -> Any:
    """A copy of the estimator whose weights, scale and fills are of the columns that come in."""
    ranker = copy.copy(getattr(estimator, "ranker_", estimator))
    coef = np.bincount(steps.source, ranker.coef_ * steps.factor, minlength=steps.n_in)
    scale = np.ones(steps.n_in)
    scale[steps.source] = getattr(ranker, "scale_", np.ones(steps.source.size)) / np.abs(steps.factor)
    found: dict[str, Any] = {"coef_": coef, "scale_": scale, "n_features_in_": steps.n_in, "_deviation": None}
    if ranker.fill_ is not None:
        found["fill_"] = _fills(ranker.fill_, steps)
    bounds = _bounds(ranker, getattr(estimator, "feature_names_in_", None), steps)
    _take_on(ranker, found | bounds, names)
    if ranker.__class__ is estimator.__class__:
        return ranker
    classifier = copy.copy(estimator)
    shifted = estimator.intercept_ + float(estimator.ranker_.coef_ @ steps.shift)
    own = {"ranker_": ranker, "coef_": coef[None], "intercept_": shifted, "n_features_in_": steps.n_in}
    _take_on(classifier, own | bounds, names)
    return classifier


def _bounds(ranker: Any, names: Any, steps: Affine) -> dict[str, Any]:
    """Signs and bounds as bounds of the weights of the columns that come in; of one used twice they add up."""
    limits = Asked.of(ranker).over(steps.source.size, names)
    if limits.lower is None or limits.upper is None:
        return {}
    ends = np.sort([limits.lower * steps.factor, limits.upper * steps.factor], axis=0)
    used = np.bincount(steps.source, minlength=steps.n_in) > 0
    lower, upper = (np.bincount(steps.source, end, minlength=steps.n_in) for end in ends)
    none = np.inf  # a column that is left out is bounded by nothing
    return {"monotonic_cst": None, "bounds": as_pairs(np.where(used, lower, -none), np.where(used, upper, none))}


def _take_on(estimator: Any, found: dict[str, Any], names: Any) -> None:
    kept = {name: value for name, value in vars(estimator).items() if name not in ("feature_names_in_", "_aside")}
    named = {} if names is None else {"feature_names_in_": np.asarray(names, dtype=object)}
    estimator.__dict__ = {**kept, **found, **named}


def _fills(fill: FloatArray, steps: Affine) -> FloatArray:
    """What a missing value that comes in must be, to become what the ranker puts in its place."""
    given = (fill - steps.shift) / steps.factor
    found = np.zeros(steps.n_in)
    found[steps.source] = given
    if not np.allclose(found[steps.source], given, rtol=1e-12, atol=0):
        raise ParameterError("A column is used twice, and its missing values are replaced in two ways: use it once.")
    return found
