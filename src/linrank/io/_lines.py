"""Blocks of SVMlight text parsed on a pool of threads, one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue

from .._errors import FileFormatError
from .._progress import ByteProgress
from .._threads import count_threads
from ..kernels.text import svmlight as kernels
from ._ahead import in_order
from ._block import MOST_PROBLEMS, Outcome, Parsed, Rules, Scratch
from ._streams import Source, name_of
from ._texts import BLOCK_BYTES, Load, texts

#: What should be where a line is wrong, by the kernel's code.
EXPECTED = {
    kernels.LABEL: "a number as the label",
    kernels.GAP: "a blank after the number",
    kernels.FEATURE: "a feature (id:value), qid:, cost: or #",
    kernels.NO_COLON: "a colon after the feature id",
    kernels.VALUE: "a finite number after the colon",
    kernels.TOO_LARGE: "a number within the range of {dtype}",
    kernels.TOO_LOW: "feature ids from 1 on (zero_based=True reads ids from 0)",
    kernels.TOO_HIGH: "a feature id of at most {last_id} (n_features)",
    kernels.TWICE: "each feature id only once in a line",
    kernels.QUERY: "a query id after qid:",
    kernels.QUERY_TWICE: "only one qid: in a line",
    kernels.COST_TWICE: "only one cost: in a line",
    kernels.COST: "a finite number after cost:",
    kernels.MISSING: "no missing value (missing='keep', 'zero' or 'mean' accepts NaN)",
    kernels.LONE_RETURN: "a line feed after the carriage return",
}


@dataclass
class Reader:
    """Parses a source block by block; counts what it leaves out."""

    source: Source
    rules: Rules
    n_jobs: int | None = None
    progress: ByteProgress = field(default_factory=ByteProgress)
    skipped: int = 0
    problems: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Parsed]:
        """Blocks of rows, each valid until the next one is asked for."""
        n_lines = 0
        seen: list[int | None] = [None, None]
        for outcome in self._outcomes():
            self._note(outcome, n_lines)
            for k, line in enumerate(outcome.with_query):
                if line is not None and seen[k] is None:
                    seen[k] = line + n_lines
            if seen[0] is not None and seen[1] is not None:
                raise self._error(seen[1], 1, f"a qid, as on line {seen[0]}, or none on any line", "")
            n_lines += outcome.n_lines
            if outcome.parsed.y.size:
                yield outcome.parsed

    def _outcomes(self) -> Iterator[Outcome]:
        """Parse in threads, answers in order. A source of one block is quick work, which is done here."""
        n_threads = count_threads(self.n_jobs)
        free: SimpleQueue[Scratch] = SimpleQueue()
        for _ in range(n_threads + 1):  # those at work or waiting, and the one that is looked at
            free.put(Scratch())

        def parse(load: Load) -> tuple[Outcome, Scratch]:
            scratch = free.get()
            return scratch.outcome(load, self.rules), scratch

        with self.progress, texts(self.source, self.progress) as loads:
            first = list(itertools.islice(loads, 2))
            if len(first) == 1 and (text := first[0](bytearray())).end <= 2 * BLOCK_BYTES:
                yield parse(lambda _: text)[0]
                return
            for outcome, scratch in in_order(parse, itertools.chain(first, loads), n_threads):
                self.progress.reached(outcome.reached)
                yield outcome
                free.put(scratch)

    def _note(self, outcome: Outcome, n_lines: int) -> None:
        """Raise the first problem, or count and keep it."""
        self.skipped += outcome.n_bad
        for problem in outcome.problems:
            dtype = "float32" if self.rules.single else "float64"
            expected = EXPECTED[problem.code].format(dtype=dtype, last_id=self.rules.last_id)
            error = self._error(problem.line + n_lines, problem.column, expected, problem.found)
            if not self.rules.skip:
                raise error
            if len(self.problems) < MOST_PROBLEMS:
                self.problems += (str(error),)

    def _error(self, line: int, column: int, expected: str, found: str) -> FileFormatError:
        name = name_of(self.source)
        there = f", found {found!r}" if found else ""
        cure = "" if self.rules.skip else ": mend it, or leave such lines out with on_error='skip'"
        return FileFormatError(
            f"{name}, line {line}, column {column}: expected {expected}{there}{cure}.", name, line, column, expected
        )
