"""Tuning by a file of its own, as LETOR does: alpha is chosen by the validation rows, the model is of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..data.missing import fill_missing
from ..data.ranking_data import RankingData
from ..io import Dataset
from ..model_selection.path import Judge, Search
from ..rankers.cv import LinearRankerCV
from ..rankers.names import feature_names
from ..rankers.training import Training


def fit_by_validation(ranker: LinearRankerCV, train: Dataset, valid: Dataset) -> LinearRankerCV:
    """The ranker fitted to the training rows, with the alpha that is best on the validation rows. Neither is copied."""
    judge, training = Judge.of(ranker.metric), Training.of(ranker, alpha="auto")
    data, fill = ranker._data(train.X, train.y, train.qid, sample_weight=train.sample_weight)
    training = training.over(data.n_features, ranker._names)
    search = Search(replace(training, n_jobs=None, verbose=0), judge, ranker.alphas, ranker.n_jobs, ranker.verbose)
    compared: dict[str, Any] = {"preferences": ranker.preferences, "query_weighting": ranker.query_weighting}
    X = valid.X if fill is None else fill_missing(valid.X, fill)
    test = RankingData(X, valid.y, valid.qid, sample_weight=valid.sample_weight, **compared)
    judge.check(data)
    return ranker._choose(training, search, data, [(data, test)], {**feature_names(train.X), "fill_": fill})
