"""Ranking data as a folder of .npy files: one for each column of rows, and X dense or as the arrays of CSR.

Rows keep the order of the source: products read X from its first row to its last, whatever its queries' order.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError
from ..data.dataset import Comments, Dataset
from ..data.mapped import csr
from ..data.ordering import run_starts
from ._npy import GrowingNpy, mapped, writing_to
from ._store_features import FeatureFiles, open_features

#: Longer query ids, and those with zero bytes, are kept as a list.
LONGEST_FIXED_ID = 64
PIECE = 1 << 16  # rows at a time, where a column is written again
META = "about.json"


class _Column:
    """Numbers of rows that may begin late: rows before have the value `before`."""

    def __init__(self, folder: Path, name: str, dtype: Any, before: float) -> None:
        self._path, self._dtype, self._before = folder / f"{name}.npy", dtype, before
        self.file: GrowingNpy | None = None

    def add(self, values: NDArray[Any] | None, n_rows: int, first_row: int) -> None:
        """The values of some rows; None: they have none of their own."""
        if self.file is None and values is not None:
            self.file = GrowingNpy(self._path, self._dtype)
            self.file.append(np.full(first_row, self._before, dtype=self._dtype))
        if self.file is not None:
            self.file.append(np.full(n_rows, self._before, dtype=self._dtype) if values is None else values)


class _Queries:
    """Query ids: whole numbers, until one is none; then texts, numbered as they come."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.file: GrowingNpy | None = None
        self._numbers: dict[str, int] | None = None

    def add(self, qid: NDArray[Any]) -> None:
        """The ids of some rows."""
        whole = qid.dtype.kind in "biu" and not (qid.dtype == np.uint64 and qid.max(initial=0) >= 2**63)
        if self.file is None:
            self.file = GrowingNpy(self._folder / "qid.npy", np.int64)
        if not whole and self._numbers is None:
            self._turn_to_texts()
        self.file.append(qid if self._numbers is None else self._numbered(qid))

    def _numbered(self, qid: NDArray[Any]) -> NDArray[np.int64]:
        assert self._numbers is not None
        new = run_starts(qid)
        here = [self._numbers.setdefault(str(name), len(self._numbers)) for name in qid[new].tolist()]
        return np.array(here, dtype=np.int64)[np.cumsum(new) - 1]

    def _turn_to_texts(self) -> None:
        """What was written as numbers so far is numbered as texts."""
        assert self.file is not None
        self.file.close()
        self._numbers, before = {}, self.file.path.rename(self._folder / "whole.npy")
        self.file = GrowingNpy(self._folder / "qid.npy", np.int64)
        for part in _pieces(mapped(before)):
            self.file.append(self._numbered(part))
        before.unlink()

    def close(self) -> str:
        """Write texts out; returns how ids are kept: as "whole" numbers, "fixed" texts or a "list"."""
        assert self.file is not None
        self.file.close()
        if self._numbers is None:
            return "whole"
        names = np.array(list(self._numbers), dtype=object)
        longest = max(map(len, names.tolist()))
        if longest > LONGEST_FIXED_ID or any("\0" in name for name in names.tolist()):
            with writing_to(self.file.path):
                text = json.dumps(names.tolist())
                (self._folder / "ids.json").write_text(text, encoding="ascii")
            return "list"
        numbers, fixed = self.file.path.rename(self._folder / "numbers.npy"), names.astype(str)
        self.file = GrowingNpy(self._folder / "qid.npy", fixed.dtype)
        for part in _pieces(mapped(numbers)):
            self.file.append(fixed[part])
        self.file.close()
        numbers.unlink()
        return "fixed"


def _pieces(array: NDArray[Any]) -> Any:
    return (array[start : start + PIECE] for start in range(0, array.shape[0], PIECE))


class Writer:
    """Takes blocks of a source, in their order, into a new folder."""

    def __init__(self, folder: Path, dense: Any, dtype: Any, n_features: int | None) -> None:
        self.folder, self.rows = folder, 0
        self._X = FeatureFiles(folder, dense, np.dtype(dtype), n_features)
        self._y = _Column(folder, "y", np.float64, np.nan)
        self._weight = _Column(folder, "weight", np.float64, 1.0)
        self._text = _Column(folder, "text", np.uint8, 0)
        self._ends = _Column(folder, "text_ends", np.int64, 0)
        self._queries = _Queries(folder)
        self._bytes_of_text = 0
        self._last: Dataset | None = None

    def add(self, block: Dataset) -> None:
        """The next rows."""
        m = block.n_rows
        self._X.add(block.X)
        self._y.add(block.y, m, self.rows)
        self._weight.add(block.sample_weight, m, self.rows)
        if block.qid is not None:
            self._queries.add(block.qid)
        self._add_comments(block)
        self.rows += m
        self._last = block.rows(0, 0)

    def _add_comments(self, block: Dataset) -> None:
        comments = block.comments
        if comments is not None and not isinstance(comments, Comments):
            comments = Comments.of(comments)
        if comments is not None:
            self._text.add(comments.text, 0, 0)
            self._ends.add(comments.ends + self._bytes_of_text, 0, self.rows)
            self._bytes_of_text += comments.text.size
        elif self._ends.file is not None:
            self._ends.add(np.full(block.n_rows, self._bytes_of_text, dtype=np.int64), 0, 0)

    def finish(self, about: dict[str, Any]) -> None:
        """Write what is known in the end; `about` says what the rows are of."""
        last = self._last
        if last is None:
            raise DataError("There is no row: nothing is left to rank.")
        columns = (self._y, self._weight, self._text, self._ends)
        for column in columns:
            if column.file is not None:
                column.file.close()
        kinds: dict[str, Any] = {"qid": None if self._queries.file is None else self._queries.close()}
        kinds |= {"y": self._y.file is not None, "weight": self._weight.file is not None}
        kinds |= {"comments": self._ends.file is not None}
        features = self._X.close()
        known = {
            **about,
            "rows": self.rows,
            "X": features,
            "columns": kinds,
            "feature_names": last.feature_names,
            "description": list(last.description),
            "skipped": last.skipped,
            "problems": list(last.problems),
            "files": {file.name: file.stat().st_size for file in sorted(self.folder.iterdir())},
        }
        with writing_to(self.folder / META):
            (self.folder / META).write_text(json.dumps(known), encoding="ascii")

    def abandon(self) -> None:
        """Close all files, which will not be used."""
        for column in (self._y, self._weight, self._text, self._ends, self._queries):
            if column.file is not None:
                column.file.abandon()
        self._X.abandon()


def read_about(folder: Path) -> dict[str, Any] | None:
    """What a folder says of itself; None where it is not whole."""
    try:
        known = json.loads((folder / META).read_text(encoding="ascii"))
        whole = all((folder / name).stat().st_size == size for name, size in known["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return known if whole else None


def opened(folder: Path, known: dict[str, Any]) -> Dataset:
    """The data of a folder, its arrays mapped."""
    kinds = known["columns"]
    comments = None
    if kinds["comments"]:
        comments = Comments(mapped(folder / "text.npy"), mapped(folder / "text_ends.npy"))
    qid = None if kinds["qid"] is None else mapped(folder / "qid.npy")
    if kinds["qid"] == "list":
        qid = np.array(json.loads((folder / "ids.json").read_text(encoding="ascii")), dtype=object)[qid]
    return Dataset(
        X=open_features(folder, known["X"]),
        y=mapped(folder / "y.npy") if kinds["y"] else None,
        qid=qid,
        comments=comments,
        sample_weight=mapped(folder / "weight.npy") if kinds["weight"] else None,
        feature_names=known["feature_names"],
        skipped=known["skipped"],
        problems=tuple(known["problems"]),
        description=tuple(known["description"]),
    )


def in_memory(data: Dataset) -> Dataset:
    """The same with all arrays read."""
    X = data.X
    if sp.issparse(X):
        X = csr(np.array(X.data), np.array(X.indices), np.array(X.indptr), X.shape)
    else:
        X = np.array(X)
    comments = data.comments
    if isinstance(comments, Comments):
        comments = Comments(np.array(comments.text), np.array(comments.ends))
    columns = {name: getattr(data, name) for name in ("y", "qid", "sample_weight")}
    read: dict[str, Any] = {name: None if column is None else np.array(column) for name, column in columns.items()}
    return replace(data, X=X, comments=comments, **read)
