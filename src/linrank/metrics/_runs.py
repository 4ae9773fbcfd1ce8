"""Metrics of runs: lists that need not hold all that was judged, as trec_eval has them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import ParameterError
from .._typing import FloatArray
from ._conventions import EMPTY, conventions
from ._families import FAMILIES
from ._names import Metric
from ._rows import share

Retrieved = NDArray[np.bool_]


def of_run(
    metric: Metric,
    y: FloatArray,
    scores: FloatArray,
    query: NDArray[np.int64],
    retrieved: Retrieved,
    docid: NDArray[Any] | None = None,
) -> FloatArray:
    """The value for each query (numbered from 0, each with a row that was retrieved); NaN where it is not defined.

    Rows that were not retrieved have no place in the list: they gain nothing, but count among the relevant rows, and in
    the ideal order. To metrics of pairs they are equal, and below all that were retrieved.
    """
    if metric.pairwise:
        lowest = scores[retrieved].min() - 1.0
        found = metric(y, np.where(retrieved, scores, lowest), query, per_query=True)
        return np.asarray(found, dtype=np.float64)
    function = FAMILIES[metric.family].function
    options = dict(metric.options)
    k, preset = options.pop("k", None), options.pop("preset", None)
    how = conventions(function.__name__, preset, options)
    if metric.family == "mean_ndcg" and not retrieved.all():
        raise ParameterError("mean_ndcg is that of whole lists, and some judged documents are not in the run.")
    if docid is not None:
        options["docid"] = docid[retrieved]
    if metric.family == "err":
        options.setdefault("max_grade", float(y.max(initial=0.0)))
    here = y[retrieved], scores[retrieved], query[retrieved]
    n, relevant = int(query.max()) + 1, how.relevant(y)
    if metric.family == "ndcg":
        ideal = {"k": k, "preset": preset, "per_query": True, "empty": "zero"}
        told = {**options, **ideal}
        gained = FAMILIES["dcg"].function(*here, **told)
        best = FAMILIES["dcg"].function(y, y, query, **{**told, "ties": "input", "docid": None})
        values = share(gained, best)
    else:
        values = function(*here, k=k, preset=preset, per_query=True, **{**options, "empty": "zero"})
        some = y > 0 if metric.family in ("dcg", "err") else relevant
        values = np.where(np.bincount(query[some], minlength=n) > 0, values, np.nan)
        if metric.family in ("map", "recall"):
            most = k if k is not None and metric.family == "map" and how.map_over == "cut" else y.size
            in_all, found = (
                np.minimum(np.bincount(query[of], minlength=n), most) for of in (relevant, relevant & retrieved)
            )
            values = values * share(found.astype(np.float64), in_all.astype(np.float64))
    return np.where(np.isnan(values), EMPTY[str(how.empty)], values)
