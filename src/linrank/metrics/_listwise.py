"""Metrics of ranked lists: NDCG and its kin, average precision, reciprocal rank, counts at k.

Each has the face of `ListMetric`: ``NAME(y, scores, qid=None, *, k=None, query_weight=None, preset=None,
per_query=False, ...)``, further keywords being conventions (`Conventions`). It is the mean over queries, weighted by
`query_weight`; with per_query=True one value per query, in the order of np.unique(qid), NaN where it is not defined.
All of them sort once, O(m log m) for m rows, whether these are one query or very many.
"""

from __future__ import annotations

import numpy as np

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ..kernels import metrics as kernels
from ._lists import RankedLists, listwise
from ._rows import share

__all__ = [
    "average_precision",
    "dcg",
    "err",
    "hit",
    "mean_ndcg",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
]


@listwise()
def ndcg(lists: RankedLists) -> FloatArray:
    """Normalised discounted cumulative gain: DCG@k over that of the ideal order; mean over queries.

    Conventions: gain, discount, ties, empty, docid. Gains must not be negative.
    """
    gain, ideal = lists.gains()
    discount, best = lists.discount(), np.empty(lists.out.size)
    kernels.dcg_sums(gain, lists.score, lists.ptr, discount, lists.k, lists.ties, lists.out)
    kernels.dcg_sums(ideal, ideal, lists.ptr, discount, lists.k, kernels.IN_ORDER, best)
    return share(lists.out, best)


@listwise()
def dcg(lists: RankedLists) -> FloatArray:
    """Discounted cumulative gain: sum of gain * discount over the first k positions; mean over queries.

    A query without any gain but 0 is empty. Conventions: gain, discount, ties, empty, docid.
    """
    gain = lists.of_grades(lists.how.gains)
    kernels.dcg_sums(gain, lists.score, lists.ptr, lists.discount(), lists.k, lists.ties, lists.out)
    return lists.where_any(gain, lists.out)


@listwise()
def mean_ndcg(lists: RankedLists) -> FloatArray:
    """LETOR's "mean NDCG": within a query the mean of NDCG@n over n = 1 ... its length (or k), then over queries.

    Conventions: gain, discount, ties, empty, docid.
    """
    gain, ideal = lists.gains()
    kernels.mean_ndcgs(gain, ideal, lists.score, lists.ptr, lists.discount(), lists.k, lists.ties, lists.out)
    return lists.out


@listwise(name="map", aliases=("ap",))
def average_precision(lists: RankedLists) -> FloatArray:
    """Mean over the relevant rows of the precision at their position (beyond k: 0); the mean over queries is MAP.

    Conventions: ties, empty, threshold, map_over, docid.
    """
    if lists.cut and lists.how.ties == "threshold":
        raise ParameterError("ties='threshold' retrieves equal scores at once, which k could cut: leave k out.")
    cut = lists.how.map_over == "cut"
    kernels.average_precisions(lists.relevant(), lists.score, lists.ptr, lists.k, lists.ties, cut, lists.out)
    return lists.out


@listwise(name="mrr", aliases=("rr",))
def reciprocal_rank(lists: RankedLists) -> FloatArray:
    """1 / position of the first relevant row, 0 if that is beyond k; the mean over queries is MRR.

    Conventions: ties, empty, threshold, docid.
    """
    kernels.reciprocal_ranks(lists.relevant(), lists.score, lists.ptr, lists.k, lists.ties, lists.out)
    return lists.out


@listwise(aliases=("p",))
def precision(lists: RankedLists) -> FloatArray:
    """Relevant rows among the first k, over k (without k: over all rows of the query); mean over queries.

    Conventions: ties, empty, threshold, precision_over, docid.
    """
    found, _, total = lists.top()
    shorter = not lists.cut or lists.how.precision_over == "cut"
    return np.where(total > 0, found / (np.minimum(lists.k, lists.length) if shorter else lists.k), np.nan)


@listwise(aliases=("r",))
def recall(lists: RankedLists) -> FloatArray:
    """Relevant rows among the first k, over all relevant rows; mean over queries.

    Conventions: ties, empty, threshold, docid.
    """
    found, _, total = lists.top()
    return share(found, total)


@listwise(aliases=("success",))
def hit(lists: RankedLists) -> FloatArray:
    """1 if any of the first k rows is relevant, else 0 (with ties averaged: the chance of it); mean over queries.

    Conventions: ties, empty, threshold, docid.
    """
    _, some, total = lists.top()
    return np.where(total > 0, some, np.nan)


@listwise()
def err(lists: RankedLists) -> FloatArray:
    """Expected reciprocal rank of Chapelle et al. (2009); mean over queries.

    A reader stops at a row of grade g with chance (2^g - 1) / 2^max_grade (negative grades: 0), and gains 1 / position.
    Conventions: max_grade, ties, empty, docid. With ties averaged, a run of n equal scores costs
    O(n * min(n, k, 40 / mean chance)).
    """
    highest = float(lists.rows.y.max(initial=0.0))
    top = highest if lists.how.max_grade is None else float(lists.how.max_grade)
    if highest > top:
        raise DataError(f"y holds the grade {highest:g}, above max_grade={top:g}: raise max_grade.")
    stop = lists.of_grades(lambda grade: np.exp2(np.maximum(grade, 0.0) - top) - np.exp2(-top))
    scratch = np.empty(lists.depth + 1)
    kernels.expected_reciprocal_ranks(stop, lists.score, lists.ptr, lists.k, lists.ties, scratch, lists.out)
    return lists.where_any(stop, lists.out)
