"""Answer questions about speed and quality, compare two revisions, and say which figures are old.

python benchmarks/run.py                             lists the questions
python benchmarks/run.py --data FOLDER hinge path    answers some, and keeps the answers in results/
python benchmarks/run.py --quoted --data FOLDER      answers those that README and docs quote, then fills the figures in
python benchmarks/run.py --quick                     checks that all questions can be answered, on small data
python benchmarks/run.py --against REV [ROWS]        this working tree against another revision, in turns
python benchmarks/run.py --stale                     lists results that are older than the code they speak of
python benchmarks/run.py --write-docs                puts the figures of results/ into README and docs
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
import time
import traceback
import warnings
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy is imported: all contestants run on one thread

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import results  # noqa: E402


def questions() -> list[str]:
    """Names of all questions."""
    return [found.name for found in pkgutil.iter_modules([str(HERE / "questions")]) if not found.name.startswith("_")]


def first_line(name: str) -> str:
    """What a question asks, read without importing it."""
    return (HERE / "questions" / f"{name}.py").read_text().split('"""')[1].splitlines()[0]


def answer(name: str, folder: Path | None) -> results.Answering:
    """Answer one question; a fit that did not converge without the question expecting it is a fault."""
    module = importlib.import_module(f"questions.{name}")
    with results.answering(getattr(module, "SOURCES", results.ALL), folder) as given, warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _show_warning
        try:
            module.main()
        except Exception as error:
            if folder is not None:
                raise
            results.fault(f"{type(error).__name__}: {error}")
            traceback.print_exc()
    return given


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    if category.__name__ == "ConvergenceWarning":
        results.fault(str(message))
    else:
        print(f"{category.__name__}: {message}", file=sys.stderr)


def answer_all(names: list[str], folder: Path | None = results.RESULTS) -> dict[str, results.Answering]:
    """Answer questions one after the other, with a bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:16}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    answers = {}
    with Progress(*columns, console=console, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task("", total=len(names))
        for name in names:
            bar.update(task, description=name)
            begin = time.monotonic()
            answers[name] = answer(name, folder)
            print(f"\n{name}: {time.monotonic() - begin:.0f} s", flush=True)
            bar.advance(task)
    return answers


def run_quick(names: list[str]) -> int:
    """Check all questions on small data; 1 where an answer is wrong, missing or not converged."""
    os.environ["LINRANK_QUICK"] = "1"
    import quick

    begin = time.monotonic()
    return quick.judge(answer_all(names, None), time.monotonic() - begin)


def run_stale() -> int:
    """List old results."""
    old = results.stale()
    for name, reason in old.items():
        print(f"{name:28} {reason}")
    print(f"{len(old)} of {len(list(results.RESULTS.glob('*.csv')))} results are old.")
    return 1 if old else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="questions to answer (with --against: parts of rows' names)")
    parser.add_argument("--data", help="folder of the real data (default: $LINRANK_DATA)")
    parser.add_argument("--turns", type=int, default=15, help="turns of each row with --against (at least 15)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--quick", action="store_true", help="check all questions, or those named, on small data")
    what.add_argument("--quoted", action="store_true", help="answer the questions that README and docs quote")
    what.add_argument("--against", metavar="REV", help="compare this working tree with another revision")
    what.add_argument("--stale", action="store_true", help="list old results; exit 1 if there are any")
    what.add_argument("--write-docs", action="store_true", help="put the figures of results/ into README and docs")
    options = parser.parse_args()
    if options.data:
        os.environ["LINRANK_DATA"] = str(Path(options.data).resolve())
    if options.stale:
        return run_stale()
    if options.write_docs:
        import figures

        return figures.write_pages()
    if options.against:
        from against import compare

        return compare(options.against, options.names, max(15, options.turns))
    if options.quick:
        return run_quick(options.names or questions())
    return run_questions(options.names, options.quoted)


def run_questions(names: list[str], quoted: bool) -> int:
    """Answer the questions named, or those that are quoted; without either, list them."""
    import figures

    if quoted:
        names = figures.quoted_questions()
    unknown = sorted(set(names) - set(questions()))
    if unknown:
        raise SystemExit(f"There is no question {unknown[0]!r}: run.py without a name lists them.")
    if not names:
        for name in questions():
            print(f"{name:16} {first_line(name)}")
        return 0
    import linrank

    if results.LIBRARY not in Path(linrank.__file__).resolve().parents:
        raise SystemExit(f"Results would speak of {results.LIBRARY}, linrank is {linrank.__file__}: pip install -e .")
    faults = [f"{name}: {fault}" for name, given in answer_all(names).items() for fault in given.faults]
    for fault in faults:
        print(f"FAULT in {fault}")
    if quoted:
        figures.write_pages()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
