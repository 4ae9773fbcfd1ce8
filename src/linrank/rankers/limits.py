"""What users ask of weights beyond alpha: how many of them (l1_ratio), which signs, and which bounds."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..penalties import ElasticNet, Ridge

SIGNS = "1 (the weight is not negative), 0 (any) or -1 (not positive)"
PAIRS = "a pair (lower, upper) for every weight, one for each feature, or a mapping from names to pairs"


@dataclass(frozen=True, eq=False)
class Limits:
    """An l1 share, and bounds of each weight in the units of the data; None: there are none."""

    l1_ratio: float = 0.0
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    told: NDArray[np.bool_] | None = None  # the features that were bounded one by one, not all alike

    @property
    def kinks(self) -> bool:
        """Whether the penalty is more than a ridge."""
        return self.l1_ratio > 0.0 or self.lower is not None

    def penalty(self, alpha: float, scale: FloatArray | None) -> Ridge | ElasticNet:
        """The penalty in scaled units."""
        if not self.kinks:
            return Ridge(alpha)
        if self.lower is None or self.upper is None:
            return ElasticNet(alpha, self.l1_ratio)
        return ElasticNet(alpha, self.l1_ratio, *_scaled(self.lower, self.upper, scale))

    def coef(self, w: FloatArray, scale: FloatArray | None) -> FloatArray:
        """Weights in the units of the data: on a bound they are that bound, to the last bit."""
        coef: FloatArray = w if scale is None else w / scale
        if self.lower is None or self.upper is None:
            return coef
        lower, upper = _scaled(self.lower, self.upper, scale)
        coef = np.where(w == lower, self.lower, np.where(w == upper, self.upper, coef))
        return np.clip(coef, self.lower, self.upper) + 0.0

    def check_columns(self, deviation: FloatArray, names: Sequence[str] | None) -> None:
        """Refuse a bound for a feature that has one value: no pair tells its weight."""
        if self.told is None:
            return
        wrong = np.flatnonzero(self.told & (deviation == 0.0))
        if wrong.size:
            raise DataError(
                f"{_feature(wrong[0], names)} is constant, so no pair says anything of its weight: leave out the "
                "feature, or its entry in monotonic_cst and bounds."
            )


class _Here(threading.local):
    on_fold = False


_here = _Here()


@contextmanager
def on_fold() -> Iterator[None]:
    """Within, this thread fits to parts of the data: there a bounded column may be constant, though it is not in all.

    For whoever fits estimators that it does not know: a ranker may be the last step of a pipeline, or be searched.
    """
    before, _here.on_fold = _here.on_fold, True
    try:
        yield
    finally:
        _here.on_fold = before


def is_on_fold() -> bool:
    """Whether this thread does so now."""
    return _here.on_fold


def _scaled(lower: FloatArray, upper: FloatArray, scale: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    return (lower, upper) if scale is None else (lower * scale, upper * scale)


@dataclass(frozen=True, eq=False)
class Asked:
    """The parameters l1_ratio, monotonic_cst and bounds as they were given."""

    l1_ratio: Any = 0.0
    monotonic_cst: Any = None
    bounds: Any = None

    @classmethod
    def of(cls, ranker: Any) -> Asked:
        """Those of a ranker, the first one checked: the others need to know the features. The papers' have none."""
        asked = cls(*(getattr(ranker, field.name, field.default) for field in fields(cls)))
        number = isinstance(asked.l1_ratio, (int, float, np.integer, np.floating))
        if not number or isinstance(asked.l1_ratio, bool) or not 0.0 <= asked.l1_ratio <= 1.0:
            raise ParameterError(f"l1_ratio={asked.l1_ratio!r} must be a number from 0 to 1.")
        return asked

    @property
    def kinks(self) -> bool:
        """Whether anything was asked for."""
        return self.l1_ratio > 0.0 or self.monotonic_cst is not None or self.bounds is not None

    def by_place(self, n_features: int, names: Sequence[str]) -> dict[str, Any]:
        """Signs and bounds given by name, with one entry a feature instead: for those whose names will not be kept."""
        found: dict[str, Any] = {}
        if isinstance(self.monotonic_cst, Mapping):
            signs, _ = _signs(self.monotonic_cst, n_features, list(names))
            found["monotonic_cst"] = signs.astype(int).tolist()
        if isinstance(self.bounds, Mapping):
            found["bounds"] = as_pairs(*_bounds(self.bounds, n_features, list(names))[:2])
        return found

    def over(self, n_features: int, names: Any = None) -> Limits:
        """The limits of so many features; `names` are theirs, where they are known."""
        known = None if names is None else [str(name) for name in names]
        if self.monotonic_cst is None and self.bounds is None:
            return Limits(float(self.l1_ratio))
        signs, signed = _signs(self.monotonic_cst, n_features, known)
        lower, upper, bounded = _bounds(self.bounds, n_features, known)
        lower = np.where(signs > 0, np.maximum(lower, 0.0), lower)
        upper = np.where(signs < 0, np.minimum(upper, 0.0), upper)
        empty = np.flatnonzero(~((lower <= upper) & (lower < np.inf) & (upper > -np.inf)))
        if empty.size:
            j = int(empty[0])
            raise ParameterError(
                f"{_feature(j, known)} may have no weight at all, from {lower[j]:g} to {upper[j]:g}: let its lower "
                "bound be at most the upper one, and both agree with monotonic_cst."
            )
        if np.all(lower == -np.inf) and np.all(upper == np.inf):
            return Limits(float(self.l1_ratio))
        return Limits(float(self.l1_ratio), lower, upper, signed | bounded)


def as_pairs(lower: FloatArray, upper: FloatArray) -> list[tuple[float | None, float | None]]:
    """Bounds as the parameter takes them, a pair a feature."""
    low, high = ([None if np.isinf(end) else end for end in ends.tolist()] for ends in (lower, upper))
    return list(zip(low, high, strict=True))


def _signs(given: Any, n_features: int, names: list[str] | None) -> tuple[FloatArray, NDArray[np.bool_]]:
    """1, 0 or -1 for each feature, and for which of them that was said."""
    signs = np.zeros(n_features)
    if isinstance(given, Mapping):
        for name, value in given.items():
            signs[_place("monotonic_cst", name, names)] = _number("monotonic_cst", value, SIGNS)
    elif given is not None:
        signs = _vector("monotonic_cst", given, n_features, SIGNS)
    if not np.all(np.isin(signs, (-1.0, 0.0, 1.0))):
        wrong = signs[~np.isin(signs, (-1.0, 0.0, 1.0))][0]
        raise ParameterError(f"monotonic_cst holds {wrong:g}: it takes {SIGNS}.")
    return signs, signs != 0.0


def _bounds(given: Any, n_features: int, names: list[str] | None) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Lower and upper bounds of each weight, and of which of them that was said one by one."""
    lower, upper = np.full(n_features, -np.inf), np.full(n_features, np.inf)
    if given is None:
        return lower, upper, np.zeros(n_features, dtype=bool)
    if isinstance(given, Mapping):
        for name, pair in given.items():
            j = _place("bounds", name, names)
            lower[j], upper[j] = _pair(pair)
        return lower, upper, (lower > -np.inf) | (upper < np.inf)
    size = _length(given)
    if size == 2 and all(_length(end) is None for end in given):
        low, high = _pair(given)
        return np.full(n_features, low), np.full(n_features, high), np.zeros(n_features, dtype=bool)
    if size == n_features == 2 and isinstance(given, tuple) and all(isinstance(end, np.ndarray) for end in given):
        raise ParameterError(
            "bounds of two arrays for two features may be pairs or ends: give [(lower, upper), (lower, upper)]."
        )
    if size == n_features and all(_length(pair) == 2 for pair in given):
        both = np.array([_pair(pair) for pair in given])
        lower, upper = both[:, 0].copy(), both[:, 1].copy()
    elif size == 2:
        lower, upper = (_ends(end, n_features, none) for end, none in zip(given, (-np.inf, np.inf), strict=True))
    else:
        raise ParameterError(f"bounds of length {size} do not fit {n_features} features: give {PAIRS}.")
    return lower, upper, (lower > -np.inf) | (upper < np.inf)


def _length(given: Any) -> int | None:
    """How many entries there are; None of a number."""
    return (
        len(given) if isinstance(given, (list, tuple)) or (hasattr(given, "__len__") and np.ndim(given) > 0) else None
    )


def _pair(given: Any) -> tuple[float, float]:
    """(lower, upper); None is no bound."""
    if _length(given) != 2 or isinstance(given, str):
        raise ParameterError(f"bounds hold {given!r}: give {PAIRS}.")
    low, high = given
    return (
        -np.inf if low is None else _number("bounds", low, PAIRS),
        np.inf if high is None else _number("bounds", high, PAIRS),
    )


def _ends(given: Any, n_features: int, none: float) -> FloatArray:
    """The lower, or the upper bounds, one number for all or one for each."""
    if _length(given) is None:
        return np.full(n_features, none if given is None else _number("bounds", given, PAIRS))
    return _vector("bounds", [none if end is None else end for end in given], n_features, PAIRS)


def _vector(what: str, given: Any, n_features: int, cure: str) -> FloatArray:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise ParameterError(f"{what}={given!r} is not understood: give {cure}.") from None
    if values.shape != (n_features,):
        raise ParameterError(f"{what} has shape {values.shape}, X has {n_features} features: give one entry for each.")
    if np.any(np.isnan(values)):
        raise ParameterError(f"{what} holds NaN: give {cure}.")
    return values


def _number(what: str, given: Any, cure: str) -> float:
    try:
        value = float(given)
    except (ValueError, TypeError):
        value = np.nan
    if isinstance(given, str) or np.isnan(value):
        raise ParameterError(f"{what} holds {given!r}: give {cure}.")
    return value


def _place(what: str, name: Any, names: list[str] | None) -> int:
    """The number of the feature with this name."""
    if names is None:
        raise ParameterError(f"{what} names the feature {str(name)!r}, but X has no names: give a frame, or an array.")
    if str(name) not in names:
        near = difflib.get_close_matches(str(name), names, 1)
        cure = f"did you mean {near[0]!r}?" if near else f"they are {_listed(names)}."
        raise ParameterError(f"{what} names {str(name)!r}, which is no feature of X: {cure}")
    return names.index(str(name))


def described(signs: Any, bounds: Any, weights: FloatArray, names: list[str], most: int = 8) -> str:
    """Signs and bounds in words, feature by feature, and how many weights stand on one."""
    limits = Asked(0.0, signs, bounds).over(weights.size, names)
    if limits.lower is None or limits.upper is None:
        return "none"
    lower, upper = limits.lower, limits.upper
    reached = int(np.count_nonzero((weights == lower) | (weights == upper)))
    bounded = np.flatnonzero((lower > -np.inf) | (upper < np.inf))
    if np.all(lower == lower[0]) and np.all(upper == upper[0]) and bounded.size > 1:
        words = ["all weights " + _interval(lower[0], upper[0])]
    else:
        words = [f"{names[j]} {_interval(lower[j], upper[j])}" for j in bounded[:most]]
        words += [f"{bounded.size - most:,} more"] if bounded.size > most else []
    return f"{'; '.join(words)} ({reached:,} on a bound)"


def _interval(lower: float, upper: float) -> str:
    if lower == -np.inf:
        return f"at most {upper:g}"
    return f"at least {lower:g}" if upper == np.inf else f"from {lower:g} to {upper:g}"


def _listed(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def _feature(j: Any, names: Sequence[str] | None) -> str:
    return f"Feature {int(j)}" if names is None else f"Feature {names[int(j)]!r}"
