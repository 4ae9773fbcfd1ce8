"""RankLib: its linear regression's model text, which RankLib's ``-load`` and Elasticsearch's ``model/ranklib`` read.

Features go by number from 1, in the order of the ranker; number 0 is the offset. RankLib reads data as float32 and
takes absent features for 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ._function import LinearFunction, number
from ._options import Options
from ._target import SINGLE, Target


def write(function: LinearFunction, options: Options) -> bytes:
    """Comments, then ``number:weight`` in one line."""
    function.warn_of_fill("RankLib", "write the means into the data before RankLib reads it")
    pairs = [f"{j}:{number(weight)}" for j, weight in enumerate([function.offset, *function.weights.tolist()])]
    return f"## Linear Regression\n## Lambda = 0.0\n{' '.join(pairs)}\n".encode()


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores as RankLib computes them: sum of double weights and float32 values."""
    (line,) = [line for line in text.decode().splitlines() if line and not line.startswith("##")]
    scores = np.zeros(len(X))
    values = np.nan_to_num(X.astype(np.float32), nan=0.0).astype(np.float64)
    for pair in line.split():
        fid, _, weight = pair.partition(":")
        scores += float(weight) * (1.0 if fid == "0" else values[:, int(fid) - 1])
    return scores


TARGET: Target = Target(write, score, SINGLE)
