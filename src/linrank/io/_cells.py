"""Rows of a table of text: split by the `csv` module, or by pyarrow where both split alike."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._errors import FileFormatError
from .._typing import FloatArray
from ..data.buffers import numbers_of

#: Cells that are missing values, beside those that spell NaN.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
EMPTY = {"", "NA", "N/A", "null", "NULL", "None"}
QUOTE = b'"'
LONGEST_CELL = csv.field_size_limit()  # of the csv module


class Layout(NamedTuple):
    """What is known of a table of text: its file, what separates cells, and the names of its columns."""

    file: str
    separator: str
    names: list[str]

    def error(self, line: int, expected: str) -> FileFormatError:
        """A line that is not as expected."""
        return FileFormatError(f"{self.file}, line {line}: expected {expected}.", self.file, line, None, expected)

    def not_text(self, error: Exception) -> FileFormatError:
        """A file that cannot be split into cells."""
        return FileFormatError(f"{self.file} is not a table of UTF-8 text ({error}): convert it first.", self.file)


class PlainCells:
    """Some rows as lists of cells, with the numbers of their lines."""

    def __init__(self, layout: Layout, rows: list[list[str]], lines: list[int]) -> None:
        self.names, self.n_rows, self._layout, self._lines = layout.names, len(rows), layout, lines
        width = len(layout.names)
        for row, line in zip(rows, lines, strict=True):
            if len(row) != width:
                raise layout.error(line, f"{width} cells as in the first line, found {len(row)}")
        self._columns = dict(zip(layout.names, zip(*rows, strict=True), strict=True)) if rows else {}

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where a cell is empty."""
        cells = self._columns[name]
        try:
            if any("_" in cell for cell in cells):  # digits grouped as Python reads them
                raise ValueError
            return np.array([np.nan if cell in EMPTY else float(cell) for cell in cells])
        except ValueError:
            row = next(k for k, cell in enumerate(cells) if cell not in EMPTY and not is_number(cell))
            expected = f"a number in column {name!r}, found {cells[row][:20]!r} (a column of texts: drop={[name]!r})"
            raise self._layout.error(self._lines[row], expected) from None

    def ids(self, name: str) -> NDArray[Any]:
        """A column of integers in their shortest form, or of strings."""
        cells = self._columns[name]
        for row, cell in enumerate(cells):
            if cell in EMPTY:
                raise self._layout.error(self._lines[row], f"an id in column {name!r}")
        try:
            numbers = [int(cell) for cell in cells]
            if all(str(number) == cell for number, cell in zip(numbers, cells, strict=True)):
                return np.array(numbers, dtype=np.int64)
        except (ValueError, OverflowError):
            pass
        return _objects(cells)

    def texts(self, name: str) -> Iterable[str]:
        """A column as it stands there."""
        return self._columns[name]


def _objects(cells: Iterable[str]) -> NDArray[Any]:
    cells = list(cells)
    ids = np.empty(len(cells), dtype=object)
    ids[:] = cells
    return ids


def is_number(cell: str) -> bool:
    """Whether a cell spells a number, infinity and NaN among them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def plain_cells(layout: Layout, text: bytes, line: int) -> PlainCells:
    """Split whole rows, the first of them on the line after `line`."""
    rows, lines = [], []
    try:
        reader = csv.reader(io.StringIO(text.decode("utf-8"), newline=""), delimiter=layout.separator, strict=True)
        for row in reader:
            if row:
                rows.append(row)
                lines.append(line + reader.line_num)
    except (csv.Error, UnicodeDecodeError) as error:
        raise layout.not_text(error) from None
    return PlainCells(layout, rows, lines)


class ArrowCells:
    """Some rows in columns of pyarrow. Whatever it does not read as the `csv` module does is left to that."""

    def __init__(self, layout: Layout, table: Any, plain: Any) -> None:
        self.names, self.n_rows = layout.names, len(table)
        self._at, self._table, self._again = {name: str(j) for j, name in enumerate(layout.names)}, table, plain

    def _plain(self) -> PlainCells:
        split: PlainCells = self._again()
        return split

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, NaN where a cell is empty."""
        import pyarrow.types

        column = self._table[self._at[name]]
        if not pyarrow.types.is_float64(column.type):
            return self._plain().numbers(name)
        found = numbers_of(column, np.float64)
        if int(np.isnan(found).sum()) > column.null_count:  # fast_float takes nan(...), Python does not
            return self._plain().numbers(name)
        return found

    def ids(self, name: str) -> NDArray[Any]:
        """A column of integers in their shortest form, or of strings."""
        import pyarrow
        import pyarrow.compute as compute

        column = self._table[self._at[name]]
        try:
            numbers = column.cast(pyarrow.int64())
            if compute.all(compute.equal(numbers.cast(pyarrow.string()), column)).as_py():
                return numbers_of(numbers, np.int64)
        except pyarrow.ArrowInvalid:
            pass
        cells = column.to_pylist()
        return _objects(cells) if EMPTY.isdisjoint(cells) else self._plain().ids(name)

    def texts(self, name: str) -> Iterable[str]:
        """A column as it stands there."""
        import pyarrow.types

        column = self._table[self._at[name]]
        cells: list[str] = column.to_pylist()
        return cells if pyarrow.types.is_string(column.type) else self._plain().texts(name)


def cells(layout: Layout, text: bytes, line: int, is_text: Mapping[str, bool]) -> ArrowCells | PlainCells:
    """Split whole rows that are well quoted, by pyarrow where it splits them; only columns in `is_text` are needed."""
    import pyarrow
    from pyarrow import csv as arrow

    def plain() -> PlainCells:
        return plain_cells(layout, text, line)

    if not is_utf8(text) or text.startswith(BYTE_ORDER_MARK):  # which pyarrow would take off
        return plain()
    wanted = {str(j): is_text[name] for j, name in enumerate(layout.names) if name in is_text}
    kinds = {column: pyarrow.string() if text else pyarrow.float64() for column, text in wanted.items()}
    parse = arrow.ParseOptions(delimiter=layout.separator, newlines_in_values=QUOTE in text)
    read = arrow.ReadOptions(
        use_threads=False, block_size=len(text) + 1, column_names=[str(j) for j in range(len(layout.names))]
    )
    convert = arrow.ConvertOptions(
        check_utf8=False,
        column_types=kinds,
        include_columns=list(kinds),
        null_values=[*sorted(EMPTY), "nan", "NaN", "NAN"],
        strings_can_be_null=False,
    )
    try:
        table = arrow.read_csv(pyarrow.BufferReader(text), read, parse, convert)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowKeyError):
        return plain()
    return ArrowCells(layout, table, plain)


def is_utf8(text: bytes) -> bool:
    """Whether bytes are UTF-8."""
    if text.isascii():
        return True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_well_quoted(text: bytes, separator: bytes) -> bool:
    """Whether every quote opens or closes a cell, or is one of two that stand for one: then all readers split alike.

    The text begins at a row and ends after one. Of the quotes, in turns, one opens and one closes; a pair within a cell
    closes and opens again.
    """
    if QUOTE not in text:
        return _cells_are_short(text, separator)
    codes = np.frombuffer(b"\n" + text + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(codes == QUOTE[0])
    if quotes.size % 2:
        return False
    borders = np.isin(codes, [10, 13, separator[0]])
    opening, closing = quotes[::2], quotes[1::2]
    twice = opening[1:] == closing[:-1] + 1
    opens, closes = borders[opening - 1], borders[closing + 1]
    opens[1:] |= twice
    closes[:-1] |= twice
    return bool(opens.all() and closes.all()) and _cells_are_short(text, separator)


def _cells_are_short(text: bytes, separator: bytes) -> bool:
    """Whether no cell is longer than the csv module allows; it may say no where one is not."""
    if len(text) <= LONGEST_CELL:
        return True
    codes = np.frombuffer(text, dtype=np.uint8)
    if QUOTE in text:
        return _largest_gap(codes == QUOTE[0]) <= LONGEST_CELL and _largest_gap(codes == 10) <= LONGEST_CELL
    if _largest_gap(codes == 10) <= LONGEST_CELL:
        return True
    return _largest_gap((codes == 10) | (codes == 13) | (codes == separator[0])) <= LONGEST_CELL


def _largest_gap(borders: NDArray[np.bool_]) -> int:
    return int(np.diff(np.flatnonzero(borders), prepend=-1, append=borders.size).max())
