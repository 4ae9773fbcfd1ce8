"""Files of a scan, read on the workers: each task reads some of them, and can read them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._errors import DataError, NoRowsError
from ...data.checks import check_features
from ...data.joining import wide_enough
from ...data.queries import check_ids
from ...data.scan import Scan
from .cluster import Cluster
from .rows import Building, Chunk, Measured

#: Parts that files are read in, at most: as many tasks.
MOST_PARTS = 4096


@dataclass(frozen=True)
class Files:
    """Rows as files hold them, and how they are ranked."""

    scan: Scan
    how: Building

    def chunks(self, cluster: Cluster) -> list[Any]:
        """Futures of chunks, in the order of the rows."""
        return [cluster.submit(read, part, self.how.missing) for part in self.scan.parts(MOST_PARTS)]

    def alike(self, cluster: Cluster, chunks: list[Any], measured: list[Measured]) -> tuple[list[Any], list[Measured]]:
        """Chunks that can be one data set: what a file does not show, its last features or weights, others may.

        Tables without rows are left out, the columns of the others brought into the order of the first. Those that lack
        a column are refused by the caller.
        """
        some = [one for one in measured if one.rows]
        chunks = [chunk for chunk, one in zip(chunks, measured, strict=True) if one.rows]
        if not some or any(_shown(one) != _shown(some[0]) for one in some):
            return chunks, some
        width = max(one.features for one in some)
        kind = "sparse" if any(one.kind == "sparse" for one in some) else "dense"
        ids = "str" if {one.ids for one in some} == {"str", "numbers"} else some[0].ids
        columns = tuple(sorted({name for one in some for name in one.columns}))
        wanted = some[0]._replace(features=width, kind=kind, ids=ids, columns=columns)
        same = wanted._replace(rows=0, bytes=0)
        if all(one._replace(rows=0, bytes=0) == same for one in some):
            return chunks, some
        made = [cluster.submit(make_alike, chunk, wanted) for chunk in chunks]
        return made, [wanted._replace(rows=one.rows, bytes=one.bytes) for one in some]


def _shown(one: Measured) -> tuple[Any, ...]:
    """What all files of a data set must show: of SVMlight weights may be left out."""
    if one.names is None:
        return None, tuple(name for name in one.columns if name != "sample_weight")
    return sorted(one.names), one.columns


def read(part: Scan, missing: str) -> Chunk:
    """A task: the rows of some files."""
    try:
        data = part.load()
    except NoRowsError:  # Spark writes such parts
        return Chunk(np.empty((0, 0)), {})
    if data.y is None:
        raise DataError(f"{part.source.name} has no labels: name their column with label=.")
    columns: dict[str, Any] = {"y": data.y}
    if data.qid is not None:
        columns["qid"] = check_ids(data.qid, data.n_rows)
    if data.sample_weight is not None:
        columns["sample_weight"] = data.sample_weight
    names = None if data.feature_names is None else tuple(data.feature_names)
    return Chunk(check_features(data.X, allow_nan=missing != "error"), columns, names)


def make_alike(chunk: Chunk, wanted: Measured) -> Chunk:
    """A task: a chunk in the layout of all."""
    X, columns = chunk.X, dict(chunk.columns)
    if wanted.names is not None and chunk.names is not None and chunk.names != wanted.names:
        X = np.ascontiguousarray(X[:, [chunk.names.index(name) for name in wanted.names]])
    if wanted.kind == "sparse" and not sp.issparse(X):
        X = sp.csr_matrix(X)
    X = wide_enough(X, wanted.features)
    if not sp.issparse(X) and X.shape[1] < wanted.features:
        X = np.pad(X, ((0, 0), (0, wanted.features - X.shape[1])))
    if "sample_weight" in wanted.columns and "sample_weight" not in columns:
        columns["sample_weight"] = np.ones(chunk.n_rows)
    if wanted.ids == "str" and "qid" in columns and columns["qid"].dtype.kind in "biu":
        columns["qid"] = columns["qid"].astype(str)
    return Chunk(X, columns, wanted.names)
