"""Tables of text cut into pieces of whole rows."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from .._errors import DataError
from .._progress import ByteProgress
from ._cells import BYTE_ORDER_MARK, QUOTE, Layout, PlainCells, is_well_quoted

ROWS_AT_A_TIME = 1 << 12  # where the csv module splits
LONGEST_PIECE = 1 << 26  # from here on the csv module looks for the end of a row


class Piece(NamedTuple):
    """Whole rows of text, the number of lines before them, and the share of the source that lies behind."""

    text: bytes
    line: int
    share: float


class Rows:
    """Rows of a table of text: first its first row, then pieces while they are well quoted, then row by row."""

    def __init__(self, chunks: Iterator[bytes], progress: ByteProgress, separator: str) -> None:
        self._chunks, self._progress, self._separator = chunks, progress, separator
        self._text, self._line, self._ended = b"", 0, False
        while len(self._text) < len(BYTE_ORDER_MARK) and self._read():
            pass
        self._text = self._text.removeprefix(BYTE_ORDER_MARK)

    def _read(self) -> bool:
        """Some bytes more; whether there are any."""
        more = next(self._chunks, b"")
        self._text, self._ended = self._text + more, not more
        return bool(more)

    def _skip(self, size: int) -> None:
        behind, self._text = self._text[:size], self._text[size:]
        self._line += behind.count(b"\n") + behind.count(b"\r") - behind.count(b"\r\n")

    def first(self, layout: Layout) -> tuple[list[str], int]:
        """The first row that is not empty, and its size in bytes with all before it."""
        while True:
            lines = self._text.splitlines(keepends=True)
            reader = csv.reader((line.decode("utf-8") for line in lines), delimiter=self._separator, strict=True)
            try:
                row = next((row for row in reader if row), None)
            except (csv.Error, UnicodeDecodeError) as error:
                if self._ended or isinstance(error, UnicodeDecodeError) or len(self._text) > LONGEST_PIECE:
                    raise layout.not_text(error) from None
                row = None
            if row is not None and (reader.line_num < len(lines) or self._ended):
                return row, sum(map(len, lines[: reader.line_num]))
            if not self._read() and row is None:
                raise DataError(f"{layout.file} is empty: it should hold a table.")

    def skip_first(self, size: int) -> None:
        """Leave out so many bytes: the names of the columns."""
        self._skip(size)

    def pieces(self) -> Iterator[Piece]:
        """Pieces that are well quoted, up to the first one that is not."""
        while True:
            cut = len(self._text) if self._ended else _row_end(self._text)
            if cut == 0:
                if len(self._text) > LONGEST_PIECE or self._ended:
                    return
                self._read()
                continue
            text = self._text[:cut]
            if not is_well_quoted(text, self._separator.encode()):
                return
            piece = Piece(text, self._line, self._progress.share)
            self._skip(cut)
            yield piece

    def row_by_row(self, layout: Layout) -> Iterator[tuple[PlainCells, float]]:
        """All that follows, split by the csv module."""
        before, rows, lines = self._line, list[list[str]](), list[int]()
        reader = csv.reader(self._lines(), delimiter=self._separator, strict=True)
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    lines.append(before + reader.line_num)
                if len(rows) == ROWS_AT_A_TIME:
                    yield PlainCells(layout, rows, lines), self._progress.share
                    rows, lines = [], []
        except (csv.Error, UnicodeDecodeError) as error:
            PlainCells(layout, rows, lines)  # what is wrong with earlier rows is said first
            raise layout.not_text(error) from None
        if rows:
            yield PlainCells(layout, rows, lines), 1.0

    def _lines(self) -> Iterator[str]:
        """Lines with their ends; a carriage return that may be followed by a line feed waits for it."""
        while self._text or not self._ended:
            *whole, rest = self._text.splitlines(keepends=True) or [b""]
            if self._ended:
                whole, rest = [*whole, rest], b""
            self._text = b""
            for line in whole:
                yield line.decode("utf-8")
            self._text = rest
            if not self._ended:
                self._read()


def _row_end(text: bytes) -> int:
    """Where the last whole row ends, if each quote opens or closes a cell; 0 if there is none."""
    end = text.rfind(b"\n") + 1 or text.rfind(b"\r", 0, max(0, len(text) - 1)) + 1
    while end and QUOTE in text and text.count(QUOTE, 0, end) % 2:
        opened = text.rfind(QUOTE, 0, end)
        end = text.rfind(b"\n", 0, opened) + 1 or text.rfind(b"\r", 0, opened) + 1
    return end
