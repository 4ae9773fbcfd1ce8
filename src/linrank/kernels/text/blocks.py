"""Blocks of text: how much is in them, pieces of them, and the arrays that their rows go to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import uncounted

NEWLINE, COLON = 10, 58


class Rules(NamedTuple):
    """First and last feature id, float32 wanted, NaN allowed, bad lines left out."""

    first_id: int
    last_id: int
    single: bool
    keep_nan: bool
    skip: bool


class Rows(NamedTuple):
    """One entry per row; positions are those in the text."""

    y: NDArray[np.float64]
    cost: NDArray[np.float64]
    qid: NDArray[np.int64]
    qid_from: NDArray[np.int32]
    qid_to: NDArray[np.int32]
    comment_from: NDArray[np.int32]
    comment_to: NDArray[np.int32]
    line: NDArray[np.int32]
    end: NDArray[np.int64]  # of its entries


class Entries(NamedTuple):
    """One entry per feature value; `hard`: (row, column, position) of each number that the caller must round."""

    column: NDArray[np.int32]
    value: NDArray[np.float64]
    hard: NDArray[np.int32]


class Counts(NamedTuple):
    """What `parse` found: `texts` are query ids that are not integers in their shortest form.

    Made by the caller: a kernel that returned it would have it unpickled, which crashes while Ctrl-C is pending.
    """

    rows: int
    entries: int
    lines: int
    hard: int
    bad: int
    texts: int
    costs: int


@uncounted
def measure(text: Any, end: int) -> tuple[int, int]:
    """Line feeds and colons in text[:end]: at most so many rows and entries."""
    lines, colons = 0, 0
    for i in range(end):
        lines += text[i] == NEWLINE
        colons += text[i] == COLON
    return lines, colons


@uncounted
def last_line_end(text: Any, end: int) -> int:
    """The position after the last line feed in text[:end], 0 if there is none."""
    while end > 0 and text[end - 1] != NEWLINE:
        end -= 1
    return end


@uncounted
def gather(text: Any, start: Any, stop: Any, out: Any) -> None:
    """The pieces text[start:stop], one after the other."""
    k = 0
    for row in range(start.size):
        for i in range(start[row], stop[row]):
            out[k] = text[i]
            k += 1


@uncounted
def scatter(column: Any, value: Any, end: Any, out: Any) -> None:
    """Entries of rows into a dense matrix of zeros."""
    k = 0
    for row in range(end.size):
        while k < end[row]:
            out[row, column[k]] = value[k]
            k += 1
