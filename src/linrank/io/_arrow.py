"""Arrow files, and what Parquet files share with them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._errors import FileFormatError, LinrankError, ParameterError
from .._files import PathLike
from ..data.dataset import Dataset
from ._options import ReadOptions
from ._streams import Source, name_of
from ._tables import dataset
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


def read(source: Source, options: ReadOptions) -> Dataset:
    """An Arrow file (Feather version 2) or stream."""
    path = path_of(source, "arrow")
    ipc, lib = pyarrow("ipc", "lib")
    with open(path, "rb") as file, arrow_errors(name_of(path)):
        try:
            table = ipc.open_file(file).read_all()
        except lib.ArrowInvalid:
            file.seek(0)
            table = ipc.open_stream(file).read_all()
        validate(table)
    return dataset(FrameTable(table), options.columns, options.missing, options.dtype)
