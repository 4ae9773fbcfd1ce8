"""What an estimator's `fit` calls the queries: qid, group sizes, or nothing at all."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import get_routing_for_object

#: Names of the queries by row, in the order in which they are looked for.
PER_ROW = ("qid", "group_id")
SIZES = "group"


class FitWords(NamedTuple):
    """How queries reach `fit`.

    Attributes
    ----------
    name : str or None
        The keyword; None: it takes no queries, as regressions do.
    sizes : bool
        Whether it takes the sizes of queries, not an id per row.
    sorted : bool
        Whether rows of a query must stand together, in the order of their queries: other libraries ask for it.
    """

    name: str | None
    sizes: bool = False
    sorted: bool = False

    @classmethod
    def of(cls, estimator: Any) -> FitWords:
        """By the signature of `fit`, or, where it takes any keyword, by scikit-learn's metadata routing."""
        parameters = inspect.signature(estimator.fit).parameters
        ours = type(estimator).__module__.partition(".")[0] == "linrank"
        for name in PER_ROW:
            if name in parameters:
                return cls(name, sorted=not ours)
        if SIZES in parameters:
            return cls(SIZES, sizes=True, sorted=True)
        if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
            return cls(None)
        if ours or not hasattr(estimator, "get_metadata_routing"):
            return cls("qid")
        return cls("qid" if get_routing_for_object(estimator).consumes("fit", ["qid"]) else None)

    def order(self, query: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows as `fit` is to get them; `query` is the number of each row's."""
        return rows[np.argsort(query[rows], kind="stable")] if self.sorted else rows

    def given(self, query: NDArray[np.int64], qid: Any) -> dict[str, Any]:
        """Queries of rows in that order: their numbers, and what they were called."""
        if self.name is None or qid is None:
            return {}
        if self.sizes:
            return {self.name: np.unique(query, return_counts=True)[1]}
        return {self.name: query if self.sorted else qid}
