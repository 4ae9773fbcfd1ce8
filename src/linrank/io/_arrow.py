"""Arrow files, and what Parquet files share with them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._errors import FileFormatError, LinrankError, ParameterError
from .._files import PathLike
from ..data.dataset import Dataset
from ._columns import Columns, dataset
from ._options import ReadOptions
from ._streams import Source, name_of
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


def header(source: Source, options: ReadOptions) -> tuple[list[str], Columns]:
    """The names of the columns."""
    path = path_of(source, "arrow")
    with open(path, "rb") as file, arrow_errors(name_of(path)):
        return list(_opened(file).schema.names), options.columns


def blocks(source: Source, options: ReadOptions) -> Iterator[Dataset]:
    """An Arrow file or stream by its record batches."""
    path = path_of(source, "arrow")
    (lib,) = pyarrow("lib")
    first_row = 0
    with open(path, "rb") as file, arrow_errors(name_of(path)):
        opened = _opened(file)
        batches = map(opened.get_batch, range(opened.num_record_batches)) if hasattr(opened, "get_batch") else opened
        for batch in batches:
            table = lib.Table.from_batches([batch])
            validate(table)
            if table.num_rows:
                yield dataset(FrameTable(table), options.columns, options.missing, options.dtype, first_row)
            first_row += table.num_rows


def _opened(file: Any) -> Any:
    """The reader of a file, or of a stream."""
    ipc, lib = pyarrow("ipc", "lib")
    try:
        return ipc.open_file(file)
    except lib.ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file)


def read(source: Source, options: ReadOptions) -> Dataset:
    """An Arrow file (Feather version 2) or stream."""
    path = path_of(source, "arrow")
    with open(path, "rb") as file, arrow_errors(name_of(path)):
        table = _opened(file).read_all()
        validate(table)
    return dataset(FrameTable(table), options.columns, options.missing, options.dtype)
