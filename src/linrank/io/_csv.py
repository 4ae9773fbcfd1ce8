"""Tables of text, separated by commas unless told otherwise."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import scipy.sparse as sp

from .._errors import ParameterError
from .._files import PathLike, replacing
from .._threads import count_threads
from ..data.dataset import Dataset, utf8
from ._ahead import in_order
from ._cells import Layout, cells, is_number
from ._columns import Columns
from ._options import ReadOptions
from ._rows import Piece, Rows
from ._streams import Source, name_of
from ._tables import Table, each, whole
from ._texts import chunks
from .write import ROWS, packed, short, texts, writing


class CsvTables:
    """A table of text in parts. The first line names the columns, unless all of it are numbers: then "1", "2", ... do.

    Pieces of rows are split by pyarrow, in threads. Where it is not installed, and from the first piece on whose quotes
    it may take for something else, the `csv` module splits.
    """

    n_rows: int | None = None

    def __init__(self, rows: Rows, file: str, separator: str, n_jobs: int | None) -> None:
        self._rows, self._n_threads = rows, count_threads(n_jobs)
        first, size = rows.first(Layout(file, separator, []))
        self.has_names = not all(map(is_number, first))
        self.names = first if self.has_names else [str(k + 1) for k in range(len(first))]
        self.lists: dict[str, list[str]] = {}
        self._layout = Layout(file, separator, self.names)
        if self.has_names:
            rows.skip_first(size)

    def parts(self, is_text: Mapping[str, bool]) -> Iterator[tuple[Table, float]]:
        """Rows in order."""

        def split(piece: Piece) -> tuple[Table, float]:
            return cells(self._layout, piece.text, piece.line, is_text), piece.share

        if has_pyarrow():
            yield from in_order(split, self._rows.pieces(), self._n_threads)
        yield from self._rows.row_by_row(self._layout)


def has_pyarrow() -> bool:
    """Whether pyarrow is installed."""
    try:
        import pyarrow.csv  # noqa: F401
    except ImportError:
        return False
    return True


@contextmanager
def _opened(source: Source, options: ReadOptions, separator: str) -> Iterator[tuple[CsvTables, Columns]]:
    """The table, and its columns: without names the first one is the label, and nothing else is guessed."""
    with options.progress(source) as progress, chunks(source, progress) as text:
        tables = CsvTables(Rows(text, progress, separator), name_of(source), separator, options.n_jobs)
        columns = options.columns
        if not tables.has_names and columns.label is None:
            columns = replace(columns, label="1")
        yield tables, columns


def read(source: Source, options: ReadOptions, separator: str = ",") -> Dataset:
    """A table of text."""
    with _opened(source, options, separator) as (tables, columns):
        return whole(tables, columns, options.missing, options.dtype)


def header(source: Source, options: ReadOptions, separator: str = ",") -> tuple[list[str], Columns]:
    """The names of the columns, and which is what."""
    with _opened(source, replace(options, verbose=0), separator) as (tables, columns):
        return tables.names, columns


def blocks(source: Source, options: ReadOptions, separator: str = ",") -> Iterator[Dataset]:
    """A table of text, part by part."""
    with _opened(source, options, separator) as (tables, columns):
        yield from each(tables, columns, options.missing, options.dtype)


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
    with replacing(path) as file, packed(file, path) as out, writing(path, data) as bar:
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
            bar.advance(part.n_rows)


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
