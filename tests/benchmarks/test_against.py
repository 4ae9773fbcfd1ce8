"""Two revisions in turns: the protocol on timers that are made up, and all of it on a library that is."""

import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from against import counts, rows, turns
from problems import graded

ROOT = Path(__file__).parents[2]


def test_neither_revision_always_follows_the_other():
    order = []
    turns.in_turns(lambda: order.append("old") or 1.0, lambda: order.append("new") or 1.0, 4)
    assert order == ["old", "new", "new", "old", "old", "new", "new", "old"]


def test_the_best_turn_counts():
    old, new = itertools.cycle([1.5, 1.0, 1.3]), itertools.cycle([2.0, 1.9, 1.1])
    assert turns.in_turns(lambda: next(old), lambda: next(new), 15) == (1.0, 1.1)


def test_a_row_far_off_is_measured_again_with_three_times_as_many_turns():
    asked = []

    def measure(row, n):
        asked.append((row, n))
        return (1.0, 1.2) if n == 15 else (1.0, 1.01)

    assert turns.time_row("a", measure, 15) == turns.Timed("a", 1.0, 1.01, again=True)
    assert asked == [("a", 15), ("a", 45)]


@pytest.mark.parametrize("ratio", [0.94, 1.0, 1.06])
def test_a_row_near_even_is_measured_once(ratio):
    asked = []
    turns.time_row("a", lambda row, n: asked.append(n) or (1.0, ratio), 15)
    assert asked == [15]


def test_much_faster_is_measured_again_too():
    asked = []
    turns.time_row("a", lambda row, n: asked.append(n) or (1.0, 0.5), 15)
    assert asked == [15, 45]


def timed(*ratios):
    return [turns.Timed(str(k), 1.0, ratio) for k, ratio in enumerate(ratios)]


def test_slower_in_a_row_or_in_the_mean():
    assert not turns.slower(timed(1.09, 0.9, 1.0))
    assert turns.slower(timed(1.11, 0.8, 0.8)) == ["0: +11.0%"]
    assert turns.slower(timed(1.04, 1.04)) == ["geometric mean: +4.0%"]
    assert turns.geometric_mean(timed(2.0, 0.5)) == pytest.approx(1.0)
    assert not turns.slower([])


@pytest.mark.parametrize("seed", range(20))
def test_noise_of_a_third_is_no_difference_and_fifteen_percent_is(seed):
    """Times are as on a busy machine: never below the true one, mostly a little and at times much above it."""
    rng = np.random.default_rng(seed)

    def measure(slow):
        def run(seconds):
            return lambda: seconds * (1 + 0.02 * rng.exponential() + (rng.random() < 0.5) * rng.uniform(0, 0.33))

        return lambda row, n: turns.in_turns(run(1.0), run(slow), n)

    same = [turns.time_row(str(k), measure(1.0), 15) for k in range(40)]
    assert not turns.slower(same)
    slowed = [turns.time_row("slow", measure(1.15), 15), *same[1:]]
    assert any("slow" in reason for reason in turns.slower(slowed))


def test_rows_hold_what_a_comparison_must_see():
    names = list(rows.rows())
    for text in (
        "50 rows",
        "500 rows",
        "200,000 rows",
        "100,000 queries",
        "sparse",
        "dense",
        "1 query",
        "queries",
        "path",
        "descent",
        "read",
        "ndcg",
    ):
        assert any(text in name for name in names), text
    for loss, solvers in rows.SOLVERS.items():
        assert all(f"fit {loss} by {solver}" in names for solver in solvers)
    assert list(rows.rows(["by tron", "stream"])) == ["fit squared_hinge by tron", "stream"]


def test_counts_of_a_fit():
    from linrank import LinearRanker

    X, y, qid = graded.make(300, 4, 6, 3)
    ranker = LinearRanker(alpha=1e-2, scale=False)
    counted = counts.count(lambda: ranker.fit(X, y, qid), exact=True)
    assert counted["iterations"] == ranker.n_iter_
    assert counted["products"] >= 2
    assert counted["bytes of X"] >= counted["products"] * X.nbytes
    assert counted["peak KB"] > 0
    assert counts.count(lambda: ranker.fit(X, y, qid), exact=True)["products"] == counted["products"]
    assert counts.count(lambda: ranker.predict(X), exact=False)["products"] is None


def test_an_exact_hessian_reads_x_once():
    from linrank import LinearRanker
    from linrank.solvers import Newton

    X, y, qid = graded.make(300, 4, 6, 3)
    found = {}
    for way in ("exact", "products"):
        ranker = LinearRanker(alpha=1e-2, scale=False, solver=Newton(hessian=way))
        found[way] = counts.count(lambda ranker=ranker: ranker.fit(X, y, qid), exact=True)
        extra = found[way]["bytes of X"] - found[way]["products"] * X.nbytes
        assert extra % X.nbytes == 0
        assert extra >= X.nbytes if way == "exact" else extra == 2 * X.nbytes  # passes that measure the columns


class OldMatrix:
    """As a revision may have it: with one of the methods alone."""

    X = np.zeros((6, 2))
    shape = X.shape

    def rows(self, block):
        return 3 * block, 3 * block + 3

    def dot(self, w, block, out):
        return "answer"


class OldEngine:
    matrix = OldMatrix()

    def hessian(self, curvature, scale):
        return "Hessian"


class NewEvaluation:
    engine = OldEngine()

    def hessian(self, scale):
        return "Hessian"


def test_counts_find_a_method_where_a_revision_has_it(monkeypatch):
    here = __name__
    monkeypatch.setattr(counts, "PLACES", ((here, "OldMatrix"),))
    monkeypatch.setattr(
        counts, "HESSIANS", tuple((here, name, "hessian") for name in ("OldMatrix", "OldEngine", "NewEvaluation"))
    )

    def task():
        for block in (0, 1):
            assert OldMatrix().dot(np.zeros(2), block, None) == "answer"
        assert OldEngine().hessian(None, None) == NewEvaluation().hessian(None) == "Hessian"

    counted = counts.count(task, exact=True)
    assert counted["products"] == 1
    assert counted["bytes of X"] == 3 * OldMatrix.X.nbytes


def test_a_count_that_a_revision_lacks_is_empty(monkeypatch):
    monkeypatch.setattr(counts, "PLACES", (("linrank.not_there", "Matrix"), ("linrank.engines", "NoMatrix")))
    counted = counts.count(lambda: None, exact=True)
    assert counted["products"] is None
    assert counted["bytes of X"] is None
    assert counted["iterations"] is None


def test_kernels_are_counted_by_what_a_cold_start_leaves_in_the_cache(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("f.1.nbc", "f.2.nbc", "f.nbi", "g.1.nbc"):
        (tmp_path / "a" / name).write_text("")
    assert counts.kernels(tmp_path) == 3


LIBRARY = '''
"""A library whose clock is its own: a fit takes as long as it says."""
import time

_now = [0.0]
time.process_time = lambda: _now[0]


class LinearRanker:
    n_iter_ = ITERATIONS

    def __init__(self, loss, **given):
        self.seconds = {"hinge": 0.001, "squared_hinge": 0.002}[loss]

    def fit(self, *given):
        _now[0] += self.seconds * (SLOWER if self.seconds == 0.001 else 1.0)
        return self
'''


def library(slower: float = 1.0, iterations: int = 5) -> str:
    return LIBRARY.replace("SLOWER", repr(slower)).replace("ITERATIONS", str(iterations))


@pytest.fixture
def repository(tmp_path):
    """A repository with the benchmarks as they are, and the library above."""
    shutil.copytree(ROOT / "benchmarks", tmp_path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    package = tmp_path / "src" / "linrank"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(library())
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "src"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    return tmp_path


def against(repository: Path, *names: str) -> tuple[int, str]:
    command = [sys.executable, "benchmarks/run.py", "--against", "HEAD", *names]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    left = subprocess.run(
        ["git", "-C", str(repository), "worktree", "list"], capture_output=True, text=True, check=True
    )
    assert len(left.stdout.splitlines()) == 1  # the temporary tree is gone
    return done.returncode, done.stdout + done.stderr


NAMES = ("hinge, 50 rows", "fit logistic, 50 rows")


def test_the_same_revision_is_no_slower(repository):
    code, printed = against(repository, *NAMES)
    assert code == 0, printed
    assert "| fit hinge, 50 rows | 1.000 | 1.000 | 1.000 |  |" in printed
    assert "fit logistic, 50 rows: not run by HEAD: KeyError" in printed
    assert "Counts are the same" in printed
    assert "geometric mean 1.000 over 2 rows" in printed


@pytest.mark.slow
def test_a_row_fifteen_percent_slower_is_caught(repository):
    (repository / "src" / "linrank" / "__init__.py").write_text(library(slower=1.15))
    code, printed = against(repository, *NAMES)
    assert code == 1, printed
    assert "| fit hinge, 50 rows | 1.000 | 1.150 | 1.150 | measured again |" in printed
    assert "slower: fit hinge, 50 rows: +15.0%" in printed


@pytest.mark.slow
def test_a_changed_count_is_shown_where_times_are_equal(repository):
    (repository / "src" / "linrank" / "__init__.py").write_text(library(iterations=6))
    code, printed = against(repository, *NAMES)
    assert code == 0, printed
    assert "fit hinge, 50 rows: iterations 5 -> 6" in printed


def test_a_revision_that_is_not_there_is_named(repository):
    command = [sys.executable, "benchmarks/run.py", "--against", "nowhere", "hinge, 50 rows"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "No worktree of 'nowhere'" in done.stderr
