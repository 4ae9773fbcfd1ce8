"""The table of formats: names, endings, and the modules that read and write them, imported when they are needed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._files import PathLike
    from ..data.dataset import Dataset
    from ._columns import Columns
    from ._options import ReadOptions
    from ._streams import Source

PACKED = (".gz", ".zst")


@dataclass(frozen=True)
class Format:
    """A format of ranking data.

    Attributes
    ----------
    name : str
        As in `read(format=...)`.
    home : str
        The module of this package that holds its functions `read`, `blocks` and, unless it is only read, `write`;
        `groups` where rows can be read apart.
    endings : tuple of str
        Of file names, in lower case.
    table : bool
        Whether its columns have names; otherwise it is SVMlight, whose features have numbers.
    """

    name: str
    home: str
    endings: tuple[str, ...] = ()
    table: bool = True

    @property
    def read(self) -> Callable[[Source, ReadOptions], Dataset]:
        """All of a file as ranking data."""
        found: Callable[[Source, ReadOptions], Dataset] = self._module().read
        return found

    @property
    def blocks(self) -> Callable[[Source, ReadOptions], Iterator[Dataset]]:
        """The rows of a file part by part, as they come: in order, some parts ahead, not cut at queries."""
        found: Callable[[Source, ReadOptions], Iterator[Dataset]] = self._module().blocks
        return found

    @property
    def header(self) -> Callable[[Source, ReadOptions], tuple[list[str], Columns]]:
        """The names of a table's columns, and which column is what, as far as the file says so itself."""
        found: Callable[[Source, ReadOptions], tuple[list[str], Columns]] = self._module().header
        return found

    @property
    def groups(self) -> Callable[[str], list[tuple[int, int]]] | None:
        """Rows and bytes of each group of rows that can be read apart; None: a file is read as a whole."""
        return getattr(self._module(), "groups", None)

    @property
    def write(self) -> Callable[[PathLike, Dataset], None] | None:
        """Write ranking data to a file; None: the format is only read."""
        return getattr(self._module(), "write", None)

    def _module(self) -> Any:
        return importlib.import_module(f".{self.home}", __package__)


_SVMLIGHT = Format("svmlight", "svmlight", table=False)
FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        _SVMLIGHT,
        Format("csv", "_csv", (".csv",)),
        Format("tsv", "_tsv", (".tsv",)),
        Format("parquet", "_parquet", (".parquet", ".pq")),
        Format("arrow", "_arrow", (".arrow", ".feather", ".ipc")),
    )
}


def format_of(path: Source) -> str:
    """The name of the format that a file's name implies: everything that is no table is SVMlight."""
    if not isinstance(path, (str, os.PathLike)):
        return _SVMLIGHT.name
    ending = unpacked(PurePath(path)).suffix.lower()
    return next((format.name for format in FORMATS.values() if ending in format.endings), _SVMLIGHT.name)


def unpacked(path: PurePath) -> PurePath:
    """The file's name without the ending of a packer."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path
