"""What a query costs on a device, by which several devices share queries; torch is not imported for it.

An evaluation with its gradient moves, for a row, its features twice, and for each of its rankings of n members as many
bytes as their pairs take the time of, pair by pair below the crossing and by sorting above it:

    rows * 2 * bytes of a row of X    +    sum over rankings of n min(PAIR_BYTES n, MEMBER_BYTES).

It is all on paper, as is the crossing (`docs/gpu.md`): only the ratios count.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..._typing import FloatArray
from ...data.ranking_data import RankingData

#: Bytes that a member of a ranking moves by sorting, and bytes that move while one ordered pair is worked out: an
#: A100 works out 2.7e11 of them a second, and moves 1.2e12 bytes.
MEMBER_BYTES, PAIR_BYTES = 4000.0, 4.4


def query_costs(data: RankingData) -> FloatArray:
    """Bytes that each query moves in an evaluation of the squared hinge."""
    p, X = data.preferences, data.X
    if sp.issparse(X):
        entry = X.data.itemsize + X.indices.itemsize
        row_bytes = 2.0 * entry * np.diff(X.indptr)
    else:
        row_bytes = np.full(data.n_rows, 2.0 * X.shape[1] * X.itemsize)
    size = np.diff(p.ranking_ptr).astype(np.float64)
    query = data.query[p.row[p.ranking_ptr[:-1]]]
    costs = np.zeros(data.n_queries)
    costs += np.bincount(data.query, row_bytes, data.n_queries)
    costs += np.bincount(query, size * np.minimum(PAIR_BYTES * size, MEMBER_BYTES), data.n_queries)
    return costs
