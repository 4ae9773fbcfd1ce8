"""Is the default as good as tuning? alpha="auto" and scale="auto" against the best of a grid, on held-out rows.

The constants of `linrank/_defaults.py` were chosen on the sets of TUNING; the others say what a stranger will see.
These halves are of this question alone: the lists of `problems` are those of the solvers' constants.
Folds are those of 5 x 2 cross-validation for small sets of one query, else 2 folds; 5 by query where there are several.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linrank import ConvergenceWarning, LinearRanker, SGDRanker, metrics
from linrank.model_selection import QueryKFold
from measure import few, quick
from problems import Problem, folder, letor, load, torgo
from results import FIT, report

SOURCES = (*FIT, "defaults.py", "stochastic/**/*.py", "rankers/sgd.py")
LOSSES = ("squared_hinge", "hinge", "logistic")
#: alphas of the grid, in units of V / rows.
GRID = 10.0 ** np.arange(-2.5, 2.6, 2.5 if quick() else 0.25)
SCALES = ("deviation", "rms", "none")


class Split(NamedTuple):
    """Rows to train on and rows to judge by."""

    train: np.ndarray
    test: np.ndarray


def raw(file: str) -> Problem:
    """A regression set as it comes, its last attribute the utility."""
    if quick():
        return load("torgo", file)
    _, table = torgo.read_arff(file)
    return Problem(table[:, :-1], table[:, -1])


def webis() -> Problem:
    """Unscaled."""
    return load("webis") if quick() else letor.read(*sorted((folder() / "webis-clueweb09").glob("part*.gz")))


def _torgo(*files: str) -> dict[str, Callable[[], Problem]]:
    return {file: lambda file=file: raw(file) for file in files}


def _words(name: str) -> dict[str, Callable[[], Problem]]:
    return {f"{name}, {kind}": lambda kind=kind: load(name, kind) for kind in ("tf-idf", "counts", "binary")}


TUNING: dict[str, Callable[[], Problem]] = {
    **_torgo("pyrim", "wisconsin", "autompg", "stock", "abalone", "cpu.small"),
    "MQ2008": lambda: load("mq2008"),
    **_words("imdb"),
    "one-hot": lambda: load("onehot"),
    "embeddings": lambda: load("embeddings"),
    "little noise": lambda: load("noisy"),
    "wide": lambda: load("noisy", 3, 200, 300, 1.0, 10),
}
REPORTING: dict[str, Callable[[], Problem]] = {
    **_torgo("triazines", "machine.cpu", "housing", "diabetes.numeric", "cal.housing", "bank32nh"),
    "webis": webis,
    "LightGBM's example": lambda: load("lightgbm_example"),
    **_words("newsgroups"),
    "one-hot, noisy": lambda: load("onehot", 2, 1000, 1500, 12, 2.0),
    "embeddings, queries": lambda: load("embeddings", 2, 400, 768, 1.0, 20),
    "much noise": lambda: load("noisy", 2, 500, 40, 3.0),
    "long": lambda: load("noisy", 4, 5000, 30, 1.0, 100),
}


def main() -> None:
    rows, weighting = [], []
    for half, sets in (("tuning", TUNING), ("reporting", REPORTING)):
        for name, make in few(list(sets.items())):
            problem = make()
            found = judged(problem, list(splits(problem)))
            rows += [{"data": name, "list": half, **row} for row in found]
            if problem.qid is not None:
                weighting.append({"data": name, "list": half, **weighted(problem, list(splits(problem)))})
            print(rows[-3:], flush=True)
    report("defaults", rows)
    report("defaults_summary", summary(rows))
    report("defaults_weighting", weighting or [weighted(load("onehot"), list(splits(load("onehot"))))])


def splits(problem: Problem) -> Iterator[Split]:
    """Halves by query, or by rows of a single query; five times where that is cheap."""
    n = problem.y.size
    rng = np.random.default_rng(0)
    if problem.qid is not None:
        folds = QueryKFold(5, shuffle=True, random_state=0).split(problem.X, problem.y, problem.qid)
        yield from (Split(train, test) for train, test in folds)
        return
    for _ in range(5 if n < 1200 else 1):
        order = rng.permutation(n)
        for test in np.array_split(order, 2):
            yield Split(np.setdiff1d(order, test), test)


def part(problem: Problem, rows: np.ndarray) -> Problem:
    return Problem(problem.X[rows], problem.y[rows], None if problem.qid is None else problem.qid[rows])


def judged(problem: Problem, folds: list[Split]) -> list[dict[str, Any]]:
    """Accuracy of the defaults and of the grid, a row for each loss."""
    accuracy = {loss: np.zeros((len(folds), 1 + len(SCALES) * GRID.size)) for loss in LOSSES}
    stochastic = np.zeros(len(folds))
    for k, fold in enumerate(folds):
        train, test = part(problem, fold.train), part(problem, fold.test)
        for loss in LOSSES:
            accuracy[loss][k, 0] = LinearRanker(loss).fit(*train).score(*test)
            accuracy[loss][k, 1:] = grid(train, test, loss)
        stochastic[k] = SGDRanker(random_state=0).fit(*train).score(*test)
    return [_row(loss, found, stochastic if loss == "hinge" else None) for loss, found in accuracy.items()]


def _row(loss: str, accuracy: np.ndarray, stochastic: np.ndarray | None) -> dict[str, Any]:
    mean = accuracy.mean(axis=0)
    best = 1 + int(np.argmax(mean[1:]))
    scale, k = divmod(best - 1, GRID.size)
    lost = accuracy[:, best] - accuracy[:, 0]
    error = lost.std(ddof=1) / np.sqrt(lost.size) if lost.size > 1 else np.nan
    return {
        "loss": loss,
        "default": f"{mean[0]:.4f}",
        "best of the grid": f"{mean[best]:.4f}",
        "its scale": SCALES[scale],
        "its alpha": f"{GRID[k]:.2g} V/rows",
        "lost": f"{mean[best] - mean[0]:.4f}",
        "standard error": f"{error:.4f}",
        "by luck": f"{luck(accuracy[:, 1:]):.4f}",
        "SGDRanker": "not asked" if stochastic is None else f"{stochastic.mean():.4f}",
    }


def grid(train: Problem, test: Problem, loss: str) -> np.ndarray:
    """Held-out accuracy at each scale and alpha."""
    found = []
    for how in SCALES:
        unit = scales(train.X, how)
        here, there = divided(train.X, unit), divided(test.X, unit)
        a0 = float(variances(here).sum()) / train.y.size
        ranker = LinearRanker(loss, scale=False, warm_start=True, max_iter=300)
        scores = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the weakest alphas are not the best
            for c in GRID[::-1]:
                ranker.set_params(alpha=a0 * c).fit(here, train.y, train.qid)
                scores.append(ranker.score(there, test.y, test.qid))
        found += scores[::-1]
    return np.array(found)


def scales(X: Any, how: str) -> np.ndarray:
    """What columns are divided by: their deviation, the root mean square of their non-zeros, or 1."""
    if how == "deviation":
        unit = np.sqrt(variances(X))
    elif how == "rms":
        count = np.asarray((X != 0).sum(axis=0)).ravel()
        square = np.asarray(X.multiply(X).sum(axis=0) if sp.issparse(X) else np.square(X).sum(axis=0)).ravel()
        unit = np.sqrt(square / np.maximum(count, 1))
    else:
        unit = np.ones(X.shape[1])
    return np.where(unit > 0, unit, 1.0)


def variances(X: Any) -> np.ndarray:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray((X.multiply(X) if sp.issparse(X) else np.square(X)).mean(axis=0)).ravel()
    found = np.maximum(square - mean**2, 0.0)
    return np.where(found > 1e-12 * square, found, 0.0)


def divided(X: Any, unit: np.ndarray) -> Any:
    return sp.csr_matrix(X @ sp.diags(1 / unit)) if sp.issparse(X) else X / unit


def luck(accuracy: np.ndarray) -> float:
    """By how much the best is better on the folds that it was chosen on than on the other half of them."""
    if accuracy.shape[0] < 2:
        return float("nan")
    halves = accuracy[::2].mean(axis=0), accuracy[1::2].mean(axis=0)
    chosen = [int(np.argmax(half)) for half in halves]
    own = (halves[0][chosen[0]] + halves[1][chosen[1]]) / 2
    other = (halves[1][chosen[0]] + halves[0][chosen[1]]) / 2
    return float(own - other)


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the defaults lose over the sets of each half."""
    found = []
    for half in ("tuning", "reporting"):
        for loss in LOSSES:
            here = [row for row in rows if row["list"] == half and row["loss"] == loss]
            lost = np.array([float(row["lost"]) for row in here])
            limit = np.array([max(0.01, 2 * float(row["standard error"])) for row in here])
            worst = int(np.argmax(lost - limit))
            found.append(
                {
                    "list": half,
                    "loss": loss,
                    "sets": len(here),
                    "median lost": f"{np.median(lost):.4f}",
                    "most lost": f"{lost.max():.4f}",
                    "beyond .01 and 2 errors": int(np.sum(lost > limit)),
                    "worst": f"{here[worst]['data']} ({lost[worst]:.4f})",
                    "median by luck": f"{np.median([float(row['by luck']) for row in here]):.4f}",
                }
            )
    return found


def weighted(problem: Problem, folds: list[Split]) -> dict[str, Any]:
    """Accuracy and NDCG@10 with each pair, or each query, counting the same."""
    row = {}
    for how in ("pairs", "queries"):
        found = []
        for fold in folds:
            train, test = part(problem, fold.train), part(problem, fold.test)
            scores = LinearRanker(query_weighting=how).fit(*train).predict(test.X)
            accuracy = metrics.pairwise_accuracy(test.y, scores, test.qid)
            found.append((accuracy, metrics.ndcg(test.y, scores, test.qid, k=10)))
        mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
        for k, name in enumerate(("accuracy", "ndcg@10")):
            row[f"{how}, {name}"] = f"{mean[k]:.4f} ± {error[k]:.4f}"
    return row
