"""results/*.csv: a table under a header that says where, when and from which sources its figures come.

    # machine: AMD EPYC, 2 cores
    # versions: linrank 0.1.0, Python 3.11.7, numpy 2.4.6, ...
    # date: 2026-11-18
    # sources: kernels/**/*.py objective.py
    # hash: 1f0c...            of those files of src/linrank as they were; "unknown" is older than this header

A figure is old when the sources have changed since: `stale` lists those. Nothing here needs the library.
"""

from __future__ import annotations

import csv
import hashlib
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
LIBRARY = ROOT / "src" / "linrank"
UNKNOWN = "unknown"
#: Figures that were not measured in these runs: on other machines, or published. They stand in no ratio with ours.
ELSEWHERE = "elsewhere"
PACKAGES = ("linrank", "numpy", "scipy", "numba", "scikit-learn")

#: Sources that many questions share: everything, what an evaluation of a loss runs through, and what a fit does.
ALL = ("**/*.py",)
LOSS = ("kernels/**/*.py", "data/active.py", "data/few_levels.py", "data/ordering.py", "losses/**/*.py", "_work.py")
FIT = (
    *(*LOSS, "engines/**/*.py", "solvers/**/*.py"),
    *("objective.py", "data/parts.py", "penalties.py", "rankers/training.py"),
)
STOCHASTIC = (
    *(f"kernels/{name}.py" for name in ("_jit", "random", "rules", "sampling", "stochastic", "trials")),
    *("stochastic/**/*.py", "rankers/sgd.py"),
)


@dataclass
class Answering:
    """The question being answered: where its tables go, and what a quick check found wrong with them."""

    sources: tuple[str, ...]
    folder: Path | None = RESULTS  # None: a check, nothing is written
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


_now: list[Answering] = []


@contextmanager
def answering(sources: tuple[str, ...], folder: Path | None = RESULTS) -> Iterator[Answering]:
    """Tables reported within belong to a question with these sources."""
    _now.append(Answering(sources, folder))
    try:
        yield _now[-1]
    finally:
        _now.pop()


def fault(text: str) -> None:
    """Note that an answer is not to be trusted; a quick check fails by it, a measurement says so."""
    print(f"FAULT: {text}", flush=True)
    if _now:
        _now[-1].faults.append(text)


def report(name: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table and keep them as results/<name>.csv."""
    fields = list(rows[0])
    text = [[as_text(row[field]) for field in fields] for row in rows]
    print(f"\n### {name}\n\n| " + " | ".join(fields) + " |\n|" + "---|" * len(fields))
    for row in text:
        print("| " + " | ".join(row) + " |", flush=True)
    question = _now[-1]
    question.tables[name] = [dict(zip(fields, row, strict=True)) for row in text]
    if question.folder is not None:
        write(question.folder / f"{name}.csv", question.tables[name], header(question.sources))


def as_text(value: Any) -> str:
    """A number with four digits; nothing where there is no number."""
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def header(sources: tuple[str, ...]) -> dict[str, str]:
    """What the top of a csv says of figures measured now."""
    versions = [f"Python {platform.python_version()}", *(f"{name} {metadata.version(name)}" for name in PACKAGES)]
    return {
        "machine": machine(),
        "versions": ", ".join(versions),
        "date": time.strftime("%Y-%m-%d"),
        "sources": " ".join(dict.fromkeys(sources)),
        "hash": digest(sources),
    }


def machine() -> str:
    """The processor and how many cores there are."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            model = line.split(":")[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores"


def digest(sources: tuple[str, ...], library: Path = LIBRARY) -> str:
    """A hash of the library's files that the patterns name; a pattern without any file is part of it."""
    found = hashlib.sha256()
    for pattern in dict.fromkeys(sources):
        found.update(pattern.encode())
        for path in sorted(library.glob(pattern)):
            found.update(path.relative_to(library).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def write(path: Path, rows: list[dict[str, str]], head: dict[str, str]) -> None:
    """Write a table under its header."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in head.items())
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Header and rows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    return head, list(csv.DictReader(line for line in lines if not line.startswith("# ")))


def table(name: str, folder: Path = RESULTS, **where: str) -> list[dict[str, str]]:
    """Rows of results/<name>.csv whose columns have these texts."""
    rows = read(folder / f"{name}.csv")[1]
    return [row for row in rows if all(row[column] == value for column, value in where.items())]


def elsewhere(opponent: str, data: str, figure: str, folder: Path = RESULTS) -> str:
    """A figure measured elsewhere as text; nothing where there is none."""
    found = table(ELSEWHERE, folder, opponent=opponent, data=data, figure=figure)
    return found[0]["value"] if found else ""


def stale(folder: Path = RESULTS, library: Path = LIBRARY) -> dict[str, str]:
    """Results whose sources have changed since, and why."""
    old = {}
    for path in sorted(folder.glob("*.csv")):
        head = read(path)[0]
        if path.stem == ELSEWHERE:
            continue  # speaks of no source of ours
        if head.get("hash", UNKNOWN) == UNKNOWN:
            old[path.stem] = "measured before results held a hash of their sources"
        elif head["hash"] != digest(tuple(head["sources"].split()), library):
            old[path.stem] = f"sources changed since {head['date']}: {head['sources']}"
    return old
