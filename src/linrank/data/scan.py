"""Scan: a Dataset that has not been read yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._bars import size
from .._errors import DataError, memory_in_words
from .._typing import FloatArray
from .dataset import CHUNK_BYTES, Dataset
from .joining import joined, wide_enough


class Source(Protocol):
    """Where the rows of a scan lie, and how they are read: a small value that pickles."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    def known(self) -> dict[str, Any]:
        """What is known without reading the rows: "rows", "features", "bytes", where they are."""

    def state(self) -> dict[str, Any]:
        """What tells, at little cost, whether its files are what they were, by their paths; of those there are."""

    def open(self) -> Dataset:
        """All rows, mapped from disk; the first time they are read and written there."""

    def load(self) -> Dataset:
        """All rows in memory."""

    def chunks(self, chunk_bytes: int) -> Iterator[Dataset]:
        """Chunks that end where a query does, in the order of the files, in bounded memory; nothing is written."""

    def width(self) -> int:
        """Number of features; of SVMlight that is not in the cache, all is read for it."""

    def parts(self, n: int) -> Sequence[Source]:
        """At most n sources that make up this one, of about the same size."""


class Scan(Dataset):
    """Rows of files that are read when they are asked for, as `linrank.scan` makes it.

    The first time that `X` or another column is asked for, the files are read, block by block, and written to the
    cache; from then on columns are arrays mapped from disk. `chunks` reads without a cache, `load` into memory. It
    pickles as the list of its files and how to read them.
    """

    source: Source

    def __init__(self, source: Source) -> None:
        self.__dict__.update(source=source)

    def opened(self) -> Dataset:
        """All rows, as arrays that lie on disk: from the cache, which is written first if need be.

        A file that has changed since is an error: the rows would be neither what it was nor, beside those of a new
        scan, what it is. One that has vanished is not missed.
        """
        now = self.source.state()
        if "_opened" not in self.__dict__:
            with memory_in_words():
                self.__dict__.update(_opened=self.source.open(), _state=now)
        for path, before in self.__dict__["_state"].items():
            if now.get(path, before) != before:
                raise DataError(f"{path} changed since it was opened: scan it again to use what it holds now.")
        opened: Dataset = self.__dict__["_opened"]
        return opened

    @property
    def X(self) -> Any:  # noqa: N802
        """Features, (m, d)."""
        return self.opened().X

    @property
    def y(self) -> FloatArray | None:
        """Labels."""
        return self.opened().y

    @property
    def qid(self) -> NDArray[Any] | None:
        """Query ids."""
        return self.opened().qid

    @property
    def comments(self) -> Sequence[str] | None:
        """What follows the # of each row, or a table's column of ids."""
        return self.opened().comments

    @property
    def sample_weight(self) -> FloatArray | None:
        """Row weights."""
        return self.opened().sample_weight

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features."""
        return self.opened().feature_names

    @property
    def skipped(self) -> int:
        """Lines left out."""
        return self.opened().skipped

    @property
    def problems(self) -> tuple[str, ...]:
        """What was wrong with the first of them."""
        return self.opened().problems

    @property
    def description(self) -> tuple[str, ...]:
        """How the files were understood."""
        return self.opened().description

    def without_features(self) -> Dataset:
        """Labels, queries and weights in memory; nothing is written for these."""
        if "_opened" in self.__dict__:
            return self.opened()
        if "_labels" not in self.__dict__:
            parts = [replace(part, X=np.empty((part.n_rows, 0)), comments=None) for part in self.chunks()]
            self.__dict__["_labels"] = joined(parts)
        labels: Dataset = self.__dict__["_labels"]
        return labels

    def load(self) -> Dataset:
        """All rows in memory."""
        with memory_in_words():
            return self.source.load()

    def chunks(self, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Dataset]:
        """The rows in the order of the files, about `chunk_bytes` bytes of features at a time; nothing is written."""
        if "_opened" in self.__dict__:
            return self.opened().chunks(chunk_bytes)
        return self.source.chunks(chunk_bytes)

    def equal_chunks(self) -> Iterator[Dataset]:
        """Chunks that all have the same features."""
        width = self.source.width()
        return (replace(chunk, X=wide_enough(chunk.X, width)) for chunk in self.chunks())

    def parts(self, n: int) -> list[Scan]:
        """At most n scans that make up this one, in its order and of about the same size: whole files.

        Where there are fewer files than that, Parquet is cut at its row groups, of one file or several; a file of any
        other format is the smallest part. A query may cross parts, as it may cross files: whoever reads them brings its
        rows together.
        """
        return [Scan(source) for source in self.source.parts(n)]

    def rows(self, start: int, stop: int) -> Dataset:
        """The rows from `start` up to `stop`."""
        return self.opened().rows(start, stop)

    def __repr__(self) -> str:
        known = self.source.known()
        facts = [f"{known['rows']:,} rows" if "rows" in known else "rows not counted yet"]
        facts += [f"{known['features']:,} features"] if "features" in known else []
        facts += [f"{size(known['bytes'])} of features"] if "bytes" in known else []
        return f"Scan({self.source.name!r}: {', '.join(facts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scan, (self.source,)
