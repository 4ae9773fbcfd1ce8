"""LinearRanker.fit on a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import DataError, ParameterError
from .._progress import Opening, describe
from ..data.checks import check_choice
from ..data.collections import client_of, is_collection, stand_in
from ..data.dataset import Dataset
from ..data.missing import MISSING
from ..data.ranking_data import QUERY_WEIGHTINGS, check_preferences
from ..data.scan import Scan
from ..engines.dask import Dask
from ..engines.place import check_tolerance, places
from .names import feature_names
from .training import Start, Trained, Training

if TYPE_CHECKING:
    from .linear import LinearRanker


def fit_on_cluster(
    ranker: LinearRanker, client: Any, X: Any, y: Any, qid: Any, given: dict[str, Any], start: Start | None
) -> Any:
    """Fit a ranker on a cluster; it is changed in one step, when all is done."""
    training = Training.of(ranker, warm_start=ranker.warm_start, device=None)  # devices are looked for on the workers
    check_tolerance(ranker.device, "tol", getattr(ranker.solver, "tol", ranker.tol))
    device = places(ranker.device) or None
    check_dask()
    config = Dask.of(client_of(X, y, qid) if client is None else client)
    with Opening(ranker.verbose) as opening:
        if is_collection(X) or isinstance(X, Scan):
            engine, fill, columns, with_qid = _bring(config, ranker, X, y, qid, given, device, opening)
            named = stand_in(X) if is_collection(X) else Dataset(np.empty((0, engine.facts.features)), None)
            named = named if columns is None else replace(named, feature_names=list(columns))
        else:
            from ..engines.dask.build import from_data

            if is_collection(y) or is_collection(qid):
                raise DataError("X lies in memory, and y or qid on a cluster: give both as dask collections.")
            data, fill = ranker._data(X, y, qid, **given)
            engine, named, with_qid = from_data(config, data, ranker.n_jobs, device), X, data.qid_from is not None
    trained = _train(training, engine, start, ranker._advises)
    kept = (trained.solution, trained.key) if ranker.warm_start else (None, None)
    found = {**trained.attributes(), **feature_names(named), "fill_": fill, "_solution": kept[0], "_key": kept[1]}
    ranker._become(found, with_qid, trained.facts.queries_without_pairs, None)
    trained.warn(stacklevel=3)
    return ranker


def _train(training: Training, engine: Any, start: Start | None, advise: bool) -> Trained:
    from ..engines.dask.bring import words

    text = f"{describe(engine.facts)}; {words(engine, len(engine.cluster.workers()))}"
    try:
        return training.fit_with(engine, text, start, advise)
    finally:
        engine.close()


def _bring(
    config: Dask, ranker: LinearRanker, X: Any, y: Any, qid: Any, given: dict[str, Any], device: Any, opening: Opening
) -> Any:
    """An engine for collections."""
    from ..engines.dask.bring import Collection, bring
    from ..engines.dask.files import Files
    from ..engines.dask.rows import Building

    if given.pop("pairs") is not None:
        raise ParameterError(
            "pairs name rows by their numbers, which rows on a cluster do not have: give grades y, or X in memory."
        )
    check_choice("missing", ranker.missing, MISSING)
    check_choice("query_weighting", ranker.query_weighting, QUERY_WEIGHTINGS)
    check_preferences(ranker.preferences)
    weight = given["query_weight"]
    by_id = weight if isinstance(weight, Mapping) else None
    how = Building(ranker.preferences, ranker.query_weighting, ranker.missing, by_id)
    source: Collection | Files
    if isinstance(X, Scan):
        beside = (y, qid, given["sample_weight"], None if by_id is not None else weight)
        if any(one is not None for one in beside):
            raise ParameterError("A scan brings labels, queries and weights along: name their columns in linrank.scan.")
        source = Files(X, how)
    else:
        if y is None:
            raise DataError("This requires y to be passed, but the target y is None: give y.")
        y, qid = (y["y"], y["qid"]) if _are_labels(y) else (y, qid)
        source = Collection(X, y, qid, given["sample_weight"], weight, how)
    return bring(config, source, ranker.n_jobs, device, opening.say)


def _are_labels(y: Any) -> bool:
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def check_dask() -> None:
    """Refuse a cluster where dask is missing."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ParameterError('A cluster needs dask: install "linrank[dask]".') from None
