"""MQ2008's five folds, and figures per query: what the stochastic questions share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from linrank.metrics import pairwise_accuracy
from measure import few
from problems import Problem, load

ALPHAS = few([1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])


def folds() -> Iterator[tuple[Problem, Problem, Problem]]:
    """Training, validation and test parts: fold k trains on parts k, k + 1, k + 2 and so on around."""
    parts = [load("mq2008", part) for part in range(1, 6)]
    for k in range(5):
        chosen = [parts[(k + j) % 5] for j in range(5)]
        yield _join(chosen[:3]), chosen[3], chosen[4]


def hp2003_folds() -> Iterator[tuple[Problem, Problem, Problem]]:
    """The same of queries cut into five parts; two of the five folds, which a quick machine takes a minute for."""
    X, y, qid = load("hp2003")
    assert qid is not None
    parts = [Problem(X[qid % 5 == k], y[qid % 5 == k], qid[qid % 5 == k]) for k in range(5)]
    for k in range(2):
        chosen = [parts[(k + j) % 5] for j in range(5)]
        yield _join(chosen[:3]), chosen[3], chosen[4]


def _join(parts: list[Problem]) -> Problem:
    return Problem(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def per_query(problem: Problem, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average precision, LETOR's (grade >= 1, ties in input order, 0 without any), and accuracy (NaN without pairs)."""
    precision, accuracy = [], []
    assert problem.qid is not None
    for query in np.unique(problem.qid):
        here = np.flatnonzero(problem.qid == query)
        relevant = problem.y[here][np.argsort(-scores[here], kind="stable")] > 0
        hits = np.cumsum(relevant) / np.arange(1, here.size + 1)
        precision.append(hits[relevant].mean() if relevant.any() else 0.0)
        several = np.unique(problem.y[here]).size > 1
        accuracy.append(pairwise_accuracy(problem.y[here], scores[here]) if several else np.nan)
    return np.array(precision), np.array(accuracy)


def choose(make: Callable[[float], Any], train: Problem, validation: Problem, grid: list[float]) -> Any:
    """The ranker fitted to the training part that has the best MAP on the validation part."""
    fitted = [make(value).fit(*train) for value in grid]
    scores = [per_query(validation, ranker.predict(validation.X))[0].mean() for ranker in fitted]
    return fitted[int(np.argmax(scores))]
