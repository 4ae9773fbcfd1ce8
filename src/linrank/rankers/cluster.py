"""LinearRanker.fit on a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._errors import DataError, ParameterError
from .._progress import Opening, describe
from .._typing import FloatArray
from ..data.checks import check_choice
from ..data.collections import any_collection, client_of, column_beside, is_collection, stand_in
from ..data.dataset import Dataset, unpacked
from ..data.missing import MISSING
from ..data.ranking_data import QUERY_WEIGHTINGS, check_preferences
from ..data.scan import Scan
from ..engines.dask import Dask
from ..engines.place import check_tolerance, places
from .names import feature_names, named
from .training import Start, Trained, Training

if TYPE_CHECKING:
    from .linear import LinearRanker


class Beside(NamedTuple):
    """What a fit is given beside its features."""

    y: Any
    qid: Any
    sample_weight: Any
    query_weight: Any
    pairs: Any
    ids: Any
    group: Any


class _Opened(NamedTuple):
    """An engine, and what a ranker is to know of its rows."""

    engine: Any
    fill: FloatArray | None
    named: Any  # what tells the names of the features
    with_qid: bool
    aside: tuple[str, ...]


def fit_on_cluster(ranker: LinearRanker, client: Any, X: Any, beside: Beside, start: Start | None) -> Any:
    """Fit a ranker on a cluster; it is changed in one step, when all is done."""
    training = Training.of(ranker, warm_start=ranker.warm_start, device=None)  # devices are looked for on the workers
    check_tolerance(ranker.device, "tol", getattr(ranker.solver, "tol", ranker.tol))
    device = places(ranker.device) or None
    check_dask()
    config = Dask.of(client_of(X, beside.y, beside.qid) if client is None else client)
    with Opening(ranker.verbose) as opening:
        open_ = _bring if is_collection(X) or isinstance(X, Scan) else _send
        opened = open_(config, ranker, X, beside, device, opening)
    names = feature_names(opened.named)
    try:
        limited = training.over(opened.engine.facts.features, names.get("feature_names_in_", ranker._names))
        trained = _train(limited, opened.engine, start, ranker._advises)
    finally:
        opened.engine.close()
    kept = (trained.solution, trained.key) if ranker.warm_start else (None, None)
    found = {**trained.attributes(), **names, "fill_": opened.fill, "_aside": opened.aside}
    found |= {"_solution": kept[0], "_key": kept[1]}
    ranker._become(found, opened.with_qid, trained.facts.queries_without_pairs, None)
    trained.warn()
    return ranker


def _send(config: Dask, ranker: LinearRanker, X: Any, beside: Beside, device: Any, opening: Opening) -> _Opened:
    """An engine for rows of this process, which are sent to the workers."""
    from ..engines.dask.build import from_data

    if any_collection(beside.y, beside.qid):
        raise DataError("X lies in memory, and y or qid on a cluster: give both as dask collections.")
    features, y, qid, sample_weight = unpacked(X, beside.y, beside.qid, beside.sample_weight)
    given = ranker._given(features, qid, group=beside.group, pairs=beside.pairs, ids=beside.ids)
    weights = {"sample_weight": sample_weight, "query_weight": beside.query_weight}
    data, fill = ranker._data(given.X, y, given.qid, **weights, pairs=given.pairs)
    engine = from_data(config, data, ranker.n_jobs, device)
    return _Opened(engine, fill, named(X, given.X), data.qid_from is not None, given.aside)


def _train(training: Training, engine: Any, start: Start | None, advise: bool) -> Trained:
    from ..engines.dask.bring import words

    text = f"{describe(engine.facts)}; {words(engine, len(engine.cluster.workers()))}"
    return training.fit_with(engine, text, start, advise)


def _bring(config: Dask, ranker: LinearRanker, X: Any, beside: Beside, device: Any, opening: Opening) -> _Opened:
    """An engine for rows of a collection, or of files that workers read."""
    from ..engines.dask.bring import bring

    if beside.pairs is not None or beside.ids is not None:
        raise ParameterError(
            "pairs name rows by their numbers or ids, and rows on a cluster are looked up by neither: give grades y, "
            "or X in memory."
        )
    if beside.group is not None:
        raise ParameterError("group gives sizes of queries whose rows follow one another: on a cluster give qid.")
    check_choice("missing", ranker.missing, MISSING)
    check_choice("query_weighting", ranker.query_weighting, QUERY_WEIGHTINGS)
    check_preferences(ranker.preferences)
    X, qid, aside = (X, beside.qid, ()) if isinstance(X, Scan) else column_beside(X, beside.qid)
    source = _source(ranker, X, beside._replace(qid=qid))
    engine, fill, columns, with_qid = bring(config, source, ranker.n_jobs, device, opening.say)
    told = stand_in(X) if is_collection(X) else Dataset(np.empty((0, engine.facts.features)), None)
    told = told if columns is None else replace(told, feature_names=list(columns))
    return _Opened(engine, fill, told, with_qid, aside)


def _source(ranker: LinearRanker, X: Any, beside: Beside) -> Any:
    """Where the rows come from, and how they are ranked."""
    from ..engines.dask.bring import Collection
    from ..engines.dask.files import Files
    from ..engines.dask.rows import Building

    y, qid, sample_weight, weight = beside[:4]
    by_id = weight if isinstance(weight, Mapping) else None
    how = Building(ranker.preferences, ranker.query_weighting, ranker.missing, by_id)
    if isinstance(X, Scan):
        if any(one is not None for one in (y, qid, sample_weight, None if by_id is not None else weight)):
            raise ParameterError("A scan brings labels, queries and weights along: name their columns in linrank.scan.")
        return Files(X, how)
    if y is None:
        raise DataError("This requires y to be passed, but the target y is None: give y.")
    y, qid = (y["y"], y["qid"]) if _are_labels(y) else (y, qid)
    return Collection(X, y, qid, sample_weight, weight, how)


def _are_labels(y: Any) -> bool:
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def check_dask() -> None:
    """Refuse a cluster where dask is missing."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ParameterError('A cluster needs dask: install "linrank[dask]".') from None
