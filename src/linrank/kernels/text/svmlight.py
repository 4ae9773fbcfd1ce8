"""Lines of SVMlight / LETOR text to arrays: ``<label> [qid:<id>] [cost:<number>] <id>:<value> ... [# comment]``.

One pass over the bytes, a few branches per byte. The text must end with a line feed, which ends every loop. What goes
wrong is recorded by position and code, never raised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import inlined, uncounted
from .blocks import COLON, NEWLINE, Entries, Rows, Rules
from .decimal import (
    FLOAT,
    HARD,
    HUGE,
    NAN,
    NINE,
    ZERO,
    U,
    number,
)

RETURN, BLANK, TAB, HASH = 13, 32, 9, 35
Q, C = 113, 99
#: What can be wrong with a line.
GOOD, LABEL, GAP, FEATURE, NO_COLON, VALUE, TOO_LARGE, TOO_LOW, TOO_HIGH, TWICE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
QUERY, QUERY_TWICE, COST, MISSING, LONE_RETURN, COST_TWICE = 10, 11, 12, 13, 14, 15
#: Columns of what is recorded of a number that the caller must round: instead of a feature, the label or the cost.
OF_LABEL, OF_COST = -1, -2
#: What a keyword turns out to be.
NUMBERED, TEXT, EASY_COST, HARD_COST = 1, 2, 3, 4
LARGEST_SINGLE = 3.4028235677973366e38  # 2^128 - 2^103: from here on a number rounds to infinity in float32
MOST_NEGATIVE = U(2**63)
LARGEST_ID = 2**31 - 2


@inlined
def _is_blank(c: int) -> bool:
    return c == BLANK or c == TAB or c == RETURN


@inlined
def _ends_token(c: int) -> bool:
    return c == BLANK or c == NEWLINE or c == HASH or c == TAB or c == RETURN


@inlined
def _is_midway(value: float) -> bool:
    """Whether a float64 lies in the middle between two float32: rounding it again may go the wrong way."""
    near = np.float64(np.float32(value))
    other = near + 2 * (value - near)
    return other != near and np.float64(np.float32(other)) == other


@uncounted
def _line_end(text: Any, i: int) -> tuple[int, int]:
    """The position of the next line feed, or of a carriage return without one, which would hide a line."""
    while text[i] != NEWLINE:
        if text[i] == RETURN and text[i + 1] != NEWLINE:
            return i, LONE_RETURN
        i += 1
    return i, GOOD


@uncounted
def _query_id(text: Any, i: int) -> tuple[int, int, bool]:
    """The id at text[i]: as an integer, the position after it, and whether it is one in its shortest form."""
    first = i
    negative = text[i] == 45
    if negative:
        i += 1
    start, value = i, U(0)
    while U(text[i]) - ZERO <= NINE:
        value = value * U(10) + (U(text[i]) - ZERO)
        i += 1
    size = i - start
    fits = value < MOST_NEGATIVE or (negative and value == MOST_NEGATIVE)
    whole = 0 < size <= 19 and fits and _ends_token(text[i])
    whole = whole and (text[start] != 48 or (size == 1 and not negative))
    while not _ends_token(text[i]):
        i += 1
    if not whole:
        return i - first, i, False
    found: Any = -np.int64(value - U(1)) - 1 if negative else np.int64(value)
    return found, i, True


@uncounted
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


@inlined
def _code_of_number(kind: int, after: int, code: int) -> int:
    """What is wrong with a number, if anything: `code` where there is none, by its kind and the byte after it."""
    if kind == FLOAT or kind == HARD:
        return GOOD if _ends_token(after) else GAP
    return TOO_LARGE if kind == HUGE else code


@uncounted
def _keyword(text: Any, i: int, rows: Rows, row: int) -> tuple[int, int, int]:
    """``qid:`` or ``cost:`` at text[i]: where it ends (a hard cost: starts), what is wrong, and what it is."""
    if text[i] == Q and text[i + 1] == 105 and text[i + 2] == 100 and text[i + 3] == COLON:
        if rows.qid_to[row] > 0:
            return i, QUERY_TWICE, 0
        rows.qid_from[row] = i + 4
        rows.qid[row], i, whole = _query_id(text, i + 4)
        rows.qid_to[row] = i
        return i, GOOD if i > rows.qid_from[row] else QUERY, NUMBERED if whole else TEXT
    if text[i] == C and text[i + 1] == 111 and text[i + 2] == 115 and text[i + 3] == 116 and text[i + 4] == COLON:
        start = i + 5
        rows.cost[row], i, kind = number(text, start)
        code = _code_of_number(kind, text[i], COST)
        at_start = kind == HARD or code == COST or code == TOO_LARGE
        return start if at_start else i, code, HARD_COST if kind == HARD else EASY_COST
    return i, FEATURE, 0


@uncounted
def _feature_id(text: Any, i: int) -> tuple[int, int]:
    """The integer at text[i], far too large if it has more than ten digits, and the position after it."""
    first, value = i, 0
    digit = int(text[i]) - 48
    while 0 <= digit <= 9:
        value = 10 * value + digit
        i += 1
        digit = int(text[i]) - 48
    return value if i - first <= 10 else 2**40, i


@inlined
def _check_value(value: float, kind: int, after: int, single: bool, keep_nan: bool) -> tuple[int, int]:
    """What is wrong with a feature's value, and its kind: in float32 a number midway is hard."""
    if kind == NAN:
        if not _ends_token(after):
            return VALUE, kind
        return (GOOD if keep_nan else MISSING), kind
    if single and kind == FLOAT:
        if abs(value) > LARGEST_SINGLE:
            return TOO_LARGE, kind
        if abs(value) == LARGEST_SINGLE or _is_midway(value):
            kind = HARD
    return _code_of_number(kind, after, VALUE), kind


@uncounted
def _features(
    text: Any, i: int, rules: Rules, row: int, entry: int, hard: int, last: int, entries: Entries
) -> tuple[int, int, int, int, int, bool]:
    """A run of features from text[i] on, the column before it being `last`.

    Returns where it ends, what is wrong, the numbers of entries and hard numbers, the last column, and whether the
    columns increase.
    """
    column, values = entries.column, entries.value
    increasing = True
    while True:
        while _is_blank(text[i]):
            i += 1
        if U(text[i]) - ZERO > NINE:
            return i, GOOD, entry, hard, last, increasing
        start = i
        this, i = _feature_id(text, i)
        if text[i] != COLON:
            return i, NO_COLON, entry, hard, last, increasing
        if this < rules.first_id or this > rules.last_id or this == last:
            code = TWICE if this == last else (TOO_LOW if this < rules.first_id else TOO_HIGH)
            return start, code, entry, hard, last, increasing
        increasing &= this > last
        last = this
        start = i + 1
        value, i, kind = number(text, start)
        code, kind = _check_value(value, kind, text[i], rules.single, rules.keep_nan)
        if code != GOOD:
            return i if code == GAP else start, code, entry, hard, last, increasing
        column[entry], values[entry] = this - rules.first_id, value
        entry += 1
        if kind == HARD:
            entries.hard[hard, 0], entries.hard[hard, 1], entries.hard[hard, 2] = row, this - rules.first_id, start
            hard += 1


@uncounted
def _row(
    text: Any, i: int, rules: Rules, row: int, entry: int, hard: int, rows: Rows, entries: Entries
) -> tuple[int, int, int, int, int, int]:
    """One row from its label on: where it ends, what is wrong, numbers of entries and hard numbers, text id, cost."""
    texts, costs, first, begin = 0, 0, entry, i
    rows.cost[row], rows.qid_from[row], rows.qid_to[row], rows.comment_from[row], rows.comment_to[row] = 1.0, 0, 0, 0, 0
    rows.y[row], i, kind = number(text, i)
    code = _code_of_number(kind, text[i], LABEL)
    if code == LABEL or code == TOO_LARGE:
        i = begin
    if kind == HARD:
        entries.hard[hard, 0], entries.hard[hard, 1], entries.hard[hard, 2] = row, OF_LABEL, begin
        hard += 1
    last, increasing = -1, True
    while code == GOOD:
        i, code, entry, hard, last, rising = _features(text, i, rules, row, entry, hard, last, entries)
        increasing &= rising
        if code != GOOD or text[i] == NEWLINE or text[i] == HASH:
            break
        start = i
        i, code, what = _keyword(text, i, rows, row)
        texts += what == TEXT
        costs += what >= EASY_COST
        if costs > 1 and code == GOOD:
            i, code = start, COST_TWICE
        if what == HARD_COST and code == GOOD:
            entries.hard[hard, 0], entries.hard[hard, 1], entries.hard[hard, 2] = row, OF_COST, i
            hard += 1
            while not _ends_token(text[i]):
                i += 1
    if code == GOOD and not increasing and not _sort_row(entries.column, entries.value, first, entry):
        return begin, TWICE, entry, hard, texts, costs
    if code == GOOD and text[i] == HASH:
        rows.comment_from[row] = i + 1
        i, code = _line_end(text, i)
        rows.comment_to[row] = i - (text[i - 1] == RETURN)
    return i, code, entry, hard, texts, costs


@uncounted
def parse(
    text: Any, end: int, rules: Rules, rows: Rows, entries: Entries, bad: Any
) -> tuple[int, int, int, int, int, int, int]:
    """Read text[:end], whole lines; blank lines and those of a comment alone are no rows. Returns the fields of Counts.

    Bad lines are recorded as (line, column, code), all counted from 1 and the text's own, and left out; the first one
    ends it all unless `rules.skip`.
    """
    i, line, row, entry, hard, n_bad, texts, costs = 0, 0, 0, 0, 0, 0, 0, 0
    while i < end:
        line += 1
        start = i
        while _is_blank(text[i]):
            i += 1
        code = GOOD
        if text[i] == HASH:
            i, code = _line_end(text, i)
        elif text[i] != NEWLINE:
            i, code, entry_after, hard_after, text_ids, with_cost = _row(
                text, i, rules, row, entry, hard, rows, entries
            )
            if code == GOOD:
                entry, hard, texts, costs = entry_after, hard_after, texts + text_ids, costs + with_cost
                rows.line[row], rows.end[row] = line, entry
                row += 1
        if code != GOOD:
            bad[n_bad, 0], bad[n_bad, 1], bad[n_bad, 2] = line, i - start + 1, code
            n_bad += 1
            if not rules.skip:
                break
            while text[i] != NEWLINE:
                i += 1
        i += 1
    return row, entry, line, hard, n_bad, texts, costs
