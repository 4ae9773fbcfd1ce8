"""The figures that README and docs quote: each has a name in `quoted.py`, and a marker with it where it stands.

    trains in <!--web30k_seconds-->2<!--/--> s             a figure within a sentence, never first in its line
    <!-- table hinge -->                                   a whole table, up to
    <!-- end -->

`run.py --write-docs` fills them in from results/; pytest says whether they are what results/ say. Nothing else does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import results

ROOT = results.ROOT
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
INLINE = re.compile(r"<!--(\w+)-->(.*?)<!--/-->", re.DOTALL)
TABLE = re.compile(r"(<!-- table (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@dataclass
class Tables:
    """Results by name, and which of them were asked for."""

    folder: Path = results.RESULTS
    asked: set[str] = field(default_factory=set)

    def rows(self, name: str, **where: str) -> list[dict[str, str]]:
        """Rows of a table; columns are named with _ for a space."""
        self.asked.add(name)
        return results.table(name, self.folder, **{column.replace("_", " "): text for column, text in where.items()})

    def cell(self, name: str, column: str, **where: str) -> str:
        """The entry of the one row there is."""
        (row,) = self.rows(name, **where)
        return row[column]

    def elsewhere(self, opponent: str, data: str, figure: str) -> str:
        """A figure measured elsewhere."""
        return results.elsewhere(opponent, data, figure, self.folder)


def digits(text: str, n: int = 2) -> str:
    """A number with n digits; 0.01 rather than 1e-02; nothing stays nothing."""
    if not text:
        return ""
    value = float(text)
    return f"{value:.0f}" if abs(value) >= 10**n else f"{float(f'{value:.{n}g}'):g}"


def fixed(text: str, places: int) -> str:
    """A number with so many places; nothing stays nothing."""
    return f"{float(text):.{places}f}" if text else ""


def p_value(text: str) -> str:
    """To two places; what is smaller than the smallest of them is said to be."""
    return "< 0.01" if text and float(text) < 0.005 else fixed(text, 2)


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table."""
    head = list(head)
    lines = [" | ".join(row) for row in (head, ["---"] * len(head), *rows)]
    lines[1] = "|".join(["---"] * len(head))
    return "".join(f"|{line}|\n" if k == 1 else f"| {line} |\n" for k, line in enumerate(lines))


def fill(text: str, given: Tables | None = None) -> str:
    """A page with its figures as results/ say."""
    from quoted import FIGURES, TABLES

    known = given or Tables()
    text = INLINE.sub(lambda found: f"<!--{found[1]}-->{FIGURES[found[1]](known)}<!--/-->", text)
    return TABLE.sub(lambda found: found[1] + TABLES[found[2]](known) + found[4], text)


def markers(text: str) -> list[str]:
    """Names of the figures and tables that a page shows."""
    return [found[1] for found in INLINE.finditer(text)] + [found[2] for found in TABLE.finditer(text)]


def write_pages() -> int:
    """Fill all pages."""
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = fill(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"{page.relative_to(ROOT)} written")
    return 0


def quoted_questions() -> list[str]:
    """Questions whose tables the pages quote."""
    asked = Tables()
    for page in PAGES:
        fill(page.read_text(encoding="utf-8"), asked)
    found = []
    for path in sorted((ROOT / "benchmarks" / "questions").glob("[!_]*.py")):
        if set(re.findall(r'report\(\s*"(\w+)"', path.read_text(encoding="utf-8"))) & asked.asked:
            found.append(path.stem)
    return found
