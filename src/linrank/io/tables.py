"""Files of tables: CSV, Parquet, Arrow."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._errors import DataError, FileFormatError, LinrankError
from .._files import PathLike
from .._typing import FloatArray
from ..data.dataset import Dataset
from ._columns import Columns, dataset
from ._streams import Source, name_of, reading
from .frames import FrameTable

#: Cells that are missing values, beside those that spell NaN.
EMPTY = {"", "NA", "N/A", "null", "NULL", "None"}
ROLES = b"linrank"  # key of a Parquet file's metadata that says which column is what


class CsvTable:
    """A table of text. The first line names the columns, unless all of it are numbers: then "1", "2", ... do."""

    def __init__(self, source: Source, separator: str) -> None:
        self._file = name_of(source)
        with reading(source) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            try:
                self._read(csv.reader(text, delimiter=separator, strict=True))
            except (csv.Error, UnicodeDecodeError) as error:
                raise FileFormatError(
                    f"{self._file} is not a table of UTF-8 text ({error}): convert it first.", self._file
                ) from None
            finally:
                text.detach()

    def _read(self, reader: Any) -> None:
        rows, lines = [], []
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
                if len(row) != len(rows[0]):
                    raise self._error(reader.line_num, f"{len(rows[0])} cells as in the first line, found {len(row)}")
        if not rows:
            raise DataError(f"{self._file} is empty: it should hold a table.")
        self.has_names = not all(map(_is_number, rows[0]))
        self.names = rows[0] if self.has_names else [str(k + 1) for k in range(len(rows[0]))]
        first = 1 if self.has_names else 0
        self._lines = lines[first:]
        self._columns = dict(zip(self.names, zip(*rows[first:], strict=True), strict=False))
        self.n_rows = len(self._lines)

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where a cell is empty."""
        cells = ["nan" if cell in EMPTY else cell for cell in self._columns[name]]
        try:
            if any("_" in cell for cell in cells):  # digits grouped as Python reads them
                raise ValueError
            return np.array(cells, dtype=np.float64)
        except ValueError:
            row = next(k for k, cell in enumerate(cells) if not _is_number(cell))
            expected = f"a number in column {name!r}, found {cells[row][:20]!r} (a column of texts: drop={[name]!r})"
            raise self._error(self._lines[row], expected) from None

    def ids(self, name: str) -> NDArray[Any]:
        """A column of integers in their shortest form, or of strings."""
        cells = self._columns[name]
        for row, cell in enumerate(cells):
            if cell in EMPTY:
                raise self._error(self._lines[row], f"an id in column {name!r}")
        try:
            numbers = [int(cell) for cell in cells]
            if all(str(number) == cell for number, cell in zip(numbers, cells, strict=True)):
                return np.array(numbers, dtype=np.int64)
        except (ValueError, OverflowError):
            pass
        ids = np.empty(len(cells), dtype=object)
        ids[:] = cells
        return ids

    def texts(self, name: str) -> Iterable[str]:
        """A column as it stands there."""
        return self._columns[name]

    def _error(self, line: int, expected: str) -> FileFormatError:
        return FileFormatError(f"{self._file}, line {line}: expected {expected}.", self._file, line, None, expected)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def read_csv(source: Source, columns: Columns, missing: str, dtype: DTypeLike, separator: str) -> Dataset:
    """A table of text; without names the first column is the label, and nothing else is guessed."""
    table = CsvTable(source, separator)
    if not table.has_names:
        columns = replace(columns, label="1" if columns.label is None else columns.label)
    return dataset(table, columns, missing, dtype)


def pyarrow(*modules: str) -> Any:
    """Modules of pyarrow, an extra."""
    try:
        import importlib

        return [importlib.import_module(f"pyarrow.{module}") for module in modules]
    except ImportError:
        raise LinrankError("Parquet and Arrow files need an extra package: pip install 'linrank[parquet]'.") from None


@contextmanager
def _arrow_errors(name: str) -> Iterator[None]:
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


def _validate(table: Any) -> None:
    """Look at all of a table: a damaged offset would crash whoever reads the values later on."""
    table.validate(full=True)
    _ = table.column_names  # which may not be UTF-8


def read_parquet(path: PathLike, columns: Columns, missing: str, dtype: DTypeLike) -> Dataset:
    """A Parquet file; one written by `write_parquet` says itself which column is what."""
    (parquet,) = pyarrow("parquet")
    with open(path, "rb") as file, _arrow_errors(name_of(path)):
        table = parquet.read_table(file)
        _validate(table)
    known = _roles(table)
    given = {role: known.get(role, "") if known and getattr(columns, role) is None else getattr(columns, role)
             for role in ("label", "query", "id", "weight")}  # fmt: skip
    return dataset(FrameTable(table), replace(columns, **given), missing, dtype)


def _roles(table: Any) -> dict[str, str]:
    try:
        known = json.loads((table.schema.metadata or {}).get(ROLES, b"{}"))
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) and all(isinstance(column, str) for column in known.values()) else {}


def read_arrow(path: PathLike, columns: Columns, missing: str, dtype: DTypeLike) -> Dataset:
    """An Arrow file (Feather version 2) or stream."""
    ipc, lib = pyarrow("ipc", "lib")
    with open(path, "rb") as file, _arrow_errors(name_of(path)):
        try:
            table = ipc.open_file(file).read_all()
        except lib.ArrowInvalid:
            file.seek(0)
            table = ipc.open_stream(file).read_all()
        _validate(table)
    return dataset(FrameTable(table), columns, missing, dtype)
