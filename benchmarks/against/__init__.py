"""The working tree against another revision: the same rows, in separate processes, in turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from against import turns
from against.counts import kernels

HERE = Path(__file__).parents[1]
ROOT = HERE.parent
#: Turns of one process: memory lies otherwise in the next, so a long measurement starts new ones.
TURNS_OF_A_PROCESS = 15


class NotRunError(Exception):
    """A revision cannot run a row."""


class Process:
    """A worker with one revision's library; a context manager."""

    def __init__(self, source: Path, cache: Path) -> None:
        given = {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache), "PYTHONHASHSEED": "0"}
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, str(HERE / "against" / "worker.py")]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | one | given,
        )
        library = Path(self._answer()["library"]).resolve()
        if source.resolve() not in library.parents:
            raise SystemExit(f"The library was to come from {source}, not from {library}.")

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise SystemExit(f"A worker died with exit code {self._process.wait()}.")
        answer = json.loads(line)
        if "error" in answer:
            raise NotRunError(answer["error"])
        return answer

    def ask(self, do: str, **given: Any) -> dict[str, Any]:
        """Give an order and wait for its answer."""
        print(json.dumps({"do": do, **given}), file=self._process.stdin, flush=True)
        return self._answer()


@dataclass
class Side:
    """One of the two revisions: its sources, its own cache of kernels, and what was counted."""

    name: str
    source: Path
    cache: Path
    counts: dict[str, dict[str, int | None]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # why rows were not run

    def process(self) -> Process:
        """A new worker."""
        return Process(self.source, self.cache)

    def warm(self, rows: list[str]) -> None:
        """Run each row once from an empty cache: kernels are compiled, and what does not depend on time is counted."""
        with self.process() as worker:
            for row in rows:
                before = kernels(self.cache)
                try:
                    worker.ask("make", row=row)
                    compiled = kernels(self.cache) - before
                    self.counts[row] = {**worker.ask("count"), "kernels": compiled}
                except NotRunError as reason:
                    self.reasons[row] = str(reason)


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """Another revision's files in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "tree"
        command = ["git", "-C", str(ROOT), "worktree"]
        done = subprocess.run([*command, "add", "--detach", str(place), revision], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"No worktree of {revision!r}: {done.stderr.strip()}")
        try:
            yield place
        finally:
            subprocess.run([*command, "remove", "--force", str(place)], capture_output=True, check=False)


def measure(old: Side, new: Side, row: str, n_turns: int) -> tuple[float, float]:
    """Best seconds of both over so many turns, in as many pairs of processes as that takes."""
    best = [float("inf"), float("inf")]
    for start in range(0, n_turns, TURNS_OF_A_PROCESS):
        with old.process() as a, new.process() as b:
            found = alternate(a, b, row, min(TURNS_OF_A_PROCESS, n_turns - start))
        best = [min(pair) for pair in zip(best, found, strict=True)]
    return best[0], best[1]


def alternate(a: Process, b: Process, row: str, n_turns: int) -> tuple[float, float]:
    """Turns of two workers, each as many calls as the quicker of them wants."""
    calls = max(worker.ask("make", row=row)["calls"] for worker in (a, b))
    one, other = (lambda worker=worker: worker.ask("turn", calls=calls)["seconds"] for worker in (a, b))
    return turns.in_turns(one, other, n_turns)


def compare(revision: str, names: list[str], n_turns: int) -> int:
    """Print how the working tree does against the revision; 1 where it is slower."""
    from against.rows import rows

    listed = list(rows(names))
    if not listed:
        raise SystemExit(f"No row has one of {names} in its name.")
    with ExitStack() as stack:
        tree = stack.enter_context(worktree(revision))
        caches = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        old, new = Side(revision, tree / "src", caches[0]), Side("here", ROOT / "src", caches[1])
        print(f"{len(listed)} rows: compiling and counting", file=sys.stderr, flush=True)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda side: side.warm(listed), (old, new)))
        runnable = [row for row in listed if row not in old.reasons and row not in new.reasons]
        timed = list(time_rows(old, new, runnable, n_turns))
    return report(old, new, listed, timed)


def time_rows(old: Side, new: Side, listed: list[str], n_turns: int) -> Iterator[turns.Timed]:
    """Time all rows with one pair of processes; those far off are measured again with new ones."""
    from rich.console import Console
    from rich.progress import track

    with old.process() as a, new.process() as b:

        def timing(row: str, n: int) -> tuple[float, float]:
            return alternate(a, b, row, n) if n == n_turns else measure(old, new, row, n)

        for row in track(listed, "timing", console=Console(stderr=True)):
            yield turns.time_row(row, timing, n_turns)


def report(old: Side, new: Side, listed: list[str], timed: list[turns.Timed]) -> int:
    """Print times, counts that changed, and the verdict."""
    print(f"\n| row | {old.name} ms | {new.name} ms | ratio | |\n|---|---|---|---|---|")
    for one in timed:
        note = "measured again" if one.again else ""
        print(f"| {one.row} | {1e3 * one.old:.3f} | {1e3 * one.new:.3f} | {one.ratio:.3f} | {note} |")
    print("\nCounts:" if any(changes(old, new, listed)) else "\nCounts are the same.")
    for line in changes(old, new, listed):
        print(f"  {line}")
    for side in (old, new):
        total = sum(counted["kernels"] or 0 for counted in side.counts.values())
        print(f"  {side.name}: {total} kernels compiled by a cold start of all rows")
        for row, reason in side.reasons.items():
            print(f"  {row}: not run by {side.name}: {reason}")
    print(f"\ngeometric mean {turns.geometric_mean(timed):.3f} over {len(timed)} rows")
    reasons = turns.slower(timed) + [f"{row}: cannot be run any more" for row in new.reasons if row not in old.reasons]
    for reason in reasons:
        print(f"slower: {reason}")
    return 1 if reasons else 0


def changes(old: Side, new: Side, listed: list[str]) -> Iterator[str]:
    """Counts that differ; memory only by more than a hundredth, which the allocator may take or leave."""
    for row in listed:
        before, after = old.counts.get(row, {}), new.counts.get(row, {})
        for what in sorted(set(before) | set(after)):
            a, b = before.get(what), after.get(what)
            slack = 0.01 * max(a or 0, b or 0) + 4 if what == "peak KB" else 0
            if (a is None) != (b is None) or (a is not None and b is not None and abs(a - b) > slack):
                print_a, print_b = ("" if value is None else value for value in (a, b))
                yield f"{row}: {what} {print_a} -> {print_b}"
