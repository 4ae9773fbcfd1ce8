"""SQL: a SELECT of every column and the score.

Names are quoted by the standard, ``"name"`` with quotes doubled, so every name is possible (MySQL: SET sql_mode =
'ANSI_QUOTES'). A missing value is NULL, and so is its row's score, unless the ranker replaces it: then COALESCE does.
Features of weight 0 are left out. Long sums are cut into groups, as databases limit the depth of an expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .._errors import DataError, ParameterError
from .._typing import FloatArray
from ._function import LinearFunction, number, refuse_repeated
from ._options import Options
from ._target import Target

GROUP = 200  # terms in a row; SQLite's expressions may be 1000 deep
MOST_COLUMNS = 2000  # of a table in SQLite
TABLE = re.compile(r'FROM ("(?:[^"]|"")+");\n\Z')  # a quoted name at the end, whatever it holds


def write(function: LinearFunction, options: Options) -> bytes:
    """One statement."""
    refuse_repeated([name.lower() for name in function.names], "the features (SQL ignores case)")
    terms = []
    for j, name in enumerate(function.names):
        if function.weights[j] != 0:
            column = quoted(name)
            value = column if function.fill is None else f"COALESCE({column}, {_double(function.fill[j])})"
            terms.append(f"{_double(function.weights[j])} * {value}")
    if function.offset != 0 or not terms:
        terms.append(_double(function.offset))
    groups = ["\n  + ".join(terms[k : k + GROUP]) for k in range(0, len(terms), GROUP)]
    total = groups[0] if len(groups) == 1 else "(" + ")\n+ (".join(groups) + ")"
    table, column = quoted(options.table), quoted(options.column)
    return f"SELECT {table}.*,\n  ({total}) AS {column}\nFROM {table};\n".encode()


def quoted(name: str) -> str:
    """A name as SQL takes it; only a zero byte is not possible."""
    if "\0" in name or not name:
        raise ParameterError(f"SQL cannot take the name {name!r}: rename it.")
    return '"' + name.replace('"', '""') + '"'


def _double(value: float) -> str:
    """A literal in double precision: with an exponent, as 0.1 alone is a decimal."""
    text = number(value)
    return text if "e" in text else f"{text}e0"


def score(text: bytes, names: Sequence[str], X: FloatArray) -> FloatArray:
    """Scores by SQLite: the rows are put into a table, and the statement is run as it is."""
    import sqlite3

    statement = text.decode()
    table = TABLE.search(statement)
    if table is None:
        raise DataError("The text holds no table.")
    if len(names) >= MOST_COLUMNS:
        raise DataError(f"SQLite holds fewer than {MOST_COLUMNS} columns: verify another target with so many features.")
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE {table[1]} ({', '.join(quoted(name) + ' REAL' for name in names)})")
        rows = [[None if np.isnan(value) else value for value in row] for row in X.tolist()]
        connection.executemany(f"INSERT INTO {table[1]} VALUES ({', '.join('?' * len(names))})", rows)
        return np.array([row[-1] for row in connection.execute(statement)], dtype=np.float64)
    except sqlite3.Error as error:
        raise DataError(f"SQLite, which verifies the statement, refuses it ({error}): try another --table.") from None
    finally:
        connection.close()


TARGET: Target = Target(write, score, fills=True)
