"""Scores of a file's rows, and metrics of them. Features pass by in chunks; 24 bytes a row are kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import DataError, NoPairsError
from .._preferences import FloatArray
from ..io import Dataset
from ..metrics import Metric, parse
from ..metrics._names import LISTWISE
from ._files import Loaded, read_chunks
from ._options import Judging, Reading

#: Whole, not negative, and at most this: labels are grades, and gains of 2^label - 1 make sense.
LARGEST_GRADE = 31
OF_GRADES, OF_UTILITIES = ("pairwise_accuracy", "ndcg@10", "map", "mrr"), ("pairwise_accuracy", "kendall_tau")


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows of a file with their scores by one or more models."""

    y: FloatArray
    scores: list[FloatArray]
    query: NDArray[np.int64] | None  # numbers from 0, in the order of the file
    ids: list[str]  # of the queries
    docid: list[str] | None

    @property
    def n_queries(self) -> int:
        """Number of queries; rows without are one."""
        return max(1, len(self.ids))


def judge(
    loaded: Loaded, path: str, reading: Reading, judging: Judging
) -> tuple[Scored, list[Metric], dict[str, float]]:
    """A file's rows with their scores, the metrics to judge these by, and the metrics' values by name."""
    scored = score_all([loaded], read_chunks(path, reading, loaded), path, needs_docid(judging))
    metrics = metrics_for(judging, scored.y)
    return scored, metrics, {metric.name: float(value_of(metric, scored)) for metric in metrics}


def score_all(models: list[Loaded], chunks: Iterable[Dataset], path: str, keep_docid: bool = False) -> Scored:
    """Score a file by models; chunk by chunk."""
    parts: list[tuple[FloatArray, list[FloatArray], Any]] = []
    numbers: dict[str, int] = {}
    docid: list[str] = []
    rows = 0
    for chunk in chunks:
        if chunk.y is None:
            raise DataError(f"{path} has no labels to judge by: name their column with --label.")
        query = None if chunk.qid is None else _number(chunk.qid, numbers)
        parts.append((chunk.y, [model.score(chunk.X) for model in models], query))
        if keep_docid:
            docid += chunk.document_ids(rows + 1)
        rows += chunk.n_rows
    y = np.concatenate([part[0] for part in parts])
    scores = [np.concatenate([part[1][k] for part in parts]) for k in range(len(models))]
    queries = [part[2] for part in parts if part[2] is not None]
    ids = list(numbers)
    return Scored(y, scores, np.concatenate(queries) if queries else None, ids, docid if keep_docid else None)


def _number(qid: NDArray[Any], numbers: dict[str, int]) -> NDArray[np.int64]:
    """Queries numbered in the order in which they occur; `numbers` goes from chunk to chunk."""
    ids, first, inverse = np.unique(qid, return_index=True, return_inverse=True)
    code = np.empty(ids.size, dtype=np.int64)
    names = ids.tolist()
    for k in np.argsort(first):
        code[k] = numbers.setdefault(str(names[k]), len(numbers))  # 7 and "7" are one query
    return code[inverse]


def metrics_for(judging: Judging, y: FloatArray) -> list[Metric]:
    """The metrics asked for, or those that suit the labels."""
    graded = y.size and y.min() >= 0 and y.max() <= LARGEST_GRADE and bool(np.all(y == np.floor(y)))
    names = judging.metric or (OF_GRADES if graded else OF_UTILITIES)
    return [metric(name, judging) for name in names]


def metric(name: str, judging: Judging) -> Metric:
    """A metric with the options that it takes."""
    found = parse(name, judging.preset)
    takes_threshold = found.family in LISTWISE or found.family == "auc"
    if judging.threshold is None or not takes_threshold:
        return found
    return parse(name, judging.preset, threshold=judging.threshold)


def needs_docid(judging: Judging) -> bool:
    """Whether equal scores are ordered by the document's id."""
    return judging.preset == "trec"


def value_of(metric: Metric, scored: Scored, k: int = 0, **options: Any) -> Any:
    """A metric's value; NaN where there is no pair."""
    if scored.docid is not None and not metric.pairwise:
        options["docid"] = scored.docid
    try:
        return metric(scored.y, scored.scores[k], scored.query, **options)
    except NoPairsError:
        return float("nan")
