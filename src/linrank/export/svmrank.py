"""SVMrank (and SVM-light): a linear model with one support vector, the weights.

``svm_rank_classify`` reads it, with weights as float32; linrank reads it too (`linrank.load`). Features go by number
from 1, in the order of the ranker. The threshold b is minus the offset. Absent features count 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ._function import LinearFunction, number
from ._options import Options
from ._target import SINGLE, Target

HEADER = """\
SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d
1 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
{highest} # highest feature index
1 # number of training documents
2 # number of support vectors plus 1
{threshold} # threshold b, each following line is a SV (starting with alpha*y)
"""


def write(function: LinearFunction, options: Options) -> bytes:
    """The model's text."""
    function.warn_of_fill("SVMrank", "write the means into the data before SVMrank reads it")
    header = HEADER.format(
        highest=function.weights.size + 1, threshold=number(0.0 - function.offset)
    )  # as SVMrank counts
    entries = [f"{j}:{number(weight)}" for j, weight in enumerate(function.weights.tolist(), 1) if weight != 0]
    return f"{header}{' '.join(['1', *entries, '#'])}\n".encode()


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores as SVM-light computes them: sum over support vectors of alpha * (x . sv), less the threshold."""
    header, vectors = text.decode().split("(starting with alpha*y)\n")
    scores = np.full(len(X), -float(header.splitlines()[-1].split("#")[0]))
    values = np.nan_to_num(X.astype(np.float32), nan=0.0).astype(np.float64)
    for line in vectors.splitlines():
        alpha, *entries = line.partition("#")[0].split()
        for entry in entries:
            index, _, weight = entry.partition(":")
            scores += float(alpha) * float(np.float32(weight)) * values[:, int(index) - 1]
    return scores


TARGET: Target = Target(write, score, SINGLE)
