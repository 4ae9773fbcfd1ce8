"""A block of SVMlight text to arrays, in memory that is used again."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.text import svmlight as kernels
from ._numbers import shortened
from ._texts import Load

Bytes = NDArray[np.uint8]

MOST_PROBLEMS = 10  # kept as text
MOST_SINGLE = float(np.finfo(np.float32).max)


class Rules(NamedTuple):
    """First and last feature id, float32 wanted, NaN allowed, bad lines left out."""

    first_id: int
    last_id: int
    single: bool
    keep_nan: bool
    skip: bool


class Parsed(NamedTuple):
    """A block of rows: labels, queries, weights, comments and entries of X."""

    y: NDArray[np.float64]
    qid: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    comment: Bytes
    comment_ends: NDArray[np.int64]
    column: NDArray[np.int32]
    value: NDArray[np.float64]
    ends: NDArray[np.int64]

    def kept(self) -> Parsed:
        """The same in memory of its own."""
        return Parsed._make(None if part is None else part.copy() for part in self)


class Problem(NamedTuple):
    """A bad line of a block: line and column from 1, code, and the text found."""

    line: int
    column: int
    code: int
    found: str


class Outcome(NamedTuple):
    """What a block holds; `parsed` is valid until its scratch is used again."""

    parsed: Parsed
    n_lines: int
    n_bad: int
    problems: list[Problem]
    with_query: tuple[int | None, int | None]  # first lines with and without a qid
    reached: int  # bytes of the source behind it


class Scratch:
    """Room for one block: its text and what is found in it, used again for the next one."""

    def __init__(self) -> None:
        self._buffer, self._state = bytearray(), np.zeros(kernels.N_STATE, dtype=np.int64)
        self._numbers, self._marks, self._qid = np.empty((0, 2)), np.empty((0, 4), np.int32), np.empty(0, np.int64)
        self._column, self._value = np.empty(0, dtype=np.int32), np.empty(0)
        self._hard, self._comment = np.empty((0, 3), dtype=np.int32), np.empty(0, dtype=np.uint8)
        self._bad = np.empty((MOST_PROBLEMS + 1, 3), dtype=np.int32)  # the last one for all others

    def outcome(self, load: Load, rules: Rules) -> Outcome:
        """Load a block and parse it."""
        text = load(self._buffer)
        self._buffer = text.buffer
        lines = np.frombuffer(text.buffer, dtype=np.uint8)[text.start : text.end]
        return self._parsed(lines, rules, lines, text.reached)

    def _parsed(self, text: Bytes, rules: Rules, shown: Bytes, reached: int) -> Outcome:
        """Parse whole lines; `shown` is the text that messages quote, where it differs."""
        state = self._run(text, rules)
        rows, entries = int(state[kernels.ROWS]), int(state[kernels.ENTRIES])
        marks = self._marks[:rows]
        ends = marks[:, kernels.ENTRY_END].astype(np.int64)
        too_large = self._round(text, rules, ends) if state[kernels.HARD_NUMBERS] else []
        if too_large:
            return self._parsed(_spelled_out(text, too_large), rules, shown, reached)
        first_bad = self._bad[: min(int(state[kernels.BAD]), MOST_PROBLEMS)].tolist()
        problems = [Problem(line, column, code, _found(shown, line, column)) for line, column, code in first_bad]
        parsed = Parsed(
            y=self._numbers[:rows, 0],
            qid=_queries(text, marks, self._qid[:rows], bool(state[kernels.TEXTS])) if rows and marks[0, 1] else None,
            weight=self._numbers[:rows, 1] if state[kernels.COSTS] else None,
            comment=self._comment[: state[kernels.COMMENT]],
            comment_ends=marks[:, kernels.COMMENT_END].astype(np.int64),
            column=self._column[:entries],
            value=self._value[:entries],
            ends=ends,
        )
        first = tuple(int(state[k]) or None for k in (kernels.WITH_QUERY, kernels.WITHOUT_QUERY))
        counts = int(state[kernels.LINES]), int(state[kernels.BAD])
        return Outcome(parsed, *counts, problems, (first[0], first[1]), reached)

    def _run(self, text: Bytes, rules: Rules) -> NDArray[np.int64]:
        """Call the kernel, with more room where it asks for it."""
        state = self._state
        state[:] = 0
        state[kernels.END :] = (text.size, *rules)
        if self._comment.size < text.size:
            self._comment = np.empty(text.size + text.size // 8, dtype=np.uint8)
        while not self._call(text):
            if state[kernels.TOO_SMALL] == kernels.ROWS:
                self._numbers, self._marks = _larger(self._numbers), _larger(self._marks)
                self._qid = _larger(self._qid)
            elif state[kernels.TOO_SMALL] == kernels.ENTRIES:
                self._column, self._value = _larger(self._column), _larger(self._value)
            else:
                self._hard = _larger(self._hard)
        return state

    def _call(self, text: Bytes) -> bool:
        rows, entries = (self._numbers, self._marks, self._qid), (self._column, self._value, self._hard)
        return kernels.parse(text, self._state, *rows, *entries, self._comment, self._bad)

    def _round(self, text: Bytes, rules: Rules, ends: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Fill in the numbers that the kernel left to us: a few of many digits, or midway between two float32.

        Returns where in the text those are that lie beyond all floats.
        """
        too_large = []
        for row, target, position in self._hard[: self._state[kernels.HARD_NUMBERS]].tolist():
            token = _token(text, position)
            value = nearest_single(token) if rules.single and target >= 0 else float(shortened(token))
            if math.isinf(value):
                too_large.append((position, len(token)))
            elif target < 0:
                self._numbers[row, -1 - target] = value
            else:
                first, last = (int(ends[row - 1]) if row else 0), int(ends[row])
                entry = np.searchsorted(self._column[first:last], target - rules.first_id)
                self._value[first + int(entry)] = value
        return too_large


def _larger(array: NDArray[Any]) -> NDArray[Any]:
    larger = np.empty((max(1 << 12, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _queries(text: Bytes, marks: NDArray[np.int32], numbers: NDArray[np.int64], spelled: bool) -> NDArray[Any]:
    """Query ids: integers, or as objects the strings that stand there if one of them is none."""
    if not spelled:
        return numbers
    raw, known = text.tobytes(), dict[bytes, str]()
    out = np.empty(len(marks), dtype=object)
    for row, (start, end) in enumerate(marks[:, [kernels.QID_FROM, kernels.QID_TO]].tolist()):
        token = raw[start:end]
        if token not in known:
            known[token] = token.decode("utf-8", "surrogateescape")
        out[row] = known[token]
    if all(_is_integer(token) for token in known.values()):
        return np.array([int(token) for token in out.tolist()], dtype=np.int64)
    return out


def _is_integer(token: str) -> bool:
    """Whether an id is an integer of 64 bits in its shortest form."""
    if len(token) > 20 or not token.isascii() or not token.lstrip("-").isdigit():
        return False
    return str(int(token)) == token and -(2**63) <= int(token) < 2**63


def _spelled_out(text: Bytes, places: list[tuple[int, int]]) -> Bytes:
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


def _token(text: Bytes, position: int) -> str:
    size = 64
    while True:
        piece = text[position : position + size].tobytes()
        fields = piece.replace(b"#", b" ").split(None, 1)
        if len(fields) > 1 or len(fields[0]) < len(piece):
            return fields[0].decode("ascii")
        size *= 4


def _found(text: Bytes, line: int, column: int) -> str:
    """What stands at a place, shortened."""
    starts = np.flatnonzero(text == 10)[line - 2] + 1 if line > 1 else 0
    piece = text[starts + column - 1 : starts + column + 29].tobytes()
    return piece.split(b"\n")[0].decode("utf-8", "replace")[:20]
