"""The quick check: every question on small data, and what is wrong with the answers."""

from __future__ import annotations

import time
from collections.abc import Callable

from opponents import absent
from results import Answering

#: Seconds that all of it may take.
LIMIT = 120


def faults_of(name: str, given: Answering, missing: list[str]) -> list[str]:
    """What a question noted itself, tables it did not fill, and columns without an entry (but for absent opponents)."""
    found = [f"{name}: {fault}" for fault in given.faults]
    if not given.tables:
        found.append(f"{name}: no table")
    for table, rows in given.tables.items():
        for column in rows[0]:
            expected = any(title in column for title in missing)
            if not expected and not any(row[column] not in ("", "nan") for row in rows):
                found.append(f"{name}: column {column!r} of {table} is empty")
    return found


def run(names: list[str], answer_all: Callable[..., None]) -> int:
    """Answer all; 1 where anything is wrong."""
    found: list[str] = []
    missing, begin = absent(), time.monotonic()
    answer_all(names, lambda name, given: found.extend(faults_of(name, given, missing)))
    seconds = time.monotonic() - begin
    print(f"\n{len(names)} questions in {seconds:.0f} s; opponents not here: {', '.join(missing) or 'none'}")
    for fault in found:
        print(fault)
    if seconds > LIMIT:
        print(f"A quick check took more than {LIMIT} s: make the small problems smaller.")
    return 1 if found else 0
