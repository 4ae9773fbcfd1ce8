"""Tables of text, separated by commas unless told otherwise."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._errors import DataError, FileFormatError, ParameterError
from .._files import PathLike, replacing
from .._typing import FloatArray
from ..data.dataset import Dataset, utf8
from ._columns import Columns, dataset
from ._options import ReadOptions
from ._streams import Source, name_of, reading
from .write import ROWS, packed, short, texts

#: Cells that are missing values, beside those that spell NaN.
EMPTY = {"", "NA", "N/A", "null", "NULL", "None"}


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


def read(source: Source, options: ReadOptions, separator: str = ",") -> Dataset:
    """A table of text; without names the first column is the label, and nothing else is guessed."""
    table = CsvTable(source, separator)
    return dataset(table, _known(table, options.columns), options.missing, options.dtype)


def _known(table: CsvTable, columns: Columns) -> Columns:
    return columns if table.has_names or columns.label is not None else replace(columns, label="1")


def header(source: Source, options: ReadOptions, separator: str = ",") -> tuple[list[str], Columns]:
    """The names of the columns, and which is what."""
    table = CsvTable(source, separator)
    return table.names, _known(table, options.columns)


def blocks(source: Source, options: ReadOptions, separator: str = ",") -> Iterator[Dataset]:
    """A table of text, in one block."""
    yield read(source, options, separator)


def write(path: PathLike, data: Dataset) -> None:
    """Write ranking data."""
    write_csv(path, data)


def write_csv(path: PathLike, data: Dataset, *, separator: str = ",") -> None:
    """Write ranking data as a table of text: columns label, qid, id and weight where known, then the features by name.

    Features without names are ``f1``, ``f2``, ...; a missing value is an empty cell; numbers are written with the
    shortest digits that read back as the same number. Packed if the name ends in ``.gz`` or ``.zst``.
    """
    names = data.feature_names or [f"f{j + 1}" for j in range(data.n_features)]
    known: dict[str, Any] = {"label": data.y, "qid": data.qid, "id": data.comments, "weight": data.sample_weight}
    known = {name: values for name, values in known.items() if values is not None}
    if len({*names, *known}) < len(names) + len(known):
        raise ParameterError(f"The features need different names, none of them {', '.join(known)}.")
    with replacing(path) as file, packed(file, path) as out:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        writer.writerow([*known, *names])
        for start in range(0, data.n_rows, ROWS):
            part = data.rows(start, start + ROWS)
            columns = [_cells(part, name) for name in known]
            X = part.X.toarray() if sp.issparse(part.X) else part.X
            for k, row in enumerate(X):
                cells = ["" if cell == "nan" else cell for cell in texts(row)]
                writer.writerow([*(column[k] for column in columns), *cells])
            out.write(utf8(text.getvalue(), "name, query id or comment"))
            text.seek(0)
            text.truncate()


def _cells(part: Dataset, name: str) -> list[str]:
    if name == "qid":
        assert part.qid is not None
        return [str(value) for value in part.qid.tolist()]
    if name == "id":
        assert part.comments is not None
        return [text.strip() for text in part.comments]
    numbers = part.y if name == "label" else part.sample_weight
    assert numbers is not None
    return short(numbers)
