"""Counts the numbers that steer the exact solvers, and their lines, here and in another revision.

    python benchmarks/constants.py REV

A number steers where it is written in the code of a solver and is none of 0, 1, 2, 1/2 and their negatives, which
formulas are made of. So moving a number elsewhere within the solvers does not pass for removing it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORMULAS = {0, 1, 2, 0.5}
#: What belongs to the exact solvers, in any revision; stochastic files are apart.
PLACES = ("src/linrank/solvers", "src/linrank/_smoothing.py")
APART = ("_samplers.py", "stochastic.py")


def sources(revision: str | None) -> dict[str, str]:
    """Texts of the exact solvers' files, by path."""
    if revision is None:
        found = [path for place in PLACES for path in [ROOT / place, *(ROOT / place).rglob("*.py")] if path.is_file()]
        return {str(path.relative_to(ROOT)): path.read_text() for path in found if path.name not in APART}
    git = lambda *words: (
        subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout
    )
    paths = git("ls-tree", "-r", "--name-only", revision, *PLACES).split()
    return {path: git("show", f"{revision}:{path}") for path in paths if Path(path).name not in APART}


def numbers(text: str) -> int:
    """Numbers in a module's code that are no part of a formula."""
    found = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return sum(1 for value in found if type(value) in (int, float) and value not in FORMULAS)


def lines(text: str) -> int:
    """Lines of code: neither blank, nor comments, nor docstrings."""
    tree = ast.parse(text)
    strings = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    code = enumerate(text.splitlines(), 1)
    return sum(1 for k, line in code if k not in strings and line.strip() and not line.lstrip().startswith("#"))


def main() -> None:
    for name, revision in ((sys.argv[1], sys.argv[1]), ("here", None)):
        texts = sources(revision).values()
        print(f"{name:>10}  {sum(map(numbers, texts)):4d} numbers  {sum(map(lines, texts)):5d} lines of code")


if __name__ == "__main__":
    main()
