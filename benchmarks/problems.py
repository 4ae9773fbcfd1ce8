"""Problems to measure on: real data from the folder named by --data or LINRANK_DATA, and synthetic ones."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Problem(NamedTuple):
    """Features, utilities, queries (None: one)."""

    X: Any
    y: np.ndarray
    qid: np.ndarray | None = None


def folder() -> Path:
    """Where the real data lies."""
    if "LINRANK_DATA" not in os.environ:
        raise SystemExit("This benchmark needs real data: name its folder with --data or LINRANK_DATA.")
    return Path(os.environ["LINRANK_DATA"])


def read_letor(*paths: Path) -> Problem:
    """Dense LETOR files: <grade> qid:<id> 1:<value> 2:<value> ... [# comment]."""
    y, qid, rows = [], [], []
    for path in paths:
        with gzip.open(path, "rt") as lines:
            for line in lines:
                fields = line.split("#")[0].split()
                y.append(float(fields[0]))
                qid.append(fields[1].removeprefix("qid:"))
                rows.append([float(field.split(":")[1]) for field in fields[2:]])
    return Problem(np.array(rows), np.array(y), np.array(qid))


def standardised(X: np.ndarray) -> np.ndarray:
    """Divide each column by its standard deviation, constant ones by 1."""
    deviation = X.std(axis=0)
    return X / np.where(deviation > 0, deviation, 1.0)


def cadata() -> Problem:
    """California housing: 20,640 x 8, one query, real-valued utilities, 212,416,110 pairs."""
    with gzip.open(folder() / "torgo" / "cal.housing.arff.gz", "rt") as lines:
        text = lines.read()
    table = np.array([[float(x) for x in line.split(",")] for line in text.lower().split("@data")[1].split()])
    return Problem(standardised(table[:, :-1]), table[:, -1])


def webis() -> Problem:
    """Webis ClueWeb09: 26,646 x 42, 61 queries, 5 grades, 1,616,674 pairs."""
    X, y, qid = read_letor(*sorted((folder() / "webis-clueweb09").glob("part*.gz")))
    order = np.argsort(qid, kind="stable")
    return Problem(standardised(X)[order], y[order], qid[order])


def imdb() -> Problem:
    """Film reviews: 25,000 x 44,798 sparse, one query, 8 grades, 268,925,719 pairs."""
    from sklearn.feature_extraction.text import TfidfTransformer

    arrays = np.load(folder() / "imdb" / "imdb-train.npz")
    counts = sp.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=arrays["shape"])
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts.astype(float))
    return Problem(sp.csr_matrix(X), arrays["rating"].astype(float))


def mq2008(*parts: int) -> Problem:
    """LETOR 4.0 MQ2008, unscaled: the given parts 1 ... 5."""
    return read_letor(*(folder() / "mq2008" / f"S{part}.txt.gz" for part in parts))


def similar_documents(n_rows: int, n_features: int = 50_000, per_row: int = 60, seed: int = 0) -> Problem:
    """Sparse documents ranked by their similarity to a removed one: TreeRSVM, section 5.1, made synthetically.

    Words follow Zipf's law within and across topics; rows are tf-idf weighted and of unit length.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    rng = np.random.default_rng(seed)
    m = n_rows + 1
    # A third of the words are of the document's topic: a Zipf law over the topic's own shuffled vocabulary.
    topics, nnz = 100, m * per_row
    topic = rng.integers(0, topics, m)
    shift = rng.integers(0, n_features, topics)
    rank = np.minimum((n_features ** rng.random(nnz)).astype(np.int64) - 1, n_features - 1)
    rows = np.repeat(np.arange(m), per_row)
    own = rng.random(nnz) < 1 / 3
    words = np.where(own, (7919 * rank + shift[topic[rows]]) % n_features, rank)
    X = sp.csr_matrix((np.ones(nnz), (rows, words)), shape=(m, n_features))
    X = sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(X))
    y = np.asarray((X[:-1] @ X[-1].T).todense()).ravel()
    y += 1e-9 * rng.random(n_rows)  # distinct utilities
    return Problem(X[:-1], y)


def covtype_like(n_rows: int = 581_012, seed: int = 0) -> Problem:
    """The shape of the covtype data, made synthetically: 10 correlated measures and 44 indicators, 7 levels, one query.

    Indicators are of 4 areas and 40 soils of very unequal size, which the measures depend on; columns are divided by
    their standard deviations.
    """
    rng = np.random.default_rng(seed)
    area = rng.choice(4, n_rows, p=[0.45, 0.05, 0.44, 0.06])
    soil = rng.choice(40, n_rows, p=_zipf(40))
    common = rng.standard_normal((n_rows, 3))
    measures = common @ rng.standard_normal((3, 10)) + 0.5 * rng.standard_normal((n_rows, 10))
    measures += rng.standard_normal((4, 10))[area] + 0.5 * rng.standard_normal((40, 10))[soil]
    measures[:, 5:] = np.expm1(0.7 * measures[:, 5:])  # distances are skewed
    X = np.zeros((n_rows, 54))
    X[:, :10] = measures
    X[np.arange(n_rows), 10 + area] = 1.0
    X[np.arange(n_rows), 14 + soil] = 1.0
    X = standardised(X)
    utility = X @ rng.standard_normal(54) / 7 + 0.3 * np.sin(2 * X[:, 0]) + rng.standard_normal(n_rows)
    shares = np.array([0.365, 0.488, 0.062, 0.005, 0.016, 0.030, 0.034])
    y = np.searchsorted(np.quantile(utility, np.cumsum(shares)[:-1]), utility).astype(float)
    return Problem(X, y)


def isotropic(n_rows: int = 250_000, n_features: int = 136, n_queries: int = 2_500, seed: int = 0) -> Problem:
    """Independent normal features, 5 grades: conjugate gradients need a handful of steps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    utility = X @ rng.standard_normal(n_features) / np.sqrt(n_features) + rng.standard_normal(n_rows)
    y = np.searchsorted([0.0, 0.6, 1.3, 2.0], utility).astype(float)
    return Problem(X, y, np.sort(rng.integers(0, n_queries, n_rows)))


def web30k_like(n_rows: int = 2_270_296, n_queries: int = 18_919, n_features: int = 136, seed: int = 0) -> Problem:
    """The size of MSLR-WEB30K in float32: correlated, heavy-tailed columns on very different scales, 5 grades."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((12, n_features)).astype(np.float32)
    units = (10.0 ** rng.uniform(-3, 4, n_features)).astype(np.float32)
    w = rng.standard_normal(n_features).astype(np.float32) / 8
    X = np.empty((n_rows, n_features), dtype=np.float32)
    utility = np.empty(n_rows, dtype=np.float32)
    step = 1 << 16
    for first in range(0, n_rows, step):
        rows = slice(first, min(first + step, n_rows))
        count = rows.stop - first
        Z = rng.standard_normal((count, 12), dtype=np.float32) @ loadings / 4
        Z += rng.standard_normal((count, n_features), dtype=np.float32)
        utility[rows] = np.tanh(Z) @ w + rng.standard_normal(count, dtype=np.float32)
        X[rows] = np.sinh(0.8 * Z) * units
    y = np.searchsorted(np.quantile(utility, [0.52, 0.84, 0.97, 0.99]), utility).astype(float)
    return Problem(X, y, np.sort(rng.integers(0, n_queries, n_rows)))


def _zipf(n: int) -> np.ndarray:
    share = 1.0 / np.arange(1, n + 1)
    return share / share.sum()
