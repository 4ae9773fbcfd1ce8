"""LinearFunction: what is exported, a weighted sum of named features; and the names that a target can take."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._errors import ParameterError, warn_caller
from .._text import printable, repeated
from .._typing import FloatArray

SHOWN = 8  # means that a warning lists


@dataclass(frozen=True, eq=False)
class LinearFunction:
    """f(x) = offset + sum of weight_j * x_j.

    Attributes
    ----------
    weights : (d,)
        `coef_` of the ranker.
    names : tuple of d strings
        The features, all different: `feature_names_in_`, or f1, f2, ... where they have none.
    fill : (d,) or None
        What takes the place of a missing value; None: there must be none.
    offset : float
        Added to every score. It changes no ranking.
    """

    weights: FloatArray
    names: tuple[str, ...]
    fill: FloatArray | None = None
    offset: float = 0.0

    @classmethod
    def of(cls, estimator: Any, offset: float = 0.0) -> LinearFunction:
        """The function that a fitted ranker computes, or the decision function of an AUCClassifier.

        Or a Pipeline of affine steps that ends in one of them: the steps are folded into the weights.
        """
        from sklearn.utils.validation import (
            check_is_fitted,  # not at the top: `linrank export --help` needs names alone
        )

        check_is_fitted(estimator)
        from ..rankers.pipeline import fold

        try:
            estimator, constant = fold(estimator)
        except ParameterError as error:
            raise ParameterError(f"The Pipeline is not exported, only linear rankers are: {error}") from None
        ranker = getattr(estimator, "ranker_", estimator)
        if getattr(ranker, "coef_", None) is None:
            raise ParameterError(
                f"A {type(estimator).__name__} is not exported, only linear rankers are: targets compute linear "
                "functions of the features alone. Export its ranker, and compute what comes before it yourself."
            )
        weights = np.array(ranker.coef_, dtype=np.float64)
        given = getattr(estimator, "feature_names_in_", None)
        names = [f"f{j}" for j in range(1, weights.size + 1)] if given is None else [str(name) for name in given]
        own = constant if ranker is estimator else float(estimator.intercept_[0])
        if isinstance(offset, bool) or not isinstance(offset, (int, float)) or not math.isfinite(offset):
            raise ParameterError(f"offset={offset!r} must be a finite number.")
        if not np.all(np.isfinite(weights)):
            raise ParameterError("The ranker holds NaN or infinity, so it is not exported: fit it again.")
        for name in names:
            if any("\ud800" <= character <= "\udfff" for character in name):
                raise ParameterError(f"The feature {name!r} is not text, so it is not exported: rename it.")
        function = cls(weights, tuple(names), ranker.fill_, own + float(offset))
        refuse_repeated(function.names, "the features")
        return function

    def __call__(self, X: Any) -> FloatArray:
        """Scores of rows without missing values: the twin that exports are verified against."""
        return np.asarray(X @ self.weights, dtype=np.float64) + self.offset

    def size(self, X: Any) -> FloatArray:
        """|offset| + sum of |weight_j x_j| for each row: what rounding errors are measured by."""
        return np.asarray(abs(X) @ np.abs(self.weights), dtype=np.float64) + abs(self.offset)

    def with_constant(self, name: str, target: str, defined: bool = False) -> LinearFunction:
        """The same with its offset as the weight of one more feature, for a target that has no place for it."""
        if self.offset == 0.0:
            return self
        if name in self.names:
            raise ParameterError(f"A feature is named {name!r}, which is needed for the offset: rename that feature.")
        if not defined:
            warn_caller(
                f"{target} has no place for an offset: it is the weight of a feature {name!r}, which you must define "
                "there with the value 1 for every document."
            )
        fill = None if self.fill is None else np.append(self.fill, 1.0)
        weights = np.append(self.weights, self.offset)
        return replace(self, weights=weights, names=(*self.names, name), fill=fill, offset=0.0)

    def warn_of_fill(self, target: str, cure: str) -> None:
        """Warn that a target takes missing values for 0, if the ranker replaces them by others, and list these."""
        if self.fill is None:
            return
        matter = np.flatnonzero(self.fill * self.weights)
        values = ", ".join(f"{printable(self.names[j])} {self.fill[j]:.6g}" for j in matter[:SHOWN])
        if matter.size:
            more = f" and {matter.size - SHOWN:,} more, in the model's fill" if matter.size > SHOWN else ""
            what = f"{target} takes a missing value for 0, but this ranker for the feature's mean"
            warn_caller(f"{what}: {cure} ({values}{more}).")


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """Refuse names that do not tell features apart."""
    twice = repeated(names)
    if twice is not None:
        raise ParameterError(f"Two of {what} are named {twice!r}: rename one of them.")


def check_name(name: str, pattern: str, target: str, cure: str) -> str:
    """The name, if all of it matches the pattern."""
    if not re.fullmatch(pattern, name):
        raise ParameterError(f"{target} cannot take the name {name!r}: {cure}")
    return name


def number(value: float) -> str:
    """The shortest digits that read back as the same float64."""
    return repr(float(value))
