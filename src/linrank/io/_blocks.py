"""Any file of ranking data block by block: the one way from bytes to rows that bounded memory can take."""

from __future__ import annotations

from collections.abc import Iterator

from ..data.checks import check_choice
from ..data.dataset import Dataset
from ._options import ReadOptions
from ._streams import Source
from .formats import FORMATS, format_of


def blocks(source: Source, format: str | None, options: ReadOptions) -> Iterator[Dataset]:
    """Consecutive rows of a file, in order, parsed some blocks ahead; they are not cut at queries.

    An SVMlight file has blocks whose X is as wide as its own largest id asks for, unless `n_features` is given, and is
    read without the files beside it. That a table's feature looks like its query is told at the end.
    """
    name = format_of(source) if format is None else format
    check_choice("format", name, tuple(FORMATS))
    return FORMATS[name].blocks(source, options)
