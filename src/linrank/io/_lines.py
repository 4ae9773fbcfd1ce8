"""Blocks of SVMlight text parsed on a pool of threads, one after the other."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._errors import FileFormatError
from .._threads import count_threads, raise_interrupt
from ..kernels.text import svmlight as kernels
from ..kernels.text.blocks import Counts, Entries, Rows, Rules, gather, measure
from ._numbers import shortened
from ._streams import BLOCK_BYTES, Source, Text, blocks, name_of, reading

#: What should be where a line is wrong, by the kernel's code.
EXPECTED = {
    kernels.LABEL: "a number as the label",
    kernels.GAP: "a blank after the number",
    kernels.FEATURE: "a feature (id:value), qid:, cost: or #",
    kernels.NO_COLON: "a colon after the feature id",
    kernels.VALUE: "a finite number after the colon",
    kernels.TOO_LARGE: "a number within the range of {dtype}",
    kernels.TOO_LOW: "feature ids from 1 on (zero_based=True reads ids from 0)",
    kernels.TOO_HIGH: "a feature id of at most {last_id} (n_features)",
    kernels.TWICE: "each feature id only once in a line",
    kernels.QUERY: "a query id after qid:",
    kernels.QUERY_TWICE: "only one qid: in a line",
    kernels.COST_TWICE: "only one cost: in a line",
    kernels.COST: "a finite number after cost:",
    kernels.MISSING: "no missing value (missing='keep', 'zero' or 'mean' accepts NaN)",
    kernels.LONE_RETURN: "a line feed after the carriage return",
}
MOST_PROBLEMS = 10  # kept as text
MOST_SINGLE = float(np.finfo(np.float32).max)


class Parsed(NamedTuple):
    """A block of rows: labels, queries, weights, comments and entries of X."""

    y: NDArray[np.float64]
    qid: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    comment: Text
    comment_ends: NDArray[np.int64]
    column: NDArray[np.int32]
    value: NDArray[np.float64]
    ends: NDArray[np.int64]


class Problem(NamedTuple):
    """A bad line of a block: line and column from 1, code, and the text found."""

    line: int
    column: int
    code: int
    found: str


class _Outcome(NamedTuple):
    parsed: Parsed
    n_lines: int
    n_bad: int
    problems: list[Problem]
    with_query: tuple[int | None, int | None]  # first lines with and without a qid


@dataclass
class Reader:
    """Parses a source block by block; counts what it leaves out."""

    source: Source
    rules: Rules
    n_jobs: int | None = None
    skipped: int = 0
    problems: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Parsed]:
        name = name_of(self.source)
        n_lines = 0
        seen: list[int | None] = [None, None]
        with reading(self.source) as stream:
            for outcome in self._outcomes(blocks(stream, name)):
                self._note(outcome, n_lines)
                for k, line in enumerate(outcome.with_query):
                    if line is not None and seen[k] is None:
                        seen[k] = line + n_lines
                if seen[0] is not None and seen[1] is not None:
                    raise self._error(seen[1], 1, f"a qid, as on line {seen[0]}, or none on any line", "")
                n_lines += outcome.n_lines
                if outcome.parsed.y.size:
                    yield outcome.parsed

    def _outcomes(self, texts: Iterator[Text]) -> Iterator[_Outcome]:
        """Parse in threads, answers in order; no more blocks are read ahead than threads can work on.

        One thread is not the caller's either: that one stays free to take Ctrl-C. A file of one block is quick work,
        which is done here.
        """
        n_threads = count_threads(self.n_jobs)
        first = list(itertools.islice(texts, 2))
        if len(first) == 1 and first[0].size <= BLOCK_BYTES:
            yield parse_block(first[0], self.rules)
            return
        texts = itertools.chain(first, texts)
        waiting: deque[Future[_Outcome]] = deque()
        pool = ThreadPoolExecutor(n_threads, thread_name_prefix="linrank-read")
        try:
            for text in texts:
                waiting.append(pool.submit(parse_block, text, self.rules))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except RuntimeError as error:
            raise_interrupt(error)
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _note(self, outcome: _Outcome, n_lines: int) -> None:
        """Raise the first problem, or count and keep it."""
        self.skipped += outcome.n_bad
        for problem in outcome.problems:
            dtype = "float32" if self.rules.single else "float64"
            expected = EXPECTED[problem.code].format(dtype=dtype, last_id=self.rules.last_id)
            error = self._error(problem.line + n_lines, problem.column, expected, problem.found)
            if not self.rules.skip:
                raise error
            if len(self.problems) < MOST_PROBLEMS:
                self.problems += (str(error),)

    def _error(self, line: int, column: int, expected: str, found: str) -> FileFormatError:
        name = name_of(self.source)
        there = f", found {found!r}" if found else ""
        cure = "" if self.rules.skip else ": mend it, or leave such lines out with on_error='skip'"
        return FileFormatError(
            f"{name}, line {line}, column {column}: expected {expected}{there}{cure}.", name, line, column, expected
        )


def parse_block(text: Text, rules: Rules, shown: Text | None = None) -> _Outcome:
    """Parse whole lines; `shown` is the text that messages quote, where it differs."""
    n_lines, n_colons = measure(text, text.size)
    rows = _empty_rows(n_lines)
    hard = np.empty((n_colons + n_lines, 3), dtype=np.int32)  # pages that are never written take no memory
    entries = Entries(np.empty(n_colons, dtype=np.int32), np.empty(n_colons), hard)
    bad = np.empty((n_lines, 3), dtype=np.int32)
    counts = Counts._make(kernels.parse(text, text.size, rules, rows, entries, bad))
    rows = Rows._make(_used(values, counts.rows) for values in rows)
    too_large = _round(text, rules, rows, entries, counts)
    if too_large:
        return parse_block(_spelled_out(text, too_large), rules, text)
    shown = text if shown is None else shown
    first_bad = bad[: min(counts.bad, MOST_PROBLEMS)].tolist()
    problems = [Problem(line, column, code, _found(shown, line, column)) for line, column, code in first_bad]
    has_query = rows.qid_to > 0
    first = tuple(int(rows.line[np.argmax(has)]) if has.any() else None for has in (has_query, ~has_query))
    comment, comment_ends = _pieces(text, rows.comment_from, rows.comment_to)
    parsed = Parsed(
        y=rows.y,
        qid=_queries(text, rows, counts) if has_query.any() else None,
        weight=rows.cost if counts.costs else None,
        comment=comment,
        comment_ends=comment_ends,
        column=_used(entries.column, counts.entries),
        value=_used(entries.value, counts.entries),
        ends=rows.end,
    )
    return _Outcome(parsed, counts.lines, counts.bad, problems, (first[0], first[1]))


def _used(values: NDArray[Any], size: int) -> NDArray[Any]:
    """The first entries; a copy where most of the room made is not used, so that a chunk does not hold on to it."""
    return values[:size] if 2 * size > values.size else values[:size].copy()


def _pieces(text: Text, start: NDArray[np.int32], stop: NDArray[np.int32]) -> tuple[Text, NDArray[np.int64]]:
    ends = np.cumsum(stop - start, dtype=np.int64)
    out = np.empty(int(ends[-1]) if ends.size else 0, dtype=np.uint8)
    gather(text, start, stop, out)
    return out, ends


def _queries(text: Text, rows: Rows, counts: Counts) -> NDArray[Any]:
    """Query ids: integers, or as objects the strings that stand there if one of them is none."""
    if not counts.texts:
        return rows.qid
    pieces, ends = _pieces(text, rows.qid_from, rows.qid_to)
    raw, known = pieces.tobytes(), dict[bytes, str]()
    out = np.empty(ends.size, dtype=object)
    start = 0
    for row, end in enumerate(ends.tolist()):
        token = raw[start:end]
        if token not in known:
            known[token] = token.decode("utf-8", "surrogateescape")
        out[row] = known[token]
        start = end
    return out


def _round(text: Text, rules: Rules, rows: Rows, entries: Entries, counts: Counts) -> list[tuple[int, int]]:
    """Fill in the numbers that the kernel left to us: a few of many digits, or midway between two float32.

    Returns where in the text those are that lie beyond all floats.
    """
    too_large = []
    for row, column, position in entries.hard[: counts.hard].tolist():
        token = _token(text, position)
        single = rules.single and column >= 0
        value = nearest_single(token) if single else float(shortened(token))
        if math.isinf(value):
            too_large.append((position, len(token)))
        elif column == kernels.OF_LABEL:
            rows.y[row] = value
        elif column == kernels.OF_COST:
            rows.cost[row] = value
        else:
            first, last = (int(rows.end[row - 1]) if row else 0), int(rows.end[row])
            entries.value[first + int(np.searchsorted(entries.column[first:last], column))] = value
    return too_large


def _spelled_out(text: Text, places: list[tuple[int, int]]) -> Text:
    """The text with numbers beyond all floats spelled so that the kernel sees it, and deals with their lines."""
    out = text.copy()
    for position, size in places:
        out[position : position + size] = np.frombuffer(b"1e" + b"9" * (size - 2), dtype=np.uint8)
    return out


def nearest_single(token: str) -> float:
    """The float32 nearest to a decimal number, ties to even, or infinity: rounding twice, by float64, may miss it."""
    token = shortened(token)
    value = float(token)
    if abs(value) >= kernels.LARGEST_SINGLE:
        beyond = Decimal(token).copy_abs() >= Decimal(kernels.LARGEST_SINGLE)
        return math.copysign(math.inf if beyond else MOST_SINGLE, value)
    near = float(np.float32(value))
    other = near + 2 * (value - near)
    if other == near or abs(other) > MOST_SINGLE or float(np.float32(other)) != other:
        return near
    exact = Decimal(token)
    if exact == Decimal(value):
        return near
    return max(near, other) if exact > Decimal(value) else min(near, other)


def _token(text: Text, position: int) -> str:
    size = 64
    while True:
        piece = text[position : position + size].tobytes()
        fields = piece.replace(b"#", b" ").split(None, 1)
        if len(fields) > 1 or len(fields[0]) < len(piece):
            return fields[0].decode("ascii")
        size *= 4


def _found(text: Text, line: int, column: int) -> str:
    """What stands at a place, shortened."""
    starts = np.flatnonzero(text == 10)[line - 2] + 1 if line > 1 else 0
    piece = text[starts + column - 1 : starts + column + 29].tobytes()
    return piece.split(b"\n")[0].decode("utf-8", "replace")[:20]


def _empty_rows(n: int) -> Rows:
    """Room for n rows."""
    types = (np.float64, np.float64, np.int64, *[np.int32] * 5, np.int64)
    return Rows._make(np.empty(n, dtype=kind) for kind in types)
