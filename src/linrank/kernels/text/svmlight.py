"""Lines of SVMlight / LETOR text to arrays: ``<label> [qid:<id>] [cost:<number>] <id>:<value> ... [# comment]``.

One pass over the bytes, a few branches per byte. The text must end with a line feed, which ends every loop. What goes
wrong is recorded by position and code, never raised. Few functions, each called from one place: they compile quickly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import inner, uncounted
from .decimal import DIGIT, FLOAT, HARD, HUGE, NAN, number

NEWLINE, RETURN, BLANK, TAB, HASH, COLON = 10, 13, 32, 9, 35, 58
#: What can be wrong with a line.
GOOD, LABEL, GAP, FEATURE, NO_COLON, VALUE, TOO_LARGE, TOO_LOW, TOO_HIGH, TWICE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
QUERY, QUERY_TWICE, COST, MISSING, LONE_RETURN, COST_TWICE, FULL = 10, 11, 12, 13, 14, 15, 16
#: Columns that stand for the label and the cost.
OF_LABEL, OF_COST = -1, -2
LARGEST_SINGLE = 3.4028235677973366e38  # 2^128 - 2^103: from here on a number rounds to infinity in float32
LARGEST_ID = 2**31 - 2
MOST_ID_DIGITS = 10
SAFE_DIGITS = 18  # of a query id: those of more, and all others that are not integers, are the caller's

#: The entries of `state`: how far the text was read, what was found, and the rules.
POSITION, LINES, ROWS, ENTRIES, HARD_NUMBERS, BAD, TEXTS, COSTS, COMMENT = 0, 1, 2, 3, 4, 5, 6, 7, 8
WITH_QUERY, WITHOUT_QUERY, TOO_SMALL, END, FIRST_ID, LAST_ID, SINGLE, KEEP_NAN, SKIP = 9, 10, 11, 12, 13, 14, 15, 16, 17
N_STATE = 18
#: The columns of `marks`, one row of them for each row of data.
QID_FROM, QID_TO, COMMENT_END, ENTRY_END = 0, 1, 2, 3

QID_WORD, COST_WORD = (np.frombuffer(word, dtype=np.uint8) for word in (b"qid:", b"cost:"))
BLANKS = np.isin(np.arange(256), [BLANK, TAB, RETURN])
ENDS = np.isin(np.arange(256), [BLANK, TAB, RETURN, NEWLINE, HASH])


@inner
def _sort_row(column: Any, value: Any, first: int, last: int) -> bool:
    """Heap sort by column, in place; whether no column occurs twice."""
    size = last - first
    for step in range(size + size // 2 - 1, 0, -1):
        if step >= size:  # build the heap
            root, end = step - size, size
        else:  # take its top away
            column[first], column[first + step] = column[first + step], column[first]
            value[first], value[first + step] = value[first + step], value[first]
            root, end = 0, step
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and column[first + child] < column[first + child + 1]:
                child += 1
            if column[first + root] >= column[first + child]:
                break
            column[first + root], column[first + child] = column[first + child], column[first + root]
            value[first + root], value[first + child] = value[first + child], value[first + root]
            root = child
    for k in range(first + 1, last):
        if column[k] == column[k - 1]:
            return False
    return True


@inner
def _query(text: Any, i: int) -> tuple[int, int, bool]:
    """The id at text[i]: as an integer, the position after it, and whether it is one in its shortest form."""
    value = 0
    negative = text[i] == 45
    i += negative
    start = i
    while DIGIT[text[i]] < 10:
        value = 10 * value + DIGIT[text[i]]
        i += 1
    size = i - start
    whole = 0 < size <= SAFE_DIGITS and ENDS[text[i]] and (text[start] != 48 or (size == 1 and not negative))
    while not ENDS[text[i]]:
        i += 1
    return -value if negative else value, i, whole


@inner
def _verdict(value: float, kind: int, after: int, target: int, single: bool, keep_nan: bool) -> tuple[int, bool]:
    """What is wrong with a number, by its kind and the byte after it; and whether it is hard, or midway in float32.

    The target is the id of a feature, OF_LABEL or OF_COST.
    """
    if target >= 0 and kind == NAN:
        return (VALUE if not ENDS[after] else (GOOD if keep_nan else MISSING)), False
    if single and target >= 0 and kind == FLOAT:
        if abs(value) > LARGEST_SINGLE:
            return TOO_LARGE, False
        midway = abs(value) == LARGEST_SINGLE
        if not midway:
            near = np.float64(np.float32(value))
            other = near + 2 * (value - near)
            midway = other != near and np.float64(np.float32(other)) == other
        if midway:  # rounding again may go the wrong way
            kind = HARD
    if kind == FLOAT or kind == HARD:
        return (GOOD if ENDS[after] else GAP), kind == HARD
    if kind == HUGE:
        return TOO_LARGE, False
    return (VALUE if target >= 0 else (LABEL if target == OF_LABEL else COST)), False


@inner
def _unusual(value: float, kind: int, after: int, target: int, start: int, full: bool, state: Any, hard: Any) -> int:
    """What is wrong with a number that may not go straight into an array of entries, which may be full."""
    if full and target >= 0:
        state[TOO_SMALL] = ENTRIES
        return FULL
    code, is_hard = _verdict(value, kind, after, target, state[SINGLE] != 0, state[KEEP_NAN] != 0)
    if code == GOOD and is_hard:
        k = state[HARD_NUMBERS]
        if k == hard.shape[0]:
            state[TOO_SMALL] = HARD_NUMBERS
            return FULL
        hard[k, 0], hard[k, 1], hard[k, 2] = state[ROWS], target, start
        state[HARD_NUMBERS] = k + 1
    return code


@inner
def _begins(text: Any, i: int, word: Any) -> bool:
    """Whether a word without line feed stands at text[i]."""
    for k in range(word.size):
        if text[i + k] != word[k]:
            return False
    return True


@inner
def _feature(text: Any, i: int, last: int, state: Any) -> tuple[int, int, int]:
    """The feature id at text[i]: the position after its colon, or of what is wrong, the id, and a code."""
    start, this = i, 0
    while DIGIT[text[i]] < 10:
        this = 10 * this + DIGIT[text[i]]
        i += 1
    if text[i] != COLON:
        return i, 0, NO_COLON
    if i - start > MOST_ID_DIGITS:
        this = 2**40
    if this == last:
        return start, 0, TWICE
    if this < state[FIRST_ID] or this > state[LAST_ID]:
        return start, 0, TOO_LOW if this < state[FIRST_ID] else TOO_HIGH
    return i + 1, this, GOOD


@inner
def _next(text: Any, i: int, last: int, state: Any, marks: Any, qid: Any) -> tuple[int, int, int]:
    """The way from text[i] to the next number of a row: where it or what is wrong stands, its target, and a code.

    The target is OF_LABEL at the end of the row. Query ids on the way are noted.
    """
    row = state[ROWS]
    while True:
        while BLANKS[text[i]]:
            i += 1
        if DIGIT[text[i]] < 10:
            return _feature(text, i, last, state)
        if text[i] == NEWLINE or text[i] == HASH:
            return i, OF_LABEL, GOOD
        if _begins(text, i, COST_WORD):
            return i + COST_WORD.size, OF_COST, GOOD
        if not _begins(text, i, QID_WORD):
            return i, 0, FEATURE
        if marks[row, QID_TO] > 0:
            return i, 0, QUERY_TWICE
        start = i + QID_WORD.size
        qid[row], i, whole = _query(text, start)
        marks[row, QID_FROM], marks[row, QID_TO] = start, i
        state[TEXTS] += not whole
        if i == start:
            return i, 0, QUERY


@inner
def _comment(text: Any, i: int, comment: Any, k: int) -> tuple[int, int, int]:
    """Copy the bytes from text[i] up to the line feed: where it is, the bytes so far, and what is wrong.

    A carriage return without a line feed would hide a line.
    """
    while text[i] != NEWLINE:
        if text[i] == RETURN and text[i + 1] != NEWLINE:
            return i, k, LONE_RETURN
        comment[k] = text[i]
        k += 1
        i += 1
    return i, k - (text[i - 1] == RETURN), GOOD


@inner
def _row(
    text: Any, start: int, state: Any, numbers: Any, marks: Any, qid: Any, column: Any, value: Any, hard: Any
) -> tuple[int, int]:
    """One row from its label on: where it ends, and what is wrong. `state` is changed as if nothing were."""
    row, first, begin = state[ROWS], state[ENTRIES], start
    first_id, last_id, single = state[FIRST_ID], state[LAST_ID], state[SINGLE] != 0
    entry, increasing, costs = first, True, 0
    this: Any = np.int64(OF_LABEL)
    last: Any = np.int64(-1)
    marks[row, QID_TO] = 0
    numbers[row, 1] = 1.0
    while True:
        found, i, kind = number(text, start)
        if single or kind != FLOAT or not ENDS[text[i]] or entry == column.size:
            code = _unusual(found, kind, text[i], this, start, entry == column.size, state, hard)
            if code != GOOD:
                return (i if code == GAP else start), code
        if this >= 0:
            column[entry], value[entry] = this - first_id, found
            entry += 1
            increasing &= this > last
            last = this
        else:
            numbers[row, -1 - this] = found
            costs += this == OF_COST
            if costs > 1:
                return start - COST_WORD.size, COST_TWICE
        i += text[i] == BLANK
        start, this = i, np.int64(0)
        digit = np.int64(text[i]) - 48
        while 0 <= digit <= 9:
            this = 10 * this + digit
            i += 1
            digit = np.int64(text[i]) - 48
        if text[i] == COLON and 0 < i - start <= MOST_ID_DIGITS and first_id <= this <= last_id and this != last:
            start = i + 1
            continue
        start, this, code = _next(text, start, last, state, marks, qid)
        if code != GOOD or this == OF_LABEL:
            break
    if code == GOOD and not increasing and not _sort_row(column, value, first, entry):
        return begin, TWICE
    state[ENTRIES] = entry
    state[COSTS] += costs
    return start, code


@inner
def _note_row(state: Any, marks: Any, comment_end: int) -> None:
    """A row is good."""
    row = state[ROWS]
    marks[row, COMMENT_END], marks[row, ENTRY_END] = comment_end, state[ENTRIES]
    which = WITH_QUERY if marks[row, QID_TO] > 0 else WITHOUT_QUERY
    if state[which] == 0:
        state[which] = state[LINES] + 1
    state[COMMENT] = comment_end
    state[ROWS] = row + 1


@uncounted
def parse(
    text: Any,
    state: Any,
    numbers: Any,
    marks: Any,
    qid: Any,
    column: Any,
    value: Any,
    hard: Any,
    comment: Any,
    bad: Any,
) -> bool:
    """Read whole lines up to text[state[END]]; blank lines and those of a comment alone are no rows.

    Bad lines are left out, and the first of them recorded as (line, column, code), all counted from 1 and the text's
    own; the first one ends it all unless `state[SKIP]`. Returns whether it is done. Where it is not, arrays are full,
    as `state[TOO_SMALL]` tells: the caller makes larger ones and calls again.
    """
    i = state[POSITION]
    while i < state[END] and (state[SKIP] or state[BAD] == 0):
        start, code, k = i, GOOD, state[COMMENT]
        entries, hards, texts, costs = state[ENTRIES], state[HARD_NUMBERS], state[TEXTS], state[COSTS]
        while BLANKS[text[i]]:
            i += 1
        is_row = text[i] != HASH and text[i] != NEWLINE
        if is_row and state[ROWS] == qid.size:
            state[TOO_SMALL], code = ROWS, FULL
        elif is_row:
            i, code = _row(text, i, state, numbers, marks, qid, column, value, hard)
        if code == GOOD and text[i] == HASH:
            i, k, code = _comment(text, i + 1, comment, k)
        if code != GOOD:
            state[ENTRIES], state[HARD_NUMBERS], state[TEXTS], state[COSTS] = entries, hards, texts, costs
            if code == FULL:
                return False
            n = state[BAD] if state[BAD] < bad.shape[0] else bad.shape[0] - 1
            bad[n, 0], bad[n, 1], bad[n, 2] = state[LINES] + 1, i - start + 1, code
            state[BAD] += 1
        elif is_row:
            _note_row(state, marks, k)
        while text[i] != NEWLINE:
            i += 1
        i += 1
        state[LINES] += 1
        state[POSITION] = i
    return True
