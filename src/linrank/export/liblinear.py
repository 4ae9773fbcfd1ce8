"""LIBLINEAR: the text of a regression model, whose ``predict`` prints the scores.

Features go by number from 1, in the order of the ranker; an offset is the weight of the bias. Absent features count
0. linrank reads it too (`linrank.load`), without the bias.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ._function import LinearFunction, number
from ._options import Options
from ._target import Target


def write(function: LinearFunction, options: Options) -> bytes:
    """The model's text."""
    function.warn_of_fill("LIBLINEAR", "write the means into the data before LIBLINEAR reads it")
    bias = function.offset != 0
    weights = [*function.weights.tolist(), *([function.offset] if bias else [])]
    head = [
        "solver_type L2R_L2LOSS_SVR",
        "nr_class 2",
        f"nr_feature {function.weights.size}",
        f"bias {1 if bias else -1}",
    ]
    return ("\n".join([*head, "w", *(f"{number(weight)} " for weight in weights)]) + "\n").encode()


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores as LIBLINEAR computes them: a bias >= 0 is one more feature."""
    head, _, tail = text.decode().partition("\nw\n")
    fields = dict(line.split(" ", 1) for line in head.splitlines())
    weights = np.array([float(line) for line in tail.split()])
    values = np.nan_to_num(X, nan=0.0)
    bias = float(fields["bias"])
    if bias >= 0:
        values = np.column_stack([values, np.full(len(X), bias)])
    assert weights.size == int(fields["nr_feature"]) + (bias >= 0)
    return np.asarray(values @ weights)


TARGET: Target = Target(write, score)
