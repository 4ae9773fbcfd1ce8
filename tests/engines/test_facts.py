"""What is known of rows and columns: parts together tell what the whole does."""

import numpy as np
import pytest
import scipy.sparse as sp

from linrank import RankingData
from linrank.data.parts import split_queries
from linrank.engines import Columns, Facts, LocalEngine
from linrank.testing import make_ranking

WEIGHTS = {
    "none": lambda rng, qid: None,
    "any": lambda rng, qid: rng.random(qid.size),
    "0 in a part": lambda rng, qid: rng.random(qid.size) * (qid > 7),
    "0 but in a part": lambda rng, qid: 1.0 * (qid < 2),
    "1 everywhere": lambda rng, qid: np.ones(qid.size),
    "tiny": lambda rng, qid: 1e-150 * rng.random(qid.size),
}
SIZES = {"ordinary": 1.0, "huge": 1e200, "tiny": 1e-200}


def features(rng, n, size):
    """Dense and sparse columns, one with an offset, constant ones, and one that is constant in most parts."""
    X = rng.standard_normal((n, 9))
    X[:, 1] *= rng.random(n) < 0.3
    X[:, 2] *= rng.random(n) < 0.02
    X[:, 3] += 1e3
    X[:, 4] = 0.1
    X[:, 5] = 0.0
    X[:, 6] = np.arange(n) < n // 9
    X[:, 7] = 1 / 3 + (np.arange(n) == n - 1)
    return size * X


@pytest.mark.parametrize("n_parts", [1, 2, 7])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_columns_of_parts_make_those_of_the_whole(weights, size, n_parts):
    rng = np.random.default_rng(0)
    _, y, qid = make_ranking(900, 1, 20, 4)
    X, v = features(rng, 900, SIZES[size]), WEIGHTS[weights](rng, qid)
    for given in (X, sp.csr_array(X)):
        data = RankingData(given, y, qid, sample_weight=v)
        with LocalEngine(data) as engine:
            whole = engine.columns()
        joined = Columns.joined([LocalEngine(part).columns() for part in split_queries(data, n_parts)])
        assert joined.rows == whole.rows == 900
        assert joined.weight == pytest.approx(whole.weight, rel=1e-12)
        np.testing.assert_allclose(joined.mean, whole.mean, rtol=1e-12, atol=1e-14 * SIZES[size])
        np.testing.assert_allclose(joined.deviation, whole.deviation, rtol=1e-10)
        np.testing.assert_allclose(joined.nonzero, whole.nonzero, rtol=1e-12)
        np.testing.assert_allclose(joined.share, whole.share, rtol=1e-12)
        np.testing.assert_allclose(joined.size, whole.size, rtol=1e-10)
        np.testing.assert_array_equal(joined.deviation[[4, 5]], 0.0)  # constant: exactly so


@pytest.mark.parametrize("n_parts", [1, 3])
def test_rows_without_weight_count_where_no_row_has_any(n_parts):
    """Explicit pairs may stand on rows without weight."""
    X, _, qid = make_ranking(60, 4, 6, 4)
    first = np.flatnonzero(np.diff(qid) == 0)
    data = RankingData(X, qid=qid, pairs=np.column_stack([first, first + 1]), sample_weight=np.zeros(60))
    joined = Columns.joined([LocalEngine(part).columns() for part in split_queries(data, n_parts)])
    assert (joined.weight, joined.total) == (0.0, 60.0)
    np.testing.assert_allclose(joined.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(joined.deviation, X.std(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(joined.share, 1.0)


def test_parts_of_a_part_are_parts_of_the_whole():
    X, y, qid = make_ranking(300, 5, 30, 4)
    parts = [LocalEngine(part).columns() for part in split_queries(RankingData(X, y, qid), 5)]
    a, b = Columns.joined(parts), Columns.joined([Columns.joined(parts[:2]), Columns.joined(parts[2:])])
    np.testing.assert_allclose(a.deviation, b.deviation, rtol=1e-13)
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(a.nonzero, b.nonzero)


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_effective_rows_neither_over_nor_underflow(size):
    X, y, qid = make_ranking(100, 2, 10, 4)
    v = np.random.default_rng(0).random(100) + 0.5
    v[qid > 4] = 0.0
    data = RankingData(X, y, qid, sample_weight=size * v)
    kept = v[v > 0]
    facts = [Facts.of(part) for part in split_queries(data, 4)]
    joined = facts[0]
    for part in facts[1:]:
        joined = joined.joined(part)
    assert any(part.pairs == 0 for part in facts)
    for found in (Facts.of(data), joined):
        assert found.row_weights.effective == pytest.approx(kept.sum() ** 2 / (kept**2).sum())


@pytest.mark.parametrize("v", [[1, 3, 1, 2], [2, 3, 2, 2], [1, 1.5, 1, 1]])
def test_whole_weights_from_1_on_count_rows(v):
    X = np.arange(4.0)[:, None]
    data = RankingData(X, [0, 1, 0, 1], [0, 0, 1, 1], sample_weight=v)
    a, b = (Facts.of(part).row_weights for part in split_queries(data, 2))
    counts = v[0] == 1 and all(x == int(x) for x in v)
    expected = sum(v) if counts else sum(v) ** 2 / sum(x * x for x in v)
    for found in (Facts.of(data).row_weights, a.joined(b)):
        assert found.effective == pytest.approx(expected)
