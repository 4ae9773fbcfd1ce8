"""LabelledRows: rows with labels and queries, validated and no more; numbers and rankings are made when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._errors import DataError
from .._once import cached_property
from .._typing import FloatArray
from .checks import check_choice, check_features, check_utilities, check_weights
from .labels import are_labels, split_labels
from .preferences import Grades, build
from .queries import check_ids, check_query_weight, number_queries
from .ranking_data import NO_TARGET, QUERY_WEIGHTINGS, RankingData, check_pairs, check_preferences, exact_values, rank


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """What a fit is given, checked; `grades` and `ranked` are computed at first use and kept."""

    X: Any
    y: FloatArray | None
    values: NDArray[Any] | None = field(repr=False)  # y as it is compared
    ids: NDArray[Any] | None = field(repr=False)  # of each row's query, as given; None: one query
    sample_weight: FloatArray | None
    query_weight: Any
    pairs: Any
    preferences: Any
    query_weighting: str
    qid_from: str | None = None  # what the queries came from: "qid", "labels", or nothing

    @staticmethod
    def of(
        X: Any,
        y: ArrayLike | None,
        qid: ArrayLike | None,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | Mapping[Any, float] | None = None,
        pairs: ArrayLike | None = None,
        preferences: str | ArrayLike = "full",
        query_weighting: str = "pairs",
    ) -> LabelledRows:
        """Check everything; the parameters are those of RankingData."""
        check_preferences(preferences)
        check_choice("query_weighting", query_weighting, QUERY_WEIGHTINGS)
        qid_from = "labels" if are_labels(y) else None if qid is None else "qid"
        y, qid = split_labels(y, qid)
        X = check_features(X)
        n_rows = X.shape[0]
        if y is None and pairs is None:
            raise DataError(NO_TARGET)
        ids = check_ids(qid, n_rows)
        values = None if y is None else check_utilities(y, n_rows)
        exact = None if values is None else exact_values(y, values)
        v = None if sample_weight is None else check_weights("sample_weight", sample_weight, n_rows)
        rows = LabelledRows(X, values, exact, ids, v, query_weight, pairs, preferences, query_weighting, qid_from)
        if query_weight is not None:
            _ = rows.grades  # checks them
        return rows

    @staticmethod
    def of_ranked(data: RankingData) -> LabelledRows:
        """Rows whose rankings are known already, and are all there is to know."""
        rows = LabelledRows(data.X, data.y, data.y, data.query, data.sample_weight, None, (), "full", "pairs")
        grades = Grades(query=data.query, values=data.y, ids=data.query_ids, v=data.sample_weight, u=None)
        rows.__dict__.update(ranked=data, grades=grades)
        return rows

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    @property
    def compared_in_full(self) -> bool:
        """Whether any two rows of a query that differ in y are a pair, of weight u v_i v_j, and there are no others."""
        whole = isinstance(self.preferences, str) and self.preferences == "full"
        return whole and self.pairs is None and self.query_weighting == "pairs"

    @property
    def weighs_queries(self) -> bool:
        """Whether queries have weights of their own."""
        known = self.__dict__.get("grades")
        return self.query_weight is not None or (known is not None and known.u is not None)

    @cached_property
    def grades(self) -> Grades:
        """Queries by number, and weights."""
        query, ids = number_queries(self.ids, self.n_rows)
        u = None if self.query_weight is None else check_query_weight(self.query_weight, query, ids)
        return Grades(query=query, values=self.values, ids=ids, v=self.sample_weight, u=u)

    @cached_property
    def ranked(self) -> RankingData:
        """The rows with their rankings: what exact sums over pairs need."""
        grades = self.grades
        built = rank(grades, self.y, self.pairs, self.preferences, self.query_weighting)
        return RankingData._of(self.X, self.y, grades.query, grades.ids, self.qid_from, grades.v, built)

    def with_pairs(self, pairs: FloatArray) -> RankingData:
        """The same rows with other pairs, and no other preferences; there may be none."""
        grades = replace(self.grades, values=None)
        built = build(grades, "full", check_pairs(pairs, grades), self.query_weighting)
        return RankingData._of(self.X, None, grades.query, grades.ids, self.qid_from, grades.v, built)

    def replaced(self, X: Any, y: FloatArray, query: NDArray[np.int64], v: FloatArray | None) -> LabelledRows:
        """Other rows, whose queries are numbered as these are: query weights and preferences stay."""
        grades = self.grades
        rows = LabelledRows(X, y, y, query, v, None, None, self.preferences, self.query_weighting)
        rows.__dict__["grades"] = Grades(query=query, values=y, ids=grades.ids, v=v, u=grades.u)
        return rows

    def part(self, rows: NDArray[np.int64]) -> LabelledRows:
        """Some of the rows, of which none is in an explicit pair."""
        y, v, grades = self.y, self.sample_weight, self.grades
        assert y is not None
        query = grades.query[rows]
        here = np.zeros(grades.n_queries, dtype=bool)
        here[query] = True
        query = (np.cumsum(here) - 1)[query]
        u = None if grades.u is None else grades.u[here]
        weights = None if v is None else v[rows]
        part = LabelledRows(
            self.X[rows], y[rows], y[rows], query, weights, None, None, self.preferences, self.query_weighting
        )
        part.__dict__["grades"] = Grades(query=query, values=y[rows], ids=grades.ids[here], v=weights, u=u)
        return part
