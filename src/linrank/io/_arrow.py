"""Arrow files, and what Parquet files share with them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .._errors import FileFormatError, LinrankError, ParameterError
from .._files import PathLike
from ..data.dataset import Dataset
from ._ahead import ahead
from ._columns import Columns
from ._options import ReadOptions
from ._streams import Source, name_of
from ._tables import Table, each, whole
from .frames import FrameTable


def pyarrow(*modules: str) -> Any:
    """Modules of pyarrow, an extra."""
    try:
        import importlib

        return [importlib.import_module(f"pyarrow.{module}") for module in modules]
    except ImportError:
        raise LinrankError("Parquet and Arrow files need an extra package: pip install 'linrank[parquet]'.") from None


def path_of(source: Source, kind: str) -> PathLike:
    """The path of a file that is read from both ends."""
    if not isinstance(source, (str, os.PathLike)) or os.fspath(source) == "-":
        raise ParameterError(f"A {kind} file cannot be read from a stream: give its path.")
    return source


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """Whatever pyarrow raises while it reads, as a FileFormatError."""
    (lib,) = pyarrow("lib")
    try:
        yield
    except FileNotFoundError:
        raise
    except (lib.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    except MemoryError:  # a damaged length may ask for any number of bytes
        reason = "there is not enough memory for what it says it holds"
    else:
        return
    raise FileFormatError(f"{name} cannot be read as a table ({reason}): is it whole?", name) from None


def validate(table: Any) -> None:
    """Look at all of a table: a damaged offset would crash whoever reads the values later on."""
    table.validate(full=True)
    _ = table.column_names  # which may not be UTF-8


class ArrowTables:
    """Batches of rows of an Arrow or Parquet file, read ahead by a thread."""

    def __init__(
        self, first: Any, batches: Callable[[list[str]], Iterator[tuple[Any, float]]], n_rows: int | None = None
    ) -> None:
        table = FrameTable(first)  # the first rows, which tell how long lists are
        self.names, self.lists = table.names, table.lists
        self._widths = {name: len(spread) for name, spread in table.lists.items()}
        self._batches, self.n_rows = batches, n_rows

    def parts(self, is_text: Mapping[str, bool]) -> Iterator[tuple[Table, float]]:
        """Rows in order, of those columns of the file that are needed."""
        home = {part: name for name, parts in self.lists.items() for part in parts}
        needed = list(dict.fromkeys(home.get(name, name) for name in self.names if name in is_text))
        with ahead(self._checked(needed), 1) as tables:
            for table, share in tables:
                yield FrameTable(table, self._widths), share

    def _checked(self, columns: list[str]) -> Iterator[tuple[Any, float]]:
        for batch, share in self._batches(columns):
            table = as_table(batch).select(columns)
            validate(table)
            yield table, share


def as_table(batch: Any) -> Any:
    """A batch of rows as a table."""
    (lib,) = pyarrow("lib")
    return lib.Table.from_batches([batch])


@contextmanager
def _opened(source: Source, options: ReadOptions) -> Iterator[ArrowTables]:
    """An Arrow file (Feather version 2) or stream."""
    path = path_of(source, "arrow")
    ipc, lib = pyarrow("ipc", "lib")
    with open(path, "rb") as file, arrow_errors(name_of(path)), options.progress(path) as progress:
        progress.begin(os.fstat(file.fileno()).st_size)
        try:
            reader = ipc.open_file(file)
            found: Iterator[Any] = (reader.get_batch(k) for k in range(reader.num_record_batches))
        except lib.ArrowInvalid:
            file.seek(0)
            reader = ipc.open_stream(file)
            found = iter(reader)

        first = next(found, None)
        head = reader.schema.empty_table() if first is None else as_table(first)
        validate(head)

        def batches(columns: list[str]) -> Iterator[tuple[Any, float]]:
            for batch in () if first is None else itertools.chain([first], found):
                progress.reached(file.tell())
                yield batch, progress.share

        yield ArrowTables(head, batches)


def read(source: Source, options: ReadOptions) -> Dataset:
    """An Arrow file (Feather version 2) or stream."""
    with _opened(source, options) as tables:
        return whole(tables, options.columns, options.missing, options.dtype)


def header(source: Source, options: ReadOptions) -> tuple[list[str], Columns]:
    """The names of the columns."""
    with _opened(source, replace(options, verbose=0)) as tables:
        return tables.names, options.columns


def blocks(source: Source, options: ReadOptions) -> Iterator[Dataset]:
    """The same, batch by batch."""
    with _opened(source, options) as tables:
        yield from each(tables, options.columns, options.missing, options.dtype)
