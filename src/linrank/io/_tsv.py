"""Tables of text, separated by tabs."""

from __future__ import annotations

from collections.abc import Iterator

from .._files import PathLike
from ..data.dataset import Dataset
from . import _csv
from ._columns import Columns
from ._options import ReadOptions
from ._streams import Source


def read(source: Source, options: ReadOptions) -> Dataset:
    """As a file of CSV."""
    return _csv.read(source, options, separator="\t")


def header(source: Source, options: ReadOptions) -> tuple[list[str], Columns]:
    """As of a file of CSV."""
    return _csv.header(source, options, separator="\t")


def blocks(source: Source, options: ReadOptions) -> Iterator[Dataset]:
    """As a file of CSV, part by part."""
    return _csv.blocks(source, options, separator="\t")


def write(path: PathLike, data: Dataset) -> None:
    """Write ranking data."""
    _csv.write_csv(path, data, separator="\t")
