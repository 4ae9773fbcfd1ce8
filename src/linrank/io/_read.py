"""Any file of ranking data, by its name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from ..data.checks import check_choice
from ..data.dataset import Dataset
from ._chunks import joined_blocks
from ._columns import Columns, warn_of_no_queries
from ._locate import Sources, is_plain, locate
from ._options import ReadOptions
from ._streams import Source
from .formats import FORMATS, format_of


def read(
    path: Source | Sources,
    *,
    format: str | None = None,
    label: str | None = None,
    query: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    missing: str = "error",
    dtype: DTypeLike = np.float64,
    n_features: int | None = None,
    dense: bool | Literal["auto"] = "auto",
    zero_based: bool = False,
    on_error: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Dataset:
    """Read ranking data: SVMlight / LETOR or a table, by the file's ending or by `format`.

    Parameters
    ----------
    path : path, "-", binary file, glob, folder, or list of files
        ``.csv``, ``.tsv``, ``.parquet`` and ``.arrow``, say, are tables (`linrank.io.formats.FORMATS` has all endings),
        all else is SVMlight; text may be packed by gzip or zstd.
    format : str, optional
        A name of that table, which overrules the ending.
    label, query, id, weight, features, drop
        Columns of a table, as in `from_frame`, which also says what happens where no query column is found.
    missing, dtype
        As in `read_svmlight`.
    verbose : int, default=0
        Above 0, reading that takes longer than a second shows its progress on standard error.
    n_features, dense, zero_based, on_error, n_jobs
        For SVMlight, as in `read_svmlight`. Beside such a file, ``<name>.query`` (or ``.group``) may hold the number of
        rows of each query, one per line, and ``<name>.weight`` the weight of each row, as for LightGBM.

    Returns
    -------
    Dataset
        `description` says how the file was understood.
    """
    columns = Columns(label, query, id, weight, features, drop)
    options = ReadOptions(columns, missing, dtype, n_features, dense, zero_based, on_error, n_jobs, verbose)
    if isinstance(path, (list, tuple)) or (isinstance(path, (str, os.PathLike)) and not is_plain(path)):
        return warn_of_no_queries(joined_blocks(locate(path, format), options))
    return warn_of_no_queries(read_file(path, format, options))  # type: ignore[arg-type]


def read_file(path: Source, format: str | None, options: ReadOptions) -> Dataset:
    """`read` without its warning: the caller warns of missing queries in its own words."""
    name = format_of(path) if format is None else format
    check_choice("format", name, tuple(FORMATS))
    return FORMATS[name].read(path, options)
