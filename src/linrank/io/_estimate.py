"""How large X will be, before a source is read: Parquet says so, of text the beginning is looked at."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import numpy as np

from ._arrow import arrow_errors, pyarrow
from ._chunks import Layout
from ._locate import Located
from ._options import ReadOptions
from ._streams import reading
from .formats import FORMATS

LOOKED_AT = 1 << 20  # bytes of text
ID = re.compile(rb"[ \t](\d{1,9}):")  # of a feature


@dataclass(frozen=True)
class Estimate:
    """About how much there is."""

    rows: int
    features: int
    n_bytes: int  # of X

    def memory_from_disk(self, loss: str | None = None) -> int:
        """Bytes that a fit from disk takes at most beside the process at rest.

        They are what is kept of a row, a sample, and a few vectors or matrices over the features.
        """
        a_row = BYTES_A_ROW if loss in (None, "squared_hinge") else BYTES_A_ROW_OTHERS
        return a_row * self.rows + SAMPLE + 8 * self.features * max(64, 2 * min(self.features, 1000))


#: Of a fit from disk, measured where all rows are one query, which takes most: bytes a row with the squared hinge,
BYTES_A_ROW = 110
#: and with other losses; and of the sample of the rows.
BYTES_A_ROW_OTHERS, SAMPLE = 260, 64 << 20


def estimate(located: Located, options: ReadOptions) -> Estimate:
    """Rows, features and bytes of X."""
    if located.format == "parquet":
        return _of_parquet(located, options)
    total = sum(_unpacked_size(path) for path in located.paths)
    return (_of_table if FORMATS[located.format].table else _of_svmlight)(located, options, total)


def _of_parquet(located: Located, options: ReadOptions) -> Estimate:
    (parquet,) = pyarrow("parquet")
    rows = 0
    for path in located.paths:
        with open(path, "rb") as file, arrow_errors(path):
            rows += parquet.ParquetFile(file).metadata.num_rows
    d = len(Layout.of(located, options).features)
    return Estimate(rows, d, rows * d * np.dtype(options.dtype).itemsize)


def _of_table(located: Located, options: ReadOptions, total: int) -> Estimate:
    """By the lines at the beginning; of Arrow by the bytes of its numbers."""
    d, entry = len(Layout.of(located, options).features), np.dtype(options.dtype).itemsize
    if located.format == "arrow":
        return Estimate(total // (8 * (d + 2)), d, total * entry // 8)
    text = _beginning(located.paths[0])
    a_row = max(1, len(text)) / max(1, text.count(b"\n"))
    rows = max(1, int(total / a_row))
    return Estimate(rows, d, rows * d * entry)


def _of_svmlight(located: Located, options: ReadOptions, total: int) -> Estimate:
    """By the rows at the beginning."""
    text = _beginning(located.paths[0])
    lines = text[: text.rfind(b"\n") + 1] or text
    n_lines = max(1, lines.count(b"\n"))
    rows, entry = max(1, int(total * n_lines / max(1, len(lines)))), np.dtype(options.dtype).itemsize
    stored = lines.count(b":") - lines.count(b"qid:") - lines.count(b"cost:")
    largest = max(map(int, ID.findall(lines)), default=0)
    d = options.n_features or largest + options.zero_based
    entries = int(rows * stored / n_lines)
    csr, dense = entries * (entry + 4) + 8 * rows, rows * d * entry
    return Estimate(rows, d, dense if options.dense is True else csr if options.dense is False else min(csr, dense))


def _beginning(path: str) -> bytes:
    with reading(path) as stream:
        return stream.read(LOOKED_AT)


def _unpacked_size(path: str) -> int:
    """Bytes of a file's text; of a packed one by how much of it its beginning takes."""
    size = os.stat(path).st_size
    with open(path, "rb") as file:
        packed = file.read(4)[:2] in (b"\x1f\x8b", b"\x28\xb5")
    if not packed:
        return size
    with open(path, "rb") as file, reading(file) as stream:
        n = len(stream.read(LOOKED_AT))
        return int(size * n / max(1, min(file.tell(), size))) if n == LOOKED_AT else n
