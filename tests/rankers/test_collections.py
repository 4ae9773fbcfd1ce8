"""Rankers and metrics on dask collections: the same numbers as in memory, and no row comes to the client."""

import numpy as np
import pytest

from linrank import AUCClassifier, DataError, LinearRanker, LinearRankerCV, QueryScaler, SGDRanker, compare, metrics
from linrank.model_selection import cross_validate
from linrank.testing import make_ranking

pytestmark = pytest.mark.dask
da = pytest.importorskip("dask.array", reason="dask is not installed: pip install 'linrank[dask]'")
dask = pytest.importorskip("dask")

X, Y, QID = make_ranking(1500, 4, 40, 4, seed=7)
ORDER = np.random.default_rng(0).permutation(1500)
X, Y, QID = X[ORDER], Y[ORDER], QID[ORDER]
RANKER = LinearRanker().fit(X, Y, QID)
BLOCKS, LABELS, IDS = (da.from_array(a, chunks=(200, *a.shape[1:])) for a in (X, Y, QID))


@pytest.fixture(autouse=True)
def in_this_process():
    with dask.config.set(scheduler="sync"):
        yield


def test_scores_and_positions_are_lazy_and_the_same():
    scores = RANKER.predict(BLOCKS)
    assert isinstance(scores, da.Array)
    assert scores.chunks == BLOCKS.chunks[:1]
    assert np.array_equal(scores.compute(), RANKER.predict(X))
    positions = RANKER.rank(BLOCKS, IDS)
    assert np.array_equal(positions.compute(), RANKER.rank(X, QID))
    assert np.array_equal(RANKER.rank(BLOCKS).compute(), RANKER.rank(X))
    text = da.from_array(np.array([f"q{q}" for q in QID]), chunks=150)
    assert np.array_equal(RANKER.rank(BLOCKS, text).compute(), RANKER.rank(X, QID))


def test_frames():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    names = list("abcd")
    frame = pd.DataFrame(X, columns=names).assign(y=Y, q=[f"q{q}" for q in QID])
    ranker = LinearRanker().fit(frame[names], Y, QID)
    parts = dd.from_pandas(frame, npartitions=6, sort=False)
    scores = ranker.predict(parts[names])
    assert scores.compute().index.equals(frame.index)
    assert np.array_equal(scores.compute(), ranker.predict(frame[names]))
    assert np.array_equal(ranker.rank(parts[names], parts["q"]).compute(), ranker.rank(frame[names], frame["q"]))
    found = ranker.score(parts[names], parts["y"], parts["q"])
    assert found == pytest.approx(ranker.score(frame[names], frame["y"], QID), rel=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(parts[["b", "a", "c", "d"]])


def test_score():
    v = np.random.default_rng(1).uniform(0.5, 2.0, Y.size)
    found = RANKER.score(BLOCKS, LABELS, IDS, sample_weight=da.from_array(v, chunks=200))
    assert found == pytest.approx(RANKER.score(X, Y, QID, sample_weight=v), rel=1e-12)
    with pytest.raises(DataError, match="fitted with qid"):
        RANKER.score(BLOCKS, LABELS)


@pytest.mark.parametrize("name", [*metrics._listwise.__all__, *metrics._pairs.__all__])
def test_metrics(name):
    metric, y, dy = getattr(metrics, name), Y, LABELS
    if name == "auc":
        y, dy = (Y > 1).astype(float), (LABELS > 1).astype(float)
    s, ds = X[:, 0].round(1), BLOCKS[:, 0].round(1)  # with ties
    weight = {q: 1.0 + q % 4 for q in np.unique(QID).tolist()}
    for told in ({}, {"per_query": True}, {"query_weight": weight}):
        np.testing.assert_allclose(metric(dy, ds, IDS, **told), metric(y, s, QID, **told), rtol=1e-12)
    np.testing.assert_allclose(metric(dy, ds), metric(y, s), rtol=1e-12)


def test_metrics_that_are_not_defined():
    from linrank import NoPairsError, UndefinedMetricWarning

    with pytest.warns(UndefinedMetricWarning, match="not defined for any query"):
        assert np.isnan(metrics.ndcg(LABELS * 0, BLOCKS[:, 0], IDS))
    with pytest.raises(NoPairsError):
        metrics.wmw(LABELS * 0, BLOCKS[:, 0], IDS)
    with pytest.raises(DataError, match="two levels"):
        metrics.auc(LABELS, BLOCKS[:, 0], IDS)
    with pytest.raises(DataError, match="all collections"):
        metrics.ndcg(LABELS, X[:, 0], IDS)


@pytest.mark.parametrize(
    ("ranker", "cure"),
    [(SGDRanker(), "partial_fit"), (LinearRankerCV(), "choose alpha on a part"), (AUCClassifier(), "X.compute"),
     (QueryScaler(), "X.compute")],
)  # fmt: skip
def test_who_cannot_says_what_to_do(ranker, cure):
    with pytest.raises(DataError, match=cure):
        ranker.fit(BLOCKS, LABELS)


def test_inference_says_what_to_do():
    with pytest.raises(DataError, match="a ranker fitted to that part"):
        RANKER.inference(BLOCKS, LABELS, IDS)


def test_comparisons_and_folds_say_what_to_do():
    with pytest.raises(DataError, match=r"compare takes no dask collection: give y, scores and qid in memory"):
        compare(LABELS, BLOCKS[:, 0], BLOCKS[:, 1], IDS)
    with pytest.raises(DataError, match=r"cross_validate takes no dask collection: give a part of it"):
        cross_validate(LinearRanker(), BLOCKS, LABELS, IDS)


def test_without_a_client():
    pytest.importorskip("distributed")
    with pytest.raises(DataError, match="make a client"):
        LinearRanker().fit(BLOCKS, LABELS, IDS)


def test_dask_is_not_imported_before_there_is_a_collection():
    import subprocess
    import sys

    code = (
        "import sys, numpy as np, linrank, linrank.engines, linrank.metrics\n"
        "X, y = np.eye(4), np.arange(4.0)\n"
        "r = linrank.LinearRanker().fit(X, y); r.score(X, y); r.rank(X)\n"
        "print([m for m in ('dask', 'distributed') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
