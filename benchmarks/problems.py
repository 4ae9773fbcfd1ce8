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
