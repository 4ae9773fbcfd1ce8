"""Weights set by hand: by the names of features, by their numbers, or one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._errors import ParameterError
from .._typing import FloatArray

Weights = Mapping[Any, float] | Sequence[float] | ArrayLike

MOST_FEATURES = 2**31 - 1


def named_weights(weights: Weights) -> tuple[list[str] | None, FloatArray]:
    """Names of the features, None where they go by their numbers, and a weight for each.

    Keys that are all whole numbers from 1 on, or their digits, are numbers of features, as in SVMlight; those that are
    not named weigh 0.
    """
    if not isinstance(weights, Mapping):
        return None, _numbers(weights)
    if not weights:
        raise ParameterError("There are no weights: give a number for each feature.")
    values = _numbers(list(weights.values()))
    numbers = [_number(key) for key in weights]
    if not all(numbers):
        return [str(key) for key in weights], values
    if len(set(numbers)) < len(numbers):
        raise ParameterError("A feature's number occurs twice among the weights: give each once.")
    coef = np.zeros(max(number or 0 for number in numbers))
    coef[np.array(numbers, dtype=np.int64) - 1] = values
    return None, coef


def _number(key: Any) -> int | None:
    """The feature's number that a key is; None for a name."""
    text = str(key)
    digits = text.isascii() and text.isdigit() and len(text) <= 10
    return int(text) if digits and 0 < int(text) < MOST_FEATURES else None


def _numbers(values: Any) -> FloatArray:
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.empty(0)
    if found.ndim != 1 or found.size == 0 or not np.all(np.isfinite(found)):
        raise ParameterError("Weights must be finite numbers, one a feature: {'bm25': 0.7, 'clicks': 0.3}, or a list.")
    return found
