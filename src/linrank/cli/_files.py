"""Models and data as commands read them; results as they write them."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import click
import numpy as np

from .._errors import DataError, ParameterError
from .._files import replacing
from .._missing import replace_missing
from .._preferences import FloatArray
from ..engines._matrix import as_matrix
from ..io import Dataset, Model, format_of, has_side_files, iter_svmlight, read, read_model
from ._options import Reading

CHUNK_BYTES = 1 << 24  # of features in memory at a time


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model as commands use it: scores are computed here, without scikit-learn, which takes a second to import."""

    path: str
    model: Model

    @classmethod
    def of(cls, path: str) -> Loaded:
        """Read a model file."""
        return cls(path, read_model(path))

    @property
    def names(self) -> list[str] | None:
        """Names of the features; they are matched when data is read."""
        return self.model.names

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.model.weights.size

    @property
    def fill(self) -> FloatArray | None:
        """What takes the place of missing values."""
        return self.model.fill

    def ranker(self) -> Any:
        """The fitted ranker (or classifier), with the names of its features."""
        return self.model.ranker()

    def score(self, X: Any) -> FloatArray:
        """Scores of rows as a reader gives them: `predict` of a ranker, `decision_function` of a classifier."""
        matrix = as_matrix(X if self.fill is None else replace_missing(X, self.fill))
        scores = np.empty(matrix.shape[0])
        for block in range(matrix.n_blocks):
            matrix.dot(self.model.weights, block, scores)
        return scores + float(self.model.state["intercept_"][0]) if "intercept_" in self.model.state else scores


def read_data(path: str, reading: Reading, *, missing: str = "keep", like: Loaded | None = None) -> Dataset:
    """All of a file; the features are those of the model `like`, by name where both have names."""
    table = (reading.format or format_of(path)) != "svmlight"
    n_features = reading.n_features if like is None else like.n_features
    return read(
        path,
        format=reading.format,
        label=reading.label,
        query=reading.query,
        id=reading.id,
        weight=reading.weight,
        features=like.names if table and like is not None else None,
        drop=reading.drop,
        missing=missing,
        dtype=np.float32 if reading.float32 else np.float64,
        n_features=None if table else n_features,
        zero_based=reading.zero_based,
        on_error="skip" if reading.skip_bad_lines else "raise",
        n_jobs=reading.jobs,
    )


def read_chunks(path: str, reading: Reading, like: Loaded) -> Iterator[Dataset]:
    """A file in chunks, in bounded memory if it is SVMlight; a table, and what has files beside it, in one piece."""
    missing = "error" if like.fill is None else "keep"
    if (reading.format or format_of(path)) != "svmlight" or has_side_files(path):
        data = read_data(path, reading, missing=missing, like=like)
        if data.n_features != like.n_features:
            raise DataError(
                f"{path} has {data.n_features} features, but {like.path} has {like.n_features}: --drop the others, or "
                "name the columns as in training."
            )
        yield data
        return
    yield from stream(path, reading, like.n_features, missing)


def stream(path: str, reading: Reading, n_features: int | None, missing: str = "error") -> Iterator[Dataset]:
    """An SVMlight file in chunks."""
    if (reading.format or format_of(path)) != "svmlight":
        raise ParameterError(f"{path} is a table, and only SVMlight can be streamed: linrank convert makes it so.")
    if path != "-":
        open(path, "rb").close()  # or the count of features would wonder about what is not there
    if n_features is None and path == "-":
        raise ParameterError("Standard input is read once: say how many features there are with --n-features.")
    return iter_svmlight(
        path,
        chunk_bytes=CHUNK_BYTES,
        n_features=n_features,
        dtype=np.float32 if reading.float32 else np.float64,
        zero_based=reading.zero_based,
        missing=missing,
        on_error="skip" if reading.skip_bad_lines else "raise",
        n_jobs=reading.jobs,
    )


def check_early(output: str | None, *inputs: str | None, as_json: bool = False) -> None:
    """Refuse at once, and not after an hour of training, files that cannot be read or written."""
    if as_json and output == "-":
        raise click.UsageError("--json and -o - both go to standard output: write the model to a file.")
    for path in inputs:
        if path is not None and path != "-":
            open(path, "rb").close()
    if output is None or output == "-":
        return
    if os.path.isdir(output):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), output)
    folder = os.path.dirname(os.path.realpath(output))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.path.dirname(output))


@contextmanager
def writing(path: str | None) -> Iterator[BinaryIO]:
    """Where a result goes: a file, replaced whole or not at all, or standard output (None or "-")."""
    if path is None or path == "-":
        out: BinaryIO = sys.stdout.buffer
        yield out
        out.flush()
        return
    with replacing(path) as file:
        yield file


def is_model(path: str) -> bool:
    """Whether a file is a model (of linrank, SVMrank or LIBLINEAR) rather than data, by its first bytes."""
    if path == "-":
        return False
    with open(path, "rb") as file:
        head = file.read(64).lstrip()
    return head.startswith((b"{", b"SVM-light Version", b"SVM-multiclass Version", b"SVM-struct", b"solver_type "))
