"""PairRSVM, the paper's baseline: the hinge loss by a walk over all pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from .._work import Work
from ..data.rankings import Rankings
from ..kernels._jit import kernel
from ..losses import Loss, LossPoint, Sums


@dataclass(frozen=True)
class PairHinge(Loss):
    """The hinge loss by a walk over all pairs of members, O(m^2) a ranking. Unit weights."""

    name: ClassVar[str] = "pair_hinge"
    smooth: ClassVar[bool] = False

    def at(self, scores: FloatArray, rankings: Rankings, work: Work) -> LossPoint:
        """Value and subgradient of one block by Lemmas 1 and 2, with c and d counted pair by pair."""
        assert rankings.v is None, "PairHinge knows unit weights alone"
        assert np.all(rankings.u == 1.0), "PairHinge knows unit weights alone"
        c, d = np.zeros(scores.size, dtype=np.int64), np.zeros(scores.size, dtype=np.int64)
        _walk_pairs(scores, rankings.level_numbers(), rankings.ranking_ptr, c, d)
        e = (c - d).astype(np.float64)
        return LossPoint(Sums(float(scores @ e + c.sum()), rankings.weight), e)


@kernel
def _walk_pairs(s: Any, level: Any, ranking_ptr: Any, c: Any, d: Any) -> None:
    for r in range(ranking_ptr.size - 1):
        for i in range(ranking_ptr[r], ranking_ptr[r + 1]):
            for j in range(ranking_ptr[r], ranking_ptr[r + 1]):
                if level[i] > level[j] and s[i] - s[j] < 1.0:
                    c[j] += 1
                    d[i] += 1
