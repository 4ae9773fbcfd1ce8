"""The quick check: every question on small data, and what is wrong with the answers."""

from __future__ import annotations

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


def judge(answers: dict[str, Answering], seconds: float) -> int:
    """Say what is wrong; 1 where anything is."""
    missing = absent()
    found = [fault for name, given in answers.items() for fault in faults_of(name, given, missing)]
    for fault in found:
        print(fault)
    if seconds > LIMIT:
        print(f"A quick check took more than {LIMIT} s: make the small problems smaller.")
    print(f"{len(answers)} questions in {seconds:.0f} s; opponents not here: {', '.join(missing) or 'none'}")
    return 1 if found else 0
